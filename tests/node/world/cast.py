"""Plays something on every machine there can be: both levels, root and an ordinary user, side by side."""

import os
import sys
import threading
import traceback

from harness.tap import Tap

from .machine import LEVELS, USERS, Refused


def on_each(play, argv):
    """play(tap, level, user, rest of the words). A machine that is refused is told, and not counted."""
    levels = [w for w in argv if w in LEVELS] or LEVELS
    users = [w for w in argv if w in USERS] or USERS
    rest = [w for w in argv if w not in LEVELS + USERS]
    tap = Tap()

    def one(level, user):
        try:
            play(tap, level, user, rest)
        except Refused as e:
            tap.note(f"NOT RUN: {level} as {user}: {e}")
        except Exception:  # pylint: disable=broad-except # a thread's end is seen by nobody
            tap.line(False, f"{level} as {user} can be tested", traceback.format_exc())

    threads = [threading.Thread(target=one, args=(level, user)) for level in levels for user in users]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tap.end()


def on_each_of_argv(play):
    on_each(play, sys.argv[1:])


def nothing_left(machine):
    """N1, N2: all pods deleted, the server stopped, and nothing of them is there."""
    machine.empty()
    uids = {c.obj["metadata"]["uid"]: c.obj for changes in machine.seen.values() for c in changes}
    code = machine.stop()
    assert code == 0, f"muster up ended with {code}\n{machine.words()}"
    machine.until(lambda: not machine.processes(), lambda: f"processes left: {machine.processes()}")
    assert not machine.mounts(), f"mounts left: {machine.mounts()}"
    assert not machine.cgroups(uids), f"cgroups left: {machine.cgroups(uids)}"
    left = machine.pod_files(uids)
    assert not left, f"files left: {left}, of {[str(uids.get(os.path.basename(p)))[:1500] for p in left]}"
    assert not machine.complains(), machine.complains()
