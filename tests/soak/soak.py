#!/usr/bin/python3
"""Random jobs of all kinds on `muster up`, which is killed with -9 again and again; and a checker that knows what
must be true. SOAK_SEED gives the same decisions again (not the same timing); SOAK_SECONDS is how long jobs are
submitted (1200); SOAK_DEATH_S from death to death (60, or less, for six of them); SOAK_LEVEL the isolation
(namespaces); SOAK_REPORT a file for what it found."""

import concurrent.futures
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import defaultdict

from harness.kinds import KINDS
from harness.kube import ApiError
from harness.mirror import Mirror
from harness.record import owner_uid
from harness.tap import Tap
from world.cast import nothing_left
from world.leaks import Watch
from world.machine import Machine, Refused

import dice
from judge import Judge
from ledger import BROKEN, Ledger
from play import Play

ACTORS = 8
RESIDENT = 4  # muster up, its hub, nursery and what reaps for it
GROWS_KB = 8192  # what allocators may still do after the first third, and a quarter of what there is


class Soak:
    def __init__(self, seed, seconds, level):
        self.seed, self.seconds, self.ns = seed, seconds, "soak"
        self.machine = Machine(level, "root" if os.geteuid() == 0 else "user")
        self.began = time.time()
        self.over = threading.Event()
        self.deaths, self.sizes, self.troubles = [], [], []
        self.done = self.submitted = 0
        self.changes = defaultdict(list)  # uid of a job: (plural, Change), its own and its pods'
        self.machine.kube.make_namespace(self.ns)
        self.judge, self.ledger, self.watch = Judge(self), Ledger(self.machine, self.ns), Watch(self.machine)
        folder = self.machine.make("soak")
        self.machine.make("soak", "alive")
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "replica.sh"), folder)
        self.jobs = {k.plural: Mirror(self.machine.kube, k.plural, self.ns, changed=self.machine.changed,
                                      on_change=lambda c, p=k.plural: self.changes[c.obj["metadata"]["uid"]].append((p, c)))
                     for k in KINDS}
        self.machine.pods.on_change = self._pod
        self._warm()

    def _warm(self):
        """What is made once is there: processes that stay, files, tables."""
        with concurrent.futures.ThreadPoolExecutor(ACTORS) as pool:
            list(pool.map(self.perform, [dice.Plan("warm", -1 - i) for i in range(ACTORS)]))
        self.remove_all()
        self.judge.outcomes.clear()
        self.machine.until(lambda: len(self.machine.processes()) <= RESIDENT, lambda: f"who is that: {self.machine.processes()}")
        self.idle = self.watch.counts()

    def _pod(self, change):
        self.machine.seen[self.ns].append(change)
        self.watch.uids.add(change.obj["metadata"]["uid"])
        self.changes[owner_uid(change.obj)].append(("pods", change))

    def of_job(self, plural, uid):
        return [c for p, c in list(self.changes[uid]) if p == plural]

    def of_pods(self, uid):
        return [c for p, c in list(self.changes[uid]) if p == "pods"]

    def events_of(self, play):
        uids = {play.uid} | {c.obj["metadata"]["uid"] for c in self.of_pods(play.uid)}
        return [e for e in list(self.machine.told[self.ns]) if e["involvedObject"].get("uid") in uids]

    def clock(self, at):
        return f"{at - self.began:.2f}"

    def pause(self, seconds):
        if seconds > 0:
            self.ledger.stopped.wait(seconds)

    # ---- what goes on side by side

    def perform(self, plan, life=1):
        play = Play(self, plan, life)
        try:
            play.play()
        except InterruptedError:
            return
        except AssertionError as e:
            self.judge.bad(play, str(e))
        except Exception:  # pylint: disable=broad-except # whatever it is, it is told
            self.judge.bad(play, traceback.format_exc())
        self.done += 1
        if self.done % 50 == 0:
            sys.stdout.write(f"# {self.clock(time.time())} s: {self.done} jobs done, {len(self.deaths)} deaths, "
                             f"{len(self.judge.violations)} violations\n")  # in one piece: others print too
            sys.stdout.flush()

    def actor(self):
        while not self.over.is_set() and not self.ledger.stopped.is_set():
            with self.ledger.lock:
                number = self.submitted
                self.submitted += 1
            self.perform(dice.Plan(self.seed, number))

    def writer(self):
        """ConfigMaps that come, change and go."""
        made, written = {}, 0
        for what, name, value, pause in dice.notes(self.seed):
            if self.over.is_set() or self.ledger.stopped.is_set():
                return
            entry = made.get(name)
            if what == "delete" and entry:
                self.ledger.delete(made.pop(name))
                self.ledger.forget(entry)
            elif entry:
                self.ledger.patch(entry, {("data", "value"): value})
            elif what == "write":
                written += 1
                made[name] = self.ledger.create("configmaps", {"metadata": {"name": name}, "data": {"value": value}},
                                                f"{name}.{written}")
            self.pause(pause)

    def forget_pod(self, name):
        try:
            self.machine.kube.forget("pods", name, self.ns)
        except BROKEN:
            pass  # whether it was deleted does not matter

    def killer(self, mean):
        for pause, away in dice.pauses(self.seed, mean):
            if self.over.wait(pause):
                return
            self.size()
            self.machine.kill()
            self.ledger.back.clear()
            self.deaths.append(time.time())
            time.sleep(away)
            try:
                self.machine.start()
                self.ledger.verify()
            except Exception:  # pylint: disable=broad-except # without a server there is nothing to wait for
                self.troubles.append(f"{self.clock(time.time())} s: after death {len(self.deaths)}:\n"
                                     f"{traceback.format_exc()}{self.machine.words()}")
                self.ledger.stopped.set()
            self.ledger.back.set()
            if self.ledger.stopped.is_set():
                return

    def size(self):
        """Memory of what runs on: (jobs done, {process: KB})"""
        self.sizes.append((self.done, self.watch.memory_kb()))

    def run(self):
        mean = float(os.environ.get("SOAK_DEATH_S") or min(60, self.seconds / 6))
        with concurrent.futures.ThreadPoolExecutor(ACTORS + 2) as pool:
            others = [pool.submit(self.killer, mean), pool.submit(self.writer)]
            actors = [pool.submit(self.actor) for _ in range(ACTORS)]
            self.ledger.stopped.wait(self.seconds)
            self.over.set()
            for f in others + actors:
                f.result()
        self.size()

    # ---- the end

    def remove_all(self):
        kube = self.machine.kube
        self.ledger.verify()
        for kind in KINDS:
            for job in kube.list(kind.plural, self.ns):
                kube.forget(kind.plural, job["metadata"]["name"], self.ns, propagation="Background")
        self.machine.wait(lambda: not any(m.now for m in self.jobs.values()) and not self.machine.pods.now, "all jobs and pods go", 120)
        left = [s["metadata"]["name"] for s in kube.list("services", self.ns)]
        self.machine.until(lambda: not kube.list("services", self.ns), f"all services go: {left}")
        with self.ledger.lock:
            self.ledger.entries.clear()

    def stop(self):
        for mirror in self.jobs.values():
            mirror.stop()
        self.machine.remove()


# ---- claims

def no_violations(found):
    if found:
        raise AssertionError(f"{len(found)} violations:\n" + "\n\n".join(found))


def nothing_doubled(soak):
    path = os.path.join(soak.machine.folder, "soak", "doubled")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            raise AssertionError(f.read())


def nothing_grows(soak):
    """No descriptor, thread, device, mount or file more than before the first job."""
    def more():
        now = soak.watch.counts()
        allowed = {k: n + (4 if k.startswith("descriptors") else 0) for k, n in soak.idle.items()}
        return {k: (soak.idle.get(k), n) for k, n in now.items() if n > allowed.get(k, 0)}
    soak.machine.until(lambda: not more(), lambda: f"more than before (before, now): {more()}")


def memory_is_flat(soak):
    sizes = soak.sizes[len(soak.sizes) // 3:]
    half = len(sizes) // 2
    for words in sizes[-1][1]:
        early = [kb[words] for _, kb in sizes[:half] if words in kb]
        late = [kb[words] for _, kb in sizes[half:] if words in kb]
        if early and late:
            bound = max(early) * 1.25 + GROWS_KB
            assert max(late) <= bound, f"{words}: {early} KB, then {late} KB"


def report(soak):
    lines = [f"seed {soak.seed}, {soak.seconds} s, {soak.machine.name}: {soak.submitted} jobs, {soak.judge.pods} pods judged, "
             f"{len(soak.deaths)} deaths of the server at {', '.join(soak.clock(at) for at in soak.deaths)}",
             f"writes: {soak.ledger.acknowledged} acknowledged, {soak.ledger.unanswered} unanswered, "
             f"{soak.ledger.checked} looked up after a restart"]
    for (kind, ends, state), n in sorted(soak.judge.outcomes.items(), key=str):
        lines.append(f"  {kind} that {ends}: {n} {state}")
    lines += [f"  {done} jobs done: {kb} KB" for done, kb in soak.sizes]
    return "\n".join(lines)


def main():
    seed = int(os.environ.get("SOAK_SEED") or random.SystemRandom().randrange(10**9))
    seconds = float(os.environ.get("SOAK_SECONDS") or 1200)
    tap = Tap()
    tap.note(f"SOAK_SEED={seed} SOAK_SECONDS={seconds:.0f}")
    try:
        soak = Soak(seed, seconds, os.environ.get("SOAK_LEVEL") or "namespaces")
    except Refused as e:
        tap.note(f"{e}: where pods share this machine, then")
        soak = Soak(seed, seconds, "shared")
    soak.run()
    tap.run("the server starts after each death", no_violations, soak.troubles)
    if not soak.troubles:
        tap.run("all jobs can be removed", soak.remove_all)
    stories = [f"{mark}: {text}\n{story}" for mark, text, story in soak.judge.violations]
    tap.run("each job ends as its replicas' scripts imply, and its pods tell what their processes did", no_violations, stories)
    tap.run("A1: each acknowledged write is there after each death", no_violations, soak.ledger.violations)
    tap.run("J1, N1: no replica lives twice", nothing_doubled, soak)
    if not soak.troubles:
        tap.run("N2: nothing more than before: descriptors, threads, namespaces, devices, mounts, files", nothing_grows, soak)
        tap.run("R1: memory is flat", memory_is_flat, soak)
        tap.run("N2: stopped, it leaves nothing behind", nothing_left, soak.machine)
    tap.note(report(soak))
    if os.environ.get("SOAK_REPORT"):
        with open(os.environ["SOAK_REPORT"], "w", encoding="utf-8") as f:
            f.write("\n\n".join([report(soak), *stories, *soak.ledger.violations, *soak.troubles]))
    soak.stop()
    tap.end()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and what was started is removed
    try:
        main()
    except ApiError as error:
        sys.exit(str(error))
