#!/usr/bin/python3
"""`muster up` killed with -9 while pods run, and started again: what ran goes on, what ended is known, nothing
runs twice, nothing is left. NODE_SEED decides when it is killed again and again (the machine does, too).
Usage: t2000_kill.py [namespaces|shared] [root|user]"""

import os
import random
import time

from harness.tap import claim, is_
from scenes.network import ASK, server
from world.cast import nothing_left, on_each_of_argv
from world.machine import Machine
from world.record import ORDER, container, phase
from world.scene import STAY, box, ended, is_end, play

DOWN_S = 0.5  # how long the server is away, at least


def again(s, meanwhile=None):
    """Killed, something happens, started."""
    s.machine.kill()
    if meanwhile:
        meanwhile()
    time.sleep(DOWN_S)
    s.machine.start()


def what_runs_goes_on(s):
    mark = s.mark(1)
    s.start("p", box(f"echo before; echo ran >>$G/runs; sleep {mark} & await go; echo after; {STAY}"), restart="Always")
    s.wait_ready("p")
    s.until(lambda: s.alive(mark), "it runs")
    before, pids = s.get("p"), s.alive(mark)
    again(s, lambda: is_(s.alive(mark), pids, "it runs without the server"))
    s.start("later", "exit 0")
    s.wait_phase("later", "Succeeded")
    s.open("go")
    s.until(lambda: s.log("p") == "before\nafter\n", "its log goes on")
    now = s.now("p")
    is_((phase(now), now["metadata"]["uid"], now["status"]["podIP"]),
        ("Running", before["metadata"]["uid"], before["status"]["podIP"]), "the pod")
    for member in ("containerID", "restartCount", "ready", "state"):
        is_(container(now, "main")[member], container(before, "main")[member], member)
    is_(s.alive(mark), pids, "the process")
    is_(s.read("runs"), "ran\n", "it ran once")
    s.delete("p")
    s.wait_gone("p")
    s.until(lambda: not s.alive(mark), "it can be deleted")


def what_ended_meanwhile_is_known(s):
    s.start("good", "await good; echo done | say done-good")
    s.start("bad", "await bad; echo words; echo done | say done-bad; exit 5")
    s.start("killed", "echo $$ >$G/pid; await killed; echo done | say done-killed; kill -KILL $$")
    for name in ("good", "bad", "killed"):
        s.wait_ready(name)

    def meanwhile():
        for name in ("good", "bad", "killed"):
            s.open(name)
            s.read("done-" + name)
    again(s, meanwhile)
    is_end(s.wait_phase("good", "Succeeded"), 0, "Completed")
    is_end(s.wait_phase("bad", "Failed"), 5, "Error")
    is_end(s.wait_phase("killed", "Failed"), 137, "Error")
    is_(s.log("bad"), "words\n", "what it said meanwhile")


def what_failed_meanwhile_is_restarted_once(s):
    s.start("p", "echo ran >>$G/runs; [ -e $G/again ] && exit 0; : >$G/again; await go; echo y | say y; exit 1",
            restart="OnFailure")
    s.wait_ready("p")

    def meanwhile():
        s.open("go")
        s.read("y")
    again(s, meanwhile)
    pod = s.wait_phase("p", "Succeeded")
    is_(container(pod, "main")["restartCount"], 1, "restarts")
    is_(s.read("runs"), "ran\nran\n", "it ran twice")


def who_was_told_to_stop_is_stopped(s):
    mark = s.mark(2)
    s.start("p", f"trap '' TERM; echo up | say up; while :; do sleep {mark}; done", grace=3)
    s.read("up")
    s.delete("p")
    s.wait_pod("p", lambda p: p["metadata"].get("deletionTimestamp"), "is leaving")
    again(s)
    s.wait_gone("p")
    s.until(lambda: not s.alive(mark), "its processes end")


def who_is_deleted_by_force_and_at_once_is_gone(s):
    mark = s.mark(3)
    s.start("p", f"echo up | say up; exec sleep {mark}")
    s.read("up")
    s.delete("p", grace=0)
    again(s)
    s.machine.pods.sync()
    s.wait_gone("p")
    s.until(lambda: not s.alive(mark), "its process ends")


def init_containers_go_on_where_they_were(s):
    s.start("p", "echo main >>$G/order", init=[box("echo one >>$G/order", "one"),
                                               box("echo two >>$G/order; await go", "two"),
                                               box("echo three >>$G/order", "three")])
    s.wait_pod("p", lambda p: "running" in container(p, "two").get("state", {}), "runs its second")
    again(s)
    s.open("go")
    s.wait_phase("p", "Succeeded")
    is_(s.read("order").split(), ["one", "two", "three", "main"], "each once")
    is_(s.events("Failed", name="p"), [], "failures on the way")


def who_crashes_goes_on_counting(s):
    s.start("p", "echo ran >>$G/runs; exit 1", restart="Always")
    s.wait_waiting("p", "CrashLoopBackOff")
    count = container(s.get("p"), "main")["restartCount"]
    again(s)
    s.wait_restarts("p", count + 1, timeout=120)
    told = container(s.now("p"), "main")["restartCount"] + 1
    s.until(lambda: len(s.read("runs").split()) >= told, f"{told} runs")
    assert len(s.read("runs").split()) <= container(s.now("p"), "main")["restartCount"] + 2, "runs that are not told"


def pods_reach_each_other_still(s):
    address = server(s, "a")
    s.start("b", box(ASK + f"await go; ask {address} 27000 | say old"))
    s.wait_ready("b")
    again(s)
    s.open("go")
    is_(s.read("old"), "a\n", "who ran before")
    s.start("c", box(ASK + f"ask {address} 27000 | say new"))
    is_(s.read("new"), "a\n", "who came later")


def devices_stay_whose_they_are(s):
    s.start("a", box("echo $CUDA_VISIBLE_DEVICES | say a; " + STAY, resources={"limits": {"nvidia.com/gpu": "1"}}))
    s.read("a")
    again(s)
    s.start("b", box("echo $CUDA_VISIBLE_DEVICES | say b; " + STAY, resources={"limits": {"nvidia.com/gpu": "1"}}))
    is_({s.read("a").strip(), s.read("b").strip()}, {"0", "1"}, "N3: one each")


def killed_again_and_again_nothing_runs_twice(s):
    seed = int(os.environ.get("NODE_SEED") or 1)
    chance = random.Random(seed)
    names = [f"p{i}" for i in range(16)]
    later = names[8:]
    for name in names[:8]:
        s.start(name, f"echo ran >>$G/runs-{name}; sleep 0.{chance.randrange(10)}; exit 0")
    for _ in range(4):
        time.sleep(chance.random() * 0.4)
        again(s)
        for name in (later.pop(), later.pop()):
            s.start(name, f"echo ran >>$G/runs-{name}; sleep 0.{chance.randrange(10)}; exit 0")
    for name in names:
        pod = s.wait_pod(name, lambda p: ORDER.get(phase(p)) == 2, "ends")
        path = f"{s.folder}/runs-{name}"
        runs = len(s.read(f"runs-{name}").split()) if os.path.exists(path) else 0
        assert runs <= 1, f"seed {seed}: {name} ran {runs} times"
        if phase(pod) == "Failed":
            assert pod["status"].get("reason") or ended(pod).get("reason"), f"seed {seed}: {name} failed without a reason"
            s.machine.lost += 1
        else:
            is_(runs, 1, f"seed {seed}: runs of {name}")


def stopped_and_started_nothing_runs_twice(s):
    mark = s.mark(4)
    s.start("p", f"echo ran >>$G/runs; exec sleep {mark}", restart="Always")
    s.wait_ready("p")
    s.until(lambda: s.alive(mark), "it runs")
    first = s.alive(mark)
    is_(s.machine.stop(), 0, "exit code")
    left = s.alive(mark)
    s.machine.start()
    if left:
        is_(left, first, "it runs on")
    else:
        s.wait_restarts("p", 1)
        s.wait_ready("p")
    s.until(lambda: len(s.alive(mark)) == 1, lambda: f"it runs once: {s.alive(mark)}")


ALL = (what_runs_goes_on, what_ended_meanwhile_is_known, what_failed_meanwhile_is_restarted_once,
       who_was_told_to_stop_is_stopped, who_is_deleted_by_force_and_at_once_is_gone, init_containers_go_on_where_they_were,
       who_crashes_goes_on_counting, pods_reach_each_other_still, devices_stay_whose_they_are,
       killed_again_and_again_nothing_runs_twice, stopped_and_started_nothing_runs_twice)


def all_kills(tap, level, user, parts):
    machine = Machine(level, user, "--resources", "nvidia.com/gpu=2")
    machine.lost = 0
    for i, test in enumerate(ALL):
        if not parts or any(p in test.__name__ for p in parts):
            tap.run(f"{claim(test)} ({machine.name})", play, machine, f"k{i}", test)
    tap.run(f"killed and stopped, it leaves nothing behind ({machine.name})", nothing_left, machine)
    machine.remove()


if __name__ == "__main__":
    on_each_of_argv(all_kills)
