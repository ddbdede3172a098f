"""Restart policies, evictions, lost nodes, and the budget that bounds them (core 1.2, core 12.2 to core 12.4)."""

import json

from harness.record import is_true
from harness.scene import template
from harness.tap import has, is_

from . import scene


def worker(replicas, policy):
    return {"replicas": replicas, "restartPolicy": policy, "template": template()}


def tally(s, name):
    text = s.job(name)["metadata"].get("annotations", {}).get("muster.dev/restarts")
    return json.loads(text) if text else None


def attempts(s, name):
    return len({c.obj["metadata"]["uid"] for c in s.pods.of(name)})


def comes_again(s, name, after):
    """The pod of that name is another one than `after`."""
    s.wait(lambda: s.uid(name) not in (None, after), f"{name} comes again")


def restarts_for(policy, code, pod_policy):
    def run(s):
        s.script({"index": 0, "attempt": 1, "do": ["run", {"exit": code}]}, {"do": ["run"]})
        s.create("j", Worker=worker(2, policy))
        s.wait_event("TFJobRestarting", "job j is restarting because Worker replica(s) failed.")
        s.wait_was("j", "Restarting")
        s.wait_counts("j", Worker={"active": 2})
        s.wait_true("j", "Running")
        is_(s.kinds("j"), "Created(T) Running(T)", "Restarting goes")
        is_(attempts(s, "j-worker-0"), 2, "one restart")
        is_(attempts(s, "j-worker-1"), 1, "of that pod alone")
        is_(s.pods.get("j-worker-0")["spec"]["restartPolicy"], pod_policy, "the pod's own policy")
        is_(tally(s, "j"), None, "no limit, no annotation")
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded")
    return run


for _policy, _code, _pod in (("OnFailure", 1, "OnFailure"), ("Always", 1, "Always"), ("ExitCode", 130, "Never"),
                             ("ExitCode", 255, "Never")):
    _test = restarts_for(_policy, _code, _pod)
    _test.__name__ = f"policy_{_policy}_restarts_a_pod_that_failed_with_{_code}"
    scene(_test)


@scene
def policy_ExitCode_fails_the_job_on_a_code_below_128(s):
    s.script({"index": 0, "do": ["run", {"exit": 127}]}, {"do": ["run"]})
    s.create("j", Worker=worker(2, "ExitCode"))
    s.wait_true("j", "Failed")
    is_(s.message("j", "Failed"), 'job "j" is failing because "Worker" replica(s) failed.', "the quoted text")
    is_(s.wait_event("TFJobFailed", 'is failing because "Worker"')["type"], "Warning", "as a warning")
    is_(s.wait_event("TFJobFailed", "has failed because 1 Worker")["type"], "Normal", "and the count")
    s.quiet(0.2)
    is_(s.phase("j-worker-0"), "Failed", "the pod is kept")


@scene
def an_evicted_pod_is_replaced_and_not_counted(s):
    s.script({"index": 0, "attempt": 1, "do": ["run", "evict"]}, {"do": ["run"]})
    s.create("j", Worker=worker(1, "ExitCode"), run_policy={"backoffLimit": 1})
    s.wait_true("j", "Restarting", "Failed", "Running")
    s.wait(lambda: attempts(s, "j-worker-0") == 2 and s.phase("j-worker-0") == "Running"
           and is_true(s.job("j"), "Running"), "replaced, running")
    assert not is_true(s.job("j"), "Failed")
    is_((tally(s, "j") or {}).get("n", 0), 0, "not counted")
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


@scene
def an_evicted_pod_fails_the_job_under_policy_never(s):
    s.script({"do": ["run", "evict"]})
    s.create("j", Worker=1)
    s.wait_true("j", "Failed")


@scene
def a_pod_of_a_lost_node_is_replaced(s):
    s.script({"attempt": 1, "do": ["run"]}, {"do": ["run"]})
    s.create("j", Worker=worker(1, "OnFailure"))
    s.wait_true("j", "Running")
    first = s.uid("j-worker-0")
    s.standin.unknown("j-worker-0", s.ns)
    s.wait_counts("j", Worker={})
    is_(s.uid("j-worker-0"), first, "unknown is no failure")
    s.standin.lose("j-worker-0", s.ns)
    comes_again(s, "j-worker-0", first)
    s.wait_counts("j", Worker={"active": 1})


@scene
def a_pod_whose_node_never_confirms_keeps_its_place_until_it_is_gone(s):
    s.script({"attempt": 1, "do": ["run"], "grace": None}, {"do": ["run"]})
    s.create("j", Worker=worker(1, "OnFailure"))
    s.wait_true("j", "Running")
    first = s.uid("j-worker-0")
    s.kube.delete("pods", "j-worker-0", s.ns)
    s.wait_counts("j", Worker={})
    is_(s.quiet(0.5), 0, "nothing to do meanwhile")
    is_(s.uid("j-worker-0"), first, "its place is taken")
    assert not s.told("TFJobRestarting"), "it did not fail"
    s.standin.finish("j-worker-0", s.ns)
    comes_again(s, "j-worker-0", first)
    s.wait_counts("j", Worker={"active": 1})


@scene
def a_failed_pod_that_takes_its_time_to_go_is_counted_once(s):
    s.script({"attempt": 1, "do": ["run", {"exit": 130}]}, {"do": ["run"]})
    s.create("j", Worker={**worker(1, "ExitCode"), "template": {
        "metadata": {"finalizers": ["example.com/hold"]},
        "spec": {"containers": [{"name": "tensorflow", "image": "example.com/train"}]}}},
        run_policy={"backoffLimit": 2})
    s.wait(lambda: (s.pods.get("j-worker-0") or {}).get("metadata", {}).get("deletionTimestamp"), "deleted, but held")
    s.wait_true("j", "Restarting")
    first = s.uid("j-worker-0")
    for text in ("a", "b"):
        s.kube.patch("pods", "j-worker-0", {"metadata": {"annotations": {"touched": text}}}, s.ns)
    s.quiet(0.5)
    s.wait_event("TFJobRestarting")
    s.quiet(0.3)
    is_(tally(s, "j")["n"], 1, "parity Q13: counted once")
    is_(len(s.told("TFJobRestarting")), 1, "parity Q13: told once")
    s.kube.patch("pods", "j-worker-0", {"metadata": {"finalizers": None}}, s.ns)
    comes_again(s, "j-worker-0", first)
    s.wait_true("j", "Running")
    s.kube.patch("pods", "j-worker-0", {"metadata": {"finalizers": None}}, s.ns)


@scene
def the_third_restart_ends_a_job_whose_limit_is_3(s):
    s.script({"do": ["run", {"exit": 130}]})
    s.create("j", Worker=worker(1, "ExitCode"), run_policy={"backoffLimit": 3})
    s.wait_true("j", "Failed")
    is_(s.message("j", "Failed"), "Job j has failed because it has reached the specified backoff limit", "says why")
    is_(s.wait_event("TFJobFailed", "backoff limit")["type"], "Normal", "as the original")
    is_(attempts(s, "j-worker-0"), 3, "three attempts in all")
    is_(tally(s, "j")["n"], 2, "two were recreated")
    assert not is_true(s.job("j"), "Restarting"), "parity Q34: not restarting any more"


@scene
def restarts_in_place_count_too(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=worker(4, "OnFailure"), run_policy={"backoffLimit": 4})
    s.wait_counts("j", Worker={"active": 4})
    for i in range(4):
        s.standin.restart(f"j-worker-{i}", 1, s.ns)
    s.wait_true("j", "Failed")
    s.wait(lambda: s.pods.names() == [] and s.services.names() == [], "running pods and their services go")
    is_(s.counts("j"), {"Worker": {}}, "parity Q33: active is 0")


@scene
def a_limit_of_0_allows_no_restart(s):
    s.script({"do": ["run", {"exit": 1}]})
    s.create("j", Worker=worker(1, "OnFailure"), run_policy={"backoffLimit": 0})
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "backoff limit", "says why")
    is_(s.phase("j-worker-0"), "Failed", "parity Q7: the failed pod stays for its logs (policy None)")


@scene(private=True)
def restarts_are_counted_across_operator_restarts(s):
    s.script({"do": ["run"]})
    s.create("j", Worker=worker(1, "ExitCode"), run_policy={"backoffLimit": 3})
    for n in (1, 2):
        s.wait_true("j", "Running")
        first = s.uid("j-worker-0")
        s.engine.kill_operator()
        if s.engine.inside:
            s.engine.start_operator()
            s.exit("j-worker-0", 137)
        else:
            s.exit("j-worker-0", 137)
            s.engine.start_operator()
        comes_again(s, "j-worker-0", first)
        s.wait(lambda n=n: (tally(s, "j") or {}).get("n") == n, f"{n} counted")
    s.wait_true("j", "Running")
    s.engine.restart_operator()
    s.exit("j-worker-0", 137)
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "backoff limit", "the third ends it")
    is_(attempts(s, "j-worker-0"), 3, "three attempts")


@scene
def permanent_failure_wins_over_a_restart_of_another_type(s):
    s.script({"role": "worker", "attempt": 1, "do": ["run", {"exit": 130}], "grace": 0.2}, {"do": ["run"]})
    s.create("j", Worker=worker(1, "ExitCode"), PS=1)
    s.wait(lambda: s.told("TFJobRestarting"), "restarting")
    s.standin.run("j-ps-0", s.ns)
    s.exit("j-ps-0", 1)
    s.wait_true("j", "Failed")
    has(s.message("j", "Failed"), "1 PS replica(s) failed", "parity Q35: who failed is named")
