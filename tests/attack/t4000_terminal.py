#!/usr/bin/python3
"""What comes from a job, a server or a file, and reaches a terminal: no sequence that steers it gets through, and a
pipe gets the bytes as they are. Usage: t4000_terminal.py [root|user]"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

from harness import lag
from harness.tap import is_
from hostile.door import Door
from world.cast import on_each

# Title, clipboard, clear screen, reset, cursor, C1 bytes, bidirectional overrides, invisible ones.
EVIL = ("\033]0;evil\007" "\033]52;c;ZXZpbA==\007" "\033[2J" "\033c" "\033[1;1H" "\033P1$r\033\\" "\u009b2J" "\u202e" "\u2066" "\x08\x08" "\x07")
BAD = re.compile(rb"\033\][0-9]|\033\[2J(?!\033\[)|\033c|\033P|\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa6|\x07|(?<!\xc2)\x9b")


def on_terminal(machine, *words, timeout=90, **env):
    """What a command prints to a terminal."""
    main, other = pty.openpty()
    options = machine.command(*words, stdin=other, stdout=other, stderr=other)
    options["env"] = {**options["env"], "KUBECONFIG": os.path.join(machine.data, "kubeconfig"), **env}
    child = subprocess.Popen(**options)
    os.close(other)
    got, until = b"", time.monotonic() + lag.patience(timeout)
    while time.monotonic() < until:
        if select.select([main], [], [], 0.2)[0]:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            got += part
        elif child.poll() is not None:
            break
    if child.poll() is None:
        child.kill()
    child.wait()
    os.close(main)
    return got


def clean(got, what):
    found = BAD.search(got)
    assert not found, f"{what}: {got[max(0, found.start() - 60):found.end() + 20]!r}"
    assert got.strip(), f"{what}: nothing was printed"


def job(name, text):
    """A job whose only pod prints that and fails with it as its message."""
    script = "printf '%b' \"$EVIL\"; echo end; printf '%b' \"$EVIL\" >/dev/termination-log 2>/dev/null; exit 1"
    return {"metadata": {"name": name, "annotations": {"note": text}}, "spec": {"runPolicy": {"cleanPodPolicy": "None"}, "tfReplicaSpecs": {"Worker": {
        "restartPolicy": "Never", "template": {"spec": {"containers": [{"name": "tensorflow", "image": "x", "command": ["sh", "-c", script],
                                                                       "env": [{"name": "EVIL", "value": text}]}]}}}}}}


def commands_show_nothing_that_steers_a_terminal(d):
    d.kube.create("tfjobs", job("evil", EVIL), "open")
    d.machine.until(lambda: "Failed" in str(d.kube.get("tfjobs", "evil", "open").get("status")), "the job fails")
    for term in ("xterm-256color", "dumb"):
        for words in (("logs", "-n", "open", "evil"), ("describe", "-n", "open", "evil"), ("get", "-n", "open"), ("events", "-n", "open", "evil")):
            clean(on_terminal(d.machine, *words, TERM=term), f"muster {words[0]}, TERM={term}")


def why_and_resources_show_nothing_that_steers_a_terminal(d):
    """A PodGroup's words are its maker's, an owner may be called anything, and a node's annotation is read by people."""
    d.kube.call("POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/open/podgroups", {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "group", "annotations": {"note": EVIL}}, "spec": {
            "minMember": 2, "queue": EVIL, "priorityClassName": EVIL, "minTaskMember": {EVIL: 1}, "minResources": {"x.dev/" + EVIL: "1", "cpu": "1"}},
        "status": {"phase": EVIL, "conditions": [{"type": "Unschedulable", "status": "True", "reason": EVIL, "message": EVIL}]}})
    holder = {"metadata": {"name": "holder", "ownerReferences": [{"apiVersion": "v1", "kind": EVIL, "name": EVIL, "uid": EVIL, "controller": True}]}, "spec": {
        "containers": [{"name": "c", "image": "x", "command": ["sleep", "600"], "resources": {"requests": {"cpu": "1m"}}}]}}
    waits = {"metadata": {"name": "waits", "annotations": {"scheduling.k8s.io/group-name": "group", "volcano.sh/task-spec": EVIL}}, "spec": {
        "schedulerName": "volcano", "containers": [{"name": "c", "image": "x"}]}}
    lonely = {"metadata": {"name": "lonely", "annotations": {"scheduling.k8s.io/group-name": EVIL}}, "spec": {
        "schedulerName": "volcano", "containers": [{"name": "c", "image": "x"}]}}
    full = {"metadata": {"name": "full"}, "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "999"}}}]}}
    for pod in (holder, waits, lonely, full):
        d.kube.create("pods", pod, "open")
    node = d.kube.list("nodes")[0]["metadata"]["name"]
    d.kube.patch("nodes", node, {"metadata": {"annotations": {"muster.dev/resources": "x.dev/a=1," + EVIL}, "labels": {}}})
    d.machine.until(lambda: "PodScheduled" in str(d.kube.get("pods", "full", "open").get("status")), "it is said why the pod waits")
    for words in (("why", "-n", "open", "pod/waits"), ("why", "-n", "open", "pod/lonely"), ("why", "-n", "open", "pod/full"), ("why", "-n", "open", "podgroup/group"),
                  ("why", "-n", "open", "pod/holder"), ("resources",), ("events", "-n", "open")):
        clean(on_terminal(d.machine, *words, TERM="dumb"), f"muster {' '.join(words)}")
    d.kube.patch("nodes", node, {"metadata": {"annotations": {"muster.dev/resources": None}}})


def run_shows_nothing_that_steers_a_terminal(d):
    path = d.machine.put("evil.json", json.dumps({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", **job("run", EVIL)}))
    got = on_terminal(d.machine, "run", "--isolation", "shared", "--no-workdir", path, TERM="dumb")
    clean(got, "muster run, TERM=dumb")
    assert b"end" in got, got[-300:]


def validate_shows_nothing_that_steers_a_terminal(d):
    path = d.machine.put("evil.yaml", f'apiVersion: "v1\\e]0;evil\\a"\nkind: "TFJob{chr(0x202e)}"\nmetadata: {{name: "x\\e[2J\\x9b"}}\nspec: {{"a\\ec": 1}}\n')
    clean(on_terminal(d.machine, "validate", path, TERM="dumb"), "muster validate")


def a_pipe_gets_the_bytes(d):
    options = d.machine.command("logs", "-n", "open", "evil", capture_output=True)
    options["env"] = {**options["env"], "KUBECONFIG": os.path.join(d.machine.data, "kubeconfig")}
    done = subprocess.run(**options, timeout=120, check=False)
    assert EVIL.encode() in done.stdout, done.stdout[:400]


def terminal(tap, _, user, __):
    d = Door(user)
    for test in (commands_show_nothing_that_steers_a_terminal, why_and_resources_show_nothing_that_steers_a_terminal, run_shows_nothing_that_steers_a_terminal,
                 validate_shows_nothing_that_steers_a_terminal, a_pipe_gets_the_bytes):
        tap.run(f"{test.__name__.replace('_', ' ')} (as {user})", test, d)
    tap.run(f"it lives, and stops as it should (as {user})", lambda: (d.lives(), is_(d.machine.stop(), 0, "exit code")))
    d.machine.remove()


if __name__ == "__main__":
    on_each(terminal, ["shared", *sys.argv[1:]])
