"""A pod's phases, conditions and container statuses, as kubelet writes them."""

from harness.tap import has, is_
from world.record import condition, container, phase
from world.scene import STAY, box, ended, is_end, matches

from . import scene

KINDS = ["ContainersReady", "Initialized", "PodReadyToStartContainers", "PodScheduled", "Ready"]
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"


def statuses(pod):
    return {c["type"]: c["status"] for c in pod["status"]["conditions"]}


def reason(pod, kind):
    return condition(pod, kind).get("reason")


@scene
def a_running_pod_is_as_kubelet_writes_it(s):
    s.start("p", box(STAY))
    pod = s.wait_ready("p")
    status = pod["status"]
    is_(status["phase"], "Running", "phase")
    is_(statuses(pod), {kind: "True" for kind in KINDS}, "conditions")
    is_(pod["spec"]["nodeName"], s.kube.list("nodes")[0]["metadata"]["name"], "the node")
    for member in ("hostIP", "podIP"):
        matches(status.get(member), r"^\d+\.\d+\.\d+\.\d+$", member)
    is_(status["podIPs"], [{"ip": status["podIP"]}], "podIPs")
    is_(status["hostIPs"], [{"ip": status["hostIP"]}], "hostIPs")
    is_(status["qosClass"], "BestEffort", "qosClass")
    matches(status.get("startTime"), TIME, "startTime")
    [c] = status["containerStatuses"]
    is_((c["name"], c["image"], c["ready"], c["started"], c["restartCount"], c["lastState"]),
        ("main", "example.com/e2e:1", True, True, 0, {}), "the container")
    is_(list(c["state"]), ["running"], "its state")
    matches(c["state"]["running"]["startedAt"], TIME, "startedAt")
    matches(c["containerID"], r"^[a-z]+://.+", "containerID has a scheme")


@scene
def a_pod_that_succeeds_says_so_everywhere(s):
    s.start("p", "exit 0")
    pod = s.wait_phase("p", "Succeeded")
    is_end(pod, 0, "Completed")
    end = ended(pod)
    for member in ("startedAt", "finishedAt"):
        matches(end[member], TIME, member)
    assert end["startedAt"] <= end["finishedAt"], end
    is_(end["containerID"], container(pod, "main")["containerID"], "the end is that container's")
    c = container(pod, "main")
    is_((c["ready"], c["started"], c["restartCount"]), (False, False, 0), "the container")
    is_(statuses(pod), {**{kind: "False" for kind in KINDS}, "Initialized": "True", "PodScheduled": "True"},
        "conditions")
    for kind in ("Initialized", "Ready", "ContainersReady"):
        is_(reason(pod, kind), "PodCompleted", f"reason of {kind}")
    assert pod["status"].get("podIP"), "its address is still told"


@scene
def a_pod_that_fails_says_so_everywhere(s):
    s.start("p", "exit 3")
    pod = s.wait_phase("p", "Failed")
    is_end(pod, 3, "Error")
    is_(statuses(pod), {**{kind: "False" for kind in KINDS}, "Initialized": "True", "PodScheduled": "True"},
        "conditions")
    for kind in ("Ready", "ContainersReady"):
        is_(reason(pod, kind), "PodFailed", f"reason of {kind}")
    assert not pod["status"].get("reason"), "no reason of the pod itself"


@scene
def few_writes_tell_a_short_life(s):
    s.start("p", "exit 0", gate=False)
    s.wait_phase("p", "Succeeded")
    s.machine.pods.sync()
    seen = [c for c in s.history("p") if c.type != "DELETED"]
    assert len(seen) <= 8, f"{len(seen)} revisions of a pod that ran and ended"


@scene
def the_events_of_a_life_are_told(s):
    s.start("p", "exit 0", gate=False)
    node = s.wait_phase("p", "Succeeded")["spec"]["nodeName"]
    told = s.wait_event("Scheduled", name="p")
    is_(told["message"], f"Successfully assigned {s.ns}/p to {node}", "Scheduled")
    is_(told["type"], "Normal", "its type")
    for why in ("Created", "Started"):
        told = s.wait_event(why, "ontainer", name="p")
        has(told["message"], "main", why)
        is_(told["involvedObject"]["fieldPath"], "spec.containers{main}", f"{why} is about the container")
        is_(told["source"].get("component"), "kubelet", f"{why} comes from")


@scene
def a_pod_succeeds_when_all_its_containers_have(s):
    s.start("p", box("exit 0", "a"), box("await go", "b"))
    pod = s.wait_pod("p", lambda p: ended(p, "a") and container(p, "b")["ready"], "runs half")
    is_(phase(pod), "Running", "phase")
    is_(reason(pod, "Ready"), "ContainersNotReady", "why not ready")
    is_(condition(pod, "Ready")["message"], "containers with unready status: [a]", "in words")
    is_(condition(pod, "ContainersReady")["message"], "containers with unready status: [a]", "in words")
    s.open("go")
    pod = s.wait_phase("p", "Succeeded")
    is_end(pod, 0, "Completed", "a")
    is_end(pod, 0, "Completed", "b")


@scene
def a_pod_fails_when_one_container_has_and_all_are_done(s):
    s.start("p", box("exit 7", "a"), box("await go", "b"))
    pod = s.wait_pod("p", lambda p: ended(p, "a") and container(p, "b")["ready"], "runs half")
    is_(phase(pod), "Running", "one failed, one runs")
    s.open("go")
    pod = s.wait_phase("p", "Failed")
    is_end(pod, 7, "Error", "a")
    is_end(pod, 0, "Completed", "b")


@scene
def resources_make_the_class_of_service(s):
    small = {"cpu": "10m", "memory": "100Mi"}
    s.start("burstable", box("exit 0", resources={"requests": small}))
    s.start("guaranteed", box("exit 0", resources={"limits": small}))
    is_(s.wait_phase("burstable", "Succeeded")["status"]["qosClass"], "Burstable", "with requests")
    is_(s.wait_phase("guaranteed", "Succeeded")["status"]["qosClass"], "Guaranteed", "with limits")


@scene
def readiness_gates_hold_a_pod_back(s):
    s.start("p", box(STAY), readinessGates=[{"conditionType": "example.com/fed"}])
    pod = s.wait_pod("p", lambda p: condition(p, "ContainersReady").get("status") == "True", "has ready containers")
    is_((condition(pod, "Ready")["status"], reason(pod, "Ready")), ("False", "ReadinessGatesNotReady"), "Ready")
    s.kube.patch("pods", "p", {"status": {"conditions": [{"type": "example.com/fed", "status": "True"}]}}, s.ns,
                 "status", "application/strategic-merge-patch+json")
    s.wait_ready("p")


@scene
def containers_of_a_pod_share_its_address_and_host_name(s):
    script = "hostname | say {0}.name; /usr/bin/python3 -c \"import socket; s = socket.create_server(('127.0.0.1', {1}))" \
             "; open('$G/{0}.up', 'w'); {2}\""
    s.start("p", box(script.format("a", 24711, "s.accept()[0].sendall(b'hello')"), "a"),
            box("until [ -e $G/a.up ]; do sleep 0.1; done; " + script.format(
                "b", 0, "open('$G/got', 'wb').write(socket.create_connection(('127.0.0.1', 24711)).recv(99))"), "b"))
    s.wait_phase("p", "Succeeded")
    is_(s.read("got"), "hello", "over the loopback of both")
    is_(s.read("a.name"), s.read("b.name"), "host name")
