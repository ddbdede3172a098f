#!/usr/bin/python3
"""A cluster whose CRD checks nothing, as one has that was installed by somebody else: what is wrong then
reaches the operator, which says so, by field, and goes on with its work (core 6.3.1, J7)."""

import os
import time

from harness.engine import Cluster, MusterUp, served
from harness.record import condition, conditions, is_true
from harness.scene import play, template, tfjob
from harness.tap import Tap, claim, has, is_
from scenes.users import PROBLEMS, WRONG

LAX = {"metadata": {"name": "tfjobs.kubeflow.org"}, "spec": {
    "group": "kubeflow.org", "scope": "Namespaced",
    "names": {"kind": "TFJob", "listKind": "TFJobList", "plural": "tfjobs", "singular": "tfjob"},
    "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                  "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def every_problem_is_in_the_condition_and_in_an_event(s):
    s.kube.create("tfjobs", WRONG, s.ns)
    job = s.wait_true("wrong", "Failed")
    is_(condition(job, "Failed")["reason"], "TFJobFailedValidation", "its reason")
    has(s.message("wrong", "Failed"), "TFJob failed validation because ", "its text")
    for problem in PROBLEMS:
        has(s.message("wrong", "Failed"), problem, "every problem")
    assert job["status"].get("completionTime"), "it is over"
    event = s.wait_event("TFJobFailedValidation", "TFJob failed validation because ")
    is_(event["type"], "Warning", "and a warning")
    is_((s.quiet(0.5), s.pods.names(), s.services.names()), (0, [], []), "nothing is made, nothing more is said")


def other_shapes_that_are_wrong(s):
    odd = {
        "no-spec": {}, "null-map": {"spec": {"tfReplicaSpecs": None}}, "empty-map": {"spec": {"tfReplicaSpecs": {}}},
        "list-map": {"spec": {"tfReplicaSpecs": []}}, "text-spec": {"spec": "x"},
        "null-role": {"spec": {"tfReplicaSpecs": {"Worker": None}}},
        "huge": {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 9007199254740993, "template": template()}}}},
        "no-template": {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1}}}},
        "x" * 63: tfjob("x" * 63, Worker=1),
    }
    for name, obj in odd.items():
        s.kube.create("tfjobs", {"metadata": {"name": name}, "spec": obj.get("spec")} if "spec" in obj
                      else {"metadata": {"name": name}}, s.ns)
    for name in odd:
        s.wait_true(name, "Failed")
        has(s.message(name, "Failed"), "spec" if name[0] != "x" else "metadata.name", f"{name} names the field")
    is_(s.pods.names(), [], "nothing is made")


def a_job_broken_by_an_edit_goes_on_and_is_told_of_once_per_edit(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 3, "restartPolicy": "Maybe"}}})
    s.wait_event("TFJobFailedValidation", "restartPolicy")
    s.kube.patch("pods", "j-worker-1", {"metadata": {"annotations": {"touched": "1"}}}, s.ns)
    s.quiet(0.4)
    is_(len(s.told("TFJobFailedValidation")), 1, "once")
    is_(s.live_pods(), ["j-worker-0", "j-worker-1"], "nothing is made")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"restartPolicy": "Perhaps"}}})
    s.wait(lambda: len(s.told("TFJobFailedValidation")) == 2, "once for each edit")
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"restartPolicy": "OnFailure"}}})
    s.wait_counts("j", Worker={"active": 3})
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


def a_wrong_job_goes_when_its_time_is_over(s):
    wrong = {**WRONG, "spec": {**WRONG["spec"], "runPolicy": {"ttlSecondsAfterFinished": 1, "backoffLimit": -1}}}
    s.kube.create("tfjobs", wrong, s.ns)
    s.wait_was("wrong", "Failed")
    s.wait(lambda: s.job("wrong") is None, "it goes")


def managers_that_no_door_refuses(s):
    s.create("nobody", Worker=1, run_policy={"managedBy": ""})
    s.create("other", Worker=1, run_policy={"managedBy": "example.com/other"})
    time.sleep(0.5)  # what does not happen takes time to see
    is_([conditions(s.job(n)) for n in ("nobody", "other")], [[], []], "left alone")
    is_(s.pods.names(), [], "no pods")


def a_job_that_another_operator_left_is_taken_over(s):
    """Finished by the original, without completionTime (parity Q18), and one that runs (parity Q8)."""
    s.engine.kill_operator()
    stamp = "2025-01-01T10:00:00Z"
    made = [{"type": "Created", "status": "True", "reason": "TFJobCreated", "message": "TFJob j is created.",
             "lastUpdateTime": stamp, "lastTransitionTime": stamp}]
    failed = {"type": "Failed", "status": "True", "reason": "TFJobFailed", "message": "x",
              "lastUpdateTime": stamp, "lastTransitionTime": stamp}
    s.create("old", Worker=1)
    s.kube.patch("tfjobs", "old", {"status": {"conditions": made + [failed], "startTime": stamp}}, s.ns, "status")
    s.create("gone", Worker=1, run_policy={"ttlSecondsAfterFinished": 5})
    s.kube.patch("tfjobs", "gone", {"status": {"conditions": made + [failed], "startTime": stamp}}, s.ns, "status")
    s.engine.start_operator()
    s.wait(lambda: s.job("old").get("status", {}).get("completionTime") == stamp, "the missing time is written")
    s.wait(lambda: s.job("gone") is None, "and counts")
    is_(is_true(s.job("old"), "Failed"), True, "it stays failed")
    s.checked = False  # what the other operator wrote is not held against ours


TESTS = [every_problem_is_in_the_condition_and_in_an_event, other_shapes_that_are_wrong,
         a_job_broken_by_an_edit_goes_on_and_is_told_of_once_per_edit, a_wrong_job_goes_when_its_time_is_over,
         managers_that_no_door_refuses]


def main():
    tap = Tap()
    up = MusterUp(inside=False)
    up.kube.delete("customresourcedefinitions", LAX["metadata"]["name"])
    while up.kube.find("customresourcedefinitions", LAX["metadata"]["name"]):
        time.sleep(0.05)
    up.kube.create("customresourcedefinitions", LAX)
    assert served(up.kube, 60)
    engine = Cluster(up.kube.kubeconfig, kube=up.kube)
    tap.run_all([(claim(t), play, engine, f"o{os.getpid()}-{i}", t) for i, t in enumerate(TESTS)], width=6)
    tap.run(claim(a_job_that_another_operator_left_is_taken_over), play, engine, f"o{os.getpid()}-t",
            a_job_that_another_operator_left_is_taken_over)
    if tap.failed:
        print("#", engine.words().replace("\n", "\n# "))
    engine.stop()
    up.stop()
    tap.end()


if __name__ == "__main__":
    main()
