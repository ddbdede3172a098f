"""Restarting a job whole: annotation muster.dev/restart-scope (core 15)."""

import json

from harness.record import is_true
from harness.scene import template
from harness.tap import has, is_

from . import scene
from .restarts import attempts, tally, worker

WHOLE = {"muster.dev/restart-scope": "job"}
FOUR = ["j-ps-0", "j-worker-0", "j-worker-1", "j-worker-2"]


def attempt(s, name):
    return json.loads(s.job(name)["metadata"]["annotations"]["muster.dev/whole-restart"])["attempt"]


def lives(mirror, name):
    """When each pod of that name came, and when it was gone, as revisions; None: it is there."""
    out = {}
    for c in mirror.of(name):
        uid = c.obj["metadata"]["uid"]
        out.setdefault(uid, [c.rev, None])
        if c.type == "DELETED":
            out[uid][1] = c.rev
    return sorted(out.values())


def restarted_whole(s, names):
    s.wait(lambda: all(attempts(s, n) == 2 and s.phase(n) == "Running" for n in names), "all are made again and run")
    s.wait_true("j", "Running")
    firsts, seconds = zip(*(lives(s.pods, n) for n in names))
    gone = [end for _, end in firsts]
    assert None not in gone and max(gone) < min(start for start, _ in seconds), f"made before all were gone: {firsts}"


@scene
def a_failure_restarts_all_replicas_once(s):
    s.script({"role": "worker", "index": 1, "attempt": 1, "do": ["run", {"exit": 137}], "grace": 0.1}, {"do": ["run"]})
    s.create("j", Worker=worker(3, "OnFailure"), PS=1, annotations=WHOLE, run_policy={"backoffLimit": 2})
    s.wait_event("TFJobRestarting", "because j-worker-1 (Worker) failed with exit code 137: all replicas")
    s.wait_was("j", "Restarting")
    services = [s.services.get(n)["metadata"]["uid"] for n in FOUR]
    restarted_whole(s, FOUR)
    is_(tally(s, "j"), {**tally(s, "j"), "n": 1}, "counted once")
    is_(attempt(s, "j"), 1, "one attempt")
    is_(len(s.told("TFJobRestarting")), 1, "told once")
    is_(s.pods.get("j-worker-0")["metadata"]["labels"]["muster.dev/restart-attempt"], "1", "pods name the attempt")
    is_(s.pods.get("j-worker-0")["spec"]["restartPolicy"], "Never", "nothing restarts in place")
    is_([s.services.get(n)["metadata"]["uid"] for n in FOUR], services, "the services stay")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def exits_that_arrive_together_count_once(s):
    s.script({"attempt": 1, "do": ["run", {"exit": 1}]}, {"do": ["run"]})
    s.create("j", Worker=worker(3, "OnFailure"), annotations=WHOLE, run_policy={"backoffLimit": 2})
    restarted_whole(s, FOUR[1:])
    is_(tally(s, "j")["n"], 1, "three exits, one restart")
    assert not is_true(s.job("j"), "Failed")


@scene
def an_old_pod_that_takes_its_time_holds_all_others_up(s):
    s.script({"index": 0, "attempt": 1, "do": ["run"], "grace": None},
             {"index": 1, "attempt": 1, "do": ["run", {"exit": 1}]}, {"do": ["run"]})
    s.create("j", Worker=worker(2, "Always"), annotations=WHOLE)
    s.wait(lambda: s.pods.names() == ["j-worker-0"], "the failed pod is gone")
    is_(s.quiet(0.5), 0, "nothing is made meanwhile")
    is_(s.pods.names(), ["j-worker-0"], "nor was")
    s.standin.finish("j-worker-0", s.ns)
    restarted_whole(s, FOUR[1:3])


@scene
def the_limit_counts_whole_restarts(s):
    s.script({"index": 1, "do": ["run", {"exit": 130}]}, {"do": ["run"]})
    s.create("j", Worker=worker(2, "ExitCode"), annotations=WHOLE, run_policy={"backoffLimit": 1})
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "backoff limit", "says why")
    is_(attempts(s, "j-worker-0"), 1, "nothing was restarted")


@scene
def a_scope_that_does_not_exist_is_told(s):
    s.script({"index": 1, "attempt": 1, "do": ["run", {"exit": 1}]}, {"do": ["run"]})
    s.create("j", Worker=worker(2, "ExitCode") | {"restartPolicy": "OnFailure"},
             annotations={"muster.dev/restart-scope": "all"})
    s.wait_event("TFJobRestartScope", "'all' is neither job nor pod")
    s.wait(lambda: attempts(s, "j-worker-1") == 2, "the failed pod comes again")
    is_(attempts(s, "j-worker-0"), 1, "alone")


@scene(private=True)
def an_operator_that_dies_goes_on_with_the_attempt(s):
    s.script({"index": 0, "attempt": 1, "do": ["run"], "grace": None}, {"do": ["run"]})
    s.create("j", Worker={"replicas": 2, "restartPolicy": "ExitCode", "template": template()}, annotations=WHOLE,
             run_policy={"backoffLimit": 3})
    s.wait_true("j", "Running")
    s.wait_counts("j", Worker={"active": 2})
    s.exit("j-worker-1", 137)
    s.wait(lambda: s.pods.names() == ["j-worker-0"], "one is still there")
    s.engine.kill_operator()
    if s.engine.inside:
        s.engine.start_operator()
        s.standin.finish("j-worker-0", s.ns)
    else:
        s.standin.finish("j-worker-0", s.ns)
        s.engine.start_operator()
    restarted_whole(s, FOUR[1:3])
    is_(tally(s, "j")["n"], 1, "counted once")
