"""Requests to begin with: those of tests/cluster/requests, and what kubectl sends for the usual commands."""

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
