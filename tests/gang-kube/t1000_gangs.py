#!/usr/bin/python3
"""Jobs as gangs of Kubernetes itself (core 7): the operator with --gang-scheduler-name=kube, and kube-scheduler and
kube-controller-manager 1.36. Nodes have no kubelets; the stand-in ends what the scheduler has started."""

import os
import shutil
import tempfile

from harness.engine import Cluster, Process, install_crds
from harness.kube import Kube
from harness.mirror import Mirror
from harness.record import condition, owner_uid
from harness.scene import play, template
from harness.tap import Tap, claim, is_

GPU = "nvidia.com/gpu"
GATES = "GenericWorkload=true,GangScheduling=true"
HIGH = "gang-kube-high"
PROTECTION = "scheduling.k8s.io/podgroup-protection"
RUNS = {"do": ["run"]}


def flags(*words):
    """More of the operator that the test has for itself."""
    def mark(f):
        f.flags = words
        return f
    return mark


class Stage(Cluster):
    has_scheduler = True


class Room:
    """Nodes that only pods of the scene can have, its PodGroups, and what kube-scheduler did with its pods."""

    def __init__(self, scene, *gpus):
        self.scene, self.kube, self.ns = scene, scene.kube, scene.ns
        self.groups = Mirror(self.kube, "podgroups.kube", self.ns, changed=scene.changed)
        self.n_nodes = 0
        for n in gpus:
            self.add_node(n)

    def add_node(self, gpus):
        self.n_nodes += 1
        name = f"{self.ns}-{self.n_nodes}"
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "100", GPU: str(gpus)}
        self.kube.create("nodes", {"metadata": {"name": name, "labels": {"scene": self.ns}}})
        self.kube.patch("nodes", name, {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [
            {"type": "Ready", "status": "True", "reason": "Test", "message": ""}]}}, sub="status")
        self.kube.patch("nodes", name, {"spec": {"taints": None}})  # nobody would remove that of a new node

    def workers(self, n, policy="ExitCode", gpus=1):
        spec = template(resources={"limits": {GPU: str(gpus)}})["spec"]
        return {"replicas": n, "restartPolicy": policy, "template": {"spec": {**spec, "nodeSelector": {"scene": self.ns}}}}

    # ---- asking

    def group(self, name):
        return self.groups.get(name) or {}

    def min_count(self, name):
        return self.group(name).get("spec", {}).get("schedulingPolicy", {}).get("gang", {}).get("minCount")

    def live_groups(self):
        return {name: self.min_count(name) for name in self.groups.names()
                if not self.group(name)["metadata"].get("deletionTimestamp")}

    def says(self, name, status, reason):
        """Of the group, its scheduler."""
        return any((c["type"], c["status"], c["reason"]) == ("PodGroupScheduled", status, reason)
                   for c in self.group(name).get("status", {}).get("conditions", []))

    def group_of(self, pod):
        return (self.scene.pods.get(pod) or {}).get("spec", {}).get("schedulingGroup", {}).get("podGroupName")

    def bound(self, job="j"):
        """Names of its pods that have a node and have not ended."""
        return sorted(p["metadata"]["name"] for p in list(self.scene.pods.now.values())
                      if p["metadata"]["name"].startswith(job + "-worker-") and holds(p))

    # ---- waiting

    def wait_bound(self, n, job="j"):
        self.scene.wait(lambda: len(self.bound(job)) == n, f"{n} pods of {job} have nodes")

    def wait_groups(self, **min_counts):
        """j_2=1 for j-2; those that are being deleted do not count."""
        want = {name.replace("_", "-"): n for name, n in min_counts.items()}
        self.scene.wait(lambda: self.live_groups() == want, f"groups {want}")

    def wait_refused(self, name):
        self.scene.wait(lambda: self.says(name, "False", "Unschedulable"), f"group {name} is unschedulable")

    def wait_no_groups(self):
        self.scene.wait(lambda: self.groups.names() == [], "all groups go")

    # ---- the story

    def started(self):
        """Names of pods that ever had a node."""
        return sorted({c.obj["metadata"]["name"] for c in list(self.scene.pods.history) if c.obj["spec"].get("nodeName")})

    def most_begun(self, size):
        """How many jobs at a time had some of their pods placed, and not all."""
        placed, most = {}, 0
        for c in list(self.scene.pods.history):
            if c.obj["spec"].get("nodeName"):
                placed.setdefault(owner_uid(c.obj), set()).add(c.obj["metadata"]["uid"])
            most = max(most, sum(len(pods) < size for pods in placed.values()))
        return most


def holds(pod):
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


# ---- claims

def a_job_starts_whole_or_not_at_all(s):
    room = Room(s, 2, 1)
    s.script(RUNS)
    s.create("j", Worker=room.workers(4))
    room.wait_refused("j")
    s.wait(lambda: condition_of(s.pods.get("j-worker-3"), "PodScheduled") == "Unschedulable", "so do its pods say")
    s.quiet()
    is_((room.started(), room.live_groups()), ([], {"j": 4}), "3 of 4 places are none")
    s.create("less", run_policy={"schedulingPolicy": {"minAvailable": 2}}, Worker=room.workers(4))
    room.wait_bound(3, "less")
    is_(room.min_count("less"), 2, "its minAvailable; more start if they can")
    room.add_node(1)
    room.wait_bound(4, "less")
    s.kube.delete("tfjobs", "less", s.ns)
    s.wait_counts("j", Worker={"active": 4})
    s.wait(lambda: room.says("j", "True", "Scheduled"), "its group says so")
    room.groups.stop()


def condition_of(pod, kind):
    return next((c.get("reason") for c in (pod or {}).get("status", {}).get("conditions", []) if c["type"] == kind), None)


def jobs_that_would_wait_for_each_other_all_end(s):
    room = Room(s, 3, 2)
    s.script({"do": ["run", {"after": 0.2}, {"exit": 0}]})
    for name in "abc":
        s.create(name, successPolicy="AllWorkers", Worker=room.workers(4))
    for name in "abc":
        s.wait_true(name, "Succeeded")
    is_(room.most_begun(4), 1, "jobs that had a part of their pods placed at a time")
    room.wait_no_groups()
    room.groups.stop()


def another_size_is_another_group(s):
    room = Room(s, 4)
    s.script(RUNS)
    s.create("j", run_policy={"schedulingPolicy": {"queue": "train", "minResources": {GPU: "9"}}}, Worker=room.workers(2))
    s.wait_counts("j", Worker={"active": 2})
    is_(room.group("j")["metadata"]["finalizers"], [PROTECTION], "it is protected")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 3}}})
    s.wait_counts("j", Worker={"active": 3})
    room.wait_groups(j_2=1)
    is_((room.group_of("j-worker-0"), room.group_of("j-worker-2")), ("j", "j-2"), "where its pods are")
    assert room.group("j")["metadata"]["deletionTimestamp"], "kept while pods use it"
    s.script({"do": ["run"], "grace": 0.5})
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait(lambda: s.live_pods() == [], "suspended, its pods are leaving")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait(lambda: len(room.bound()) == 3 and list(room.live_groups().values()) == [3], "whole again")
    s.wait(lambda: len(room.groups.names()) == 1, "the others go")
    s.wait_true("j", "Running")
    is_(len(s.told("SchedulingPolicyIgnored")), 1, "what has no effect is told once")
    s.kube.delete("tfjobs", "j", s.ns)
    s.wait(lambda: s.live_pods() == [], "deleted, its pods go")
    room.wait_no_groups()
    room.groups.stop()


def a_job_that_waits_can_be_made_smaller(s):
    room = Room(s, 2)
    s.script(RUNS)
    s.create("j", Worker=room.workers(3))
    room.wait_refused("j")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})
    s.wait_counts("j", Worker={"active": 2})
    room.wait_groups(j_2=2)
    s.wait(lambda: room.groups.names() == ["j-2"], "the other goes")
    s.exit("j-worker-1", 0)
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    room.wait_no_groups()
    room.groups.stop()


@flags("--gang-hold-seconds=2")
def a_gang_whose_place_was_taken_is_restarted_whole(s):
    """Another's pod of a higher priority takes the place of a member, as kube-scheduler does it."""
    room = Room(s, 4)
    s.script(RUNS)
    s.create("j", Worker=room.workers(3))
    s.wait_counts("j", Worker={"active": 3})
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 4}}})
    s.wait_counts("j", Worker={"active": 4})
    room.wait_groups(j_2=1)
    uids = {s.uid(f"j-worker-{i}") for i in range(4)}
    spec = {**room.workers(1, gpus=2)["template"]["spec"], "priorityClassName": HIGH}
    s.kube.create("pods", {"metadata": {"name": "other"}, "spec": spec}, s.ns)
    s.wait(lambda: (s.pods.get("other") or {}).get("spec", {}).get("nodeName"), "the other takes two places")
    event = s.wait_event("TFJobGangBroken", "only 2 of the 3 pods that must run together have had a node")
    is_(event["type"], "Warning", "it is said")
    s.engine.restart_operator()  # killed at any moment, it goes on
    s.wait(lambda: not uids & {s.uid(f"j-worker-{i}") for i in range(4)}, "all its pods are new")
    s.wait(lambda: len(s.live_pods()) == 5 and list(room.live_groups().values()) == [4], "in a group of all")
    (name,) = room.live_groups()
    room.wait_refused(name)
    s.quiet()
    is_(room.bound(), [], "it waits, as a whole")
    is_(condition(s.job("j"), "Restarting")["reason"], "TFJobGangBroken", "the job says so")
    s.exit("other", 0)
    s.wait_counts("j", Worker={"active": 4})
    s.wait_true("j", "Running")
    room.groups.stop()


def who_has_succeeded_is_not_waited_for(s):
    """kube-scheduler counts no pods that have ended: with them the gang of a replacement is never whole."""
    room = Room(s, 4)
    s.script(RUNS)
    s.create("j", successPolicy="AllWorkers", Worker=room.workers(4))
    s.wait_counts("j", Worker={"active": 4})
    uid = s.uid("j-worker-2")
    s.exit("j-worker-3", 0)
    s.exit("j-worker-2", 137)
    s.wait(lambda: s.uid("j-worker-2") not in (None, uid), "it is replaced")
    s.wait_counts("j", Worker={"active": 3, "succeeded": 1})
    for i in range(3):
        s.exit(f"j-worker-{i}", 0)
    s.wait_true("j", "Succeeded")
    is_(s.told("TFJobGangBroken"), [], "nobody else is restarted")
    room.wait_no_groups()
    room.groups.stop()


TESTS = [a_gang_whose_place_was_taken_is_restarted_whole, a_job_starts_whole_or_not_at_all,
         jobs_that_would_wait_for_each_other_all_end, another_size_is_another_group,
         a_job_that_waits_can_be_made_smaller, who_has_succeeded_is_not_waited_for]


def alone(kube, ns, test):
    """With an operator of its own, for that namespace."""
    stage = Stage(kube.kubeconfig, "--namespace", ns, "--gang-scheduler-name=kube", *getattr(test, "flags", ()), kube=kube)
    try:
        play(stage, ns, test)
    except Exception as e:
        e.report = getattr(e, "report", "") + "\n" + stage.words()
        raise
    finally:
        stage.stop()


class Kubernetes:
    """The rest of it, beside the API server that is there."""

    def __init__(self, kubeconfig):
        self.folder = tempfile.mkdtemp(prefix="gang-kube-")
        self.parts = [
            self.start("kube-scheduler", kubeconfig, f"--feature-gates={GATES}"),
            # What removes pods and groups of jobs that are gone, and what lets groups go.
            self.start("kube-controller-manager", kubeconfig, f"--feature-gates={GATES}",
                       "--controllers=garbage-collector-controller,podgroup-protection-controller")]

    def start(self, name, kubeconfig, *words):
        return Process(name, [os.path.join(os.environ["KUBE_TOOLS"], name), "--kubeconfig", kubeconfig,
                              "--leader-elect=false", "--secure-port=0", *words], self.folder)

    def words(self):
        return "".join(p.words() for p in self.parts)

    def stop(self):
        for part in self.parts:
            part.stop()
        shutil.rmtree(self.folder)


def main():
    tap = Tap()
    kubeconfig = os.environ["OPERATOR_KUBECONFIG"]
    kube = Kube(kubeconfig)
    install_crds(kube)
    if not kube.find("priorityclasses", HIGH):  # the tests may run twice
        kube.create("priorityclasses", {"metadata": {"name": HIGH}, "value": 1000})
    kubernetes = Kubernetes(kubeconfig)
    run = f"k{os.getpid()}"
    tap.run_all([(claim(t), alone, kube, f"{run}-{i}", t) for i, t in enumerate(TESTS)])
    if tap.failed:
        tap.note(kubernetes.words())
    kubernetes.stop()
    tap.end()


if __name__ == "__main__":
    main()
