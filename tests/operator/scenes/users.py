"""What people see: columns, describe, and what is said of a job that is wrong (core 1.1, core 6.3)."""

import json

from harness.record import is_true
from harness.scene import template, tfjob
from harness.tap import has, is_

from . import scene

WRONG = {
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "wrong"},
    "spec": {
        "runPolicy": {"cleanPodPolicy": "Sometimes", "backoffLimit": -1},
        "tfReplicaSpecs": {
            "Chief": {"template": {"spec": {"containers": [{"name": "tensorflow"}]}}},
            "Master": {"template": {"spec": {"containers": []}}},
            "Worker": {"replicas": -2, "restartPolicy": "Maybe",
                       "template": {"spec": {"containers": [{"name": "other", "image": "example.com/i"}]}}},
        },
    },
}
PROBLEMS = [
    'spec.runPolicy.cleanPodPolicy: Unsupported value: "Sometimes": supported values: "All", "None", "Running"',
    "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
    "spec.tfReplicaSpecs[Chief].template.spec.containers[0].image: Required value: must be required",
    "spec.tfReplicaSpecs[Master].template.spec.containers: Required value: must be specified",
    "spec.tfReplicaSpecs[Worker].replicas: Invalid value: -2: must be greater than or equal to 0",
    'spec.tfReplicaSpecs[Worker].restartPolicy: Unsupported value: "Maybe": supported values: '
    '"Always", "ExitCode", "Never", "OnFailure"',
    "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name "
    "tensorflow",
    "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role",
]


@scene
def a_job_that_is_wrong_is_told_everything_at_once(s):
    done = s.kubectl("create", "-f", "-", check=False, stdin=json.dumps(WRONG))
    if s.engine.inside:
        assert done.returncode, "muster up refuses it at the door"
        for problem in PROBLEMS:
            has(done.stderr, problem, "and says what is wrong")
        is_(s.jobs.names(), [], "nothing is stored")
        return
    if done.returncode:
        # A schema may refuse some of it at the door: it names the fields it refuses.
        has(done.stderr, "spec.", "names fields")
        return
    s.wait_true("wrong", "Failed")
    for problem in PROBLEMS:
        has(s.message("wrong", "Failed"), problem, "the condition says what is wrong")


@scene
def what_the_door_lets_through_is_failed_by_the_operator(s):
    """On a cluster the schema cannot say that a container must be called tensorflow."""
    if s.engine.inside:
        done = s.kubectl("create", "-f", "-", check=False, stdin=json.dumps(
            {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", **bad_containers()}))
        assert done.returncode
        has(done.stderr, "must have at least one container with name tensorflow", "refused")
        has(done.stderr, "must not have more than 1 Chief or Master role", "with everything")
        return
    try:
        s.kube.create("tfjobs", bad_containers(), s.ns)
    except Exception as e:  # pylint: disable=broad-except # a rule in the CRD said it
        has(str(e), "spec.tfReplicaSpecs", "refused by name")
        return
    job = s.wait_true("wrong", "Failed")
    failed = [c for c in job["status"]["conditions"] if c["type"] == "Failed"][0]
    is_(failed["reason"], "TFJobFailedValidation", "its reason")
    has(failed["message"], "TFJob failed validation because ", "its text")
    has(failed["message"], "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least "
        "one container with name tensorflow", "every problem")
    has(failed["message"], "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role", "of them")
    event = s.wait_event("TFJobFailedValidation", "TFJob failed validation because ")
    is_(event["type"], "Warning", "and an event")
    has(event["message"], "must have at least one container with name tensorflow", "that says it too")
    is_((s.quiet(0.4), s.pods.names(), s.services.names()), (0, [], []), "nothing is made")


def bad_containers():
    other = {"spec": {"containers": [{"name": "other", "image": "example.com/i"}]}}
    return tfjob("wrong", Chief=1, Master=1, Worker={"replicas": 1, "template": other})


@scene
def a_wrong_job_does_not_stall_others(s):
    s.script({"do": ["run", {"exit": 0}]})
    try:
        s.kube.create("tfjobs", bad_containers(), s.ns)
    except Exception:  # pylint: disable=broad-except # refused is as good
        pass
    s.create("right", Worker=1)
    s.wait_true("right", "Succeeded")


@scene
def kubectl_get_shows_state_and_age(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_true("j", "Running")
    lines = s.kubectl("get", "tfjobs").stdout.splitlines()
    is_(lines[0].split(), ["NAME", "STATE", "AGE"], "columns")
    is_(lines[1].split()[:2], ["j", "Running"], "of the job")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    is_(s.kubectl("get", "tfjob", "j", "--no-headers").stdout.split()[:2], ["j", "Succeeded"], "at its end")


@scene
def kubectl_describe_tells_the_story(s):
    s.script({"index": 0, "attempt": 1, "do": ["run", {"exit": 137}]},
             {"do": [{"waiting": ["ImagePullBackOff", "Back-off pulling image"]}]})
    s.create("j", Worker={"replicas": 1, "restartPolicy": "ExitCode", "template": template()})
    s.wait_event("ImagePullBackOff", "Error pod j-worker-0 container tensorflow waiting message: Back-off pulling")
    s.wait_event("ExitedWithCode", "exited with code 137")
    for reason in ("TFJobRestarting", "SuccessfulCreatePod", "SuccessfulDeletePod", "SuccessfulCreateService"):
        s.wait_event(reason)
    text = s.kubectl("describe", "tfjob", "j").stdout
    for part in ("Restarting", "job j is restarting because Worker replica(s) failed.", "Created pod: j-worker-0",
                 "Created service: j-worker-0", "Deleted pod: j-worker-0", "exited with code 137", "ImagePullBackOff",
                 "tfjob-controller"):
        has(text, part, "described")


@scene
def a_pod_that_cannot_be_placed_is_told_of_once(s):
    s.script({"do": [{"unschedulable": "0/3 nodes are available"}]})
    s.create("j", Worker=1)
    event = s.wait_event("Unschedulable", "Error pod j-worker-0 condition message: 0/3 nodes are available")
    is_(event["type"], "Warning", "a warning")
    s.kube.patch("pods", "j-worker-0", {"metadata": {"annotations": {"touched": "1"}}}, s.ns)
    s.quiet(0.4)
    is_(len(s.told("Unschedulable")), 1, "once")


@scene
def many_objects_are_told_of_in_few_events(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=30)
    s.wait_counts("j", Worker={"active": 30})
    s.quiet(0.5)
    made = s.told("SuccessfulCreatePod")
    assert len(made) <= 12, f"parity Q22: {len(made)} events"
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    s.wait_event("TFJobSucceeded")
    assert not is_true(s.job("j"), "Failed")


@scene
def the_stored_job_reads_back_with_a_run_policy(s):
    s.create("j", Worker=1)
    stored = s.kube.get("tfjobs", "j", s.ns)["spec"].get("runPolicy")
    is_(stored, {"suspend": False}, "parity Q31: of the defaults that one is stored")
