"""The servers that are measured, and where they come from."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def free_ports(n):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def stop(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + 30
    while is_running(pid):
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


class Server:
    """One server on one data directory; start() may follow stop() to load what is stored."""

    def __init__(self, kbench, folder):
        self.kbench = kbench
        self.dir = folder
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.pids = []

    def ask(self, command, *options, tail=()):
        args = [self.kbench, command, "--kubeconfig", self.kubeconfig]
        for pid in self.pids:
            args += ["--pid", str(pid)]
        args += [str(o) for o in options] + list(tail)
        done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f"bench/run: {self.name} failed at {command}; its last words:\n"
                     + self.last_words())
        return json.loads(done.stdout) if done.stdout else {}

    def last_words(self):
        logs = [os.path.join(self.dir, f) for f in os.listdir(self.dir) if f.endswith(".log")]
        return subprocess.run(["tail", "-n", "5", *logs], stdout=subprocess.PIPE, text=True,
                              check=False).stdout

    def launch(self, *command):
        log = os.path.join(self.dir, os.path.basename(command[0]) + ".log")
        answer = self.ask("ready", "--log", log, tail=["--", *command])
        self.pids.insert(0, answer["pid"])
        return answer["answer_ms"]

    def stop(self):
        for pid in self.pids:  # the API server before its etcd
            stop(pid)
        self.pids = []


class Ours(Server):
    """The API server alone, as the real one is; Whole is all that `muster up` runs."""

    name = "muster"
    program = None
    options = ("--no-operator", "--no-node", "--no-scheduler")

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.kubeconfig)
        return self.launch(self.program, "up", "--data", os.path.join(self.dir, "data"),
                           "--listen", "127.0.0.1:0", "--kubeconfig", self.kubeconfig, *self.options)


class Whole(Ours):
    name = "muster, whole"
    options = ()


class Real(Server):
    """kube-apiserver with the flags of tests/cluster/up; etcd's own start is not counted."""

    name = "kube-apiserver"
    assets = None

    def start_etcd(self, client, peer):
        with open(os.path.join(self.dir, "etcd.log"), "a", encoding="utf-8") as log:
            etcd = subprocess.Popen(
                [os.path.join(self.assets, "etcd"), "--name", "bench",
                 "--data-dir", os.path.join(self.dir, "etcd"),
                 "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"bench={peer}"], stdout=log, stderr=log)
        self.pids = [etcd.pid]
        began = time.monotonic()
        while True:
            try:
                with urllib.request.urlopen(client + "/health", timeout=1) as answer:
                    if json.load(answer).get("health") == "true":
                        return (time.monotonic() - began) * 1000
            except OSError:
                if time.monotonic() - began > 30 or etcd.poll() is not None:
                    raise
            time.sleep(0.01)

    def start(self):
        client_port, peer_port, port = free_ports(3)
        client = f"http://127.0.0.1:{client_port}"
        tokens, key = (os.path.join(self.dir, f) for f in ("tokens.csv", "sa.key"))
        pki = os.path.join(self.dir, "pki")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write("benchmark,admin,admin,system:masters\n")
        if not os.path.exists(key):
            subprocess.run(["openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout",
                            "-out", key], check=True)
        with open(self.kubeconfig, "w", encoding="utf-8") as f:
            json.dump({
                "current-context": "real",
                "clusters": [{"name": "real", "cluster": {
                    "server": f"https://127.0.0.1:{port}",
                    "certificate-authority": os.path.join(pki, "apiserver.crt")}}],
                "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
                "users": [{"name": "admin", "user": {"token": "benchmark"}}]}, f)
        self.start_etcd(client, f"http://127.0.0.1:{peer_port}")
        return self.launch(
            os.path.join(self.assets, "kube-apiserver"), "--etcd-servers", client,
            "--cert-dir", pki, "--bind-address", "127.0.0.1", "--secure-port", str(port),
            "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none",
            "--service-cluster-ip-range", "10.0.0.0/24", "--token-auth-file", tokens,
            "--anonymous-auth=false", "--authorization-mode", "RBAC",
            "--service-account-key-file", key, "--service-account-signing-key-file", key,
            "--service-account-issuer", "https://kubernetes.default.svc.cluster.local",
            "--disable-admission-plugins", "ServiceAccount", "--shutdown-delay-duration", "0s")


@contextlib.contextmanager
def fresh(kind, kbench, top):
    server = kind(kbench, tempfile.mkdtemp(prefix=kind.name + "-", dir=top))
    try:
        yield server
    finally:
        server.stop()
    shutil.rmtree(server.dir)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{os.cpu_count()} cores ({model.group(1) if model else 'unknown'}), {memory:.0f} GiB, "
            f"Linux {os.uname().release}, load {os.getloadavg()[0]:.1f} at the start")


def find_real():
    found = subprocess.run([os.path.join(ROOT, "tests/cluster/apiserver-build")],
                           stdout=subprocess.PIPE, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def find_ours(build):
    for path in ("muster", "src/muster"):
        if os.access(os.path.join(build, path), os.X_OK):
            return os.path.join(build, path)
    sys.exit(f"bench/run: no muster in {build}: build it first")
