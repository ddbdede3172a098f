"""Deadline, TTL and clean-up: to the second, also across restarts of the operator (core 2.7 to core 2.10)."""

import time

from harness import lag
from harness.record import is_true
from harness.scene import seconds
from harness.tap import has, is_

from . import scene
from .restarts import worker


def ended_at(s, name):
    """When the watch told of the end, in seconds since 1970."""
    for c in s.jobs.of(name):
        if is_true(c.obj, "Failed") or is_true(c.obj, "Succeeded"):
            return c.at
    return None


def on_time(at, due, what):
    """Never before; a busy machine may be late. Times on the wire are whole seconds, so an hour's full second
    stands for what follows it too."""
    if not -0.05 <= at - due <= 10 * lag.factor():
        raise AssertionError(f"{what}: {at - due:+.2f} s off")


@scene
def a_job_past_its_deadline_fails(s):
    s.script({"do": ["run"], "grace": 0.1})
    s.create("j", Worker=2, PS=1, run_policy={"activeDeadlineSeconds": 3})
    s.wait(lambda: len({c.obj["metadata"]["name"] for c in list(s.pods.history)}) == 3, "all pods are made")
    job = s.wait_true("j", "Failed")
    is_(s.message("j", "Failed"), "Job j has failed because it was active longer than specified deadline", "says why")
    due = seconds(job["status"]["startTime"]) + 3
    on_time(ended_at(s, "j"), due, "the deadline")
    assert 0 <= seconds(job["status"]["completionTime"]) - due <= 10 * lag.factor()
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "all that ran goes, with its services")
    is_(s.counts("j"), {"Worker": {}, "PS": {}}, "parity Q33: active is 0")
    is_(s.wait_event("TFJobFailed", "specified deadline")["type"], "Normal", "as the original")


@scene
def pods_at_their_end_outlive_a_deadline(s):
    s.script({"index": 1, "do": ["run", {"exit": 0}]}, {"do": ["run"]})
    s.create("j", Worker=2, run_policy={"activeDeadlineSeconds": 3600})
    s.wait_counts("j", Worker={"active": 1, "succeeded": 1})
    s.edit("j", {"runPolicy": {"activeDeadlineSeconds": 1}})
    s.wait_true("j", "Failed")
    s.wait(lambda: s.pods.names() == ["j-worker-1"], "parity Q7: logs of what ended are kept")
    s.wait_services("j-worker-1")


@scene
def a_deadline_that_is_edited_counts_from_the_same_start(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1, run_policy={"activeDeadlineSeconds": 3600})
    s.wait_true("j", "Running")
    s.edit("j", {"runPolicy": {"activeDeadlineSeconds": 2}})
    job = s.wait_true("j", "Failed")
    on_time(ended_at(s, "j"), seconds(job["status"]["startTime"]) + 2, "parity Q5: the deadline")


@scene(private=True)
def a_deadline_holds_across_an_operator_restart(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=1, run_policy={"activeDeadlineSeconds": 3})
    s.create("late", Worker=1, run_policy={"activeDeadlineSeconds": 1})
    s.wait_true("j", "Running", "Failed")
    s.wait_true("late", "Running", "Failed")
    s.engine.kill_operator()
    time.sleep(1.2)  # it passes while nobody looks
    s.engine.start_operator()
    s.wait_true("late", "Failed")
    job = s.wait_true("j", "Failed")
    on_time(ended_at(s, "j"), seconds(job["status"]["startTime"]) + 3, "J5")


@scene
def a_finished_job_goes_when_its_time_is_over(s):
    s.script({"do": ["run", {"exit": 0}]})
    s.create("j", Worker=1, run_policy={"ttlSecondsAfterFinished": 2})
    job = s.wait_was("j", "Succeeded")
    due = seconds(job["status"]["completionTime"]) + 2
    s.wait(lambda: s.job("j") is None, "the job goes")
    on_time(s.jobs.of("j")[-1].at, due, "TTL")
    s.wait_event("SuccessfulDeleteJob", "Deleted job: j")
    if s.engine.name == "muster up":
        s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "with all it owned")


@scene
def with_a_ttl_of_0_the_end_is_written_first(s):
    s.script({"job": "late", "do": ["run"]}, {"do": ["run", {"exit": 3}]})
    s.create("j", Worker=1, run_policy={"ttlSecondsAfterFinished": 0})
    s.create("late", Worker=1, run_policy={"ttlSecondsAfterFinished": 0, "activeDeadlineSeconds": 1})
    for name in ("j", "late"):
        s.wait(lambda name=name: s.jobs.of(name) and s.job(name) is None, f"{name} goes")
        last = [c.obj for c in s.jobs.of(name) if c.type != "DELETED"][-1]
        assert is_true(last, "Failed"), f"parity Q25: {name} went having failed"


@scene
def suspension_of_a_finished_job_stops_its_ttl(s):
    s.script({"do": ["run", {"exit": 0}]})
    s.create("j", Worker=1, run_policy={"ttlSecondsAfterFinished": 1000})
    s.wait_true("j", "Succeeded")
    s.edit("j", {"runPolicy": {"suspend": True, "ttlSecondsAfterFinished": 1}})
    time.sleep(1.6)  # nothing announces what does not happen
    assert s.job("j"), "parity Q26: kept"
    s.edit("j", {"runPolicy": {"suspend": False}})
    s.wait(lambda: s.job("j") is None, "then it goes at once")


@scene(private=True)
def a_ttl_holds_across_an_operator_restart(s):
    s.script({"do": ["run", {"exit": 0}]})
    s.create("j", Worker=1, run_policy={"ttlSecondsAfterFinished": 3})
    s.create("late", Worker=1, run_policy={"ttlSecondsAfterFinished": 1})
    s.wait_was("late", "Succeeded")
    job = s.wait_was("j", "Succeeded")
    due = seconds(job["status"]["completionTime"]) + 3
    s.engine.kill_operator()
    time.sleep(1.2)
    s.engine.start_operator()
    s.wait(lambda: s.job("late") is None, "what is overdue goes at once")
    s.wait(lambda: s.job("j") is None, "the job goes")
    on_time(s.jobs.of("j")[-1].at, due, "J5")


def clean_up(policy, pods, services):
    def run(s):
        s.script({"index": 1, "do": ["run"]}, {"index": 2, "do": []}, {"index": 0, "do": ["run"]})
        s.create("j", Worker=3, run_policy={"cleanPodPolicy": policy})
        s.wait_counts("j", Worker={"active": 2})
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded")
        s.wait(lambda: s.pods.names() == pods, f"pods {pods}")
        s.wait(lambda: s.services.names() == services, f"services {services}")
        s.quiet(0.2)
        is_((s.quiet(0.4), s.pods.names(), s.services.names()), (0, pods, services), "and so it stays")
    return run


ALL = ["j-worker-0", "j-worker-1", "j-worker-2"]
for _policy, _pods, _services in (("None", ALL, ALL), ("Running", ALL[:1], ALL[:1]), ("All", [], [])):
    _test = clean_up(_policy, _pods, _services)
    _test.__name__ = f"cleanPodPolicy_{_policy}"
    scene(_test)


@scene
def a_failed_job_is_cleaned_up_too_and_counts_no_active_pods(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=2, run_policy={"cleanPodPolicy": "Running"})
    s.wait_counts("j", Worker={"active": 2})
    s.exit("j-worker-0", 1)
    s.wait_true("j", "Failed")
    s.wait(lambda: s.pods.names() == ["j-worker-0"], "what ran goes")
    is_(s.counts("j"), {"Worker": {"failed": 1}}, "parity Q33: active is 0")


@scene(private=True)
def clean_up_is_finished_by_the_next_operator(s):
    """Killed between the Failed write and the deletions: a limit failure leaves no running pod."""
    s.script({"do": ["run"], "grace": 0.2})
    s.create("j", Worker=worker(4, "OnFailure"), run_policy={"activeDeadlineSeconds": 1})
    s.wait_true("j", "Failed")
    s.engine.restart_operator()
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "nothing is left running")
    has(s.message("j", "Failed"), "deadline", "as before")
