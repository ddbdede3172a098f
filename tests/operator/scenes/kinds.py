"""The same lives for every kind but TFJob, which has its own scenes; and what one kind alone has
(docs/reference)."""

from harness.kinds import JAX, KINDS, MPI, PADDLE, PYTORCH, TF, XGBOOST, pods_of
from harness.kube import ApiError
from harness.mirror import Mirror
from harness.record import condition, is_true
from harness.scene import template
from harness.tap import has, is_

from . import scene

OTHERS = [k for k in KINDS if k is not TF]
DONE = "Created(T) Running(F) Succeeded(T)"
RUN = {"do": ["run"]}


def each(*kinds):
    """One scene for each of these kinds."""
    def mark(f):
        for kind in kinds or OTHERS:
            def run(s):
                f(s)
            run.__name__ = f"{kind.name}: {f.__name__}"
            run.kind = kind
            scene(run)
        return f
    return mark


def names(s, shape=None):
    return [f"j-{p}" for p in pods_of(shape or s.kind.shape)]


def wide(s, n):
    return {**s.kind.shape, "Worker": n}


def full(shape):
    return {role: {"active": n} for role, n in shape.items()}


def create(s, policy=None, **words):
    """A job of the kind's usual shape."""
    roles = {role: {"replicas": n, **({"restartPolicy": policy} if policy else {})} for role, n in s.kind.shape.items()}
    return s.create("j", **{**roles, **words})


def services_of(s, pods):
    return [] if s.kind is MPI else pods


def env(s, pod):
    return [(e["name"], e.get("value")) for e in s.pods.get(pod)["spec"]["containers"][0].get("env", [])]


# ---- every kind


@each()
def a_job_succeeds(s):
    create(s)
    s.wait_pods(*names(s))
    s.wait_services(*services_of(s, names(s)))
    s.run(*names(s))
    s.wait_true("j", "Running")
    is_(s.message("j", "Running"), s.kind.running.format(ns=s.ns, job="j"), "says so")
    s.wait_counts("j", **full(s.kind.shape))
    s.kubectl("get", s.kind.plural, "j")
    for pod in s.kind.deciders:
        s.exit(f"j-{pod}", 0)
    job = s.wait_true("j", "Succeeded")
    s.is_kinds("j", DONE)
    is_(s.message("j", "Succeeded"), s.kind.succeeded.format(ns=s.ns, job="j"), "says so")
    assert job["status"]["completionTime"] >= job["status"]["startTime"]
    is_(s.wait_event(s.kind.name + "Succeeded")["type"], "Normal", "an event")
    is_(s.live_pods(), names(s), "pods stay (cleanPodPolicy None)")


@each()
def a_job_fails(s):
    create(s, "Never")
    s.wait_pods(*names(s))
    s.run(*names(s))
    s.wait_true("j", "Running")
    s.exit("j-worker-1", 1)
    s.wait_true("j", "Failed")
    s.is_kinds("j", "Created(T) Running(F) Failed(T)")
    text = f"{s.kind.name} j is failed because 1 Worker replica(s) failed."
    is_((s.message("j", "Failed"), condition(s.job("j"), "Failed")["reason"]), (text, s.kind.name + "Failed"), "why")
    is_(s.wait_event(s.kind.name + "Failed", text)["type"], "Normal", "parity 7-28: a Normal one")
    is_(s.quiet(0.3), 0, "and that is all")


@each()
def a_pod_that_failed_is_replaced(s):
    s.script({"role": "worker", "index": 0, "attempt": 1, "do": ["run", {"exit": 1}]}, RUN)
    create(s, "OnFailure")
    text = f"{s.kind.name} j is restarting because 1 Worker replica(s) failed."
    is_(s.wait_event(s.kind.name + "Restarting", text)["type"], "Warning", "parity 7-7: restarted under OnFailure")
    s.wait_was("j", "Restarting")
    s.wait_counts("j", **full(s.kind.shape))
    s.wait_true("j", "Running")
    is_(s.kinds("j"), "Created(T) Running(T)", "Restarting goes")
    is_(len({c.obj["metadata"]["uid"] for c in s.pods.of("j-worker-0")}), 2, "one restart")
    for pod in s.kind.deciders:
        s.exit(f"j-{pod}", 0)
    s.wait_true("j", "Succeeded")


@each()
def an_exit_code_decides_between_the_two(s):
    s.script({"role": "worker", "attempt": 1, "index": 0, "do": ["run", {"exit": 143}]}, RUN)
    create(s, "ExitCode")
    s.wait_event(s.kind.name + "Restarting")
    s.wait_was("j", "Restarting")  # what was counted before that does not count
    s.wait_counts("j", **full(s.kind.shape))
    s.wait_true("j", "Running")
    s.exit("j-worker-0", 2)
    s.wait_true("j", "Failed")
    is_(s.message("j", "Failed"), 'job "j" is failing because "Worker" replica(s) failed.', "parity 7-6: the quoted text")
    assert s.job("j")["status"]["completionTime"]


@each()
def a_job_grows_and_shrinks(s):
    s.script(RUN)
    create(s)
    s.wait_counts("j", **full(s.kind.shape))
    first = s.uid("j-worker-0")
    s.edit("j", {s.kind.specs: {"Worker": {"replicas": 3}}})
    s.wait_counts("j", **full(wide(s, 3)))
    s.wait_services(*services_of(s, names(s, wide(s, 3))))
    s.edit("j", {s.kind.specs: {"Worker": {"replicas": 1}}})
    s.wait(lambda: s.pods.names() == names(s, wide(s, 1)), "surplus pods go")
    s.wait_counts("j", **full(wide(s, 1)))
    is_(s.uid("j-worker-0"), first, "those that stay are as they were")
    assert not is_true(s.job("j"), "Failed") and not s.told(s.kind.name + "Restarting"), "parity Q3: that is no failure"


@each(PYTORCH, PADDLE, JAX)
def a_job_is_scaled_with_kubectl(s):
    s.script(RUN)
    create(s)
    s.wait_counts("j", **full(s.kind.shape))
    s.kubectl("scale", f"{s.kind.plural}/j", "--replicas=4")
    s.wait_counts("j", **full(wide(s, 4)))
    scale = s.kube.get(s.kind.plural, "j", s.ns, "scale")
    is_((scale["spec"]["replicas"], scale["status"]["replicas"]), (4, 4), "as the subresource shows it")
    chosen = s.kube.list("pods", s.ns, scale["status"]["selector"])
    is_(sorted(p["metadata"]["name"] for p in chosen), [f"j-worker-{i}" for i in range(4)], "1.8: its selector")


@each()
def a_job_is_suspended_and_resumed(s):
    s.script(RUN)
    create(s)
    s.wait_counts("j", **full(s.kind.shape))
    s.wait_true("j", "Running")
    start = s.job("j")["status"]["startTime"]
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.wait_true("j", "Suspended")
    s.is_kinds("j", "Created(T) Running(F) Suspended(T)")
    is_(condition(s.job("j"), "Running")["reason"], s.kind.name + "Suspended", "why it does not run")
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "pods and services go")
    is_(s.counts("j"), {role: {} for role in s.kind.shape}, "active is 0")
    is_(s.job("j")["status"]["startTime"], start, "startTime stays")
    is_(s.quiet(0.3), 0, "and it is quiet")
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait_true("j", "Running")
    s.is_kinds("j", "Created(T) Suspended(F) Running(T)")
    s.wait_counts("j", **full(s.kind.shape))


@each()
def a_job_created_suspended_waits(s):
    create(s, run_policy={"suspend": True})
    s.wait_true("j", "Suspended")
    s.is_kinds("j", "Created(T) Suspended(T)")
    s.quiet(0.3)
    is_((s.pods.names(), s.services.names(), s.job("j")["status"].get("startTime")), ([], [], None), "nothing is made")


@each()
def a_job_is_deleted(s):
    s.script({"do": ["run"], "grace": 0.2})
    create(s, "OnFailure")
    s.wait_counts("j", **full(s.kind.shape))
    s.kube.delete(s.kind.plural, "j", s.ns)
    s.wait(lambda: s.job("j") is None, "the job goes")
    if s.engine.name == "muster up":
        s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "and all it owned")
    else:  # no garbage collector runs beside a bare API server
        for name in s.pods.names():
            s.kube.delete("pods", name, s.ns)
        s.wait(lambda: s.pods.names() == [], "the pods are collected")
    is_((s.quiet(0.3), s.live_pods()), (0, []), "nothing comes back")


@each()
def a_job_of_another_controller_is_left_alone(s):
    create(s, run_policy={"managedBy": "kueue.x-k8s.io/multikueue"})
    s.edit("j", {"runPolicy": {"suspend": True}})
    s.quiet(0.3)
    is_((s.pods.names(), s.job("j").get("status", {}).get("conditions")), ([], None), "parity 7-4")
    try:
        s.edit("j", {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}})
    except ApiError as e:
        has(e.message, "spec.runPolicy.managedBy", "parity 7-3, parity 7-4: it stays")
        has(e.message, "field is immutable", "parity 7-3, parity 7-4: it stays")
    else:
        raise AssertionError("managedBy was changed")


@each()
def an_unknown_manager_is_refused(s):
    try:
        create(s, run_policy={"managedBy": "somebody"})
    except ApiError as e:
        has(e.message, "spec.runPolicy.managedBy", "refused at the door, by name")
    else:
        raise AssertionError("it was taken")


@each(PYTORCH, XGBOOST, PADDLE, JAX)
def a_wrong_job_is_told_why(s):
    words = f'must have at least one container with name {s.kind.container}'.replace(" paddle", ' "paddle"')
    bad = {"replicas": 1, "template": template(container="other")}
    try:
        create(s, Worker=bad)
    except ApiError as e:
        has(e.message, words, "refused at the door")
        return
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), words, "or failed")
    is_(condition(s.job("j"), "Failed")["reason"], s.kind.name + "FailedValidation", "for that reason")
    is_((s.quiet(0.3), s.pods.names()), (0, []), "nothing is made")


@each()
def a_job_past_its_deadline_fails(s):
    s.script(RUN)
    create(s, run_policy={"activeDeadlineSeconds": 2})
    s.wait_true("j", "Failed")
    is_(s.message("j", "Failed"), "Job j has failed because it was active longer than specified deadline", "parity 7-24")
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "what still ran goes")


@each()
def a_finished_job_is_cleaned_up_and_goes(s):
    s.script({"do": ["run", {"exit": 0}]})
    create(s, run_policy={"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 1})
    s.wait_was("j", "Succeeded")
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "pods and services go")
    s.wait(lambda: s.job("j") is None, "then the job")


@each()
def a_job_restarts_whole(s):
    last = names(s)[-1]
    s.script({"name": last, "attempt": 1, "do": ["run", {"exit": 137}]}, RUN)
    create(s, "ExitCode", annotations={"muster.dev/restart-scope": "job"})
    s.wait_event(s.kind.name + "Restarting", f"because {last} (Worker) failed with exit code 137: all replicas")
    s.wait(lambda: all(len({c.obj["metadata"]["uid"] for c in s.pods.of(n)}) == 2 for n in names(s)), "all are new")
    s.wait_counts("j", **full(s.kind.shape))
    s.wait_true("j", "Running")


# ---- one kind alone

METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1.5"}}}]


def autoscalers(s):
    return Mirror(s.kube, "horizontalpodautoscalers", s.ns, changed=s.changed)


@each(PYTORCH)
def an_elastic_job_has_an_autoscaler_while_it_runs(s):
    hpas = autoscalers(s)
    try:
        s.script({"do": ["run"]})
        s.create("j", Worker=1, elasticPolicy={"minReplicas": 1, "maxReplicas": 3, "metrics": METRICS})
        s.wait_counts("j", Worker={"active": 1})
        s.wait(lambda: hpas.get("j"), "there is one")
        spec = hpas.get("j")["spec"]
        is_((spec["minReplicas"], spec["maxReplicas"], spec["scaleTargetRef"]["kind"]), (1, 3, "PyTorchJob"), "its spec")
        owner = hpas.get("j")["metadata"]["ownerReferences"][0]
        is_((owner["kind"], owner["controller"]), ("PyTorchJob", True), "its owner")
        s.edit("j", {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}})  # as the autoscaler would, by /scale
        s.wait_counts("j", Worker={"active": 2})
        s.quiet(0.3)
        is_(len(hpas.history), 1, "amounts written the server's way are no difference")
        s.edit("j", {"elasticPolicy": {"maxReplicas": 5}})
        s.wait(lambda: hpas.get("j")["spec"]["maxReplicas"] == 5, "it follows")
        s.edit("j", {"runPolicy": {"suspend": True}})
        s.wait(lambda: hpas.names() == [], "gone while suspended")
        s.wait_true("j", "Suspended")
        s.edit("j", {"runPolicy": {"suspend": False}})
        s.wait(lambda: hpas.names() == ["j"], "back again")
        s.edit("j", {"elasticPolicy": {"metrics": None}})
        s.wait(lambda: hpas.names() == [], "parity 7-21: gone without metrics")
        s.edit("j", {"elasticPolicy": {"metrics": METRICS}})
        s.wait(lambda: hpas.names() == ["j"], "back with them")
        s.kube.delete("horizontalpodautoscalers", "j", s.ns)
        s.wait(lambda: hpas.names() == [] or len(hpas.of("j")) > 5, "deleted by hand")
        s.wait(lambda: hpas.names() == ["j"], "it comes back")
        s.wait_counts("j", Worker={"active": 2})
        s.exit("j-worker-1", 0)
        s.wait_true("j", "Succeeded")
        s.wait(lambda: hpas.names() == [], "parity 7-21: a finished job has none")
    finally:
        hpas.stop()


@each(PYTORCH)
def somebody_elses_autoscaler_is_left_alone(s):
    hpas = autoscalers(s)
    try:
        spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9,
                "metrics": METRICS}
        s.kube.create("horizontalpodautoscalers", {"metadata": {"name": "j"}, "spec": spec}, s.ns)
        s.script(RUN)
        s.create("j", Worker=1, elasticPolicy={"minReplicas": 1, "maxReplicas": 3, "metrics": METRICS})
        s.wait_counts("j", Worker={"active": 1})
        event = s.wait_event("FailedReconcileHPA", "Error reconciling HPA: ")
        is_(event["type"], "Warning", "told")
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded")
        s.quiet(0.3)
        is_(hpas.get("j")["spec"]["maxReplicas"], 9, "parity 7-21: it is as it was")
        is_(len(s.told("FailedReconcileHPA")), 1, "told once")
    finally:
        hpas.stop()


@each(PYTORCH)
def an_autoscaler_that_the_server_refuses_holds_up_nothing(s):
    s.script(RUN)
    s.create("j", Worker=2, elasticPolicy={"minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource"}]})
    s.wait_counts("j", Worker={"active": 2})
    event = s.wait_event("FailedReconcileHPA", "Error reconciling HPA: ")
    is_(event["type"], "Warning", "parity 7-29: told")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    is_(len(s.told("FailedReconcileHPA")), 1, "parity 7-29: told once")


@each(PYTORCH)
def an_elastic_job_grows_and_shrinks_while_it_runs(s):
    s.script(RUN)
    s.create("j", Worker=1, elasticPolicy={"minReplicas": 1, "maxReplicas": 3, "maxRestarts": 5})
    s.wait_counts("j", Worker={"active": 1})
    s.kubectl("scale", "pytorchjob/j", "--replicas=3")
    s.wait_counts("j", Worker={"active": 3})
    told = [("PYTHONUNBUFFERED", "1"), ("PET_NPROC_PER_NODE", "auto"), ("PET_RDZV_ENDPOINT", "j-worker-0:23456"),
            ("PET_RDZV_BACKEND", "c10d"), ("PET_NNODES", "1:3"), ("PET_MAX_RESTARTS", "5")]
    is_((env(s, "j-worker-0"), env(s, "j-worker-2")), (told, told), "all are told the same")
    s.kubectl("scale", "pytorchjob/j", "--replicas=2")
    s.wait_counts("j", Worker={"active": 2})
    is_(s.live_pods(), ["j-worker-0", "j-worker-1"], "worker 0, where they meet, stays")
    s.exit("j-worker-1", 0)
    s.wait_true("j", "Succeeded")


@each(PYTORCH)
def early_workers_wait_for_the_master(s):
    create(s)
    s.wait_pods(*names(s))
    wait = s.pods.get("j-worker-0")["spec"]["initContainers"]
    is_([(c["name"], c["image"]) for c in wait], [("init-pytorch", "example.com/train")], "in the job's own image")
    has(wait[0]["command"][-1], "j-master-0", "for the master")
    assert "initContainers" not in s.pods.get("j-master-0")["spec"]


@each(XGBOOST)
def a_job_that_ends_at_once_shows_that_it_ran(s):
    create(s)
    s.wait_pods(*names(s))
    s.exit("j-master-0", 0)
    s.wait_true("j", "Succeeded")
    s.is_kinds("j", DONE)


@each(PADDLE)
def a_collective_job_meets_at_worker_0(s):
    s.create("j", Worker=2)
    s.wait_pods("j-worker-0", "j-worker-1")
    own = s.pods.get("j-worker-0")["spec"]["containers"][0]["env"]
    is_(own[-2]["valueFrom"]["fieldRef"]["fieldPath"], "status.podIP", "worker 0 knows itself by its address")
    is_((env(s, "j-worker-0")[-1], env(s, "j-worker-1")[-1]),
        (("PADDLE_MASTER", "$(POD_IP_DUMMY):36543"), ("PADDLE_MASTER", "j-worker-0:36543")), "the others by its name")
    s.run("j-worker-0", "j-worker-1")
    s.exit("j-worker-0", 0)
    s.wait_counts("j", Worker={"active": 1, "succeeded": 1})
    s.exit("j-worker-1", 0)
    s.wait_true("j", "Succeeded")
    is_(s.message("j", "Succeeded"), f"PaddleJob {s.ns}/j successfully completed.", "says so")


@each(MPI)
def another_binding_of_its_name_keeps_it_from_its_pods(s):
    s.kube.create("rolebindings", {"metadata": {"name": "j-launcher"}, "subjects": [],
                                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "other"}}, s.ns)
    create(s)
    has(s.wait_event("ErrResourceExists")["message"], "j-launcher", "told by name")
    is_((s.quiet(0.3), s.pods.names()), (0, []), "nothing is made")
    s.kube.delete("rolebindings", "j-launcher", s.ns)
    s.wait_pods(*names(s))


@each(MPI)
def a_launcher_waits_for_workers_that_have_its_job(s):
    s.kube.create("pods", {"metadata": {"name": "j-worker-0"}, "spec": {"containers": [{"name": "mpi", "image": "old"}]}}, s.ns)
    create(s)
    has(s.wait_event("ErrResourceExists")["message"], "j-worker-0", "told by name")
    assert "j-launcher" not in s.pods.names(), "the launcher would start processes in another's pod"
    s.kube.delete("pods", "j-worker-0", s.ns, grace=0)
    s.wait_pods(*names(s))

