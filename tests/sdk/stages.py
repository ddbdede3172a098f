"""Tests that are played for several kinds of jobs on one machine."""

import os
import sys

from harness.kinds import KINDS
from harness.tap import Tap, claim
from real import Stage
from world.machine import LEVELS, Machine, Refused

TESTS = []


def each(*kinds):
    """Marks a test, which is run for each of these kinds; for all when none is named."""
    def mark(f):
        TESTS.extend((f, kind) for kind in kinds or KINDS)
        return f
    return mark


def fails(call, *args, **words):
    """The text of what the SDK raises."""
    try:
        call(*args, **words)
    except RuntimeError as e:
        return str(e)
    raise AssertionError("it was done")


def play(machine, ns, test, kind):
    stage = None
    try:
        stage = Stage(machine, ns, kind)
        test(stage)
        stage.check()
    except Exception as e:
        e.report = "\n" + (stage.story() if stage else "") + "\n" + machine.words()
        raise
    finally:
        if stage:
            stage.stop()


def play_all(levels=LEVELS, width=6):
    """All that are marked, at each level that can be had here, as the user who runs this."""
    words = sys.argv[1:]
    parts = [w for w in words if w not in LEVELS]
    tap = Tap()
    for level in [w for w in words if w in LEVELS] or levels:
        try:
            machine = Machine(level, "root" if os.geteuid() == 0 else "user", "--resources", "cpu=64,memory=64Gi")
        except Refused as e:
            tap.note(f"NOT RUN: {level}: {e}")
            continue
        chosen = [(f"{kind.name}: {claim(f)} ({level})", f, kind) for f, kind in TESTS]
        chosen = [t for t in chosen if not parts or any(p in t[0] for p in parts)]
        tap.run_all([(name, play, machine, f"s{i}", f, kind) for i, (name, f, kind) in enumerate(chosen)], width=width)
        machine.remove()
    tap.end()
