#!/usr/bin/python3
"""Gang scheduling (core 7): the operator with each of its schedulers, which a stand-in plays, and beside Kueue, whose
part the tests play too."""

import json
import os
import re

from harness.engine import Cluster, Operator, Proxied, Server
from harness.groups import Volcano, install, is_served, remove
from harness.mirror import Mirror
from harness.record import condition, conditions
from harness.scene import play, template
from harness.tap import Skip, Tap, claim, has, is_

GROUPS = {"volcano": "podgroups.volcano", "scheduler-plugins-scheduler": "podgroups.plugins", "kube": "podgroups.kube"}
QUEUE = "kueue.x-k8s.io/queue-name"
GPU = {"nvidia.com/gpu": "1"}
RESTART = "muster.dev/whole-restart"


def gang(*flags):
    """The flags of the operator that the test has for itself."""
    def mark(f):
        f.flags = flags
        return f
    return mark


def groups_of(s, scheduler="volcano"):
    return Mirror(s.kube, GROUPS[scheduler], s.ns, changed=s.changed)


def wait_group(s, groups, name="j"):
    s.wait(lambda: groups.get(name), f"group {name}")
    return groups.get(name)


@gang("--gang-scheduler-name=volcano")
def a_job_has_no_pods_until_volcano_lets_it_in(s):
    groups, volcano = groups_of(s), Volcano(s)
    s.script({"do": ["run"]})
    s.create("j", PS=1, Worker={"replicas": 2, "template": template(resources={"limits": GPU})})
    spec = wait_group(s, groups)["spec"]
    is_(spec, {"minMember": 3, "queue": "default", "minResources": {"nvidia.com/gpu": "2"}}, "its group")
    volcano.say("j", "Pending", "queue resource quota insufficient: insufficient nvidia.com/gpu")
    event = s.wait_event("PodGroupPending", "insufficient nvidia.com/gpu")
    is_(event["message"], "Waiting for PodGroup j (3 pods with nvidia.com/gpu=2): queue resource quota insufficient: "
        "insufficient nvidia.com/gpu", "says what for")
    s.wait(lambda: s.message("j", "Created").startswith("TFJob j is created. Waiting for PodGroup j"), "so does the job")
    revisions = len(s.jobs.of("j"))
    for _ in range(20):
        volcano.say("j", "Pending", "queue resource quota insufficient: insufficient nvidia.com/gpu")
    volcano.say("j", "Pending", "something else, which is for later")
    groups.sync()
    is_((s.quiet(0.5), s.pods.names(), s.services.names()), (0, [], []), "nothing is made")
    is_(len(s.jobs.of("j")), revisions, "parity Q10: nothing is written")
    is_(len(s.told("PodGroupPending")), 1, "nor told")
    is_([k for k in ("startTime", "replicaStatuses") if k in s.job("j")["status"]], [], "nothing has begun")
    volcano.let_in("j")
    s.wait_counts("j", PS={"active": 1}, Worker={"active": 2})
    is_(s.message("j", "Created"), "TFJob j is created.", "it waits no more")
    pod = s.pods.get("j-worker-1")
    is_(pod["spec"]["schedulerName"], "volcano", "its pods are Volcano's")
    is_({k: v for k, v in pod["metadata"]["annotations"].items() if "/" in k},
        {"scheduling.k8s.io/group-name": "j", "volcano.sh/task-spec": "worker"}, "and in the group")
    volcano.say("j", "Running", running=3)
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    s.wait(lambda: not groups.get("j"), "the group goes")
    s.wait_event("SuccessfulDeletePodGroup", "Deleted PodGroup: j")
    s.wait_event("JobTerminated", "Job has been terminated. Deleting PodGroup")
    s.quiet(0.3)
    is_([len(s.told(r)) for r in ("JobTerminated", "SuccessfulDeletePodGroup")], [1, 1], "each is told once")
    groups.stop()


@gang("--gang-scheduler-name=volcano")
def what_a_scheduler_does_not_change_is_not_written(s):
    """parity Q10, parity Q11: changes of the job are, and priorities are read."""
    groups, volcano = groups_of(s), Volcano(s)
    name = f"high-{s.ns}"
    cls = {"metadata": {"name": name}, "value": 1000}
    s.create("j", run_policy={"schedulingPolicy": {"minAvailable": 2}},
             PS={"replicas": 2, "template": template(resources={"requests": {"cpu": "1"}})},
             Worker={"replicas": 2, "template": {"spec": {**template(resources={"limits": GPU})["spec"],
                                                          "priorityClassName": name}}})
    is_(wait_group(s, groups)["spec"]["minResources"], {"cpu": "2"}, "by name")
    s.kube.create("priorityclasses", cls)
    s.wait(lambda: groups.get("j")["spec"]["minResources"] == {"nvidia.com/gpu": "2"}, "by priority")
    volcano.say("j", "Pending")
    s.kube.patch("podgroups.volcano", "j", {"spec": {"queue": "moved", "minTaskMember": {"ps": 1}}}, s.ns)
    s.edit("j", {"runPolicy": {"schedulingPolicy": {"minAvailable": 4}}})
    s.wait(lambda: groups.get("j")["spec"]["minMember"] == 4, "the group follows the job")
    is_((groups.get("j")["spec"]["queue"], groups.get("j")["spec"]["minTaskMember"]), ("moved", {"ps": 1}),
        "what others set stays")
    groups.sync()
    revisions = len(groups.history)
    s.kube.patch("tfjobs", "j", {"metadata": {"labels": {"a": "b"}}}, s.ns)
    s.quiet(0.3)
    groups.sync()
    is_(len(groups.history), revisions, "nothing to change, nothing written")
    s.kube.delete("priorityclasses", name)
    groups.stop()


@gang("--gang-scheduler-name=volcano")
def a_group_of_another_is_left_alone(s):
    """parity Q39."""
    groups = groups_of(s)
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "controller": True}
    owner = s.kube.create("configmaps", {"metadata": {"name": "other"}}, s.ns)
    s.kube.create("podgroups.volcano", {"metadata": {"name": "j", "ownerReferences": [
        {**other, "uid": owner["metadata"]["uid"]}]}, "spec": {"minMember": 1}, "status": {"phase": "Running"}}, s.ns)
    s.create("j", Worker=1)
    s.wait_event("FailedSyncPodGroup", "PodGroup j is controlled by ConfigMap other")
    is_((s.quiet(0.3), s.pods.names(), groups.get("j")["spec"]), (0, [], {"minMember": 1}), "and nothing is made")
    is_(len(s.told("FailedSyncPodGroup")), 1, "told once")
    s.kube.delete("podgroups.volcano", "j", s.ns)
    s.wait(lambda: (groups.get("j") or {}).get("spec", {}).get("queue") == "default", "once it is gone, its own comes")
    Volcano(s).let_in("j")
    s.wait_pods("j-worker-0")
    groups.stop()


@gang("--gang-scheduler-name=volcano", "--gang-hold-seconds=1")
def a_gang_that_lost_its_place_is_restarted_whole(s):
    """core 7.6: another took the place of a pod that failed: nothing is partial, nothing hangs."""
    groups, volcano = groups_of(s), Volcano(s)
    s.script({"index": 1, "attempt": 2, "do": []}, {"do": ["run"]})
    s.create("j", run_policy={"backoffLimit": 1}, Worker={"replicas": 3, "restartPolicy": "ExitCode"})
    wait_group(s, groups)
    volcano.let_in("j")
    s.wait_counts("j", Worker={"active": 3})
    volcano.say("j", "Running", running=3)
    uids, group = {s.uid(f"j-worker-{i}") for i in range(3)}, groups.get("j")["metadata"]["uid"]
    s.kube.delete("pods", "j-worker-1", s.ns)  # evicted; another's pod is faster
    s.wait(lambda: s.uid("j-worker-1") not in uids, "it is replaced")
    volcano.say("j", "Unknown", running=2)
    event = s.wait_event("TFJobGangBroken", "only 2 of the 3 pods that must run together have had a node")
    is_(event["type"], "Warning", "it is said")
    s.wait(lambda: s.pods.names() == [], "all pods go")
    is_(s.services.names(), [f"j-worker-{i}" for i in range(3)], "services stay")
    s.quiet(0.3)
    is_((s.pods.names(), groups.get("j")["metadata"]["uid"]), ([], group), "the group stays and is waited for")
    is_(condition(s.job("j"), "Restarting")["reason"], "TFJobGangBroken", "the job says so")
    volcano.say("j", "Pending")
    volcano.let_in("j")
    s.wait_counts("j", Worker={"active": 3})
    s.wait_true("j", "Running")
    is_(s.told("TFJobFailed"), [], "it counts as no failure")
    groups.stop()


@gang("--gang-scheduler-name=volcano", "--gang-hold-seconds=1")
def a_gang_is_restarted_once_whoever_dies(s):
    """Killed when the restart was written and pods may be gone or not."""
    groups, volcano = groups_of(s), Volcano(s)
    s.script({"index": 1, "attempt": 1, "do": []}, {"do": ["run"], "grace": 0.3})
    s.create("j", Worker=3)
    wait_group(s, groups)
    volcano.let_in("j")
    s.wait(lambda: RESTART in s.job("j")["metadata"].get("annotations", {}), "the restart is written")
    s.engine.restart_operator()
    s.wait(lambda: s.pods.names() == [], "all pods go")
    volcano.say("j", "Pending")
    volcano.let_in("j")
    s.wait_counts("j", Worker={"active": 3})
    is_(json.loads(s.job("j")["metadata"]["annotations"][RESTART])["attempt"], 1, "once")
    groups.stop()


@gang("--gang-scheduler-name=volcano", "--gang-hold-seconds=0", "--gang-max-restarts=0")
def a_gang_that_breaks_too_often_fails(s):
    groups, volcano = groups_of(s), Volcano(s)
    s.script({"index": 0, "do": ["bind"]})
    s.create("j", Worker=2)
    wait_group(s, groups)
    volcano.let_in("j")
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "--gang-max-restarts", "says why")
    s.wait(lambda: s.pods.names() == [] and not groups.get("j"), "all of it goes")
    groups.stop()


@gang("--gang-scheduler-name=scheduler-plugins-scheduler")
def scheduler_plugins_gets_pods_at_once(s):
    groups = groups_of(s, "scheduler-plugins-scheduler")
    s.script({"do": ["run"]})
    s.create("j", run_policy={"schedulingPolicy": {"scheduleTimeoutSeconds": 10, "queue": "train"}}, Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    is_(groups.get("j")["spec"], {"minMember": 2, "scheduleTimeoutSeconds": 10}, "its group")
    pod = s.pods.get("j-worker-0")
    is_((pod["spec"]["schedulerName"], pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"]),
        ("scheduler-plugins-scheduler", "j"), "its pods")
    groups.stop()


@gang("--gang-scheduler-name=kube")
def another_size_is_another_group_of_kubernetes(s):
    """Its spec cannot change."""
    groups = groups_of(s, "kube")
    s.script({"do": ["run"]})
    s.create("j", run_policy={"schedulingPolicy": {"queue": "train"}}, Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    is_(groups.get("j")["spec"], {"schedulingPolicy": {"gang": {"minCount": 2}}}, "its group")
    s.wait_event("SchedulingPolicyIgnored", "schedulingPolicy.queue and minResources have no effect")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 3}}})
    s.wait_counts("j", Worker={"active": 3})
    s.wait(lambda: groups.names() == ["j-2"], "one for the pods that came; the other goes")
    is_(groups.get("j-2")["spec"], {"schedulingPolicy": {"gang": {"minCount": 1}}}, "which needs the new one alone")
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait(lambda: groups.names() == [] and s.pods.names() == [], "all of it goes")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_counts("j", Worker={"active": 3})
    is_([g["spec"] for g in groups.now.values()], [{"schedulingPolicy": {"gang": {"minCount": 3}}}], "whole again")
    groups.stop()


@gang("--gang-scheduler-name=kube")
def a_group_of_kubernetes_takes_no_other_jobs_name(s):
    groups = groups_of(s, "kube")
    s.script({"do": ["run"]})
    for name in ("j", "j-2"):
        s.create(name, Worker=1)
        s.wait_counts(name, Worker={"active": 1})
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})
    s.wait_counts("j", Worker={"active": 2})
    s.create("j-3", Worker=1)
    s.wait_counts("j-3", Worker={"active": 1})
    s.wait(lambda: {n: owner_of(groups.get(n)) for n in groups.names()} == {"j-2": "j-2", "j-3": "j", "j-3-1": "j-3"},
           "whose groups there are")
    is_(s.told("FailedSyncPodGroup"), [], "no name was tried in vain")
    groups.stop()


def owner_of(group):
    return group["metadata"]["ownerReferences"][0]["name"]


def beside_kueue(s, scheduler):
    """What Kueue asks of us (parity Q34, core 2.5): jobs made suspended, changed while they are, stopped at any time."""
    groups = groups_of(s, scheduler) if scheduler else None
    s.script({"do": ["run"], "grace": 0.1})
    s.kube.create("tfjobs", {"metadata": {"name": "j", "labels": {QUEUE: "team"}}, "spec": {
        "runPolicy": {"suspend": True}, "tfReplicaSpecs": {"Worker": {"replicas": 2, "template": template()}}}}, s.ns)
    s.kube.create("tfjobs", {"metadata": {"name": "remote", "labels": {QUEUE: "team"}}, "spec": {
        "runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"},
        "tfReplicaSpecs": {"Worker": {"replicas": 1, "template": template()}}}}, s.ns)
    s.wait_true("j", "Suspended")
    is_((s.quiet(0.3), s.pods.names(), groups.names() if groups else []), (0, [], []), "nothing is made")
    assert "startTime" not in s.job("j")["status"]
    flavor = {"nodeSelector": {"flavor": "spot"}, "tolerations": [{"key": "spot", "operator": "Exists"}]}
    s.edit("j", {"runPolicy": {"suspend": False}, "tfReplicaSpecs": {"Worker": {"template": {"spec": flavor}}}})
    if scheduler:
        s.wait(lambda: len(groups.names()) == 1, "its group")
    if scheduler == "volcano":
        Volcano(s).let_in("j")
    s.wait_counts("j", Worker={"active": 2})
    is_(s.pods.get("j-worker-0")["spec"]["nodeSelector"], {"flavor": "spot"}, "with its flavor")
    s.edit("j", {"runPolicy": {"suspend": True}, "tfReplicaSpecs": {"Worker": {"template": {"spec": {
        "nodeSelector": None, "tolerations": None}}}}})
    s.wait_true("j", "Suspended")
    s.wait(lambda: s.pods.names() == [] and not (groups and groups.names()), "pods and group go")
    is_((s.counts("j"), s.job("j")["metadata"]["labels"]), ({"Worker": {}}, {QUEUE: "team"}), "nothing is active")
    s.edit("j", {"runPolicy": {"suspend": False}})
    if scheduler == "volcano":
        s.wait(lambda: groups.names() == ["j"], "its group again")
        Volcano(s).let_in("j")
    s.wait_counts("j", Worker={"active": 2})
    assert "nodeSelector" not in s.pods.get("j-worker-0")["spec"]
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    is_(conditions(s.job("remote")), [], "what another manages is left alone")
    if groups:
        s.wait(lambda: groups.names() == [], "the end")
        groups.stop()


def kueue_tests():
    for scheduler in ("volcano", "scheduler-plugins-scheduler", "kube", ""):
        def test(s, scheduler=scheduler):
            beside_kueue(s, scheduler)
        test.__name__ = f"jobs_of_kueue_with_{scheduler or 'no'}_gangs"
        test.flags = (f"--gang-scheduler-name={scheduler}",)
        yield test


TESTS = [a_job_has_no_pods_until_volcano_lets_it_in, what_a_scheduler_does_not_change_is_not_written,
         a_group_of_another_is_left_alone, a_gang_that_lost_its_place_is_restarted_whole,
         a_gang_is_restarted_once_whoever_dies, a_gang_that_breaks_too_often_fails, scheduler_plugins_gets_pods_at_once,
         another_size_is_another_group_of_kubernetes, a_group_of_kubernetes_takes_no_other_jobs_name, *kueue_tests()]


def alone(server, ns, test):
    """With an operator of its own, for that namespace."""
    if "--gang-scheduler-name=kube" in test.flags and not is_served(server.kube, "podgroups.kube"):
        raise Skip("the server is older than Kubernetes 1.36")
    engine = Cluster(server.kube.kubeconfig, "--namespace", ns, *test.flags, kube=server.kube)
    try:
        play(engine, ns, test)
    except Exception as e:
        e.report = getattr(e, "report", "") + "\n" + engine.words()
        raise
    finally:
        engine.stop()


class Unready(Cluster):
    """`muster operator` that cannot get ready yet."""

    def start_operator(self):
        self.operator = Operator(self.kubeconfig, self.folder, *self.args, wait=False)
        self.children.append(self.operator)


def jobs_wait_while_the_cluster_has_no_pod_groups(server, ns):
    """core 7.1: said once; they start when the definition comes."""
    engine = Unready(server.kube.kubeconfig, "--namespace", ns, "--enable-gang-scheduling", kube=server.kube)

    def test(s):
        s.script({"do": ["run"]})
        s.create("j", Worker=1)
        s.wait_event("PodGroupPending", "Waiting for PodGroups of scheduling.volcano.sh/v1beta1, which the server does not")
        has(s.message("j", "Created"), "TFJob j is created. Waiting for PodGroups", "the job says so")
        is_((s.quiet(0.3), s.pods.names(), engine.operator.probe()), (0, [], 500), "it waits, and the operator is not ready")
        install(server.kube, "podgroups.volcano")
        groups = groups_of(s)
        wait_group(s, groups)
        Volcano(s).let_in("j")
        s.wait_true("j", "Running")
        engine.operator.wait_ready()
        said = [line for line in engine.operator.words(500).splitlines() if "install Volcano" in line]
        is_(len(said), 1, "the log says once what to install")
        assert re.search(r"level=warn .*podgroups\.scheduling\.volcano\.sh", said[0]), said
        groups.stop()

    try:
        play(engine, ns, test)
    finally:
        engine.stop()


def priorities_that_nobody_may_read_count_as_0(server, ns):
    """parity Q11; and a job that waits costs no request at all (parity Q10)."""
    engine = Proxied(server.kube, ns, "--gang-scheduler-name=volcano", wait=False)
    engine.kill_operator()
    engine.proxy.fault(lambda r: r.plural == "priorityclasses", "answer", 403, times=10**6)
    engine.start_operator()

    def test(s):
        groups, volcano = groups_of(s), Volcano(s)
        s.create("j", Worker={"replicas": 2, "template": {"spec": {**template()["spec"], "priorityClassName": "high"}}})
        is_(wait_group(s, groups)["spec"]["minMember"], 2, "its group")
        volcano.say("j", "Pending", "no room")
        s.wait_event("PodGroupPending", "no room")
        s.quiet(0.3)
        before = len(engine.proxy.requests)
        for _ in range(10):
            volcano.say("j", "Pending", "no room")
        groups.sync()
        s.quiet(0.5)
        asked = [str(r) for r in engine.proxy.requests[before:] if r.plural != "priorityclasses"]
        is_(asked, [], "requests while it waits")
        groups.stop()

    try:
        play(engine, ns, test)
    finally:
        engine.stop()


def main():
    tap = Tap()
    server = Server()
    run = f"g{os.getpid()}"
    if is_served(server.kube, "podgroups.volcano"):
        remove(server.kube, "podgroups.volcano")
    tap.run(claim(jobs_wait_while_the_cluster_has_no_pod_groups), jobs_wait_while_the_cluster_has_no_pod_groups,
            server, f"{run}-m")
    for plural in GROUPS.values():
        if server.up or plural != "podgroups.kube":  # a group of Kubernetes itself has no definitions there
            install(server.kube, plural)
    tap.run_all([(f"{claim(t)} ({server.name})", alone, server, f"{run}-{i}", t) for i, t in enumerate(TESTS)], width=10)
    tap.run(f"{claim(priorities_that_nobody_may_read_count_as_0)} ({server.name})",
            priorities_that_nobody_may_read_count_as_0, server, f"{run}-p")
    if tap.failed and server.up:
        print("#", server.up.words().replace("\n", "\n# "))
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
