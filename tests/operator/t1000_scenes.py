#!/usr/bin/python3
"""Scenes of a job's life: on `muster up`, or with OPERATOR_KUBECONFIG on that cluster with `muster
operator` beside it. Usage: t1000_scenes.py [part of a scene's name]..."""

import os
import sys

from harness.engine import Cluster, MusterUp
from harness.scene import play
from harness.tap import Tap, claim
from scenes import PRIVATE, SHARED
from scenes import changes, ends, kinds, limits, names, restarts, users, whole_restarts  # noqa: F401 # they enlist


def chosen(scenes):
    return [f for f in scenes if len(sys.argv) < 2 or any(part in f.__name__ for part in sys.argv[1:])]


def main():
    tap = Tap()
    given = os.environ.get("OPERATOR_KUBECONFIG")
    engine = Cluster(given) if given else MusterUp()
    on = f" ({engine.name})"
    run = os.getpid()
    tap.run_all([(claim(f) + on, play, engine, f"s{run}-{i}", f) for i, f in enumerate(chosen(SHARED))], width=10)
    if tap.failed and not given:
        print("#", engine.words().replace("\n", "\n# "))
    if given:
        code = engine.operator.stop()
        tap.line(code == 0, f"the operator ends well by SIGTERM{on}", f"exit code {code}" if code else "")
        if tap.failed:
            print("#", engine.words().replace("\n", "\n# "))
    tap.run_all([(claim(f) + on, play, engine, f"p{run}-{i}", f, True) for i, f in enumerate(chosen(PRIVATE))], width=6)
    engine.stop()
    tap.end()


if __name__ == "__main__":
    main()
