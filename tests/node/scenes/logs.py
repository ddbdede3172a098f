"""`kubectl logs` and all its flags."""

import json
import os
import subprocess
import time

from harness.tap import has, is_
from world.scene import STAY, box, matches, python

from . import scene

STAMP = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z "


def message(answer):
    """Of an answer that is no log."""
    status, text = answer
    return status, json.loads(text)["message"]


@scene
def both_streams_are_in_the_log(s):
    s.start("p", "echo out; echo err >&2", gate=False)
    s.start("q", "printf 'no newline'", gate=False)
    s.wait_phase("p", "Succeeded")
    s.wait_phase("q", "Succeeded")
    is_(sorted(s.log("p").split()), ["err", "out"], "the log, in any order: there are two pipes")
    is_(s.log("q"), "no newline", "and no newline is added")


@scene
def bytes_come_as_they_are(s):
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) + b'x' * 100000 + b'\\n' * 3 + b'end')"
    s.start("p", python(code), gate=False)
    s.wait_phase("p", "Succeeded")
    _, _, text = s.kube.raw("GET", f"/api/v1/namespaces/{s.ns}/pods/p/log")
    assert text == bytes(range(256)) + b"x" * 100000 + b"\n" * 3 + b"end", f"{len(text)} bytes: {text[:300]!r}"


@scene
def the_end_of_a_log_can_be_asked_for(s):
    s.start("p", "seq 1 100", gate=False)
    s.wait_phase("p", "Succeeded")
    is_(s.log("p", tailLines=3), "98\n99\n100\n", "three lines")
    is_(s.log("p", tailLines=0), "", "none")
    is_(len(s.log("p", tailLines=1000).split()), 100, "more than there are")
    is_(s.kubectl("logs", "p", "--tail=2").stdout, "99\n100\n", "kubectl logs --tail")


@scene
def a_log_can_be_cut_at_some_bytes(s):
    s.start("p", "seq 1 100", gate=False)
    s.wait_phase("p", "Succeeded")
    is_(s.log("p", limitBytes=5), "1\n2\n3", "five bytes")
    is_(s.kubectl("logs", "p", "--limit-bytes=4").stdout, "1\n2\n", "kubectl logs --limit-bytes")


@scene
def a_log_can_have_times(s):
    s.start("p", "echo one; echo two", gate=False)
    s.wait_phase("p", "Succeeded")
    for line, word in zip(s.log("p", timestamps="true").splitlines(), ("one", "two")):
        matches(line, STAMP + word + "$", "a line with its time")
    matches(s.kubectl("logs", "p", "--timestamps").stdout.splitlines()[0], STAMP + "one$", "kubectl logs --timestamps")


@scene
def a_log_can_begin_at_some_time(s):
    s.start("p", "echo old; await go; echo new; " + STAY)
    s.until(lambda: s.log("p", check=False)[1] == "old\n", "the first line")
    time.sleep(2.1)  # the clock of a log is asked in seconds
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    s.open("go")
    s.until(lambda: s.log("p") == "old\nnew\n", "both lines")
    is_(s.log("p", sinceTime=since), "new\n", "sinceTime")
    is_(s.log("p", sinceSeconds=3600), "old\nnew\n", "sinceSeconds")
    is_(s.kubectl("logs", "p", f"--since-time={since}").stdout, "new\n", "kubectl logs --since-time")
    is_(s.kubectl("logs", "p", "--since=1h").stdout, "old\nnew\n", "kubectl logs --since")


@scene
def a_log_can_be_followed_to_its_end(s):
    s.start("p", "echo one; await go; echo two; await end; echo three")
    s.wait_ready("p")
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    with subprocess.Popen([kubectl, "--kubeconfig", s.kube.kubeconfig, "-n", s.ns, "logs", "-f", "p"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        is_(child.stdout.readline(), "one\n", "what was there")
        s.open("go")
        is_(child.stdout.readline(), "two\n", "what came")
        s.open("end")
        is_(child.stdout.read(), "three\n", "the rest")
        is_(child.wait(60), 0, "it ends with the container")


@scene
def a_container_must_be_chosen_among_many(s):
    s.start("p", box("echo a", "a"), box("echo b", "b"), init=[box("echo i", "i")], gate=False)
    s.wait_phase("p", "Succeeded")
    status, text = message(s.log("p", check=False))
    is_(status, 400, "without a name")
    has(text, "a container name must be specified for pod p, choose one of:", "in words")
    for name in ("a", "b", "i"):
        is_(s.log("p", container=name), name + "\n", f"log of {name}")
    status, text = message(s.log("p", check=False, container="x"))
    is_((status, text), (400, "container x is not valid for pod p"), "a name that is none")
    is_(s.kubectl("logs", "p", "-c", "b").stdout, "b\n", "kubectl logs -c")
    is_(sorted(s.kubectl("logs", "p", "--all-containers").stdout.split()), ["a", "b", "i"], "--all-containers")


@scene
def a_container_that_has_not_begun_has_no_log(s):
    s.start("p", "echo x", init=[box("await go", "i")])
    s.wait_waiting("p", "PodInitializing")
    is_(message(s.log("p", check=False, container="main")),
        (400, 'container "main" in pod "p" is waiting to start: PodInitializing'), "it waits")
    s.open("go")
    s.wait_phase("p", "Succeeded")
    is_(message(s.log("p", check=False, previous="true", container="main")),
        (400, 'previous terminated container "main" in pod "p" not found'), "there was none before")


@scene
def a_pod_that_is_not_there_has_no_log(s):
    is_(s.log("nobody", check=False)[0], 404, "status")


@scene
def a_great_log_is_given_whole(s):
    s.start("p", "seq 1 200000", gate=False)
    s.wait_phase("p", "Succeeded")
    is_(s.log("p"), "".join(f"{n}\n" for n in range(1, 200001)), "all of it")
