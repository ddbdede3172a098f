"""How a job ends: each success rule, each kind of failure (tfjob 6, tfjob 7, core 12.3)."""

from harness.record import is_true
from harness.tap import has, is_

from . import scene

DONE = "Created(T) Running(F) Succeeded(T)"
FAILED = "Created(T) Running(F) Failed(T)"


@scene
def one_worker_runs_and_succeeds(s):
    s.create("mnist", Worker=1)
    s.wait_pods("mnist-worker-0")
    s.wait_services("mnist-worker-0")
    s.wait(lambda: s.job("mnist").get("status", {}).get("startTime"), "startTime comes with acceptance")
    s.is_kinds("mnist", "Created(T)")
    pod = s.pods.get("mnist-worker-0")
    is_({k.split("/")[-1]: v for k, v in pod["metadata"]["labels"].items()},
        {"operator-name": "tfjob-controller", "job-name": "mnist", "replica-type": "worker", "replica-index": "0",
         "job-role": "master"}, "labels of the pod")
    owner = pod["metadata"]["ownerReferences"]
    is_([(o["apiVersion"], o["kind"], o["name"], o["uid"], o["controller"], o["blockOwnerDeletion"]) for o in owner],
        [("kubeflow.org/v1", "TFJob", "mnist", s.job("mnist")["metadata"]["uid"], True, True)], "owner of the pod")
    is_(s.services.get("mnist-worker-0")["spec"]["clusterIP"], "None", "the service is headless")
    is_([(p["name"], p["port"]) for p in s.services.get("mnist-worker-0")["spec"]["ports"]], [("tfjob-port", 2222)],
        "its port")
    assert all(e["name"] != "TF_CONFIG" for e in pod["spec"]["containers"][0].get("env", [])), "no TF_CONFIG for one"
    s.run("mnist-worker-0")
    s.wait_true("mnist", "Running")
    is_(s.message("mnist", "Running"), f"TFJob {s.ns}/mnist is running.", "says so")
    s.wait_counts("mnist", Worker={"active": 1})
    s.exit("mnist-worker-0", 0)
    job = s.wait_true("mnist", "Succeeded")
    s.is_kinds("mnist", DONE)
    is_(s.message("mnist", "Succeeded"), f"TFJob {s.ns}/mnist successfully completed.", "says so")
    is_(s.counts("mnist"), {"Worker": {"succeeded": 1}}, "counts")
    assert job["status"]["completionTime"] >= job["status"]["startTime"]
    s.wait_event("TFJobSucceeded", "successfully completed.")
    s.wait_event("ExitedWithCode", f"Pod: {s.ns}.mnist-worker-0 exited with code 0")
    s.wait_event("SuccessfulCreatePod", "Created pod: mnist-worker-0")
    s.wait_event("SuccessfulCreateService", "Created service: mnist-worker-0")
    is_(s.live_pods(), ["mnist-worker-0"], "its pod stays (cleanPodPolicy None)")


@scene
def worker_0_decides_where_there_is_no_chief(s):
    s.create("j", Worker=3, PS=1)
    s.wait_pods("j-ps-0", "j-worker-0", "j-worker-1", "j-worker-2")
    s.run("j-ps-0", "j-worker-0", "j-worker-1", "j-worker-2")
    s.wait_counts("j", Worker={"active": 3}, PS={"active": 1})
    s.exit("j-worker-1", 0)
    s.wait_counts("j", Worker={"active": 2, "succeeded": 1}, PS={"active": 1})
    assert is_true(s.job("j"), "Running")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    is_(s.counts("j"), {"Worker": {"succeeded": 3}, "PS": {"succeeded": 1}}, "parity Q27: what still runs counts as done")
    s.is_kinds("j", DONE)
    is_(s.phase("j-ps-0"), "Running", "PS runs on")


@scene
def all_workers_must_succeed_when_the_policy_says_so(s):
    s.create("j", Worker=2, successPolicy="AllWorkers")
    s.wait_pods("j-worker-0", "j-worker-1")
    s.run("j-worker-0", "j-worker-1")
    s.wait_counts("j", Worker={"active": 2})
    s.exit("j-worker-0", 0)
    s.wait_counts("j", Worker={"active": 1, "succeeded": 1})
    assert is_true(s.job("j"), "Running") and not is_true(s.job("j"), "Succeeded")
    s.exit("j-worker-1", 0)
    s.wait_true("j", "Succeeded")


@scene
def the_chief_decides_where_there_is_one(s):
    s.create("j", Chief=1, Worker=1, Evaluator=1)
    s.wait_pods("j-chief-0", "j-evaluator-0", "j-worker-0")
    s.run("j-worker-0")
    s.wait_counts("j", Worker={"active": 1}, Chief={}, Evaluator={})
    assert not is_true(s.job("j"), "Running"), "Running speaks of the chief"
    s.run("j-chief-0")
    s.wait_true("j", "Running")
    s.exit("j-worker-0", 0)
    s.wait_counts("j", Worker={"succeeded": 1}, Chief={"active": 1}, Evaluator={})
    assert not is_true(s.job("j"), "Succeeded")
    s.exit("j-chief-0", 0)
    s.wait_true("j", "Succeeded")
    labels = s.pods.get("j-chief-0")["metadata"]["labels"]
    is_(labels.get("training.kubeflow.org/job-role"), "master", "the chief is master")
    assert "training.kubeflow.org/job-role" not in s.pods.get("j-worker-0")["metadata"]["labels"]


@scene
def a_master_is_a_chief_and_cases_fold(s):
    s.create("j", more={"MASTER": 1, "worker": 1})
    s.wait_pods("j-master-0", "j-worker-0")
    env = {e["name"]: e["value"] for e in s.pods.get("j-worker-0")["spec"]["containers"][0]["env"]}
    is_(env["TF_CONFIG"], '{"cluster":{"master":["j-master-0.%s.svc:2222"],"worker":["j-worker-0.%s.svc:2222"]},'
        '"task":{"type":"worker","index":0},"environment":"cloud"}' % (s.ns, s.ns), "TF_CONFIG")
    s.run("j-master-0")
    s.wait_counts("j", Master={"active": 1}, Worker={})
    s.exit("j-master-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def a_failed_worker_fails_the_job_under_policy_never(s):
    s.create("j", Worker=2)
    s.wait_pods("j-worker-0", "j-worker-1")
    s.run("j-worker-0", "j-worker-1")
    s.wait_true("j", "Running")
    s.exit("j-worker-1", 1)
    s.wait_true("j", "Failed")
    s.is_kinds("j", FAILED)
    is_(s.message("j", "Failed"), f"TFJob {s.ns}/j has failed because 1 Worker replica(s) failed.", "says why")
    event = s.wait_event("TFJobFailed", "has failed because 1 Worker replica(s) failed.")
    is_(event["type"], "Normal", "as the original")
    is_(s.counts("j"), {"Worker": {"active": 1, "failed": 1}}, "the true counts stay (policy None)")
    s.wait_event("ExitedWithCode", f"Pod: {s.ns}.j-worker-1 exited with code 1")


@scene
def a_failed_ps_fails_the_job_while_the_chief_runs(s):
    s.create("j", Chief=1, PS=1)
    s.wait_pods("j-chief-0", "j-ps-0")
    s.run("j-chief-0", "j-ps-0")
    s.wait_true("j", "Running")
    s.exit("j-ps-0", 137)
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "1 PS replica(s) failed", "says which")


@scene
def a_job_ends_at_once_when_its_deciding_type_has_no_replicas(s):
    s.create("j", Worker=0, PS=1)
    s.wait_true("j", "Succeeded")
    is_((s.quiet(0.3), s.pods.names(), s.services.names()), (0, [], []), "parity Q1, parity Q36: and nothing is made")


@scene
def dynamic_workers_may_fail(s):
    s.create("j", enableDynamicWorker=True, Worker=2, PS=1)
    s.wait_pods("j-ps-0", "j-worker-0", "j-worker-1")
    env = {e["name"]: e["value"] for e in s.pods.get("j-worker-1")["spec"]["containers"][0]["env"]}
    is_(env["TF_CONFIG"], '{"cluster":{"worker":{"1":"j-worker-1.%s.svc:2222"},"ps":["j-ps-0.%s.svc:2222"]},'
        '"task":{"type":"worker","index":1}}' % (s.ns, s.ns), "sparse TF_CONFIG")
    s.run("j-ps-0", "j-worker-0", "j-worker-1")
    s.wait_counts("j", Worker={"active": 2}, PS={"active": 1})
    s.exit("j-worker-1", 1)
    s.wait_counts("j", Worker={"active": 1, "failed": 1}, PS={"active": 1})
    assert not is_true(s.job("j"), "Failed")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def a_pod_removed_by_hand_is_made_again_and_did_not_fail(s):
    s.script({"index": 1, "do": ["run"], "grace": 0.1, "death": 1}, {"do": ["run"]})
    s.create("j", Worker=2)
    s.wait_counts("j", Worker={"active": 2})
    first = s.uid("j-worker-1")
    s.kube.delete("pods", "j-worker-1", s.ns)
    s.wait(lambda: s.uid("j-worker-1") not in (None, first), "parity Q3: made again, also under policy Never")
    assert not is_true(s.job("j"), "Failed") and not s.told("TFJobRestarting")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
