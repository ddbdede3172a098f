#!/usr/bin/env python3
"""Every kind of job through the official SDK, from creation to its end, on `muster up`; pods are moved by a
stand-in. Usage: t1000_kinds.py [part of a test's name]..."""

import os
import sys

from harness.engine import MusterUp
from harness.kinds import JAX, KINDS, MPI, PADDLE, PYTORCH, TF, pod_of, pods_of
from harness.scene import job_of
from harness.tap import Tap, has, is_
from sdk import POLL, Stage, model, specs_of

TESTS = []


def each(*kinds, script=()):
    """Marks a test, which is run for each of these kinds."""
    def mark(f):
        TESTS.extend((f, kind, list(script)) for kind in kinds or KINDS)
        return f
    return mark


def names(kind, shape=None):
    return [f"j-{p}" for p in pods_of(shape or kind.shape)]


def fails(call, *args, **words):
    try:
        call(*args, **words)
    except RuntimeError as e:
        return str(e)
    raise AssertionError("it was done")


RUN = [{"do": ["run"]}]


@each(script=RUN)
def a_job_succeeds(s):
    kind, sdk = s.kind, s.sdk
    sdk.create_job(job=model(kind, "j"))
    s.until("j", "Created")
    s.holds("j", created=True, succeeded=False, failed=False)
    s.until("j", "Running")
    s.holds("j", running=True, restarting=False)
    s.wait_phase("Running", *names(kind))
    for pod in kind.deciders:
        s.standin.exit(f"j-{pod}", 0, s.ns)
    seen = []
    job = sdk.wait_for_job_conditions("j", callback=seen.append, **POLL)
    is_({j.kind for j in seen}, {kind.name}, "the callback is given the job")
    s.holds("j", created=True, running=False, restarting=False, succeeded=True, failed=False)
    found = sdk.get_job_conditions("j")
    assert len(found) >= 2 and found[-1].type == "Succeeded", found
    is_(job.status.conditions[-1].message, kind.succeeded.format(ns=s.ns, job="j"), "says so")
    assert job.status.completion_time >= job.status.start_time
    is_(sorted(sdk.get_job_pod_names("j")), names(kind), "pods are kept")


@each(script=[{"attempt": 1, "do": ["run"]}])
def a_job_restarts(s):
    """All pods fail; those that replace them wait until they are told to run."""
    policy = "ExitCode" if s.kind in (TF, MPI) else "OnFailure"
    s.sdk.create_job(job=model(s.kind, "j", policy=policy))
    s.until("j", "Running")
    s.wait_phase("Running", *names(s.kind))
    for name in names(s.kind):
        s.standin.exit(name, 137, s.ns)
    # Until the last of them has failed, another that runs may make the job Running again.
    s.wait(lambda: all(len(s.standin.attempts.get((s.ns, "j", role.lower(), i), ())) == 2
                       for role, i in places(s.kind)), "all come again")
    s.until("j", "Restarting")
    s.holds("j", restarting=True, running=False, failed=False)
    for name in names(s.kind):
        s.standin.run(name, s.ns)
    s.until("j", "Running")
    s.holds("j", restarting=False, running=True)


def places(kind):
    return [(role, None if role == "Launcher" else str(i)) for role, n in kind.shape.items() for i in range(n)]


@each(script=RUN)
def a_job_fails(s):
    s.sdk.create_job(job=model(s.kind, "j", policy="Never"))
    s.wait_phase("Running", *names(s.kind))
    s.until("j", "Running")
    s.standin.exit("j-worker-1", 1, s.ns)
    told = fails(s.sdk.wait_for_job_conditions, "j", **POLL)
    has(told, f"{s.kind.name} {s.ns}/j is Failed.", "waiting for success ends")
    s.holds("j", failed=True, succeeded=False, running=False, restarting=False)
    has(s.sdk.get_job_conditions("j")[-1].message, "1 Worker replica(s) failed.", "says why")


@each(script=RUN)
def pods_are_found_by_role_and_number(s):
    sdk, kind = s.sdk, s.kind
    sdk.create_job(job=model(kind, "j"))
    s.wait_phase("Running", *names(kind))
    is_(sorted(sdk.get_job_pod_names("j")), names(kind), "all")
    first = "j-" + pod_of(*next((role, 0) for role in kind.shape))
    is_(sdk.get_job_pod_names("j", is_master=True), [first], "the master: the default of get_job_logs")
    is_(sorted(sdk.get_job_pod_names("j", replica_type="worker")), ["j-worker-0", "j-worker-1"], "workers")
    is_(sdk.get_job_pod_names("j", replica_type="worker", replica_index=1), ["j-worker-1"], "one of them")
    pod = sdk.get_job_pods("j", replica_type="worker", replica_index=0)[0]
    is_((pod.status.phase, pod.status.container_statuses[0].image_id), ("Running", ""), "whole")
    is_(pod.spec.containers[0].resources.limits, {"cpu": "1", "memory": "1Gi"}, "integers are quantities")
    is_(pod.metadata.owner_references[0].kind, kind.name, "with their owner")


@each(PADDLE, PYTORCH, TF, script=RUN)
def a_job_of_workers_has_a_master_too(s):
    s.sdk.create_job(job=model(s.kind, "j", {"Worker": 2}))
    s.wait_phase("Running", "j-worker-0", "j-worker-1")
    is_(s.sdk.get_job_pod_names("j", is_master=True), ["j-worker-0"], "so that default logs are never empty")


@each(script=RUN)
def what_is_read_can_be_written_back(s):
    """Whole, with status, version and times with an offset; a stale one is refused."""
    sdk, kind = s.sdk, s.kind
    sdk.create_job(job=model(kind, "j"))
    s.wait_phase("Running", *names(kind))
    s.until("j", "Running")
    sdk.update_job(settled(s), "j")
    stale = settled(s)
    job = settled(s)
    specs_of(kind, job)["Worker"].replicas = 3
    sdk.update_job(job, "j")
    wide = names(kind, {**kind.shape, "Worker": 3})
    s.wait_phase("Running", *wide)
    has(fails(sdk.update_job, stale, "j"), "Failed to update", "a stale one is refused")
    fresh = model(kind, "j")  # as users write it: no version
    sdk.update_job(fresh, "j")
    s.wait_pods(*names(kind))
    s.holds("j", failed=False, running=True)


def settled(s):
    """The job once its counters are those of its pods: then nobody writes to it."""
    def done():
        job = s.sdk.get_job("j")
        counts = job.status.replica_statuses or {}
        want = {role: spec.replicas for role, spec in specs_of(s.kind, job).items()}
        return job if {role: c.active for role, c in counts.items()} == want else None
    return s.poll(done, "its counters are true")


@each(script=RUN)
def a_job_is_suspended_and_resumed(s):
    sdk, kind = s.sdk, s.kind
    sdk.create_job(job=model(kind, "j", suspend=True))
    s.poll(lambda: any(c.type == "Suspended" and c.status == "True" for c in sdk.get_job_conditions("j")), "suspended")
    is_(sdk.get_job_pod_names("j"), [], "no pods")
    sdk.update_job(model(kind, "j", suspend=False), "j")
    s.until("j", "Running")
    s.wait_phase("Running", *names(kind))
    sdk.update_job(model(kind, "j", suspend=True), "j")
    s.wait_pods()
    s.poll(lambda: not sdk.is_job_running("j"), "not running")


@each(script=RUN)
def jobs_are_listed_and_deleted_at_once(s):
    sdk = s.sdk
    is_(sdk.list_jobs(), [], "none yet")
    for name in ("a", "b"):
        sdk.create_job(job=model(s.kind, name))
    is_(sorted(j.metadata.name for j in sdk.list_jobs()), ["a", "b"], "both")
    sdk.delete_job("a")
    is_([j.metadata.name for j in sdk.list_jobs()], ["b"], "it is gone when the call returns")
    has(fails(sdk.get_job, "a"), f"Failed to get {s.kind.name}: {s.ns}/a", "and cannot be had")
    s.wait(lambda: all(n.startswith("b-") for n in s.live()), "its pods follow")
    has(fails(sdk.delete_job, "a"), "Failed to delete", "nor deleted again")


@each(script=RUN)
def jobs_of_others_can_be_read(s):
    """parity Q31: without runPolicy the SDK cannot read a job, nor list the namespace."""
    s.kube.create(s.kind.plural, job_of(s.kind, "j", **s.kind.shape), s.ns)
    job = s.sdk.get_job("j")
    is_(job.spec.run_policy.suspend, False, "there is a runPolicy")
    is_([j.metadata.name for j in s.sdk.list_jobs()], ["j"], "and a list")
    s.until("j", "Running")


@each()
def a_wrong_job_is_refused(s):
    bad = model(s.kind, "j", managed_by="kueue.x-k8s.io/other-controller")
    told = fails(s.sdk.create_job, job=bad)
    has(told, f"Failed to create {s.kind.name}: {s.ns}/j", "the text the SDK's own tests look for")
    has(told, "spec.runPolicy.managedBy: Unsupported value", "and why")
    for manager in ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"):
        s.sdk.create_job(job=model(s.kind, manager.split("/")[1], managed_by=manager))
    is_(len(s.sdk.list_jobs()), 2, "the two known managers are not")
    s.until("training-operator", "Created")
    is_(s.sdk.get_job_conditions("multikueue"), [], "another's job is left alone")
    is_(s.sdk.get_job_pod_names("multikueue"), [], "entirely")


@each(PYTORCH, PADDLE, JAX, script=RUN)
def a_job_is_scaled_by_its_subresource(s):
    s.sdk.create_job(job=model(s.kind, "j"))
    s.wait_phase("Running", *names(s.kind))
    at = ("kubeflow.org", "v1", s.ns, s.kind.plural, "j")
    s.objects.patch_namespaced_custom_object_scale(*at, {"spec": {"replicas": 4}})
    wide = names(s.kind, {**s.kind.shape, "Worker": 4})
    s.wait_phase("Running", *wide)
    s.poll(lambda: s.scale_of("j")["status"]["replicas"] == 4, "counted there, too")
    chosen = s.scale_of("j")["status"]["selector"]
    found = s.sdk.core_api.list_namespaced_pod(s.ns, label_selector=chosen).items
    is_(sorted(p.metadata.name for p in found), [f"j-worker-{i}" for i in range(4)], "its selector finds the workers")


def train(parameters):
    import time  # pylint: disable=import-outside-toplevel # it runs elsewhere
    print(parameters["epochs"], "$HOME", time.time())


@each(PYTORCH, TF, script=[{"do": ["run", {"exit": 0}]}])
def a_function_becomes_a_job(s):
    s.sdk.create_job(name="j", train_func=train, parameters={"epochs": 2}, num_workers=3, env_vars={"A": "b"},
                     resources_per_worker={"cpu": 2, "memory": "1Gi", "gpu": 0}, packages_to_install=["six"])
    s.until("j", "Succeeded")
    found = sorted(s.sdk.get_job_pod_names("j"))
    is_(len(found), 3, "one pod each")
    assert "j-worker-0" in found, found
    c = s.sdk.get_job_pods("j", is_master=True)[0].spec.containers[0]
    is_((c.command, c.resources.limits["nvidia.com/gpu"], c.resources.requests["cpu"]), (["bash", "-c"], "0", "2"),
        "as the SDK packs it, quantities canonical")
    has(c.args[0], "program_path=$(mktemp -d)", "the script passes through unchanged")
    has(c.args[0], "print(parameters[\"epochs\"], \"$HOME\", time.time())", "with the function")


@each(PYTORCH, script=[{"do": ["run", {"exit": 0}]}])
def an_image_becomes_a_job_that_ends_at_once(s):
    s.sdk.create_job(name="j", base_image="docker.io/hello-world", num_workers=1)
    s.until("j", "Succeeded")
    s.holds("j", created=True, succeeded=True, running=False, restarting=False, failed=False)
    is_(s.sdk.get_job_pod_names("j"), ["j-master-0"], "a master alone")


@each()
def events_are_told_with_the_logs(s):
    """Pods that are Pending have no logs, which is no error."""
    s.sdk.create_job(job=model(s.kind, "j"))
    s.wait_pods(*names(s.kind))
    s.poll(lambda: story(s), "events")
    has(" ".join(story(s)), "Created", "what was made")


def story(s):
    logs, events = s.sdk.get_job_logs("j", verbose=True)
    is_(logs, {}, "no logs yet")
    return events.get(f"{s.kind.name.lower()}/j")


def play(engine, ns, test, kind, script):
    stage = Stage(engine, ns, kind, script)
    try:
        test(stage)
        is_(stage.standin.errors, [], "the stand-in is well")
    finally:
        stage.stop()


def main():
    tap = Tap()
    engine = MusterUp()
    chosen = [(f"{kind.name}: {f.__name__.replace('_', ' ')}", f, kind, script) for f, kind, script in TESTS]
    chosen = [t for t in chosen if len(sys.argv) < 2 or any(part in t[0] for part in sys.argv[1:])]
    tap.run_all([(name, play, engine, f"sdk{os.getpid()}-{i}", *t) for i, (name, *t) in enumerate(chosen)], width=6)
    if tap.failed:
        print("#", engine.words().replace("\n", "\n# "))
    engine.stop()
    tap.end()


if __name__ == "__main__":
    main()
