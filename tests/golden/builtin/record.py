#!/usr/bin/env python3
"""Fills in what a real kube-apiserver makes of the cases in *.json here.

usage: record.py KUBECONFIG [FILE...]

A file is { "kind": "group/version/plural", "cases": [ { "what", "object", "old"?, "sub"?, and what
this script writes: "want" (the stored object) or "problems" (its causes) } ] }. Objects go to the
namespace "golden-builtin", which is made and removed. Nothing is stored but the "old" objects.
"""
import json
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
SPACE = "golden-builtin"
UID = "11111111-2222-3333-4444-555555555555"  # what the test gives every object
NOW = "2023-11-14T22:13:20Z"  # the clock of the test


class Server:
    def __init__(self, kubeconfig):
        out = subprocess.check_output(["kubectl", "--kubeconfig", kubeconfig, "config", "view",
                                       "--raw", "--minify", "-o", "json"])
        config = json.loads(out)
        cluster = config["clusters"][0]["cluster"]
        self.url = cluster["server"]
        self.token = config["users"][0]["user"]["token"]
        self.tls = ssl._create_unverified_context()

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        req = urllib.request.Request(self.url + path, data=data, method=method, headers={
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(req, context=self.tls) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as e:
            return e.code, json.load(e)


def collection(kind, obj, namespaced):
    group, version, plural = kind.split("/")
    root = "/apis/%s/%s" % (group, version) if group else "/api/" + version
    if not namespaced:
        return "%s/%s" % (root, plural)
    return "%s/namespaces/%s/%s" % (root, SPACE, plural)


def cleaned(obj, kind):
    uid = obj.get("metadata", {}).get("uid")
    if uid:  # of Jobs, which put it into labels
        obj = json.loads(json.dumps(obj).replace(uid, UID))
    meta = obj.get("metadata", {})
    for field in ("uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"):
        meta.pop(field, None)
    # added by admission plugins whose work nobody else would undo
    meta["finalizers"] = [f for f in meta.get("finalizers", []) if not f.endswith("-protection")]
    if not meta["finalizers"]:
        del meta["finalizers"]
    if "lastPhaseTransitionTime" in obj.get("status", {}):
        obj["status"]["lastPhaseTransitionTime"] = NOW
    if kind == "/v1/pods":  # as the ServiceAccount admission plugin would leave it
        name = obj["spec"].setdefault("serviceAccountName", "default")
        obj["spec"].setdefault("serviceAccount", name)
        for condition in obj.get("status", {}).get("conditions", []):
            if condition.get("lastTransitionTime"):
                condition["lastTransitionTime"] = NOW
    return obj


def answer(status, body, kind, case):
    for field in ("want", "problems", "message"):
        case.pop(field, None)
    if status < 300:
        case["want"] = cleaned(body, kind)
    elif "causes" in body.get("details", {}):
        case["problems"] = [re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", UID,
                                   "%s: %s" % (c.get("field"), c.get("message")))
                            for c in body["details"]["causes"]]
    else:
        case["message"] = body.get("message")


def run(server, kind, namespaced, case):
    base = collection(kind, case["object"], namespaced)
    obj = json.loads(json.dumps(case["object"]))
    if "old" not in case:
        return server.call("POST", base + "?dryRun=All", obj)
    status, old = server.call("POST", base, case["old"])
    if status >= 300:
        sys.exit("%s: old is refused: %s" % (case["what"], old.get("message")))
    name = old["metadata"]["name"]
    if "old_status" in case:
        status, old = server.call("PUT", "%s/%s/status" % (base, name),
                                  dict(old, status=case["old_status"]))
    obj.setdefault("metadata", {})["resourceVersion"] = old["metadata"]["resourceVersion"]
    sub = "/" + case["sub"] if "sub" in case else ""
    result = server.call("PUT", "%s/%s%s?dryRun=All" % (base, name, sub), obj)
    server.call("DELETE", "%s/%s?gracePeriodSeconds=0" % (base, name))
    drop_finalizers(server, "%s/%s" % (base, name))
    return result


def drop_finalizers(server, path):
    status, left = server.call("GET", path)
    if status == 200 and left["metadata"].get("finalizers"):
        del left["metadata"]["finalizers"]
        server.call("PUT", path, left)


def main():
    server = Server(sys.argv[1])
    files = sys.argv[2:] or sorted(f for f in os.listdir(HERE) if f.endswith(".json"))
    space = "/api/v1/namespaces/" + SPACE
    server.call("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    for name in files:
        path = os.path.join(HERE, os.path.basename(name))
        with open(path) as f:
            doc = json.load(f)
        for case in doc["cases"]:
            status, body = run(server, doc["kind"], doc.get("namespaced", True), case)
            answer(status, body, doc["kind"], case)
        with open(path, "w") as f:
            json.dump(doc, f, indent=1)
            f.write("\n")
        print("%s: %d cases" % (name, len(doc["cases"])))
    server.call("DELETE", space)
    status, left = server.call("GET", space)
    if status == 200:  # nobody else does this where no controller runs
        server.call("PUT", space + "/finalize", dict(left, spec={"finalizers": []}))


main()
