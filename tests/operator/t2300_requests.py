#!/usr/bin/python3
"""What a job costs, counted at the proxy: 2N + 3 + seconds of ramp + min(2N, 20) + 4 requests, no GETs,
no conflicts while nothing is wrong (core 11.1)."""

import math
import os
import time

from harness.engine import Proxied, Server
from harness.record import is_true
from harness.scene import Scene
from harness.tap import Tap


def cost(server, ns, jobs, n, parallel):
    engine = Proxied(server.kube, ns)
    scene = Scene(engine, ns)
    try:
        at_start = len(engine.proxy.requests)
        scene.script({"index": 0, "do": ["run"]}, {"do": ["run"]})
        names = [f"j{i}" for i in range(jobs)]
        spans = []
        for group in ([names] if parallel else [[name] for name in names]):
            began = time.time()
            for name in group:
                scene.create(name, Worker=n)
            scene.wait(lambda group=group: all(scene.counts(x) == {"Worker": {"active": n}} for x in group),
                       "all run", 60)
            for name in group:
                scene.exit(f"{name}-worker-0", 0)
            scene.wait(lambda group=group: all(is_true(scene.job(x), "Succeeded") for x in group), "all succeed", 60)
            spans.append(time.time() - began)
        scene.quiet(1.0)
        scene.check()
        judge(engine.proxy, at_start, jobs, n, math.ceil(max(spans)))
    except Exception as e:
        e.report = "\n" + engine.words()
        raise
    finally:
        scene.stop()
        engine.stop()


def judge(proxy, at_start, jobs, n, ramp):
    asked = [r for r in proxy.requests[at_start:] if r.plural != "leases" and r.verb != "watch"]
    tally = proxy.tally(at_start)
    most = jobs * (2 * n + 3 + ramp + min(2 * n, 20) + 4)
    print(f"# {jobs} x {n}: {len(asked)} requests, at most {most} (ramp {ramp} s): {tally}")
    bad = [str(r) for r in asked if r.verb in ("get", "list")]
    if bad:
        raise AssertionError(f"reads: {bad[:10]}")
    odd = [str(r) for r in asked if r.status not in (200, 201)]
    if odd:
        raise AssertionError(f"answers: {odd[:10]}")
    if len(asked) > most:
        raise AssertionError(f"{len(asked)} requests: {tally}")
    if tally.get("create pods") != jobs * n or tally.get("create services") != jobs * n:
        raise AssertionError(f"objects: {tally}")


def a_restart(server, ns):
    """Finished jobs cost an operator that starts nothing but, of those that ended lately, the event that
    its predecessor may have died before."""
    engine = Proxied(server.kube, ns)
    scene = Scene(engine, ns)
    try:
        names = [f"j{i}" for i in range(10)]
        scene.script({"do": ["run", {"exit": 0}]})
        for name in names:
            scene.create(name, Worker=2)
        scene.wait(lambda: all(is_true(scene.job(n), "Succeeded") for n in names), "all succeed", 60)
        scene.quiet(1.0)
        engine.kill_operator()
        before = len(engine.proxy.requests)
        engine.start_operator()
        scene.quiet(1.5)
        wrote = [str(r) for r in engine.proxy.requests[before:] if r.writes]
        print(f"# {len(wrote)} writes after a restart, of 10 finished jobs")
        if len(wrote) > 10 or any(not w.startswith("create events") for w in wrote):
            raise AssertionError(f"{len(wrote)} writes: {sorted(set(wrote))}")
        scene.check()
    except Exception as e:
        e.report = "\n" + engine.words()
        raise
    finally:
        scene.stop()
        engine.stop()


def main():
    tap = Tap()
    server = Server()
    base = f"r{os.getpid()}"
    on = f" ({server.name})"
    tap.run(f"one job of 1 replica{on}", cost, server, f"{base}-1", 1, 1, False)
    tap.run(f"one job of 4 replicas{on}", cost, server, f"{base}-2", 1, 4, False)
    tap.run(f"one job of 60 replicas{on}", cost, server, f"{base}-3", 1, 60, False)
    tap.run(f"20 jobs of 4 replicas at once{on}", cost, server, f"{base}-4", 20, 4, True)
    tap.run(f"a restart with finished jobs{on}", a_restart, server, f"{base}-5")
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
