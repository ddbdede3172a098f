"""`muster up` with its node, at one level of isolation, as one user; and a look at what it leaves behind."""

import atexit
import errno
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import defaultdict

from harness import lag
from harness.engine import MUSTER
from harness.kube import Kube
from harness.mirror import Mirror, wait_for

LEVELS = ("namespaces", "shared")
USERS = ("root", "user")
ORDINARY = 12345  # a user id that nobody has


class Refused(Exception):
    """This machine does not have that level, or is not ours to be root on; the text says why."""


class Machine:
    all = []

    def __init__(self, level, user, *flags):
        if user == "root" and os.geteuid() != 0:
            raise Refused("not root")
        self.level, self.user = level, user
        self.name = f"{level}, {user}"
        self.uid = ORDINARY if user == "user" and os.geteuid() == 0 else os.geteuid()
        self.flags = flags
        self.folder = tempfile.mkdtemp(prefix="node-test-")
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "up.log")
        # A copy: somebody else may not be let into the tree; and by it our processes are known. Not written by
        # this process: a child of another thread would hold it open, and then it cannot be run.
        self.muster = os.path.join(self.folder, "muster")
        subprocess.run(["cp", MUSTER, self.muster], check=True)
        self.port = 0
        self.home = self.make("home")
        self.make("data", mode=0o700)
        self.child = None
        self.starting = False
        self.kube = None
        self.lines = queue.Queue()
        self.changed = threading.Condition()
        self.seen = defaultdict(list)  # namespace: changes of its pods
        self.told = defaultdict(list)  # namespace: events
        Machine.all.append(self)
        self.start()

    # ---- the server

    def make(self, *words, mode=0o777):
        """A folder of the test's own that the pods' user may use."""
        path = os.path.join(self.folder, *words)
        os.makedirs(path, exist_ok=True)
        while path != self.folder:
            if os.geteuid() == 0:
                os.chown(path, self.uid, self.uid)
            os.chmod(path, mode)
            path = os.path.dirname(path)
        return os.path.join(self.folder, *words)

    def command(self, *words, **more):
        """Options for subprocess: this machine's muster, as its user."""
        who = {"user": self.uid, "group": self.uid, "extra_groups": []} if self.uid != os.geteuid() else {}
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "E2E_LEAK": "of the server alone"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                env[name] = os.environ[name]
        return {"args": [self.muster, *words], "env": env, "cwd": self.folder, **who, **more}

    def muster_run(self, *words, timeout=180):
        """A command that ends; CompletedProcess with text."""
        return subprocess.run(**self.command(*words, capture_output=True, text=True), timeout=timeout, check=False)

    def launch(self):
        with open(self.log, "ab") as log:
            words = self.command("up", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", "--isolation",
                                 self.level, *self.flags, stdout=subprocess.PIPE, stderr=log)
            for _ in range(100):
                try:
                    return subprocess.Popen(**words)
                except OSError as e:  # a child of another thread's has our copy open until it is a program
                    if e.errno != errno.ETXTBSY:
                        raise
                    time.sleep(0.1)
        raise Refused("our copy of muster stays busy")

    def start(self):
        """Where it was before, if it was; somebody may be there for a moment."""
        self.starting = True
        try:
            for _ in range(50):
                try:
                    return self._start()
                except Refused as e:
                    if not self.port or "in use" not in str(e):
                        raise
                    time.sleep(0.2)
            return self._start()
        finally:
            self.starting = False

    def _start(self):
        self.child = self.launch()
        lines = self.lines = queue.Queue()
        threading.Thread(target=_read, args=(self.child.stdout, lines), daemon=True).start()
        ready, found = [], None
        while not found:
            try:
                line = lines.get(timeout=180)
            except queue.Empty:
                line = ""
            ready.append(line)
            if not line:
                code = self.stop()
                raise Refused(f"muster up ended with {code}: {''.join(ready)}{self.words(5)}")
            found = re.search(r"https://[^ ]*?:(\d+)", line)
        self.port = int(found[1])
        if self.kube is None:
            self.kube = Kube(os.path.join(self.data, "kubeconfig"))
            self.events = Mirror(self.kube, "events", changed=self.changed, on_change=self._event)
            self.pods = Mirror(self.kube, "pods", changed=self.changed, on_change=self._pod)

    def _pod(self, change):
        self.seen[change.obj["metadata"]["namespace"]].append(change)

    def _event(self, change):
        if change.type != "DELETED":
            self.told[change.obj["metadata"]["namespace"]].append(change.obj)

    def kill(self):
        self.child.kill()
        self.child.wait()

    def stop(self, timeout=60):
        """By SIGTERM; its exit code."""
        if self.child.poll() is None:
            self.child.terminate()
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return "did not end"

    def trouble(self):
        """Why waiting is in vain."""
        code = self.child.poll()
        return None if self.starting or code in (None, -signal.SIGKILL) else f"muster up ended with {code}\n{self.words()}"

    def words(self, lines=40):
        with open(self.log, errors="replace", encoding="utf-8") as f:
            return "".join("up: " + line for line in f.readlines()[-lines:])

    def complains(self):
        with open(self.log, errors="replace", encoding="utf-8") as f:
            text = f.read()
        return "\n".join(m[0] for m in re.finditer(r".*((Address|Leak|Thread)Sanitizer|runtime error:|Assertion).*", text))

    def wait(self, predicate, what, timeout=60):
        return wait_for(self.changed, predicate, what, timeout, self.trouble)

    def until(self, predicate, what, timeout=60):
        """For states that nothing announces. what: words, or a function that finds them."""
        began = time.monotonic()
        while not predicate():
            if time.monotonic() > began + lag.patience(timeout):
                raise AssertionError(f"waited {timeout} s in vain: {what() if callable(what) else what}")
            time.sleep(0.1)

    # ---- the end

    def empty(self):
        """Deletes every pod and waits until all are gone."""
        for pod in self.kube.list("pods"):
            meta = pod["metadata"]
            self.kube.forget("pods", meta["name"], meta["namespace"], grace=1)
        self.wait(lambda: not self.pods.now, "all pods go")

    def processes(self):
        """Those of our copy of muster, and what stands in their command lines: (pid, words)."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                exe = os.readlink(f"/proc/{pid}/exe")
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if exe.startswith(self.muster) or self.folder in words:
                found.append((int(pid), words or exe))
        return found

    def mounts(self):
        with open("/proc/mounts", encoding="utf-8") as f:
            return [line for line in f if self.folder in line]

    def cgroups(self, uids):
        """Control groups that carry the name of a pod."""
        return [os.path.join(at, d) for at, folders, _ in os.walk("/sys/fs/cgroup") for d in folders
                if any(uid in d for uid in uids)]

    def pod_files(self, uids):
        """What the data directory still has of pods, but for logs, which stay."""
        found = []
        for at, folders, files in os.walk(self.data):
            if at == self.data:
                folders[:] = [d for d in folders if d not in ("logs", "volumes")]
            found += [os.path.join(at, n) for n in folders + files if any(uid in n for uid in uids)]
        return found

    def remove(self):
        for mirror in (getattr(self, "pods", None), getattr(self, "events", None)):
            if mirror:
                mirror.stop()
        if self.child and self.child.poll() is None:
            self.kill()
        for pid, _ in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for _ in range(100):  # the kernel takes its time with namespaces
            if not self.processes():
                break
            time.sleep(0.1)
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(stream, lines):
    for line in stream:
        lines.put(line.decode(errors="replace"))
    lines.put("")


@atexit.register
def remove_all():
    for machine in Machine.all:
        machine.remove()
