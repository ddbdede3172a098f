"""Init containers, and those that stay beside the others (restartPolicy Always)."""

from harness.tap import has, is_
from world.record import condition, container, phase
from world.scene import STAY, box, ended, is_end

from . import scene


def sidecar(script, name="side", **more):
    return box(script, name, restartPolicy="Always", **more)


@scene
def init_containers_run_one_after_the_other(s):
    s.start("p", "echo main >>$G/order", init=[box("await one; echo one >>$G/order", "one"),
                                               box("echo two >>$G/order", "two")])
    pod = s.wait_pod("p", lambda p: "running" in container(p, "one").get("state", {}), "runs its first")
    is_(phase(pod), "Pending", "phase")
    is_(container(pod, "two")["state"], {"waiting": {"reason": "PodInitializing"}}, "the second waits")
    is_(container(pod, "main")["state"], {"waiting": {"reason": "PodInitializing"}}, "the main one waits")
    c = condition(pod, "Initialized")
    is_((c["status"], c["reason"], c["message"]),
        ("False", "ContainersNotInitialized", "containers with incomplete status: [one two]"), "Initialized")
    s.open("one")
    pod = s.wait_phase("p", "Succeeded")
    is_(s.read("order").split(), ["one", "two", "main"], "the order")
    for name in ("one", "two"):
        is_end(pod, 0, "Completed", name)
        is_((container(pod, name)["ready"], container(pod, name)["restartCount"]), (True, 0), name)
    is_(condition(pod, "Initialized")["status"], "True", "Initialized")


@scene
def an_init_container_that_fails_is_tried_again(s):
    s.start("p", "exit 0", restart="OnFailure",
            init=[box("[ -e $G/second ] && exit 0; : >$G/second; exit 4", "one")])
    pod = s.wait_phase("p", "Succeeded")
    one = container(pod, "one")
    is_(one["restartCount"], 1, "restarts of it")
    is_end(pod, 0, "Completed", "one")


@scene(slow=True)
def an_init_container_that_goes_on_failing_backs_off(s):
    s.start("p", "exit 0", restart="Always", init=[box("exit 4", "one")])
    has(s.wait_waiting("p", "CrashLoopBackOff", "one"), "restarting failed container=one pod=p_" + s.ns, "message")
    pod = s.get("p")
    is_(phase(pod), "Pending", "phase")
    is_(container(pod, "one")["lastState"]["terminated"]["exitCode"], 4, "how it ended")
    s.wait_event("BackOff", "Back-off restarting failed container one in pod p_", name="p")


@scene
def a_sidecar_starts_first_and_ends_last(s):
    s.start("p", "echo main >>$G/order",
            init=[sidecar("trap 'echo end >>$G/order; exit 0' TERM; echo side >>$G/order; : >$G/up; "
                          "while :; do sleep 0.1; done",
                          startupProbe={"exec": {"command": ["sh", "-c", "test -e $G/up"]}, "periodSeconds": 1}),
                  box("echo init >>$G/order", "after")], grace=30)
    pod = s.wait_phase("p", "Succeeded")
    is_(s.read("order").split(), ["side", "init", "main", "end"], "the order")
    is_end(pod, 0, "Completed", "main")
    assert ended(pod, "side"), "the sidecar ended, too"


@scene
def a_sidecar_that_is_killed_at_the_end_does_not_fail_the_pod(s):
    s.start("p", "exit 0", init=[sidecar("trap 'exit 3' TERM; while :; do sleep 0.1; done")])
    s.wait_phase("p", "Succeeded")


@scene
def a_sidecar_is_started_again_even_under_never(s):
    s.start("p", "await go", init=[sidecar("[ -e $G/once ] || { : >$G/once; exit 3; }; " + STAY)])
    pod = s.wait_restarts("p", 1, "side")
    pod = s.wait_pod("p", lambda p: container(p, "side")["ready"] and "running" in container(p, "main")["state"],
                     "runs both")
    is_(container(pod, "side")["lastState"]["terminated"]["exitCode"], 3, "how it ended")
    is_(container(pod, "main")["restartCount"], 0, "main goes on")
    s.open("go")
    s.wait_phase("p", "Succeeded")


@scene
def a_sidecar_counts_for_readiness(s):
    s.start("p", STAY, init=[sidecar(STAY, readinessProbe={"exec": {"command": ["sh", "-c", "test -e $G/fit"]},
                                                           "periodSeconds": 1})])
    pod = s.wait_pod("p", lambda p: container(p, "main").get("ready"), "runs")
    is_(condition(pod, "Ready")["status"], "False", "Ready")
    has(condition(pod, "Ready")["message"], "[side]", "in words")
    s.open("fit")
    s.wait_ready("p")


@scene
def sidecars_stop_after_the_others_last_one_first(s):
    def stops(name):
        return f"trap 'echo {name} >>$G/order; exit 0' TERM; : >$G/{name}.up; while :; do sleep 0.1; done"
    s.start("p", stops("main"), init=[sidecar(stops("one"), "one"), sidecar(stops("two"), "two")], grace=60)
    for name in ("one", "two", "main"):
        s.read(name + ".up")
    s.delete("p")
    s.wait_gone("p")
    is_(s.read("order").split(), ["main", "two", "one"], "the order")


@scene
def an_init_container_that_fails_under_never_fails_the_pod(s):
    s.start("p", "echo no | say no", init=[box("exit 9", "one"), box("exit 0", "two")])
    pod = s.wait_phase("p", "Failed")
    is_end(pod, 9, "Error", "one")
    for name in ("two", "main"):
        is_(container(pod, name)["state"].get("waiting", {}).get("reason"), "PodInitializing", f"{name} never ran")
    c = condition(pod, "Initialized")
    is_((c["status"], c["reason"]), ("False", "ContainersNotInitialized"), "Initialized")
    has(c["message"], "[one two]", "in words")
