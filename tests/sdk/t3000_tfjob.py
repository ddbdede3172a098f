#!/usr/bin/env python3
"""kubeflow-tfjob, the client before this SDK, against `muster up --legacy-labels`; and what it cannot do without
those labels. It wants packages of its time, so a Python environment of its own runs it.
Usage: t3000_tfjob.py [namespaces|shared]"""

import os
import subprocess

from harness.engine import TOP
from harness.tap import Tap, is_
from stages import machines
from world.machine import LEVELS

OLD = f"{TOP}/build/sdk-tfjob/bin/python"
HERE = os.path.dirname(os.path.abspath(__file__))


def call(machine, ns):
    machine.kube.make_namespace(ns)
    gate = machine.make("gates", ns) + "/go"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([OLD, f"{HERE}/old_client.py", machine.kube.kubeconfig, ns, gate], env=env, timeout=900,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def relay(tap, machine):
    name, comment, cases = None, [], []
    for line in call(machine, "old").splitlines():
        if line.startswith(("ok ", "not ok ")):
            cases.append((line.startswith("ok "), line.split(" ", 1 if line[0] == "o" else 2)[-1], comment := []))
        else:
            comment.append(line)
    for ok, name, comment in cases:
        tap.line(ok, f"kubeflow-tfjob: {name.replace('_', ' ')} ({machine.level})", "" if ok else "\n".join(comment))
    tap.run(f"kubeflow-tfjob: all its calls were made ({machine.level})", is_, len(cases), 8, "\n".join(comment))


def main():
    tap = Tap()
    for machine in machines(tap, LEVELS[:1], "--legacy-labels"):
        relay(tap, machine)
    tap.end()


if __name__ == "__main__":
    main()
