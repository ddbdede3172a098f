"""A person who has just installed muster: an ordinary user with a home of their own, and nothing in it."""

import atexit
import os
import re
import shutil
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORDINARY = 12346  # a user id that nobody has
LIMIT = 150  # seconds that a command may take on a busy machine; none hangs
AS_ROOT = os.geteuid() == 0

# What differs from run to run, and what stands for it.
SAME = [
    (r"\b(runs/[a-z0-9.-]+|[a-z0-9.-]+)-[0-9a-f]{8}\b", r"\1-1a2b3c4d"),
    (r"\b\d+\.\d+s\b( +(?=\S))?", lambda m: "1.0s" + "   " * bool(m[1])),  # in a column as wide as the longest
    (r"TIME +REASON", "TIME   REASON"),
    (r"\b\d+\.\d+\.\d+\.\d+\b", "10.42.0.2"),
    (r'"/usr/lib/python3\.\d+/(.*?)", line \d+', r'"/usr/lib/python3/\1", line 1'),
]
# How far a job is, where there is no terminal to show it: which of these lines come depends on when muster looks.
PROGRESS = re.compile(r"muster: \S+/\S+: (Created|Running|Restarting|Scheduled|Pending|Terminating|Succeeded|Failed)")
CARETS = re.compile(r"(\[[a-z0-9-]+\])?[ |]*[~^]+\s*")  # below a line of a traceback: not in all versions of Python


class Newcomer:
    def __init__(self):
        # Not in /tmp, where pods have one of their own; and not below a home that others may not enter.
        self.place = tempfile.mkdtemp(prefix="muster-newcomer.", dir="/var/tmp")
        atexit.register(self.remove)
        os.chmod(self.place, 0o755)
        self.uid = ORDINARY if AS_ROOT else os.geteuid()
        self.home = self.folder("home")
        self.roots_home = os.path.join(self.place, "root")
        os.mkdir(self.roots_home)
        self.env = {"PATH": f"{self.place}/bin:/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8", "TERM": "dumb"}
        for name in ("MUSTER_WATCHDOG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        os.mkdir(f"{self.place}/bin")
        # A copy: an ordinary user may not be let into the tree. Not written by this process: a child of another
        # thread would hold it open, and then it cannot be run.
        subprocess.run(["cp", os.environ["MUSTER"], f"{self.place}/bin/muster"], check=True)

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, *words):
        path = os.path.join(self.place, *words)
        os.makedirs(path, exist_ok=True)
        self.give(path)
        return path

    def give(self, path):
        """To the user; never what is not ours to give."""
        assert os.path.realpath(path).startswith(self.place + "/"), path
        if AS_ROOT:
            os.chown(path, self.uid, self.uid)

    def write(self, folder, name, text, mode=0o644):
        path = os.path.join(folder, name)
        assert path.startswith(self.place + "/"), path
        if not os.path.isdir(os.path.dirname(path)):
            os.mkdir(os.path.dirname(path))
            self.give(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        self.give(path)

    def start(self, command, cwd, as_root=False, **more):
        """A process that runs the command line in a shell, in a group of its own."""
        who = {"user": self.uid, "group": self.uid, "extra_groups": []} if AS_ROOT and not as_root else {}
        env = {**self.env, "HOME": self.roots_home} if as_root else self.env
        return subprocess.Popen(["/bin/sh", "-c", command], cwd=cwd, env=env, text=True, stdin=subprocess.DEVNULL,
                                start_new_session=True, errors="replace", **who, **more)

    def run(self, command, cwd, **more):
        """(exit code, stdout, stderr); with stderr=STDOUT the latter is None."""
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        child = self.start(command, cwd, **more)
        try:
            out, err = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as late:
            os.killpg(child.pid, 9)
            out, err = child.communicate()
            raise AssertionError(f"$ {command}\ndid not end; so far:\n{out}{err or ''}") from late
        return exit_code(child), out, err

    def works(self, command, cwd, **more):
        code, out, err = self.run(command, cwd, **more)
        assert code == 0, f"$ {command}\nexit {code}\n{out}{err}"
        return out

    def level_there(self, level):
        """Why pods cannot have that level of isolation here; or None."""
        code, out, err = self.run(f"muster run --timeout 30s --isolation {level} -- true", self.folder("home", "try"))
        return None if code == 0 and "not possible here" not in err else (out + err).replace("\n", "; ")

    def plain(self, text):
        """The text, with what differs from run to run and from machine to machine replaced."""
        names = {self.home: "/home/me", self.roots_home: "/var/root", self.place: "/opt"}
        for real, name in names.items():
            text = text.replace(real, name)
        for pattern, name in SAME:
            text = re.sub(pattern, name, text)
        return "".join(line for line in text.splitlines(True) if not PROGRESS.fullmatch(line.rstrip())
                       and not CARETS.fullmatch(line.rstrip("\n")))


def exit_code(child):
    """As a shell has it."""
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def replica(line):
    """Replicas write when they like: sorted by this, each has its lines together and in order."""
    found = re.match(r"\[([a-z0-9-]+)\]", line)
    return found[1] if found else ""
