#!/usr/bin/python3
"""The operator is killed with -9 after each of its writes in turn, in a run with a restart, a scale-down
and a clean-up, and in one with a restart of the whole job: the end is that of a run where nothing
happened, and no object is doubled or lost.

With OPERATOR_KUBECONFIG on that cluster; OPERATOR_KILLS=n kills after every n-th write only
(of the second run after every third of those)."""

import os

from harness.engine import Proxied, Server
from harness.record import conditions, is_true
from harness.scene import Scene, template
from harness.tap import Tap, is_
from scenes.restarts import tally
from scenes.whole_restarts import WHOLE, attempt, restarted_whole

SCRIPT = ({"role": "worker", "index": 1, "attempt": 1, "do": ["run", {"exit": 130}]}, {"do": ["run"]})


def one_restart(s):
    """A story; returns the end of it."""
    s.script(*SCRIPT)
    s.create("j", Worker={"replicas": 3, "restartPolicy": "ExitCode", "template": template()}, PS=1,
             run_policy={"backoffLimit": 5, "cleanPodPolicy": "Running"})
    four = ["j-ps-0", "j-worker-0", "j-worker-1", "j-worker-2"]
    s.wait(lambda: s.live_pods() == four and all(s.phase(n) == "Running" for n in four)
           and len(uids(s.pods, "j-worker-1")) == 2 and is_true(s.job("j"), "Running"), "restarted, all run", 40)
    s.wait_services(*four)
    s.edit("j", {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})
    s.wait(lambda: s.pods.names() == four[:3], "scaled down", 40)
    s.wait_services(*four[:3])
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    s.wait(lambda: s.pods.names() == ["j-worker-0"] and s.services.names() == ["j-worker-0"], "cleaned up", 40)
    s.quiet(0.3)
    return end(s)


def whole_restart(s):
    s.script(*SCRIPT)
    s.create("j", Worker={"replicas": 2, "restartPolicy": "ExitCode", "template": template()},
             run_policy={"backoffLimit": 5}, annotations=WHOLE)
    restarted_whole(s, ["j-worker-0", "j-worker-1"])
    s.exit("j-worker-0", 0)
    s.wait_true("j", "Succeeded")
    s.quiet(0.3)
    return {**end(s), "attempts": attempt(s, "j")}


def uids(mirror, name):
    return {c.obj["metadata"]["uid"] for c in mirror.of(name)}


def end(s):
    job = s.job("j")
    names = {c.obj["metadata"]["name"] for c in s.pods.history}
    return {
        "conditions": [(c["type"], c["status"], c["reason"], c["message"].replace(s.ns, "NS"))
                       for c in conditions(job)],
        "replicaStatuses": s.counts("j"),
        "restarts": tally(s, "j")["n"],
        "pods": {n: s.phase(n) for n in s.pods.names()},
        "pods ever": {n: len(uids(s.pods, n)) for n in sorted(names)},
        "services": s.services.names(),
        "services ever": {n: len(uids(s.services, n)) for n in sorted({c.obj["metadata"]["name"]
                                                                      for c in s.services.history})},
    }


def run(server, ns, play, n=0, answered=False, want=None):  # pylint: disable=too-many-arguments,too-many-positional-arguments
    """Returns the end and how many writes there were; kills after the n-th, if n."""
    engine = Proxied(server.kube, ns)
    scene = None
    killed = []
    try:
        scene = Scene(engine, ns)
        if n:
            def kill():
                killed.append(1)
                engine.operator.kill()
                engine.start_operator(wait=False)
            engine.proxy.kill_after(n, kill, answered)
        got = play(scene)
        scene.check()
        if want:
            is_(got, want, "the end is the same")
        told = sorted((e["type"], e["reason"], e["message"].replace(ns, "NS")) for e in
                      {c.obj["metadata"]["name"]: c.obj for c in scene.events.history}.values())
        return got, len(engine.proxy.written_requests()), told, bool(killed)
    except Exception as e:
        e.report = "\n" + (scene.story() if scene else "") + "\n" + engine.words()
        raise
    finally:
        if scene:
            scene.stop()
        engine.stop()


def tell(tap, server, play, step):
    """Plays it once without and many times with a kill, after every step-th write."""
    base = f"k{os.getpid()}{play.__name__[0]}"
    on = f" ({play.__name__}, {server.name})"
    found = {}

    def calm():
        found["want"], found["writes"], found["told"], _ = run(server, base, play)

    def killed(n, answered):
        ns = f"{base}-{n}{'b' if answered else 'a'}"
        _, _, told, found[(n, answered)] = run(server, ns, play, n, answered, found["want"])
        found["lost"] = found.get("lost", set()) | (set(found["told"]) - set(told))

    tap.run(f"a run nobody disturbs{on}", calm)
    if "want" not in found:
        return
    print(f"# {found['writes']} writes")
    cases = [(n, answered) for n in range(1, found["writes"] + 1, step) for answered in (False, True)]
    tap.run_all([(f"killed after write {n}, {'its answer known' if answered else 'unanswered'}{on}", killed, n,
                  answered) for n, answered in cases], width=6)
    fired = sum(bool(found.get(c)) for c in cases)
    tap.line(fired * 10 >= len(cases) * 8, f"most kills met their write: {fired} of {len(cases)}{on}")
    for fact in sorted(found.get("lost", ())):
        print("# an event lost by a kill:", *fact)


def main():
    tap = Tap()
    server = Server()
    step = int(os.environ.get("OPERATOR_KILLS", "1"))
    tell(tap, server, one_restart, step)
    tell(tap, server, whole_restart, 3 * step)
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
