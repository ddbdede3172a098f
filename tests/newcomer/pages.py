"""Pages of the documentation, and a reader who types the commands that they show, in one shell, and compares the
output with the page. `...` in a page stands for any lines; replicas may write in any order."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from harness.tap import Skip
from newcomer import LIMIT, TOP, exit_code

# A terminal shows this in its live view, not as lines.
LIVE = re.compile(r"muster: \S+/\S+ created")


@dataclass
class Block:
    language: str
    before: str  # the paragraph before it
    page: str = ""
    line: int = 0
    lines: list = field(default_factory=list)

    def commands(self):
        """(command, lines shown after it)"""
        found = []
        for line in self.lines:
            if self.language == "sh" or line.startswith("$ "):
                found.append((re.sub(r"\s+# .*", "", line.removeprefix("$ ")), []))
            elif found:
                found[-1][1].append(line)
            else:
                raise AssertionError(f"{self.page}:{self.line}: the block does not begin with a command: {line}")
        return found


def blocks(page):
    """Those of a page, a path below the top directory."""
    now, text = None, ""
    with open(os.path.join(TOP, page), encoding="utf-8") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            if now and line == "```":
                yield now
                now, text = None, ""
            elif now:
                now.lines.append(line)
            elif line.startswith("```"):
                now = Block(line[3:], text, page, number)
            else:
                text = text + line if line else text


def same(text):
    """What differs from run to run, beside what always does."""
    text = re.sub(r"(?m)(?<= )\d+(s|m|m\d+s)$", "1s", text)  # AGE
    text = re.sub(r"(?<=10\.42\.0\.2):\d{4,5}\b", ":6443", text)  # of a server
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
    """Whether lines are what the page shows."""
    any_lines, ours, theirs = "..." in want, of_replicas(got), of_replicas(want)
    if any_lines and not all(is_within(theirs[name], ours.get(name, [])) for name in theirs):
        return False
    if not any_lines and ours != theirs:
        return False
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in want if line[:1] != "[")
    rest = "".join(line + "\n" for line in got if not (line[:1] == "[" and of_replicas([line])))
    return re.fullmatch(pattern, rest) is not None


@dataclass
class How:
    """How a command of a page is tried, if not as it is."""
    before: str = ""  # a shell command: what the page takes for granted
    instead: str = ""  # so that it can run beside others on this machine, and soon
    code: int = 0
    changes: bool = False  # what it lists changes: soon it is what the page shows
    stopped: bool = False  # it does not end: Ctrl-C, once it has written what the page shows
    same: list = field(default_factory=list)  # (pattern, what stands for it)
    level: str = ""  # needs this level of isolation
    program: str = ""  # needs this program
    writes: str = ""  # the file that the page shows, which its reader writes


class Reader:
    """Who follows a page, in one shell and one directory."""

    def __init__(self, me, given):
        self.me = me
        self.cwd = me.folder("home", "mnist")
        self.variables = os.path.join(me.place, "variables")
        me.write(me.place, "variables", "")
        subprocess.run(["cp", "-r", f"{TOP}/examples", self.cwd], check=True)
        for name in os.listdir(given) if os.path.isdir(given) else []:  # what the page takes for granted
            path = os.path.join(given, name)
            with open(path, encoding="utf-8") as f:
                me.write(self.cwd, name, f.read(), os.stat(path).st_mode & 0o777 | 0o444)
        subprocess.run(["cp", "-L", os.environ["E2E_KUBECTL"], f"{me.place}/bin/kubectl"], check=True)

    def plain(self, text, how):
        for pattern, name in how.same:
            text = re.sub(pattern, name, text)
        return [line for line in same(self.me.plain(text)).splitlines() if not LIVE.fullmatch(line)]

    def call(self, command, how=How()):
        """(exit code, lines)"""
        code, out, _ = self.me.run(f". {self.variables}\n{command}\ncode=$?; export -p >{self.variables}; exit $code",
                                   self.cwd, stderr=subprocess.STDOUT)
        return code, self.plain(out, how)

    def call_and_stop(self, command, how, want):
        """The same, of a command that is interrupted when it has written what is wanted."""
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            child = self.me.start(f". {self.variables}\nexec {command}", self.cwd, stdout=out, stderr=subprocess.STDOUT)
            end = time.monotonic() + LIMIT
            while True:
                ended = child.poll() is not None
                out.seek(0)
                got = self.plain(out.read(), how)
                if ended or is_shown(got, want) or time.monotonic() > end:
                    break
                time.sleep(0.1)
            if not ended:
                os.killpg(child.pid, signal.SIGINT)
            try:
                child.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            return exit_code(child), got

    def follow(self, command, shown, how=How()):
        if how.program and not shutil.which(how.program, path="/usr/bin:/bin"):
            raise Skip(f"no {how.program}")
        if how.writes:
            self.me.write(self.cwd, how.writes, "\n".join(shown) + "\n")
        if how.before:
            code, got = self.call(how.before)
            assert code == 0, f"$ {how.before}\nexit {code}\n" + "\n".join(got)
        want = self.plain("".join(line + "\n" for line in shown), how)
        typed = how.instead or command
        end = time.monotonic() + LIMIT
        while True:
            code, got = self.call_and_stop(typed, how, want) if how.stopped else self.call(typed, how)
            right = code == how.code and (not want or is_shown(got, want))
            if right or not how.changes or time.monotonic() > end:
                break
            time.sleep(0.1)
        assert right, f"$ {command}\nexit {code}\n" + "\n".join(got) + "\n\nThe page shows:\n" + "\n".join(want)
