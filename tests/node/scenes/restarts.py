"""Restart policies, back-off, and what is told of former attempts."""

from harness.tap import has, is_
from world.record import condition, container, phase
from world.scene import STAY, box, is_end, matches

from . import scene


@scene
def always_restarts_what_ended_well(s):
    s.start("p", "[ -e $G/again ] || { : >$G/again; exit 0; }; " + STAY, restart="Always")
    pod = s.wait_pod("p", lambda p: container(p, "main").get("restartCount") == 1 and container(p, "main")["ready"],
                     "runs again")
    c = container(pod, "main")
    is_((c["lastState"]["terminated"]["exitCode"], c["lastState"]["terminated"]["reason"]), (0, "Completed"),
        "how it ended")
    assert c["lastState"]["terminated"]["containerID"] != c["containerID"], "another container"
    is_(phase(pod), "Running", "phase")
    is_(condition(pod, "Ready")["status"], "True", "Ready again")


@scene
def on_failure_leaves_what_ended_well(s):
    s.start("p", "exit 0", restart="OnFailure")
    is_(container(s.wait_phase("p", "Succeeded"), "main")["restartCount"], 0, "restarts")


@scene
def on_failure_restarts_in_place_until_it_succeeds(s):
    s.start("p", "[ -e $G/again ] && exit 0; : >$G/again; exit 1", restart="OnFailure")
    pod = s.wait_phase("p", "Succeeded")
    c = container(pod, "main")
    is_((c["restartCount"], c["lastState"]["terminated"]["exitCode"]), (1, 1), "one restart after a failure")
    is_end(pod, 0, "Completed")
    is_(len({x.obj["metadata"]["uid"] for x in s.history("p")}), 1, "in the same pod")


@scene
def never_does_not_restart(s):
    s.start("p", "echo ran >>$G/runs; exit 1", restart="Never")
    is_(container(s.wait_phase("p", "Failed"), "main")["restartCount"], 0, "restarts")
    is_(s.read("runs"), "ran\n", "runs")


@scene(slow=True)
def who_crashes_again_and_again_is_made_to_wait(s):
    uid = s.start("p", "echo ran >>$G/runs; exit 1", restart="Always")["metadata"]["uid"]
    matches(s.wait_waiting("p", "CrashLoopBackOff"),
            f"^back-off \\d+m?\\d*s restarting failed container=main pod=p_{s.ns}\\({uid}\\)$", "message")
    pod = s.get("p")
    c = container(pod, "main")
    is_((c["ready"], c["started"]), (False, False), "ready, started")
    is_(c["lastState"]["terminated"]["exitCode"], 1, "how it ended")
    is_(phase(pod), "Running", "phase")
    is_(condition(pod, "Ready")["reason"], "ContainersNotReady", "Ready")
    told = s.wait_event("BackOff", name="p")
    is_((told["type"], told["message"]), ("Warning", f"Back-off restarting failed container main in pod p_{s.ns}({uid})"),
        "the event")
    runs = len(s.read("runs").split())
    assert runs <= 2, f"{runs} runs before the first wait"
    s.wait_restarts("p", runs, timeout=90)  # and after it, it is tried again


@scene(slow=True)
def a_container_that_backs_off_does_not_stop_its_neighbour(s):
    s.start("p", box("exit 1", "bad"), box("await go; echo fine | say fine; " + STAY, "good"), restart="Always")
    s.wait_waiting("p", "CrashLoopBackOff", "bad")
    is_(container(s.get("p"), "good")["restartCount"], 0, "restarts of the good one")
    s.open("go")
    s.read("fine")


@scene
def a_restart_keeps_address_name_and_volumes(s):
    s.start("p", box("hostname >>$G/name; ls $D >>$G/found; : >$D/mark; [ -e $G/again ] || { : >$G/again; exit 1; }; "
                     + STAY, volumeMounts=[{"name": "d", "mountPath": s.place("p", "d")}],
                     env=[{"name": "D", "value": s.place("p", "d")}]),
            restart="Always", volumes=[{"name": "d", "emptyDir": {}}])
    s.wait_pod("p", lambda p: container(p, "main").get("restartCount") == 1 and container(p, "main")["ready"],
               "runs again")
    s.until(lambda: len(s.read("name").split()) == 2 and s.read("found"), "it looked twice")
    is_(len(set(s.read("name").split())), 1, "host name")
    is_(s.read("found").split(), ["mark"], "the emptyDir stays")


@scene
def each_attempt_has_its_log(s):
    s.start("p", "[ -e $G/again ] || { echo first; : >$G/again; exit 1; }; echo second; echo x | say up; " + STAY,
            restart="Always")
    s.read("up")
    s.wait_pod("p", lambda p: container(p, "main").get("restartCount") == 1 and container(p, "main")["ready"],
               "runs again")
    s.until(lambda: s.log("p") == "second\n", lambda: f"the log is {s.log('p')!r}")
    is_(s.log("p", previous="true"), "first\n", "the former one's")


@scene
def a_signal_counts_as_a_failure(s):
    s.start("p", "[ -e $G/again ] && exit 0; : >$G/again; kill -KILL $$", restart="OnFailure")
    pod = s.wait_phase("p", "Succeeded")
    end = container(pod, "main")["lastState"]["terminated"]
    is_((end["exitCode"], end["reason"]), (137, "Error"), "how it ended")
    has(end["containerID"], "://", "which one")
