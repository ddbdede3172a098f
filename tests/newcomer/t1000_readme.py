#!/usr/bin/python3
"""The README as a newcomer follows it: its console blocks in order, in a new directory of a new user, and their output
compared with what it shows. `...` there stands for any lines; replicas may write in any order."""

import os
import re
import subprocess
import time

from harness.tap import Tap, is_
from newcomer import LIMIT, TOP, Newcomer

# Commands of the README that are not run here, and why. One that it no longer has must leave this list.
NOT_RUN = {
    "make demo": "installs packages and builds: tests/e2e/t0100-install.t checks its steps, t7310-examples.t runs its jobs",
    "sudo make install": "changes the machine: tests/e2e/t0100-install.t installs elsewhere",
    "muster manifests | kubectl apply --server-side -f -": "needs a cluster: tests/cluster/run",
    "muster operator": "needs a cluster, and runs until it is stopped: tests/operator/run --cluster",
}
# Not where pods share the machine's namespaces: there a worker may miss a Master that ends at once.
NOT_SHARED = "muster run --kind pytorch --replicas 3 -- python3 train.py"
# What a command becomes, so that it can run beside others on this machine.
INSTEAD = {"muster up --detach": "muster up --detach --listen 127.0.0.1:0"}
# A terminal shows this in its live view, not as lines.
LIVE = re.compile(r"muster: \S+/\S+ created")

MISSPELT = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: misspelt}
spec:
  tfReplicaSpecs:
    Worker:
      template:
        spec: {containers: [{name: tensorflow, image: mine,
            comand: [python3, train.py]}]}
"""
# Stands in for examples/tfjob-ps-worker.yaml, which needs TensorFlow: the same replicas, until there is a file.
PS_WORKER = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: ps-worker}
spec:
  tfReplicaSpecs:
    PS: &replica
      template: {spec: {containers: [{name: tensorflow, image: mine, volumeMounts: [{name: mnist, mountPath: DIR}],
        command: [sh, -c, "echo begun; until test -e DIR/end; do sleep 0.1; done"]}], volumes: [{name: mnist, hostPath: {path: DIR}}]}}
    Worker: {replicas: 2, <<: *replica}
"""


class Block:
    def __init__(self, language, before):
        self.language, self.before, self.lines = language, before, []

    def commands(self):
        """(command, lines shown after it)"""
        found = []
        for line in self.lines:
            if self.language == "sh" or line.startswith("$ "):
                found.append((re.sub(r"\s+# .*", "", line.removeprefix("$ ")), []))
            else:
                found[-1][1].append(line)
        return found


def blocks():
    """Those of the README, each with the paragraph before it."""
    now, text = None, ""
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if now and line == "```":
                yield now
                now, text = None, ""
            elif now:
                now.lines.append(line)
            elif line.startswith("```"):
                now = Block(line[3:], text)
            else:
                text = text + line if line else text


def same(text):
    """What differs from run to run, beside what always does."""
    text = re.sub(r"(?m)(?<= )\d+(s|m|m\d+s)$", "1s", text)  # AGE
    return re.sub(r"(?m)^(\S+) +\d/1 +(Pending|ContainerCreating|Running|Completed) +", r"\1 1/1 Running ", text)


def of_replicas(lines):
    """replica: its lines"""
    found = {}
    for line in lines:
        match = re.match(r"\[([a-z0-9-]+)\] ", line)
        if match:
            found.setdefault(match[1], []).append(line)
    return found


def is_within(part, whole):
    rest = iter(whole)
    return all(line in rest for line in part)


def is_shown(got, want):
    """Whether lines are what the README shows."""
    any_lines, ours, theirs = "..." in want, of_replicas(got), of_replicas(want)
    if any_lines and not all(is_within(theirs[name], ours.get(name, [])) for name in theirs):
        return False
    if not any_lines and ours != theirs:
        return False
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in want if line[:1] != "[")
    rest = "".join(line + "\n" for line in got if not (line[:1] == "[" and of_replicas([line])))
    return re.fullmatch(pattern, rest) is not None


class Reader:
    """Who follows the README, in one shell."""

    def __init__(self, me):
        self.me = me
        self.cwd = me.folder("home", "mnist")
        self.variables = os.path.join(me.place, "variables")
        me.write(me.place, "variables", "")
        subprocess.run(["cp", "-r", f"{TOP}/examples", self.cwd], check=True)
        subprocess.run(["cp", "-L", os.environ["E2E_KUBECTL"], f"{me.place}/bin/kubectl"], check=True)

    def call(self, command):
        """(exit code, lines)"""
        for words, others in INSTEAD.items():
            command = command.replace(words, others)
        code, out, _ = self.me.run(f". {self.variables}\n{command}\ncode=$?; export -p >{self.variables}; exit $code",
                                   self.cwd, stderr=subprocess.STDOUT)
        return code, [line for line in same(self.me.plain(out)).splitlines() if not LIVE.fullmatch(line)]

    def prepare(self, command):
        """What the README takes for granted."""
        if command.startswith("muster validate"):
            self.me.write(self.cwd, "job.yaml", MISSPELT)
        elif command == "muster get":
            self.me.write(self.cwd, "ps-worker.yaml", PS_WORKER.replace("DIR", self.cwd))
            assert self.call("kubectl delete tfjob ring && kubectl apply -f ps-worker.yaml")[0] == 0
        elif command.startswith("muster logs"):
            self.me.write(self.cwd, "end", "")

    def follow(self, command, shown):
        self.prepare(command)
        want = same(self.me.plain("".join(line + "\n" for line in shown))).splitlines()
        wrong_on_purpose = command.startswith("muster validate")
        end = time.monotonic() + LIMIT
        while True:
            code, got = self.call(command)
            right = (code == 0) != wrong_on_purpose and (not want or is_shown(got, want))
            # What is listed changes: soon it is what the README shows.
            if right or " get" not in command or time.monotonic() > end:
                break
            time.sleep(0.1)
        assert right, f"$ {command}\nexit {code}\n" + "\n".join(got) + "\n\nThe README shows:\n" + "\n".join(want)


def main():
    me, tap = Newcomer(), Tap()
    reader, left, is_shared = Reader(me), dict(NOT_RUN), me.level_there("namespaces")
    for block in blocks():
        if block.language == "python":
            me.write(reader.cwd, re.search(r"`(\w+\.py)`", block.before)[1], "\n".join(block.lines) + "\n")
            continue
        for command, shown in block.commands():
            if command == NOT_SHARED and is_shared:
                tap.line(True, f"$ {command}", skip=is_shared)
            elif command in NOT_RUN:
                tap.line(True, f"$ {command}", skip=left.pop(command, NOT_RUN[command]))
            else:
                tap.run(f"$ {command}", reader.follow, command, shown)
    tap.run("$ muster down", reader.follow, "muster down", [])
    tap.run("the list of what is not run names commands of the README", is_, left, {}, "not in the README")
    tap.end()


if __name__ == "__main__":
    main()
