"""Names that are taken, objects without an owner, and jobs that are somebody else's (core 2.4, parity Q14)."""

from harness.kinds import PYTORCH
from harness.kube import ApiError
from harness.mirror import Mirror
from harness.record import conditions, is_true, owner_uid
from harness.scene import job_of, tfjob
from harness.standin import OPERATOR, PREFIX
from harness.tap import has, is_

from . import scene


def foreign_pod(name):
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "example.com/i"}]}}


@scene
def an_orphaned_service_is_adopted(s):
    labels = {OPERATOR: "tfjob-controller", PREFIX + "job-name": "j", PREFIX + "replica-type": "worker",
              PREFIX + "replica-index": "0"}
    made = s.kube.create("services", {"metadata": {"name": "j-worker-0", "labels": labels},
                                      "spec": {"clusterIP": "None", "selector": labels}}, s.ns)
    s.script({"do": ["run"]})
    job = s.create("j", Worker=1)
    s.wait(lambda: owner_uid(s.services.get("j-worker-0") or {"metadata": {}}) == job["metadata"]["uid"], "parity Q14: adopted")
    owner = s.services.get("j-worker-0")["metadata"]["ownerReferences"]
    is_([(o["apiVersion"], o["kind"], o["name"], o["controller"], o["blockOwnerDeletion"]) for o in owner],
        [("kubeflow.org/v1", "TFJob", "j", True, True)], "properly")
    is_(s.services.get("j-worker-0")["metadata"]["uid"], made["metadata"]["uid"], "the same object")
    s.wait_counts("j", Worker={"active": 1})
    assert not s.told("FailedCreateService")


@scene
def a_service_of_another_owner_is_left_alone(s):
    labels = {OPERATOR: "tfjob-controller", PREFIX + "job-name": "j", PREFIX + "replica-type": "worker",
              PREFIX + "replica-index": "0"}
    holder = s.kube.create("configmaps", {"metadata": {"name": "holder"}}, s.ns)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "holder", "uid": holder["metadata"]["uid"],
             "controller": True}
    s.kube.create("services", {"metadata": {"name": "j-worker-0", "labels": labels, "ownerReferences": [owner]},
                               "spec": {"clusterIP": "None", "selector": labels}}, s.ns)
    s.script({"do": ["run"]})
    s.create("j", Worker=2, run_policy={"cleanPodPolicy": "All"})
    s.wait_event("FailedCreateService", 'Error creating: services "j-worker-0" already exists')
    s.wait_counts("j", Worker={"active": 2})
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    s.wait(lambda: s.pods.names() == [], "clean-up")
    s.wait(lambda: s.services.names() == ["j-worker-0"], "parity Q32: ours go, theirs stays")


@scene
def a_foreign_pod_that_holds_a_name_is_told_of_and_waited_for(s):
    s.kube.create("pods", foreign_pod("j-worker-1"), s.ns)
    s.script({"do": ["run"]})
    s.create("j", Worker=3)
    s.wait_counts("j", Worker={"active": 2})
    s.wait_services("j-worker-0", "j-worker-1", "j-worker-2")
    event = s.wait_event("FailedCreatePod", 'Error creating: pods "j-worker-1" already exists')
    is_(event["type"], "Warning", "a warning")
    assert owner_uid(s.pods.get("j-worker-1")) is None, "pods are never adopted"
    s.quiet(1.0)
    is_(len(s.told("FailedCreatePod")), 1, "told once")
    is_(s.told("FailedCreatePod")[0].get("count") or 1, 1, "really")
    s.kube.delete("pods", "j-worker-1", s.ns, grace=0)
    s.wait(lambda: owner_uid(s.pods.get("j-worker-1") or {"metadata": {}}), "freed: at once ours")
    s.wait_counts("j", Worker={"active": 3})


@scene
def two_jobs_with_clashing_names_do_not_disturb_each_other(s):
    """Job a's type "worker-worker" makes a-worker-worker-0; so does job a-worker's type worker."""
    s.script({"do": ["run"]})
    first = s.create("a-worker", Worker=1)
    s.wait_counts("a-worker", Worker={"active": 1})
    odd = tfjob("a", Worker=1, more={"Worker-Worker": 1})
    s.kube.create("tfjobs", odd, s.ns)
    s.wait_event("FailedCreatePod", 'pods "a-worker-worker-0" already exists')
    s.wait_event("FailedCreateService", 'services "a-worker-worker-0" already exists')
    s.wait_true("a", "Running")
    s.wait(lambda: s.live_pods() == ["a-worker-0", "a-worker-worker-0"], "each has what it can")
    is_(owner_uid(s.pods.get("a-worker-worker-0")), first["metadata"]["uid"], "still the first job's")
    s.exit("a-worker-worker-0", 0)
    s.wait_true("a-worker", "Succeeded")
    assert not is_true(s.job("a"), "Succeeded"), "which is no business of the other"
    s.exit("a-worker-0", 0)
    s.wait_true("a", "Succeeded")


@scene
def two_jobs_of_one_name_and_different_kinds_do_not_disturb_each_other(s):
    others = Mirror(s.kube, "pytorchjobs", s.ns, changed=s.changed)
    try:
        s.script({"do": ["run"]})
        first = s.create("j", Worker=1)
        s.wait_counts("j", Worker={"active": 1})
        s.kube.create("pytorchjobs", job_of(PYTORCH, "j", Master=1, Worker=1), s.ns)
        s.wait_event("FailedCreatePod", 'pods "j-worker-0" already exists')
        s.wait(lambda: is_true(others.get("j"), "Running"), "parity Q12: the other has what it can")
        is_(owner_uid(s.pods.get("j-worker-0")), first["metadata"]["uid"], "parity Q12: still the first job's")
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded")
        assert not is_true(others.get("j"), "Succeeded"), "which is no business of the other"
        s.exit("j-master-0", 0)
        s.wait(lambda: is_true(others.get("j"), "Succeeded"), "each ends by its own pods")
    finally:
        others.stop()


@scene
def a_name_is_freed_when_the_other_job_is_suspended(s):
    s.script({"do": ["run"]})
    s.create("a-worker", Worker=1)
    s.wait_counts("a-worker", Worker={"active": 1})
    odd = tfjob("a", Worker=1, more={"Worker-Worker": 1})
    second = s.kube.create("tfjobs", odd, s.ns)
    s.wait_event("FailedCreatePod", 'pods "a-worker-worker-0" already exists')
    s.edit("a-worker", {"runPolicy": {"suspend": True}})
    s.wait(lambda: owner_uid(s.pods.get("a-worker-worker-0") or {"metadata": {}}) == second["metadata"]["uid"],
           "at once the other's")


@scene
def a_job_managed_by_another_controller_is_not_touched(s):
    s.script({"do": ["run"]})
    s.create("theirs", Worker=1, run_policy={"managedBy": "kueue.x-k8s.io/multikueue"})
    s.create("ours", Worker=1, run_policy={"managedBy": "kubeflow.org/training-operator"})
    s.wait_counts("ours", Worker={"active": 1})
    s.edit("theirs", {"runPolicy": {"suspend": True}})
    s.quiet(0.3)
    is_(conditions(s.job("theirs")), [], "no status")
    is_(s.pods.names(), ["ours-worker-0"], "no pods")
    for value in ("kubeflow.org/training-operator", None):
        try:
            s.edit("theirs", {"runPolicy": {"managedBy": value}})
            raise AssertionError(f"managedBy became {value}")
        except ApiError as e:
            has(e.message, "managedBy", "refused, by its name")


@scene
def an_unknown_manager_is_refused(s):
    for value in ("", "example.com/other"):
        try:
            s.create("j", Worker=1, run_policy={"managedBy": value})
            raise AssertionError(f"accepted {value!r}")
        except ApiError as e:
            has(e.message, "spec.runPolicy.managedBy", "names the field")
