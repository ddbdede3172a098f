#!/usr/bin/python3
"""Faults between operator and server: refused and failing writes, watches cut, connections lost, a server
that goes away, a clock that jumps. Whatever happens, the job gets where it should and nothing is doubled.

With OPERATOR_KUBECONFIG on that cluster."""

import glob
import os
import sys
import time

from harness import lag
from harness.engine import MusterUp, Operator, Proxied, Server, sanitized
from harness.mirror import PATIENCE_S, wait_for
from harness.record import is_true
from harness.scene import Scene, template
from harness.tap import Skip, Tap, claim, is_
from harness.wire import Wire

FOUR = ["j-ps-0", "j-worker-0", "j-worker-1", "j-worker-2"]


def story(s, timeout=60):
    """A job with a restart, to its good end."""
    s.script({"role": "worker", "index": 1, "attempt": 1, "do": ["run", {"exit": 130}]}, {"do": ["run"]})
    s.create("j", Worker={"replicas": 3, "restartPolicy": "ExitCode", "template": template()}, PS=1,
             run_policy={"backoffLimit": 5, "cleanPodPolicy": "Running"})
    s.wait(lambda: s.live_pods() == FOUR and all(s.phase(n) == "Running" for n in FOUR)
           and uids(s, "j-worker-1") == 2, "all run", timeout)
    s.wait_true("j", "Running", timeout=timeout)
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded", timeout=timeout)
    s.wait(lambda: s.pods.names() == ["j-worker-0"], "cleaned up", timeout)
    is_({n: uids(s, n) for n in FOUR}, {**dict.fromkeys(FOUR, 1), "j-worker-1": 2}, "no pod was doubled")
    is_(s.counts("j"), {"Worker": {"succeeded": 3}, "PS": {"succeeded": 1}}, "counts")


def uids(s, name):
    return len({c.obj["metadata"]["uid"] for c in s.pods.of(name)})


def writes(verb, plural, sub=None):
    return lambda r: r.verb == verb and r.plural == plural and r.sub == sub


def until(predicate, words):
    """For what nothing announces. words(): what to say where it does not come."""
    end = time.monotonic() + lag.patience(PATIENCE_S)
    while not predicate():
        assert time.monotonic() < end, words()
        time.sleep(0.05)


def any_write(r):
    return r.writes and r.plural != "leases"


# ---- answers

def status_patches_refused_with_409_are_made_again(s, e):
    fault = e.proxy.fault(writes("patch", "tfjobs", "status"), "answer", 409, times=3)
    story(s)
    is_(len(fault.hits), 3, "three were refused")


def creations_failing_with_500_are_tried_again_and_told_of_once(s, e):
    fault = e.proxy.fault(lambda r: writes("create", "pods")(r) and r.json()["metadata"]["name"] == "j-ps-0",
                          "answer", 500, times=4)
    story(s)
    is_(len(fault.hits), 4, "four failed")
    s.wait_event("FailedCreatePod", "injected 500")
    is_(len(s.told("FailedCreatePod", "injected 500")), 1, "told once")
    gaps = [b.at - a.at for a, b in zip(fault.hits, fault.hits[1:])]
    assert all(gap < 60 for gap in gaps), gaps
    others = [r for r in e.proxy.requests if r.verb == "create" and r.plural == "pods" and r.status == 201]
    assert others[0].at < fault.hits[1].at, "the others were made meanwhile"


def a_failing_server_is_not_hammered(s, e):
    fault = e.proxy.fault(writes("create", "pods"), "answer", 500, times=10**6)
    s.create("j", Worker=1)
    s.wait(lambda: len(fault.hits) >= 2, "it is tried again")
    time.sleep(3)  # what is counted is how often it is tried in that time
    hits = list(fault.hits)
    assert len(hits) <= 10 + 4 * (hits[-1].at - hits[0].at), f"{len(hits)} tries"
    fault.left = 0
    s.wait_pods("j-worker-0")


def retry_after_of_429_is_obeyed(s, e):
    fault = e.proxy.fault(writes("create", "pods"), "answer", 429, {"Retry-After": "2"}, times=1)
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_pods("j-worker-0")
    again = [r for r in e.proxy.requests if r.verb == "create" and r.plural == "pods" and r.sent]
    gap = again[0].at - fault.hits[0].at
    assert gap >= 1.9, f"tried again after {gap:.2f} s"
    assert not s.told("FailedCreatePod"), "being told to wait is no failure"


def retry_after_of_503_is_obeyed(s, e):
    fault = e.proxy.fault(writes("patch", "tfjobs", "status"), "answer", 503, {"Retry-After": "1"}, times=2)
    story(s)
    gap = fault.hits[1].at - fault.hits[0].at
    assert gap >= 0.9, f"tried again after {gap:.2f} s"


def every_third_write_fails(s, e):
    for i, code in enumerate((500, 409, 503)):
        # A deletion by UID that conflicts says that the object is gone, so that is never said here.
        e.proxy.fault(lambda r, code=code: any_write(r) and not (code == 409 and r.verb == "delete"), "answer", code,
                      times=15, every=3 + i)
    story(s, 90)


# ---- connections

def connections_dropped_before_a_write_is_carried_out(s, e):
    fault = e.proxy.fault(any_write, "drop", "before", times=12, every=3)
    story(s)
    assert fault.hits


def connections_dropped_after_a_write_was_carried_out(s, e):
    fault = e.proxy.fault(any_write, "drop", "after", times=12, every=3)
    story(s)
    assert fault.hits


def slow_answers(s, e):
    e.proxy.fault(any_write, "delay", 0.3, times=30, every=2)
    story(s)


def answers_that_come_after_the_watch_has_told(s, e):
    e.proxy.fault(any_write, "late", 0.3, times=10**6)
    story(s)


def deletions_answered_after_the_watch_has_told(s, e):
    """What was deleted must not come back into the cache by its answer."""
    e.proxy.fault(lambda r: r.verb == "delete", "late", 0.5, times=10**6)
    story(s)


def a_watch_of_pods_that_lags_behind(s, e):
    """What is told while a later write is under way must not get lost."""
    e.proxy.fault(lambda r: r.plural == "pods", "lag", 0.1, times=10**6)
    e.proxy.fault(writes("patch", "tfjobs", "status"), "late", 0.2, times=10**6)
    story(s)


def a_watch_of_jobs_that_lags_behind(s, e):
    e.proxy.fault(lambda r: r.plural == "tfjobs", "lag", 0.2, times=10**6)
    story(s)


def a_watch_of_services_that_lags_behind(s, e):
    e.proxy.fault(lambda r: r.plural == "services", "lag", 0.3, times=10**6)
    story(s)


def connections_are_reset_all_at_once_and_again(s, e):
    s.script({"do": ["run"]})
    s.create("j", Worker=4)
    for _ in range(5):
        e.proxy.drop_all()
        s.quiet(0.3)
    s.wait_counts("j", Worker={"active": 4})
    e.proxy.drop_all()
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


# ---- watches

def watches_cut_in_the_middle_of_a_line(s, e):
    faults = [e.proxy.fault(lambda r, p=p: r.plural == p, "cut", times=4, every=2)
              for p in ("tfjobs", "pods", "services")]
    story(s)
    assert all(f.hits for f in faults), [len(f.hits) for f in faults]


def watches_that_come_in_crumbs(s, e):
    e.proxy.fault(lambda r: True, "crumbs", 7, times=10**6)
    story(s)


def watches_refused_with_410_are_listed_again(s, e):
    faults = [e.proxy.fault(lambda r, p=p: r.verb == "watch" and r.plural == p, "answer", 410, times=1)
              for p in ("tfjobs", "pods", "services")]
    e.proxy.drop_all()
    story(s)
    assert all(f.hits for f in faults), [len(f.hits) for f in faults]
    for plural in ("tfjobs", "pods", "services"):
        assert sum(r.verb == "list" and r.plural == plural for r in e.proxy.requests) >= 2, plural


def watches_ended_by_a_410_event_are_listed_again(s, e):
    faults = [e.proxy.fault(lambda r, p=p: r.verb == "watch" and r.plural == p, "end-410", times=2)
              for p in ("tfjobs", "pods", "services")]
    e.proxy.drop_all()
    story(s)
    assert all(f.hits for f in faults), [len(f.hits) for f in faults]


def lists_that_fail_are_tried_again(s, e):
    e.proxy.fault(lambda r: r.verb == "list", "answer", 500, times=4)
    e.proxy.fault(lambda r: r.verb == "watch", "answer", 410, times=3)
    e.proxy.drop_all()
    story(s)


def what_happened_while_the_server_was_away_is_seen(s, e):
    """Gone pods and new phases show only in the next list or watch."""
    s.script({"do": ["run"]})
    s.create("j", Worker=3)
    s.wait_counts("j", Worker={"active": 3})
    e.proxy.refuse()
    s.kube.delete("pods", "j-worker-2", s.ns, grace=0)
    s.wait(lambda: not s.pods.get("j-worker-2"), "it goes")
    s.standin.restart("j-worker-1", 1, s.ns)
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 4}}})
    s.quiet(1.5)
    assert e.operator.alive, "the operator stays"
    e.proxy.listen()
    s.wait_counts("j", Worker={"active": 4})
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")


def a_stalled_server_is_noticed_by_its_silence(s, e):
    """Connections that are kept up but carry nothing, as a broken gateway leaves them."""
    if not os.environ.get("OPERATOR_SLOW"):
        raise Skip("takes more than 5 minutes; OPERATOR_SLOW=1 runs it")
    s.script({"do": ["run"]})
    s.create("j", Worker=1)
    s.wait_counts("j", Worker={"active": 1})
    e.proxy.half_open()
    began = time.monotonic()
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded", timeout=450)
    print(f"# noticed after {time.monotonic() - began:.0f} s")


# ---- the start

def an_operator_without_permission_says_so_and_waits(s, e):
    e.operator.stop()
    fault = e.proxy.fault(lambda r: r.plural == "tfjobs" and r.verb in ("list", "watch"), "answer", 403, times=10**6)
    e.start_operator(wait=False)
    s.wait_operator(lambda: fault.hits, "it asks")
    until(lambda: all(part in e.operator.words() for part in ("tfjobs", "list")), e.operator.words)
    s.quiet(0.5)
    assert e.operator.alive and e.operator.probe() != 200, "not ready"
    fault.left = 0
    e.operator.wait_ready()
    story(s)


def an_operator_starts_before_its_server(s, e):
    e.operator.stop()
    e.proxy.refuse()
    e.start_operator(wait=False)
    until(lambda: e.operator.probe("/healthz") == 200, lambda: "it is not healthy: " + e.operator.words())
    s.quiet(1.0)
    assert e.operator.alive and e.operator.probe() != 200, "not ready"
    e.proxy.listen()
    e.operator.wait_ready()
    story(s)


def sigterm_ends_it_in_the_middle_and_the_next_goes_on(s, e):
    s.script({"do": ["run"]})
    e.proxy.fault(writes("create", "pods"), "delay", 0.2, times=5)
    s.create("j", Worker=8)
    s.wait(lambda: s.pods.names(), "it begins")
    is_(e.operator.stop(), 0, "exit code")
    e.start_operator()
    s.wait_counts("j", Worker={"active": 8})
    is_({uids(s, f"j-worker-{i}") for i in range(8)}, {1}, "no pod was doubled")


TESTS = [f for n, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__
         and f.__code__.co_varnames[:2] == ("s", "e") and f.__code__.co_argcount == 2]


# ---- tests with a server or an operator of their own

def a_server_killed_and_started_again_is_found_again(server):
    if server.name != "muster up":
        raise Skip("the cluster is shared")
    up = MusterUp(inside=False)
    ns = "default"
    operator = Operator(up.kube.kubeconfig, up.folder, "--namespace", ns)
    s = Scene(up, ns)
    try:
        s.script({"do": ["run"]})
        s.create("j", Worker=2)
        s.wait_counts("j", Worker={"active": 2})
        up.server.kill()
        up.start_server()
        up.children.append(operator)
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded")
        assert operator.alive
        s.check()
    except Exception as e:
        e.report = "\n" + s.story() + "\n" + operator.words()
        raise
    finally:
        s.stop()
        operator.stop()
        up.stop()


def half_open_connections_are_noticed_within_a_minute(server):
    """The server's end is gone and no packet says so, as after a crash or behind a forgetful gateway."""
    wire = Wire()
    ns = f"wire-{os.getpid()}"
    server.kube.make_namespace(ns)
    e = s = None
    try:
        e = Proxied(server.kube, ns, wire=wire)
        s = Scene(e, ns)
        s.script({"do": ["run"]})
        s.create("j", Worker=1)
        s.wait_counts("j", Worker={"active": 1})
        wire.cut()
        e.proxy.drop_all()
        wait_for(e.proxy.changed, lambda: not e.proxy.connections, "all are dropped")
        wire.mend()
        began = time.monotonic()
        s.exit("j-worker-0", 0)
        s.wait_true("j", "Succeeded", timeout=75)
        took = time.monotonic() - began
        print(f"# noticed after {took:.0f} s")
        assert took > 1, "it was not half open"
        s.check()
    except Exception as err:
        err.report = "\n" + (s.story() if s else "") + "\n" + (e.words() if e else "")
        raise
    finally:
        if s:
            s.stop()
        if e:
            e.stop()
        wire.stop()


def a_clock_that_is_stepped_ends_nothing_before_its_time(server):
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1") + glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not found:
        raise Skip("no libfaketime here")
    if sanitized():
        raise Skip("a sanitizer does not stand beside libfaketime")
    ns = f"clock-{os.getpid()}"
    server.kube.make_namespace(ns)
    offset = f"/tmp/clock-{os.getpid()}"
    with open(offset, "w", encoding="utf-8") as f:
        f.write("+0")
    # libfaketime cuts the waits of the loop's watchdog short, which then finds every turn too long
    e = Proxied(server.kube, ns, env={"MUSTER_WATCHDOG": "", "LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": offset,
                                      "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
    s = Scene(e, ns)

    def step(text):
        with open(offset + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(offset + ".new", offset)

    try:
        s.script({"do": ["run"]})
        s.create("two-hours", Worker=1, run_policy={"activeDeadlineSeconds": 7200})
        s.create("half-hour", Worker=1, run_policy={"activeDeadlineSeconds": 1800})
        for name in ("two-hours", "half-hour"):
            s.wait_true(name, "Running")
        step("-3600")
        s.create("past", Worker=1)
        s.wait_true("past", "Running")
        s.exit("past-worker-0", 0)
        s.wait_true("past", "Succeeded")
        assert is_true(s.job("half-hour"), "Running"), "a clock set back ends nothing"
        step("+3600")
        s.wait_true("half-hour", "Failed")  # by the clock it is over
        assert is_true(s.job("two-hours"), "Running") and not is_true(s.job("two-hours"), "Failed")
        step("+0")
        s.create("now", Worker=1, run_policy={"activeDeadlineSeconds": 2})
        s.wait_true("now", "Failed")
        assert e.operator.alive
    except Exception as err:
        err.report = "\n" + s.story() + "\n" + e.words()
        raise
    finally:
        s.stop()
        e.stop()
        os.unlink(offset)


def play(server, ns, test):
    server.kube.make_namespace(ns)
    engine = Proxied(server.kube, ns)
    scene = Scene(engine, ns, stale_s=20)  # of a watch that was cut again and again
    scene.wait_operator = lambda predicate, what: wait_for(engine.proxy.changed, predicate, what)
    try:
        test(scene, engine)
        scene.check()
    except Exception as e:
        e.report = "\n" + scene.story() + "\n" + engine.words()
        raise
    finally:
        scene.stop()
        engine.stop()


def main():
    tap = Tap()
    server = Server()
    on = f" ({server.name})"
    chosen = [t for t in TESTS if len(sys.argv) < 2 or any(part in t.__name__ for part in sys.argv[1:])]
    tests = [(claim(t) + on, play, server, f"f{os.getpid()}-{i}", t) for i, t in enumerate(chosen)]
    for t in (half_open_connections_are_noticed_within_a_minute, a_server_killed_and_started_again_is_found_again,
              a_clock_that_is_stepped_ends_nothing_before_its_time):
        if len(sys.argv) < 2 or any(part in t.__name__ for part in sys.argv[1:]):
            tests.append((claim(t) + on, t, server))
    tap.run_all(tests[::-1], width=6)  # the long ones begin first
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
