"""Where pods go, why they wait, and who has which device."""

from harness.tap import has, is_
from world.record import condition
from world.scene import STAY, box

from . import scene

GPU = "nvidia.com/gpu"


def asks(count, what=GPU):
    return {"limits": {what: str(count)}}


def waits(s, name, words):
    """The pod waits for a node, for just that reason, told everywhere; what preemption could do may follow."""
    pod = s.wait_pod(name, lambda p: condition(p, "PodScheduled").get("status") == "False", "waits for a node")
    c = condition(pod, "PodScheduled")
    is_((c["reason"], c["message"][:len(words)]), ("Unschedulable", words), "the condition")
    told = s.wait_event("FailedScheduling", name=name)
    is_((told["type"], told["message"][:len(words)]), ("Warning", words), "the event")
    is_(pod["status"]["phase"], "Pending", "phase")


@scene
def gpus_belong_to_one_pod_each_and_the_third_waits(s):
    for name in ("a", "b"):
        s.start(name, box(f"echo $CUDA_VISIBLE_DEVICES | say gpu-{name}; await {name}", resources=asks(1)))
    is_(sorted((s.read("gpu-a").strip(), s.read("gpu-b").strip())), ["0", "1"], "a device each")
    s.start("c", box("echo $CUDA_VISIBLE_DEVICES | say gpu-c", resources=asks(1)))
    waits(s, "c", f"0/1 nodes are available: 1 Insufficient {GPU}.")
    s.open("a")
    is_(s.read("gpu-c"), s.read("gpu-a"), "the one that is free again")
    s.wait_phase("c", "Succeeded")
    s.open("b")
    s.wait_phase("b", "Succeeded")
    s.start("d", box("echo $CUDA_VISIBLE_DEVICES | say gpu-d", resources=asks(2)))
    is_(s.read("gpu-d"), "0,1\n", "both")
    s.start("e", box("echo ${CUDA_VISIBLE_DEVICES-unset} | say gpu-e"))
    is_(s.read("gpu-e"), "\n", "a pod that asked for none sees none")
    s.wait_phase("d", "Succeeded")
    s.start("f", box("echo $CUDA_VISIBLE_DEVICES | say gpu-f", resources=asks(1)),
            init=[box(STAY, "beside", restartPolicy="Always", resources=asks(1))])
    is_(s.read("gpu-f"), "0,1\n", "a sidecar's GPU is one more")


@scene
def more_gpus_than_there_are_is_told(s):
    s.start("p", box("exit 0", resources=asks(3)))
    waits(s, "p", f"0/1 nodes are available: 1 Insufficient {GPU}.")


@scene
def more_cpu_than_there_is_is_told(s):
    s.start("p", box("exit 0", resources={"requests": {"cpu": "5000", "memory": "1Mi"}}))
    waits(s, "p", "0/1 nodes are available: 1 Insufficient cpu.")


@scene
def a_resource_nobody_has_is_told(s):
    s.start("p", box("exit 0", resources=asks(1, "example.com/other")))
    waits(s, "p", "0/1 nodes are available: 1 Insufficient example.com/other.")


@scene
def any_resource_can_be_offered_and_is_counted(s):
    s.start("p", box("await go", resources=asks(4, "example.com/thing")))
    s.wait_ready("p")
    s.start("q", box("exit 0", resources=asks(1, "example.com/thing")))
    waits(s, "q", "0/1 nodes are available: 1 Insufficient example.com/thing.")
    s.open("go")
    s.wait_phase("q", "Succeeded")


@scene
def a_selector_is_obeyed(s):
    node = s.kube.list("nodes")[0]["metadata"]["name"]
    label = f"e2e-{s.ns}"
    s.start("p", box("exit 0"), nodeSelector={label: "yes"})
    waits(s, "p", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.")
    s.kube.patch("nodes", node, {"metadata": {"labels": {label: "yes"}}})
    s.wait_phase("p", "Succeeded")
    s.start("q", box("exit 0"), nodeSelector={"kubernetes.io/hostname": node})
    s.wait_phase("q", "Succeeded")


@scene
def a_pod_held_back_by_a_gate_is_let_on(s):
    s.start("p", box("exit 0"), schedulingGates=[{"name": "example.com/wait"}])
    s.wait_pod("p", lambda p: condition(p, "PodScheduled").get("reason") == "SchedulingGated", "is held back")
    s.kube.patch("pods", "p", {"spec": {"schedulingGates": []}}, s.ns)
    s.wait_phase("p", "Succeeded")


@scene
def another_schedulers_pod_is_left_alone(s):
    s.start("p", box("exit 0"), schedulerName="somebody-else")
    s.start("q", box("exit 0"))
    s.wait_phase("q", "Succeeded")
    assert not s.now("p")["spec"].get("nodeName"), "not bound"
    s.kube.call("POST", f"/api/v1/namespaces/{s.ns}/pods/p/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": s.kube.list("nodes")[0]["metadata"]["name"]}})
    s.wait_phase("p", "Succeeded")


@scene
def the_event_goes_to_describe(s):
    s.start("p", box(STAY, resources=asks(9)))
    s.wait_event("FailedScheduling", name="p")
    has(s.kubectl("describe", "pod", "p").stdout, f"1 Insufficient {GPU}.", "kubectl describe")
