"""The node as an object: what it offers and how it is."""

import os

from harness.tap import has, is_

from . import scene


@scene
def there_is_one_node_and_it_is_ready(s):
    [node] = s.kube.list("nodes")
    status = node["status"]
    is_({c["type"]: c["status"] for c in status["conditions"] if c["type"] in
         ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")},
        {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}, "conditions")
    [ready] = [c for c in status["conditions"] if c["type"] == "Ready"]
    is_(ready["reason"], "KubeletReady", "reason")
    is_(status["capacity"]["cpu"], str(len(os.sched_getaffinity(0))), "cpu")
    with open("/proc/meminfo", encoding="utf-8") as f:
        total = int(f.readline().split()[1])
    assert status["capacity"]["memory"].endswith("Ki"), status["capacity"]
    assert 0 < int(status["capacity"]["memory"][:-2]) <= total, (status["capacity"], total)
    is_((status["capacity"]["nvidia.com/gpu"], status["allocatable"]["example.com/thing"]), ("2", "4"), "what was said")
    for member in ("pods", "ephemeral-storage"):
        assert member in status["capacity"] and member in status["allocatable"], member


@scene
def the_node_says_what_it_is(s):
    [node] = s.kube.list("nodes")
    info = node["status"]["nodeInfo"]
    is_((info["operatingSystem"], info["kernelVersion"]), ("linux", os.uname().release), "system")
    for member in ("architecture", "bootID", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion", "machineID",
                   "osImage", "systemUUID"):
        assert isinstance(info.get(member), str), f"{member} is {info.get(member)}"
    labels = node["metadata"]["labels"]
    is_((labels["kubernetes.io/os"], labels["kubernetes.io/hostname"]), ("linux", node["metadata"]["name"]), "labels")
    has(labels.values(), s.level, "the level of isolation is in a label")
    is_({a["type"] for a in node["status"]["addresses"]}, {"InternalIP", "Hostname"}, "addresses")


@scene
def kubectl_shows_it_ready(s):
    lines = s.kubectl("get", "nodes").stdout.splitlines()
    is_(len(lines), 2, "one node")
    is_(lines[1].split()[1], "Ready", "its state")


@scene(level="shared")
def the_limits_of_the_level_are_in_the_conditions(s):
    [node] = s.kube.list("nodes")
    text = " ".join(c.get("message", "") for c in node["status"]["conditions"])
    has(text, "static", "that static programs see no names is said")
