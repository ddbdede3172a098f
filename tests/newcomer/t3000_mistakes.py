#!/usr/bin/python3
"""Mistakes that newcomers make, and all that they are shown: expected/NAME.txt, which a person has read.
Usage: t3000_mistakes.py [NAME]...; NEWCOMER_WRITE=1 writes expected/."""

import os
import re
import sys
from subprocess import PIPE

from harness.tap import Skip, Tap, is_
from mistakes import MISTAKES, fits
from newcomer import AS_ROOT, Newcomer, exit_code, replica

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")
HIDDEN = "# shown on stderr:\n"


def signalled(me, case, cwd):
    """The same as run(), with a signal once the command has written something."""
    with open(os.path.join(me.place, case.name + ".err"), "w+", encoding="utf-8") as err:
        child = me.start(case.command, cwd, stdout=PIPE, stderr=err)
        first = child.stdout.readline()
        os.killpg(child.pid, case.signal)
        out = first + child.stdout.read()
        err.seek(0)
        child.wait()
        return exit_code(child), out, err.read()


def make(me, case, cwd):
    if not os.path.isdir(cwd):
        me.folder("home", case.name)
    for name, text in case.files.items():
        me.write(cwd, name, text, 0o755 if case.executable else 0o644)


def shown(me, case, cwd):
    if case.signal:
        code, out, err = signalled(me, case, cwd)
    else:
        code, out, err = me.run(case.command, cwd, as_root=case.as_root)
    out = "".join(sorted(me.plain(out).splitlines(True), key=replica))
    text = f"$ {me.plain(case.command)}\n{out}{HIDDEN}{me.plain(err)}# exit {code}\n"
    for pattern, name in case.same:
        text = re.sub(pattern, name, text)
    return text


def mistake(me, case, levels):
    why = fits(case, levels)
    if why:
        raise Skip(why)
    cwd = case.cwd.replace("$HOME", me.home) if case.cwd else os.path.join(me.home, case.name)
    make(me, case, cwd)
    if case.before:
        me.works(case.before, cwd, as_root=AS_ROOT)
    try:
        text = shown(me, case, cwd)
    finally:
        if case.after:
            me.run(case.after, cwd, as_root=AS_ROOT)
    text = f"# {case.what}\n{text}"
    file = os.path.join(EXPECTED, case.name + ".txt")
    assert text.endswith(f"# exit {case.code}\n"), f"not exit {case.code}:\n{text}"
    if os.environ.get("NEWCOMER_WRITE"):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
            return
    with open(file, encoding="utf-8") as f:
        want = f.read()
    assert text == want, f"got:\n{text}\nexpected:\n{want}"


def main(names):
    me, tap = Newcomer(), Tap()
    levels = {level: me.level_there(level) for level in ("namespaces", "shared")}
    cases = [c for c in MISTAKES if not names or c.name in names]
    tap.run_all([(f"{c.name}: {c.what}", mistake, me, c, levels) for c in cases], width=2)
    if not names:
        left = {f"{c.name}.txt" for c in MISTAKES} ^ set(os.listdir(EXPECTED))
        tap.run("there is a text for each mistake, and no other", is_, left, set(), "only one of the two is there")
    tap.end()


if __name__ == "__main__":
    main(sys.argv[1:])
