"""A job that is changed while it lives: scale, edit, suspend, resume, delete (core 2.5, core 3.1, core 3.4)."""

from harness.kube import ApiError
from harness.record import condition, is_true
from harness.scene import template
from harness.tap import is_

from . import scene
from .restarts import tally, worker


def workers(n):
    return [f"j-worker-{i}" for i in range(n)]


@scene
def scaling_up_and_down_by_spec(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 4}}})
    s.wait_counts("j", Worker={"active": 4})
    s.wait_services(*workers(4))
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 1}}})
    s.wait(lambda: s.pods.names() == workers(1), "surplus pods go")
    s.wait_services(*workers(1))
    s.wait_counts("j", Worker={"active": 1})
    assert not is_true(s.job("j"), "Failed") and not s.told("TFJobRestarting"), "parity Q3: that is no failure"
    s.wait(lambda: len(s.told("SuccessfulDeletePod")) == 3, "told of each")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def a_gap_above_the_range_is_not_filled(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=4)
    s.wait_counts("j", Worker={"active": 4})
    with s.changed:
        before = len(s.pods.history)
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 1}}})
    for name in ("j-worker-1", "j-worker-2"):
        try:
            s.kube.delete("pods", name, s.ns, grace=0)
        except ApiError as e:
            is_(e.status, 404, "gone already")
    s.wait(lambda: s.pods.names() == workers(1), "parity Q2: surplus pods go")
    s.quiet(0.3)
    is_([c.obj["metadata"]["name"] for c in s.pods.history[before:] if c.type == "ADDED"], [], "and none comes")


@scene
def scaling_by_kubectl_scale(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    s.kubectl("scale", "tfjob/j", "--replicas=3")
    s.wait_counts("j", Worker={"active": 3})
    s.kubectl("scale", "tfjob/j", "--replicas=1")
    s.wait(lambda: s.pods.names() == workers(1), "surplus pods go")


@scene
def a_job_is_suspended_while_it_runs_and_resumed(s):
    s.script({"do": ["run"]})
    s.create("j", Chief=1, Worker=2)
    s.wait_counts("j", Chief={"active": 1}, Worker={"active": 2})
    s.wait_true("j", "Running")
    start = s.job("j")["status"]["startTime"]
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait_true("j", "Suspended")
    s.is_kinds("j", "Created(T) Running(F) Suspended(T)")
    is_(condition(s.job("j"), "Running")["reason"], "TFJobSuspended", "why it does not run")
    is_(s.message("j", "Suspended"), "TFJob j is suspended.", "says so")
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "pods and services go")
    is_(s.counts("j"), {"Chief": {}, "Worker": {}}, "active is 0")
    is_(s.job("j")["status"]["startTime"], start, "startTime stays")
    s.wait_event("TFJobSuspended", "TFJob j is suspended.")
    is_(s.quiet(0.4), 0, "and it is quiet")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_true("j", "Running")
    s.is_kinds("j", "Created(T) Suspended(F) Running(T)")
    is_(condition(s.job("j"), "Suspended")["reason"], "TFJobResumed", "why")
    s.wait_event("TFJobResumed", "TFJob j is resumed.")
    assert s.job("j")["status"]["startTime"] >= start
    s.wait_counts("j", Chief={"active": 1}, Worker={"active": 2})
    s.exit("j-chief-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def a_job_is_suspended_while_it_restarts(s):
    s.script({"attempt": 1, "do": ["run", {"exit": 130}]}, {"do": []})
    s.create("j", Worker=worker(1, "ExitCode"), run_policy={"backoffLimit": 2})
    s.wait_true("j", "Restarting")
    s.wait(lambda: s.phase("j-worker-0") == "Pending", "the next attempt waits")
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait_true("j", "Suspended")
    s.is_kinds("j", "Created(T) Suspended(T)")
    s.wait(lambda: s.pods.names() == [], "pods go")
    s.script({"attempt": 3, "do": ["run", {"exit": 130}]}, {"do": ["run"]})
    before = s.job("j")["status"]["startTime"]
    s.quiet(1.1)  # times are whole seconds: the next start shall have another one
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_true("j", "Running")
    s.wait(lambda: len(s.standin.attempts) and tally(s, "j") and tally(s, "j")["since"] != before, "a new count")
    is_(tally(s, "j")["n"], 1, "the budget began anew")


@scene
def a_job_created_suspended_waits(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1, run_policy={"suspend": True, "activeDeadlineSeconds": 60})
    s.wait_true("j", "Suspended")
    s.is_kinds("j", "Created(T) Suspended(T)")
    is_("startTime" in s.job("j")["status"], False, "it has not started")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})
    s.quiet(0.3)
    is_((s.pods.names(), s.services.names()), ([], []), "nothing is made")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_counts("j", Worker={"active": 2})
    s.is_kinds("j", "Created(T) Suspended(F) Running(T)")


@scene
def a_job_is_resumed_while_its_old_pods_still_go(s):
    s.script({"attempt": 1, "do": ["run"], "grace": 0.6, "death": 143}, {"do": ["run"]})
    s.create("j", Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait_true("j", "Suspended")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_counts("j", Worker={"active": 2})
    assert not is_true(s.job("j"), "Failed"), "parity Q3: what was killed did not fail"
    is_({len({c.obj["metadata"]["uid"] for c in s.pods.of(n)}) for n in workers(2)}, {2}, "new pods")


@scene
def an_edited_template_is_for_pods_to_come(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    first = s.uid("j-worker-0")
    new = template(image="example.com/train:2")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": new}}})
    s.wait_counts("j", Worker={"active": 2})
    is_([s.pods.get(n)["spec"]["containers"][0]["image"] for n in workers(2)],
        ["example.com/train", "example.com/train:2"], "images")
    is_(s.uid("j-worker-0"), first, "the old pod was not touched")


@scene
def a_type_taken_out_of_the_spec_is_left_alone(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1, PS=1)
    s.wait_counts("j", Worker={"active": 1}, PS={"active": 1})
    s.edit("j", {"tfReplicaSpecs": {"PS": None}})
    s.quiet(0.4)
    is_(s.live_pods(), ["j-ps-0", "j-worker-0"], "its pod stays (core 3.4)")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def an_edit_that_breaks_a_started_job_is_told_once_and_stops_creation(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    bad = {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {"containers": [
        {"name": "other", "image": "example.com/train"}]}}}}}
    try:
        s.edit("j", bad)
    except ApiError as e:
        assert "tensorflow" in e.message, e.message
        return  # refused at the door, which is better
    event = s.wait_event("TFJobFailedValidation", "must have at least one container with name tensorflow")
    is_(event["type"], "Warning", "a warning")
    s.quiet(0.3)
    is_(s.live_pods(), ["j-worker-0"], "nothing new")
    assert not is_true(s.job("j"), "Failed"), "the job goes on"
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": template()}}})
    s.wait_counts("j", Worker={"active": 2})


@scene
def a_deleted_service_is_made_again_while_the_job_lives(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    s.wait_services("j-worker-0")
    uid = s.services.get("j-worker-0")["metadata"]["uid"]
    s.kube.delete("services", "j-worker-0", s.ns)
    s.wait(lambda: (s.services.get("j-worker-0") or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, "again")


@scene
def a_job_deleted_in_the_middle_leaves_nothing_behind(s):
    s.script({"do": ["run"], "grace": 0.3})
    s.create("j", Worker=worker(2, "OnFailure"))
    s.wait_counts("j", Worker={"active": 2})
    s.kube.delete("tfjobs", "j", s.ns)
    s.wait(lambda: s.job("j") is None, "the job goes")
    if s.engine.name == "muster up":
        s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "and all it owned")
    else:  # no garbage collector runs beside a bare API server
        for name in s.pods.names():
            s.kube.delete("pods", name, s.ns)
        for name in s.services.names():
            s.kube.delete("services", name, s.ns)
        s.wait(lambda: s.pods.names() == [], "the pods are collected")
    is_((s.quiet(0.4), s.live_pods()), (0, []), "nothing comes back")


@scene
def a_job_deleted_and_made_again_gets_pods_of_its_own(s):
    s.script({"do": ["run"], "grace": 0.2})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    old = s.job("j")["metadata"]["uid"]
    s.kube.delete("tfjobs", "j", s.ns, propagation="Background")
    s.wait(lambda: s.job("j") is None, "the job goes")
    new = s.create("j", Worker=1)["metadata"]["uid"]
    if s.engine.name != "muster up":
        s.kube.delete("pods", "j-worker-0", s.ns)
        s.kube.delete("services", "j-worker-0", s.ns)
    s.wait(lambda: [o["uid"] for o in (s.pods.get("j-worker-0") or {"metadata": {}})["metadata"].get(
        "ownerReferences", [])] == [new], "the new job's pod")
    s.wait_counts("j", Worker={"active": 1})
    assert old != new
