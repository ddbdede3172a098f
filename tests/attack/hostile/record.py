"""Requests to begin with: those of tests/cluster/requests, and what kubectl sends for the usual commands."""

import json
import os
import pathlib
import subprocess

from harness.proxy import Proxy
from sidebyside import script

HERE = pathlib.Path(__file__).resolve().parent
REQUESTS = HERE.parent.parent / "cluster" / "requests"
EXAMPLES = HERE.parent.parent.parent / "examples"
NS = "fuzz"
# What a client sends for itself, and what is put there anew.
OWN = {"host", "authorization", "content-length", "transfer-encoding", "connection", "expect"}
COMMANDS = (
    ("create", "configmap", "a", "--from-literal=x=y"), ("apply", "-f", "OBJECTS"), ("apply", "--server-side", "-f", "OBJECTS"),
    ("get", "configmaps", "-o", "wide"), ("describe", "configmap", "a"), ("get", "tfjobs"),
    ("patch", "configmap", "a", "--type=json", "-p", '[{"op":"add","path":"/data/z","value":"1"}]'),
    ("patch", "configmap", "a", "--type=merge", "-p", '{"data":{"q":"r"}}'), ("auth", "can-i", "--list"), ("create", "token", "default"),
    ("logs", "nobody"), ("get", "configmaps", "-l", "l in (m,n)", "--field-selector", "metadata.name=a", "--chunk-size=1"),
    ("create", "-f", "JOB", "--dry-run=server"), ("scale", "deployment", "none", "--replicas=2"), ("delete", "configmap", "a", "--wait=false"))
OBJECTS = """{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","labels":{"l":"m"}},"data":{"x":"y"}},
{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"port":80}]}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"t"},"stringData":{"x":"y"}},
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}]}
"""


class Seed:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers = method, path, [(n, v) for n, v in headers if n.lower() not in OWN]
        self.body = body.encode() if isinstance(body, str) else body


def from_files():
    values = {"run": "fuzz", "ns": NS}
    found = []
    for area in script.read_all(REQUESTS):
        for r in area.requests:
            path = script.expand(script.expand(r.path, values), {})
            body = None if r.body is None else script.expand(r.body, values)
            found.append(Seed(r.method, path.replace("$", "x"), list(r.headers.items()), body))
    return found


def of_groups():
    """PodGroups and Queues, and pods that wait in them, which the scheduler looks at again after each."""
    head = [("Content-Type", "application/json"), ("Accept", "application/json")]
    amounts = {"cpu": "9223372036854775807", "memory": "8Ei", "x.dev/y": "1"}
    found = []
    for group, version, labels, notes in (("scheduling.volcano.sh", "v1beta1", {}, {"scheduling.k8s.io/group-name": "g", "volcano.sh/task-spec": "worker"}),
                                          ("scheduling.x-k8s.io", "v1alpha1", {"scheduling.x-k8s.io/pod-group": "g"}, {})):
        path = f"/apis/{group}/{version}/namespaces/{NS}/podgroups"
        spec = {"minMember": 2, "minResources": amounts, "queue": "default", "minTaskMember": {"worker": 1}, "priorityClassName": "system-node-critical"}
        if group != "scheduling.volcano.sh":
            spec = {"minMember": 2, "minResources": amounts}
        body = {"apiVersion": f"{group}/{version}", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec, "status": {"phase": "Inqueue"}}
        found.append(Seed("POST", path, head, json.dumps(body)))
        found.append(Seed("PATCH", path + "/g", [("Content-Type", "application/merge-patch+json")], json.dumps({"spec": spec, "status": {"phase": "Running"}})))
        found.append(Seed("DELETE", path + "/g", head, None))
        pod = {"metadata": {"generateName": "g-", "labels": labels, "annotations": notes}, "spec": {
            "schedulerName": "volcano" if notes else "default-scheduler",
            "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "9223372036854775807", "memory": "8Ei"}}}]}}
        found.append(Seed("POST", f"/api/v1/namespaces/{NS}/pods", head, json.dumps(pod)))
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"weight": 2, "capability": amounts}}
    found.append(Seed("POST", "/apis/scheduling.volcano.sh/v1beta1/queues", head, json.dumps(queue)))
    return found


def from_kubectl(kube, folder):
    proxy = Proxy(kube)
    config = proxy.kubeconfig(folder)
    objects = os.path.join(folder, "objects.json")
    with open(objects, "w", encoding="utf-8") as f:
        f.write(OBJECTS)
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    for words in COMMANDS:
        words = [objects if w == "OBJECTS" else str(EXAMPLES / "tfjob-simple.yaml") if w == "JOB" else w for w in words]
        subprocess.run([kubectl, "--kubeconfig", config, "-n", NS, "--request-timeout=10s", "--cache-dir", folder + "/cache", *words],
                       capture_output=True, check=False, timeout=60)
    found = [Seed(r.method, r.path, list(r.headers.items()), r.body) for r in list(proxy.requests)]
    proxy.stop()
    return found
