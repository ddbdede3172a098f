"""`kubectl exec`, `kubectl cp`, `kubectl attach` and `kubectl port-forward`."""

import os
import subprocess
import tempfile

from harness.tap import has, is_
from world.scene import STAY, box

from . import scene


@scene
def a_command_runs_in_the_container(s):
    s.start("p", box("cd /; " + STAY, env=[{"name": "X", "value": "inside"}], workingDir="/usr"))
    s.wait_ready("p")
    done = s.kubectl("exec", "p", "--", "sh", "-c", "echo $X; pwd; echo err >&2")
    is_(done.stdout, "inside\n/usr\n", "what it said")
    is_(done.stderr.splitlines()[-1:], ["err"], "and to stderr")  # kubectl may have put something before it
    done = s.kubectl("exec", "p", "--", "sh", "-c", "exit 37", check=False)
    is_(done.returncode, 37, "its exit code")


@scene
def a_command_reads_what_it_is_given(s):
    s.start("p", STAY)
    s.wait_ready("p")
    is_(s.kubectl("exec", "-i", "p", "--", "cat", stdin="through\nand back").stdout, "through\nand back", "cat")
    is_(s.kubectl("exec", "-i", "p", "--", "wc", "-c", stdin="x" * 1000000).stdout.strip(), "1000000", "much of it")
    is_(len(s.kubectl("exec", "p", "--", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x").stdout), 3000000,
        "and back")


@scene
def a_command_can_have_a_terminal(s):
    s.start("p", STAY)
    s.wait_ready("p")
    here, there = os.openpty()
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    with subprocess.Popen([kubectl, "--kubeconfig", s.kube.kubeconfig, "-n", s.ns, "exec", "-it", "p", "--", "sh", "-c",
                           "test -t 0 && test -t 1 && tty && stty size && read -r x && echo got $x"],
                          stdin=there, stdout=there, stderr=subprocess.STDOUT) as child:
        os.write(here, b"words\n")
        is_(child.wait(60), 0, "exit code")
    os.close(there)
    text = b""
    try:
        while part := os.read(here, 4096):
            text += part
    except OSError:
        pass  # so a terminal says that its other side is closed
    os.close(here)
    has(text.decode(), "got words", "what it said")
    has(text.decode(), "/dev/", "its terminal")


@scene
def a_command_that_is_not_there_is_told(s):
    s.start("p", STAY)
    s.wait_ready("p")
    done = s.kubectl("exec", "p", "--", "no-such-program-e2e", check=False)
    assert done.returncode != 0
    has(done.stderr, "no-such-program-e2e", "what kubectl says")


@scene
def a_container_can_be_chosen(s):
    s.start("p", box(STAY, "a", env=[{"name": "X", "value": "a"}]), box(STAY, "b", env=[{"name": "X", "value": "b"}]))
    s.wait_ready("p")
    is_(s.kubectl("exec", "p", "-c", "b", "--", "sh", "-c", "echo $X").stdout, "b\n", "the second")
    assert s.kubectl("exec", "p", "-c", "x", "--", "true", check=False).returncode != 0, "one that is not there"


@scene
def a_pod_that_ended_takes_no_commands(s):
    s.start("p", "exit 0", gate=False)
    s.wait_phase("p", "Succeeded")
    done = s.kubectl("exec", "p", "--", "true", check=False)
    assert done.returncode != 0
    has(done.stderr, "cannot exec into a container in a completed pod; current phase is Succeeded", "what kubectl says")


@scene
def files_are_copied_both_ways(s):
    place = s.place("p", "v")
    s.start("p", box(STAY, volumeMounts=[{"name": "v", "mountPath": place}]), volumes=[{"name": "v", "emptyDir": {}}])
    s.wait_ready("p")
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/there", "wb") as f:
            f.write(os.urandom(300000))
        s.kubectl("cp", folder + "/there", f"p:{place}/file")
        s.kubectl("cp", f"p:{place}/file", folder + "/back")
        with open(folder + "/there", "rb") as a, open(folder + "/back", "rb") as b:
            assert a.read() == b.read(), "the same file"
        os.makedirs(folder + "/dir/sub")
        with open(folder + "/dir/sub/x", "w", encoding="utf-8") as f:
            f.write("deep")
        s.kubectl("cp", folder + "/dir", f"p:{place}/dir")
        is_(s.kubectl("exec", "p", "--", "cat", place + "/dir/sub/x").stdout, "deep", "a folder")


@scene
def a_command_ends_with_its_pod(s):
    mark = s.mark(7)
    s.start("p", STAY)
    s.wait_ready("p")
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    with subprocess.Popen([kubectl, "--kubeconfig", s.kube.kubeconfig, "-n", s.ns, "exec", "p", "--", "sleep", mark],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        s.until(lambda: len(s.alive(mark)) >= 2, "it runs")
        s.delete("p", grace=0)
        assert child.wait(60) != 0
    s.until(lambda: not s.alive(mark), "it ends")
