#!/usr/bin/python3
"""Two operators and one lease: the leader is killed, paused, cut off, or leaves; at no time do two act
(J6). Each operator has a proxy of its own, whose record says who wrote when.

With OPERATOR_KUBECONFIG on that cluster."""

import os
import signal
import sys
import threading
import time

from harness.engine import Proxied, Server
from harness.mirror import Mirror, wait_for
from harness.record import is_true
from harness.scene import Scene
from harness.tap import Tap, claim, is_

LEASE_S = {"lease-duration": 12, "renew-deadline": 8, "retry-period": 1}


class Pair:
    def __init__(self, server, ns):
        self.ns, self.id = ns, f"lease-{ns}"
        server.kube.make_namespace(ns)
        self.leases = Mirror(server.kube, "leases")
        words = ["--leader-elect", "--leader-election-id", self.id, "--leader-election-namespace", ns]
        # Shorter than 15, 10 and 2 s: nobody likes to wait. Who has no time to renew it loses a lease.
        for name, seconds in LEASE_S.items():
            words += [f"--leader-elect-{name}", f"{seconds}s"]
        self.a = Proxied(server.kube, ns, *words)
        self.wait_holder(lambda who: who, "somebody leads")
        self.b = Proxied(server.kube, ns, *words, wait=False)
        self.scene = Scene(self.a, ns)
        self.scene.engine.trouble = lambda: None  # who loses the lease ends, and shall
        self.scene.script({"do": ["run", {"after": 0.2}, {"exit": 0}]})
        self.made = 0
        self.stopped = threading.Event()
        self.feeder = threading.Thread(target=self._feed, daemon=True)
        self.feeder.start()

    def _feed(self):
        """There is always something to do."""
        while not self.stopped.wait(0.4):
            self.scene.create(f"j{self.made}", Worker=1)
            self.made += 1

    def lease(self):
        for lease in list(self.leases.now.values()):
            if lease["metadata"]["name"] == self.id:
                return lease
        return None

    def holder(self):
        lease = self.lease()
        return lease and lease["spec"].get("holderIdentity")

    def wait_holder(self, predicate, what):
        wait_for(self.leases.changed, lambda: predicate(self.holder()), what)
        return self.holder()

    def acting(self, engine):
        return [r for r in engine.proxy.written_requests() if r.plural != "leases"]

    def wait_acting(self, engine, since, what):
        wait_for(engine.proxy.changed, lambda: any(r.at > since for r in self.acting(engine)), what)

    def finish(self):
        """Everything made so far gets done, and nobody acted who did not lead."""
        self.stopped.set()
        self.feeder.join()
        names = [f"j{i}" for i in range(self.made)]
        self.scene.wait(lambda: all(is_true(self.scene.job(n), "Succeeded") for n in names), "all jobs succeed")
        self.scene.check()
        for engine, name in ((self.a, "a"), (self.b, "b")):
            for r in self.acting(engine):
                if r.sent is not None and not self._led(engine, r):
                    raise AssertionError(f"{name} wrote without the lease: {r} at {r.sent:.3f}\n{self._reigns()}")

    def _reigns(self):
        """[(identity, from, until)]: from when the server answered the taking to when it was given up or
        taken by another."""
        found = []
        for c in self.leases.history:
            if c.obj["metadata"]["name"] != self.id:
                continue
            who = c.obj["spec"].get("holderIdentity") if c.type != "DELETED" else None
            if not found or found[-1][0] != who:
                if found:
                    found[-1][2] = c.at
                found.append([who, c.at, float("inf")])
        return found

    def _led(self, engine, request):
        taken = {}  # identity -> when it asked for what it got; the watch tells of it a moment later
        for r in engine.proxy.written_requests():
            if r.plural != "leases" or r.status not in (200, 201):
                continue
            who = (r.json() or {}).get("spec", {}).get("holderIdentity")
            if who:
                taken[who] = min(r.sent, taken.get(who, r.sent))
        return any(who in taken and taken[who] <= request.sent <= end + 0.05 for who, _, end in self._reigns())

    def stop(self):
        self.stopped.set()
        self.scene.stop()
        self.leases.stop()
        for e in (self.a, self.b):
            if e.operator.alive:
                e.operator.signal(signal.SIGCONT)
            e.proxy.heal()
            e.stop()


def one_leads_and_the_other_waits(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    time.sleep(4)  # longer than it takes to renew and to try
    is_(p.holder(), first, "it stays the leader")
    is_(p.acting(p.b), [], "the other does nothing")
    wait_for(p.leases.changed, lambda: p.b.operator.probe("/healthz") == 200, "but is well")
    renewals = [r for r in p.a.proxy.written_requests() if r.plural == "leases"]
    span = renewals[-1].at - renewals[0].at
    assert len(renewals) <= 2 + span / LEASE_S["retry-period"], f"{len(renewals)} writes of the lease in {span:.1f} s"


def a_killed_leader_is_followed(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    p.a.operator.kill()
    p.wait_holder(lambda who: who not in (first, None, ""), "the other takes over")
    p.wait_acting(p.b, time.time(), "and acts")


def a_paused_leader_wakes_up_and_writes_nothing(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    p.a.operator.signal(signal.SIGSTOP)
    p.wait_holder(lambda who: who not in (first, None, ""), "the other takes over")
    p.wait_acting(p.b, time.time(), "and acts")
    woken = time.time()
    p.a.operator.signal(signal.SIGCONT)
    time.sleep(4)  # what it does not do takes time to see
    late = [str(r) for r in p.acting(p.a) if r.at > woken]
    is_(late, [], "the old leader writes nothing")
    assert p.holder() != first


def a_leader_that_is_cut_off_stops_by_itself(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    p.a.proxy.partition()
    p.wait_holder(lambda who: who not in (first, None, ""), "the other takes over")
    taken = time.time()
    p.wait_acting(p.b, taken, "and acts")
    p.a.proxy.heal()
    time.sleep(3)
    late = [str(r) for r in p.acting(p.a) if r.sent and r.sent > taken]
    is_(late, [], "the old leader writes nothing")


def a_leader_that_ends_hands_over_at_once(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    is_(p.a.operator.stop(), 0, "exit code")
    ended = time.time()
    p.wait_holder(lambda who: who not in (first, None, ""), "the other takes over")
    p.wait_acting(p.b, ended, "and acts")


def a_server_that_fails_for_a_moment_costs_no_leadership(p):
    first = p.holder()
    p.wait_acting(p.a, 0, "the leader acts")
    for e in (p.a, p.b):
        e.proxy.fault(lambda r: r.plural == "leases", "answer", 500, times=2)
        e.proxy.drop_all()
    time.sleep(6)
    is_(p.holder(), first, "it stays the leader")
    p.wait_acting(p.a, time.time(), "and acts")


TESTS = [one_leads_and_the_other_waits, a_killed_leader_is_followed, a_paused_leader_wakes_up_and_writes_nothing,
         a_leader_that_is_cut_off_stops_by_itself, a_leader_that_ends_hands_over_at_once,
         a_server_that_fails_for_a_moment_costs_no_leadership]


def play(server, ns, test):
    pair = Pair(server, ns)
    try:
        test(pair)
        pair.finish()
    except Exception as e:
        e.report = "\nA " + pair.a.words() + "\nB " + pair.b.words()
        raise
    finally:
        pair.stop()


def main():
    tap = Tap()
    server = Server()
    chosen = [t for t in TESTS if len(sys.argv) < 2 or any(part in t.__name__ for part in sys.argv[1:])]
    tap.run_all([(f"{claim(t)} ({server.name})", play, server, f"l{os.getpid()}-{i}", t)
                 for i, t in enumerate(chosen)], width=6)
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
