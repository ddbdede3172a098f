#!/usr/bin/env python3
"""Every kind of job through the official SDK with pods that really run on `muster up`, at both levels of
isolation. Usage: t2000_real.py [namespaces|shared] [part of a test's name]..."""

import threading

from kubeflow.training import models

from harness.kinds import JAX, MPI, PADDLE, PYTORCH, TF
from harness.tap import has, is_
from real import NAME, python, rendezvous, text_of, told
from sdk import specs_of
from world.scene import matches
from stages import each, fails, play_all


@each()
def replicas_meet_and_the_job_succeeds(s):
    kind, sdk = s.kind, s.sdk
    sdk.create_job(job=s.model(rendezvous(kind)))
    seen = []
    job = s.reaches(callback=seen.append)
    is_({j.kind for j in seen}, {kind.name}, "the callback is given the job")
    s.holds(created=True, running=False, restarting=False, succeeded=True, failed=False)
    found = sdk.get_job_conditions(NAME)
    assert len(found) >= 2 and found[-1].type == "Succeeded", found
    assert job.status.completion_time >= job.status.start_time, job.status
    is_(sorted(sdk.get_job_pod_names(NAME)), s.names(), "pods are kept")
    logs, _ = sdk.get_job_logs(NAME)
    is_(len(logs), 1, "by default the master's log alone")
    has(text_of(*logs.values()), "rank 0 of", "what it printed")
    if kind == MPI:
        lines = text_of(logs["j-launcher"]).split("\n")
        is_(sorted(x for x in lines if "rank" in x), [f"rank {i} of 2 on j-worker-{i}" for i in range(2)], "all ranks")
        return
    logs, _ = sdk.get_job_logs(NAME, is_master=False)
    is_(sorted(logs), s.names(), "logs of all")
    n = len(logs)
    want = [f"rank {i} of {n}: the sum is {n * (n - 1) // 2}\n" for i in range(n)]

    def lines():
        return sorted(map(text_of, sdk.get_job_logs(NAME, is_master=False)[0].values()))
    # The job is over with its master; the others say their last word when they come to it.
    s.until(lambda: lines() == want, lambda: f"every rank took part: {lines()}")


@each()
def logs_are_followed_to_the_end(s):
    """Of all replicas at once, line by line, and by the name of a role."""
    sdk = s.sdk
    sdk.create_job(job=s.model(rendezvous(s.kind), env=s.gate("go")))
    s.all_run()
    s.holds(created=True, succeeded=False, failed=False)
    role = list(s.kind.shape)[0].lower()
    names = sdk.get_job_pod_names(NAME, replica_type=role)
    found = {}

    def follow():
        found.update(sdk.get_job_logs(NAME, follow=True, is_master=False, replica_type=role)[0])

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    for name in names:
        told(name, "waiting")
    s.reaches(NAME, "Running")
    s.open("go", times=len(s.names()))
    for name in names:
        told(name, "rank ")
    reader.join(240)
    assert not reader.is_alive(), "the call ends with the containers"
    is_(sorted(found), sorted(names), "the pods it followed")
    matches(found[names[0]], "^waiting.*rank 0 of", "their lines, one after the other")
    s.reaches()


@each()
def a_job_fails_with_its_replica(s):
    code = "import sys; print('going wrong', flush=True); sys.exit(3)"
    commands = {role: python(code if role in ("Worker", "Launcher") else "import time; time.sleep(1000)")
                for role in s.kind.shape}
    s.sdk.create_job(job=s.model(commands))
    text = fails(s.reaches)
    has(text, f"{s.kind.name} {s.ns}/j is Failed.", "waiting for success ends")
    job = s.reaches(NAME, "Failed")
    s.holds(failed=True, succeeded=False, running=False, restarting=False)
    has(job.status.conditions[-1].message, "replica(s) failed.", "says why")
    role = "launcher" if s.kind == MPI else "worker"
    logs, _ = s.sdk.get_job_logs(NAME, is_master=False, replica_type=role)
    assert any("going wrong" in text_of(log) for log in logs.values()), logs


def events(s):
    return s.sdk.get_job_logs(NAME, is_master=False, verbose=True)[1]


def hears(s, whose, *parts):
    """Events are told in their own time."""
    s.until(lambda: all(part in "\n".join(events(s).get(whose, ())) for part in parts),
            lambda: f"{parts} of {whose}: {events(s)}")


@each()
def a_replica_that_is_killed_comes_again(s):
    """Policy ExitCode: 137 is worth another try, with a pod made anew; the rest goes on."""
    mark = f"{s.folder}/been"
    lost = python(f"import os, sys\nif os.path.exists('{mark}'): sys.exit(0)\n"
                  f"open('{mark}', 'w').close()\nos.kill(os.getpid(), 9)")
    patient = python("import os; open(os.environ['GATE'], 'rb', buffering=0).read(3)")
    decider = list(s.kind.shape)[0]
    job = s.model({role: lost if role == decider else patient for role in s.kind.shape}, policy="ExitCode",
                  env=s.gate("end"), shape={**s.kind.shape, decider: 1})
    s.sdk.create_job(job=job)
    s.reaches()
    decided = [n for n in s.names() if decider.lower() in n][0]
    s.machine.pods.sync()
    is_(len({c.obj["metadata"]["uid"] for c in s.history(decided)}), 2, "pods it took")
    hears(s, f"{s.kind.name.lower()}/j", "restarting")
    s.holds(succeeded=True, restarting=False)


@each()
def pods_are_as_the_sdk_reads_them(s):
    sdk, kind = s.sdk, s.kind
    sdk.create_job(job=s.model(python("import time; time.sleep(1000)")))
    s.all_run()
    is_(sorted(sdk.get_job_pod_names(NAME)), s.names(), "all")
    is_(len(sdk.get_job_pod_names(NAME, is_master=True)), 1, "one master")
    is_(sdk.get_job_pod_names(NAME, replica_type="worker", replica_index=1), ["j-worker-1"], "one worker")
    pod = sdk.get_job_pods(NAME, replica_type="worker", replica_index=0)[0]
    status = pod.status.container_statuses[0]
    is_((pod.status.phase, status.name, status.ready, status.restart_count), ("Running", kind.container, True, 0), "status")
    assert status.state.running.started_at and status.image_id and pod.status.pod_ip, pod.status
    assert pod.status.start_time and pod.spec.node_name, pod
    is_(pod.metadata.owner_references[0].name, NAME, "owner")


@each()
def events_tell_of_job_and_pods(s):
    """The SDK compares names and times, and asks for the job with the client's kind."""
    s.sdk.create_job(job=s.model(rendezvous(s.kind)))
    s.reaches()
    whose = [f"{s.kind.name.lower()}/j"] + [f"pod/{n}" for n in s.names()]
    s.until(lambda: sorted(events(s)) == sorted(whose), lambda: f"of {whose} there are: {sorted(events(s))}")
    hears(s, whose[0], "Created", "j-worker-0", "uccess")
    hears(s, "pod/j-worker-0", "Successfully assigned", "Created container", "Started container")


@each(PYTORCH, PADDLE, JAX, TF, MPI)
def a_job_grows_and_shrinks_while_it_runs(s):
    sdk = s.sdk
    sdk.create_job(job=s.model(python("import time; time.sleep(1000)")))
    s.all_run()
    s.reaches(NAME, "Running")

    def resize(n):
        """Read, changed and written back, as users do it; again when somebody else was faster."""
        job = sdk.get_job(NAME)
        specs_of(s.kind, job)["Worker"].replicas = n
        try:
            sdk.update_job(job, NAME)
            return True
        except RuntimeError as e:
            has(str(e), "Conflict", "the only reason to refuse it")
            return False

    s.until(lambda: resize(3), "it is updated")
    s.all_run(s.names({**s.kind.shape, "Worker": 3}))
    s.until(lambda: resize(2), "it is updated")
    s.wait_gone("j-worker-2")
    s.holds(running=True, failed=False)


@each()
def a_suspended_job_leaves_no_process(s):
    sdk, mark = s.sdk, s.mark(1)
    nap = ["sleep", mark]
    sdk.create_job(job=s.model(nap))
    s.all_run()
    s.until(lambda: len(s.alive(mark)) == len(s.names()), lambda: f"all have a process: {s.alive(mark)}")
    sdk.update_job(s.model(nap, suspend=True), NAME)
    s.until(lambda: not s.alive(mark), lambda: f"all end: {s.alive(mark)}")
    s.until(lambda: not sdk.is_job_running(NAME), "it is not running")
    s.until(lambda: not sdk.get_job_pod_names(NAME), "pods go")
    sdk.update_job(s.model(nap, suspend=False), NAME)
    s.until(lambda: len(s.alive(mark)) == len(s.names()), lambda: f"they come again: {s.alive(mark)}")
    s.reaches(NAME, "Running")


@each()
def a_deleted_job_leaves_no_process(s):
    """With options and without; a list just after it does not have it."""
    sdk = s.sdk
    options = {"a": None, "b": models.V1DeleteOptions(propagation_policy="Foreground"),
               "c": models.V1DeleteOptions(grace_period_seconds=0, propagation_policy="Background")}
    marks = {name: s.mark(2 + i) for i, name in enumerate(options)}
    for name, mark in marks.items():
        sdk.create_job(job=s.model(["sleep", mark], name=name))
    for name in marks:
        s.all_run(s.names(name=name))
    is_(sorted(j.metadata.name for j in sdk.list_jobs()), ["a", "b", "c"], "all are listed")
    for name, option in options.items():
        sdk.delete_job(name, delete_options=option)
        if name != "b":  # that one waits for its pods
            assert name not in [j.metadata.name for j in sdk.list_jobs()], name
    s.until(lambda: not sdk.list_jobs(), "all go")
    for mark in marks.values():
        s.until(lambda m=mark: not s.alive(m), lambda m=mark: f"all end: {s.alive(m)}")
    has(fails(sdk.get_job, "a"), f"Failed to get {s.kind.name}: {s.ns}/a", "what is said then")
    has(fails(sdk.delete_job, "a"), "Failed to delete", "and then")


if __name__ == "__main__":
    play_all()
