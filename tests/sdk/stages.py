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


def machines(tap, levels=LEVELS, *flags):
    """One after the other, at each level that can be had here (those named on the command line), as the user who
    runs this. More cores than there are: tests are about something else."""
    for level in [w for w in sys.argv[1:] if w in LEVELS] or levels:
        try:
            machine = Machine(level, "root" if os.geteuid() == 0 else "user", "--resources",
                              "cpu=64,memory=64Gi", *flags)
        except Refused as e:
            tap.note(f"NOT RUN: {level}: {e}")
            continue
        yield machine
        machine.remove()


def play_all(width=6, furnish=None):
    """All that are marked. furnish(machine): what it has before the first test."""
    parts = [w for w in sys.argv[1:] if w not in LEVELS]
    tap = Tap()
    for machine in machines(tap):
        if furnish:
            furnish(machine)
        chosen = [(f"{kind.name}: {claim(f)} ({machine.level})", f, kind) for f, kind in TESTS]
        chosen = [t for t in chosen if not parts or any(p in t[0] for p in parts)]
        tap.run_all([(name, play, machine, f"s{i}", f, kind) for i, (name, f, kind) in enumerate(chosen)], width=width)
    tap.end()
