"""How pods are deleted, and how long they are given; deadlines."""

import time

from harness.tap import has, is_
from world.record import condition
from world.scene import STAY, box, ended, is_end

from . import scene


@scene
def a_deleted_pod_is_told_to_stop_and_goes_when_it_has(s):
    s.start("p", "trap 'echo bye | say bye; exit 5' TERM; echo up | say up; while :; do sleep 0.1; done", grace=60)
    s.read("up")
    pod = s.delete("p")
    is_(pod["metadata"]["deletionGracePeriodSeconds"], 60, "the grace it is given")
    last = s.wait_gone("p", timeout=45)
    is_(s.read("bye"), "bye\n", "it got SIGTERM")
    is_end(last, 5, "Error")
    s.wait_event("Killing", "Stopping container main", name="p")


@scene
def who_does_not_stop_is_killed_after_the_grace(s):
    s.start("p", "trap '' TERM; echo up | say up; while :; do sleep 0.1; done", grace=2)
    s.read("up")
    begun = time.monotonic()
    s.delete("p")
    last = s.wait_gone("p")
    assert time.monotonic() - begun >= 1.5, "it was given its time"
    is_end(last, 137, "Error")


@scene
def a_grace_of_the_request_counts_for_that_request(s):
    s.start("p", "trap '' TERM; echo up | say up; while :; do sleep 0.1; done", grace=600)
    s.read("up")
    s.delete("p", grace=1)
    is_end(s.wait_gone("p"), 137, "Error")


@scene
def a_shorter_grace_can_follow(s):
    s.start("p", "trap '' TERM; echo up | say up; while :; do sleep 0.1; done", grace=600)
    s.read("up")
    s.delete("p")
    s.wait_pod("p", lambda p: p["metadata"].get("deletionTimestamp"), "is leaving")
    s.delete("p", grace=1)
    s.wait_gone("p")


@scene
def deletion_by_force_ends_the_processes_too(s):
    mark = s.mark(1)
    s.start("p", f"trap '' TERM; echo up | say up; sleep {mark}; sleep {mark}", grace=600)
    s.read("up")
    s.until(lambda: s.alive(mark), "it runs")
    s.delete("p", grace=0)
    s.wait_gone("p")
    s.until(lambda: not s.alive(mark), "its processes end")


@scene
def a_finished_pod_goes_at_once(s):
    s.start("p", "exit 0", grace=600)
    s.wait_phase("p", "Succeeded")
    s.delete("p")
    s.wait_gone("p")


@scene
def a_pod_that_never_ran_goes_at_once(s):
    s.start("p", box(STAY), nodeSelector={"nobody": "has"}, grace=600)
    s.wait_pod("p", lambda p: condition(p, "PodScheduled").get("status") == "False", "waits for a node")
    s.delete("p")
    s.wait_gone("p")


@scene
def a_name_can_be_used_again(s):
    first = s.start("p", box(STAY))["metadata"]["uid"]
    s.wait_ready("p")
    s.delete("p", grace=0)
    s.wait_gone("p")
    second = s.start("p", "hostname | say again")["metadata"]["uid"]
    assert first != second
    s.wait_phase("p", "Succeeded")
    s.read("again")


@scene
def children_that_left_the_session_die_with_the_pod(s):
    mark = s.mark(2)
    s.start("p", f"setsid sleep {mark} & (setsid sh -c 'sleep {mark} & exec sleep {mark}' &) ; echo up | say up; "
            + STAY)
    s.read("up")
    s.until(lambda: len(s.alive(mark)) >= 3, "all of them run")
    s.delete("p")
    s.wait_gone("p")
    s.until(lambda: not s.alive(mark), "all of them end")


@scene
def children_that_left_the_session_end_when_the_container_does(s):
    mark = s.mark(3)
    s.start("p", f"setsid sleep {mark} & (setsid sleep {mark} &) ; exit 0")
    s.wait_phase("p", "Succeeded")
    s.until(lambda: not s.alive(mark), "they end, too")


@scene
def a_pod_that_is_too_long_at_work_fails(s):
    mark = s.mark(4)
    s.start("p", f"echo up | say up; exec sleep {mark}", restart="Always", activeDeadlineSeconds=3)
    pod = s.wait_phase("p", "Failed")
    is_(pod["status"]["reason"], "DeadlineExceeded", "reason")
    has(pod["status"]["message"], "Pod was active on the node longer than the specified deadline", "message")
    s.until(lambda: not s.alive(mark), "its process ends")
    s.wait_event("DeadlineExceeded", name="p")
    assert not any(ended(c.obj).get("exitCode") == 0 for c in s.history("p")), "it was stopped"


@scene
def a_namespace_takes_its_pods_along(s):
    mark = s.mark(5)
    ns = s.ns + "-gone"
    s.kube.make_namespace(ns)
    s.kube.create("pods", s.pod("p", f"exec sleep {mark}", gate=False), ns)
    s.until(lambda: s.alive(mark), "it runs")
    s.kube.delete("namespaces", ns)
    s.until(lambda: s.kube.find("namespaces", ns) is None, "the namespace goes")
    s.until(lambda: not s.alive(mark), "its process has ended")
