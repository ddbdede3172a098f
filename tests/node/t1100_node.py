#!/usr/bin/python3
"""What concerns the node as a whole, one after the other on a machine of its own: taints, cordon, a map of
images, a server without a node. Usage: t1100_node.py [namespaces|shared] [root|user]"""

import os

from harness.tap import claim, has, is_
from world.cast import nothing_left, on_each_of_argv
from world.machine import Machine
from world.record import condition
from world.scene import STAY, box, play


def node(s):
    return s.kube.list("nodes")[0]["metadata"]["name"]


def waits(s, name, words):
    s.wait_pod(name, lambda p: condition(p, "PodScheduled").get("status") == "False", "waits for a node")
    told = s.wait_event("FailedScheduling", name=name)
    is_(told["message"][:len(words)], words, "the event")


def a_taint_keeps_pods_away_that_do_not_tolerate_it(s):
    s.start("before", box(STAY))
    s.wait_ready("before")
    s.kube.patch("nodes", node(s), {"spec": {"taints": [{"key": "own", "value": "mine", "effect": "NoSchedule"}]}})
    try:
        s.start("p", box("exit 0"))
        waits(s, "p", "0/1 nodes are available: 1 node(s) had untolerated taint {own: mine}.")
        s.start("q", box("exit 0"), tolerations=[{"key": "own", "operator": "Exists"}])
        s.wait_phase("q", "Succeeded")
        is_(s.now("before")["status"]["phase"], "Running", "who was there stays")
    finally:
        s.kube.patch("nodes", node(s), {"spec": {"taints": None}})
    s.wait_phase("p", "Succeeded")


def a_cordoned_node_takes_no_new_pods(s):
    s.kubectl("cordon", node(s))
    try:
        s.start("p", box("exit 0"))
        waits(s, "p", "0/1 nodes are available: 1 node(s) were unschedulable.")
    finally:
        s.kubectl("uncordon", node(s))
    s.wait_phase("p", "Succeeded")


def an_image_that_is_mapped_needs_no_command(s):
    s.start("p", {"name": "main", "image": "example.com/mapped:1", "args": ["6"]}, gate=False)
    said = s.wait_waiting("p", "ImageNotMapped")
    path = os.path.join(s.machine.data, "images.yaml")
    has(said, "images.yaml", "the file is named")
    with open(path, "w", encoding="utf-8") as f:
        f.write("images:\n- match: example.com/mapped:*\n  command: [sh, -c, 'exit $0']\n")
    if os.geteuid() == 0:
        os.chown(path, s.machine.uid, s.machine.uid)
    pod = s.wait_pod("p", lambda p: p["status"]["phase"] == "Failed", "ends", timeout=120)
    is_(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 6, "command of the map, our arguments")


ALL = (a_taint_keeps_pods_away_that_do_not_tolerate_it, a_cordoned_node_takes_no_new_pods,
       an_image_that_is_mapped_needs_no_command)


def one_by_one(tap, level, user, parts):
    machine = Machine(level, user)
    for i, test in enumerate(ALL):
        if not parts or any(p in test.__name__ for p in parts):
            tap.run(f"{claim(test)} ({machine.name})", play, machine, f"n{i}", test)
    tap.run(f"stopped without pods, it leaves nothing behind ({machine.name})", nothing_left, machine)
    machine.remove()


if __name__ == "__main__":
    on_each_of_argv(one_by_one)
