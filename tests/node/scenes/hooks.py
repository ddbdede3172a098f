"""postStart and preStop."""

import time

from harness.tap import has, is_
from world.record import container
from world.scene import STAY, box, is_end

from . import scene


def run(script):
    return {"exec": {"command": ["sh", "-c", script]}}


@scene
def post_start_runs_in_the_container(s):
    s.start("p", box(STAY, lifecycle={"postStart": run("echo $X in $(hostname) >$G/started")},
                     env=[{"name": "X", "value": "here"}]), hostname="me")
    s.wait_ready("p")
    has(s.read("started"), "here in", "what it said")


@scene
def a_container_is_not_ready_before_post_start_is_over(s):
    s.start("p", box(STAY, lifecycle={"postStart": run('mkfifo "$G/go" 2>/dev/null; : >$G/begun; read -r _ <"$G/go"')}))
    s.read("begun")
    c = container(s.now("p"), "main")
    assert not c.get("ready"), c
    s.open("go")
    s.wait_ready("p")


@scene
def a_post_start_that_fails_ends_the_container(s):
    s.start("p", box(STAY, lifecycle={"postStart": run("echo broken; exit 3")}), grace=1)
    pod = s.wait_phase("p", "Failed")
    assert container(pod, "main")["state"]["terminated"]["exitCode"] != 0
    told = s.wait_event("FailedPostStartHook", name="p")
    is_(told["type"], "Warning", "its type")


@scene
def pre_stop_runs_before_the_signal(s):
    s.start("p", box("trap 'echo signal >>$G/order; exit 0' TERM; : >$G/up; while :; do sleep 0.1; done",
                     lifecycle={"preStop": run("echo hook >>$G/order; sleep 0.3; echo hooked >>$G/order")}), grace=60)
    s.read("up")
    s.delete("p")
    s.wait_gone("p")
    is_(s.read("order").split(), ["hook", "hooked", "signal"], "the order")


@scene
def pre_stop_gets_no_more_than_the_grace(s):
    s.start("p", box("trap 'exit 0' TERM; : >$G/up; while :; do sleep 0.1; done",
                     lifecycle={"preStop": run("sleep 1000")}), grace=2)
    s.read("up")
    begun = time.monotonic()
    s.delete("p")
    s.wait_gone("p")
    assert time.monotonic() - begun >= 1.5, "it had its time"


@scene
def pre_stop_that_fails_is_told_and_stops_nothing(s):
    s.start("p", box("trap 'exit 0' TERM; : >$G/up; while :; do sleep 0.1; done",
                     lifecycle={"preStop": run("exit 5")}), grace=30)
    s.read("up")
    s.delete("p")
    is_end(s.wait_gone("p"), 0, "Completed")
    s.wait_event("FailedPreStopHook", name="p")


@scene
def pre_stop_does_not_run_when_the_container_ended_itself(s):
    s.start("p", box("exit 0", lifecycle={"preStop": run(": >$G/hook")}))
    s.wait_phase("p", "Succeeded")
    s.delete("p")
    s.wait_gone("p")
    s.start("q", box("ls $G | say left"))
    assert "hook" not in s.read("left").split()


@scene
def pre_stop_can_be_a_sleep(s):
    s.start("p", box("trap 'exit 0' TERM; : >$G/up; while :; do sleep 0.1; done",
                     lifecycle={"preStop": {"sleep": {"seconds": 1}}}), grace=30)
    s.read("up")
    begun = time.monotonic()
    s.delete("p")
    is_end(s.wait_gone("p"), 0, "Completed")
    assert time.monotonic() - begun >= 0.9, "it slept"
