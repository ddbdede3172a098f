"""The servers and operators a test runs: `muster up` with the operator inside, or an API server with
`muster operator` beside it, reached directly or through a proxy."""

import atexit
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

from . import lag
from .kube import ApiError, Kube
from .proxy import Proxy

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
MUSTER = os.environ.get("MUSTER", os.path.join(TOP, "build", "muster"))


def sanitized():
    with open(MUSTER, "rb") as f:
        return b"__asan_init" in f.read()


class Process:
    """A child with its output in a file, and told apart by a name. None outlives the test."""

    all = []

    def __init__(self, name, args, folder, env=None, ready=None):
        self.name = name
        self.log = os.path.join(folder, name + ".log")
        self.lines = queue.Queue()
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(args, stdout=subprocess.PIPE if ready else log, stderr=log,
                                          env={**os.environ, **(env or {})})
        Process.all.append(self)
        if ready:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.decode(errors="replace"))
        self.lines.put("")

    def line(self, timeout=120):
        try:
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            return ""

    @property
    def alive(self):
        return self.child.poll() is None

    def signal(self, number):
        self.child.send_signal(number)

    def kill(self):
        if self.alive:
            self.child.kill()
        self.child.wait()

    def stop(self, timeout=60):
        """Ends it by SIGTERM; returns its exit code."""
        if self.alive:
            self.child.send_signal(signal.SIGCONT)
            self.child.terminate()
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return "did not end"

    def complains(self):
        """A sanitizer built into it found something."""
        with open(self.log, errors="replace", encoding="utf-8") as f:
            return re.search(r"(Address|Leak|Thread)Sanitizer|runtime error:", f.read())

    def words(self, lines=30):
        with open(self.log, errors="replace", encoding="utf-8") as f:
            return "".join(f"{self.name}: {line}" for line in f.readlines()[-lines:])


@atexit.register
def end_all():
    for process in Process.all:
        process.kill()


class Operator(Process):
    """`muster operator`, ready when its probe says so (or, with wait=False, some time later)."""

    count = 0

    def __init__(self, kubeconfig, folder, *args, env=None, wait=True, prefix=(), host="127.0.0.1"):
        Operator.count += 1
        self.host = host
        super().__init__(f"operator-{Operator.count}",
                         [*prefix, MUSTER, "operator", "--kubeconfig", kubeconfig,
                          "--metrics-bind-address", f"{host}:0", "--health-probe-bind-address", f"{host}:0", *args],
                         folder, env)
        if wait:
            self.wait_ready()

    def port(self, what):
        """Where it serves that, as it says itself; 0: it did not say so yet."""
        with open(self.log, errors="replace", encoding="utf-8") as f:
            found = re.search(rf"msg=serving what={what} .*port=(\d+)", f.read())
        return int(found[1]) if found else 0

    def probe(self, path="/readyz"):
        port = self.port("health-probe")
        if not port:
            return 0
        try:
            with urllib.request.urlopen(f"http://{self.host}:{port}{path}", timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as e:
            return e.code
        except OSError:
            return 0

    def wait_ready(self, timeout=60):
        began = time.monotonic()
        while self.probe() != 200:
            if time.monotonic() > began + timeout * lag.factor() or not self.alive:
                raise AssertionError("the operator does not get ready\n" + self.words())
            time.sleep(0.02)  # a probe is there to be asked again and again

    def metric_text(self):
        with urllib.request.urlopen(f"http://{self.host}:{self.port('metrics')}/metrics", timeout=30) as answer:
            return answer.read().decode()


class Engine:
    """What a scene needs: kube, and an operator that can be killed and started again."""

    name = ""
    inside = False  # the operator is part of the server
    has_scheduler = False  # that gives pods their nodes; else the stand-in does

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="operator-test-")
        self.kube = None
        self.operator = None
        self.children = []

    def start_operator(self):
        raise NotImplementedError

    def trouble(self):
        """Why waiting is in vain: the operator died of something else than us."""
        o = self.operator
        if o and not o.alive and o.child.returncode not in (0, -9, -15):
            return f"{o.name} died with {o.child.returncode}"
        return None

    def kill_operator(self):
        self.operator.kill()

    def restart_operator(self):
        self.kill_operator()
        self.start_operator()

    def words(self):
        return "".join(c.words() for c in self.children)

    def stop(self):
        for child in reversed(self.children):
            child.stop()
        bad = [c.words(60) for c in self.children if c.complains()]
        shutil.rmtree(self.folder, ignore_errors=True)
        if bad:
            raise AssertionError("a sanitizer complains:\n" + bad[0])


class MusterUp(Engine):
    """`muster up` without its node, since tests move the pods; with inside=False without operator, too."""

    name = "muster up"

    def __init__(self, inside=True):
        super().__init__()
        self.inside = inside
        self.port = 0
        self.start_server()

    def start_server(self):
        """Where it was before, if it was; somebody may be there for a moment."""
        for _ in range(50):
            server, ready = self._start_server()
            if ready or not self.port or "in use" not in server.words():
                break
            time.sleep(0.2)
        found = re.search(r"https://[^ ]*?:(\d+)", ready)
        if not found:
            raise AssertionError(f"muster up does not get ready: {ready!r}\n" + server.words())
        self.port = int(found[1])
        self.children = [server]
        self.server = server
        if self.inside:
            self.operator = server
        if self.kube is None:
            self.kube = Kube(os.path.join(self.folder, "data", "kubeconfig"))
            if not self.inside:
                install_crds(self.kube)

    def _start_server(self):
        data = os.path.join(self.folder, "data")
        server = Process("up", [MUSTER, "up", "--data", data, "--listen", f"127.0.0.1:{self.port}",
                                "--no-node", "--no-scheduler", *([] if self.inside else ["--no-operator"])], self.folder, ready=True)
        return server, server.line()

    def start_operator(self):
        self.start_server()

    def private(self, ns):  # pylint: disable=unused-argument # a server of its own
        return MusterUp()


class Cluster(Engine):
    """A server that is already there, by kubeconfig, with `muster operator` beside it."""

    name = "cluster"

    def __init__(self, kubeconfig, *args, kube=None):
        """kube: a client of that cluster, whose CRDs are there already."""
        super().__init__()
        self.kube = kube or Kube(kubeconfig)
        self.kubeconfig = kubeconfig
        self.args = args
        if kube is None:
            install_crds(self.kube)
        self.start_operator()

    def start_operator(self):
        self.operator = Operator(self.kubeconfig, self.folder, *self.args)
        self.children.append(self.operator)

    def private(self, ns):
        """An operator for that namespace alone; the one for all must have been stopped."""
        return Cluster(self.kubeconfig, "--namespace", ns, kube=self.kube)


class Proxied(Engine):
    """`muster operator` for one namespace, behind a proxy of its own."""

    name = "proxy"

    def __init__(self, kube, ns, *args, wait=True, env=None, wire=None):
        super().__init__()
        self.kube, self.ns, self.args, self.env, self.wire = kube, ns, args, env, wire
        self.proxy = Proxy(kube, wire.here if wire else "127.0.0.1")
        self.kubeconfig = self.proxy.kubeconfig(self.folder)
        self.start_operator(wait)

    def start_operator(self, wait=True):
        self.operator = Operator(self.kubeconfig, self.folder, "--namespace", self.ns, *self.args, wait=wait,
                                 env=self.env, prefix=self.wire.prefix if self.wire else (),
                                 host=self.wire.there if self.wire else "127.0.0.1")
        self.children.append(self.operator)

    def stop(self):
        super().stop()
        self.proxy.stop()

    def words(self):
        asked = [f"{r.at % 1000:7.3f} {r}" for r in self.proxy.requests[-60:]]
        return "requests:\n" + "\n".join(asked) + "\n" + super().words()


class Server:
    """Somebody's API without an operator: OPERATOR_KUBECONFIG's, or a `muster up` of our own."""

    def __init__(self):
        given = os.environ.get("OPERATOR_KUBECONFIG")
        self.up = None if given else MusterUp(inside=False)
        self.kube = Kube(given) if given else self.up.kube
        self.name = "cluster" if given else "muster up"
        if given:
            install_crds(self.kube)

    def stop(self):
        if self.up:
            self.up.stop()


def install_crds(kube):
    """From `muster manifests crds`: all kinds, as the operator is ready when it can read all of them."""
    text = subprocess.run([MUSTER, "manifests", "crds"], check=True, capture_output=True).stdout
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    subprocess.run([kubectl, "--kubeconfig", kube.kubeconfig, "apply", "--server-side", "-f", "-"],
                   input=text, check=True, capture_output=True)
    if not served(kube, 60):
        raise AssertionError("tfjobs are not served")


def served(kube, patience_s):
    """Nothing announces it: Established comes before, and the first who asks finds storage not ready."""
    end = time.monotonic() + patience_s
    while True:
        try:
            kube.list("tfjobs", ns="default")
            return True
        except ApiError as e:
            if e.status not in (404, 429):
                raise
            if e.status == 404 and time.monotonic() > end:
                return False
            time.sleep(0.1)
