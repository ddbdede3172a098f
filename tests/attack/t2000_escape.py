#!/usr/bin/python3
"""A pod tries what container escape checklists try (hostile/checklist.py), beside another pod with secrets and
beside servers of the same user: as root and as an ordinary user, at each level.
Usage: t2000_escape.py [namespaces|shared] [root|user]"""

import glob
import os
import shutil
import socket
import subprocess
import threading

from harness.tap import is_
from hostile.place import Place
from world.cast import on_each_of_argv
from world.scene import STAY, Scene, box, python

CHECKLIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile", "checklist.py")
LISTEN = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 27999))
print("listens", flush=True)
while True:
    data, (host, _) = s.recvfrom(100)
    print("got", data.decode(), "from", host, flush=True)
"""
# What level shared keeps from a pod: docs/security.md says the same. Of what it does not keep we tell, and count
# nothing.
SHARED_KEEPS = {"descriptors are three", "the environment of the server is not handed on",
                "temporary files are the pods own", "no capability is ambient", "a seccomp filter is in place", "new namespaces are refused",
                "a user namespace reveals nothing", "keyrings of the host cannot be read", "the kernel log cannot be read", "perf events are refused"}
# A user of its own (runAsUser, where muster is root) is kept from what is root's or another's.
SHARED_USER_KEEPS = SHARED_KEEPS | {
    "hidden paths are out of sight", "hidden paths are out of sight through proc", "descriptors of others lead nowhere",
    "kernel settings cannot be written", "sysfs cannot be written", "control groups cannot be written",
    "no control group can be made", "environments of others cannot be read", "files of other pods cannot be read",
    "device nodes that are made cannot be opened", "handles open nothing", "others cannot be traced",
    "keyrings of the host cannot be read"}


def listen_for_strangers():
    """Sockets of this machine's that no pod should reach: abstract, and on loopback."""
    name = f"attack-{os.getpid()}-{threading.get_ident()}"
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0" + name)
    abstract.listen()
    loopback = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            try:
                with loopback.accept()[0] as s:
                    s.sendall(b"this is the host")
            except OSError:
                return
    threading.Thread(target=answer, daemon=True).start()
    return name, abstract, loopback


ADD_KEY = """
import ctypes, platform, sys, time
libc = ctypes.CDLL(None)
nr = {"x86_64": 248, "aarch64": 217}[platform.machine()]
print(libc.syscall(ctypes.c_long(nr), b"user", sys.argv[1].encode(), b"a word of the host", 18, -4), flush=True)
sys.stdin.read()
"""


def add_key(machine, name):
    """A key in the keyring of the machine's user; the process that keeps it, to be ended."""
    child = subprocess.Popen(["/usr/bin/python3", "-c", ADD_KEY, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             **({"user": machine.uid, "group": machine.uid, "extra_groups": []}
                                if machine.uid != os.geteuid() else {}))
    child.stdout.readline()
    return child


def files_with(machine, word):
    """Where the data directory holds that word, on this machine."""
    found = []
    for at, _, files in os.walk(machine.data):
        for name in files:
            path = os.path.join(at, name)
            try:
                with open(path, "rb") as f:
                    if word.encode() in f.read(1 << 16):
                        found.append(path)
            except OSError:
                pass
    return [p for p in found if "muster.db" not in p]


def backwards(words):
    return ":".join(str(w)[::-1] for w in words)


class Try:
    """A machine, a pod that has something to lose, and those who want it."""

    def __init__(self, tap, level, user):
        self.tap, self.level, self.user = tap, level, user
        self.machine = Place(level, user)
        m = self.machine
        self.home = [m.put("home/.ssh/id_ed25519", "key of the owner"), m.put("home/.kube/config", "kubeconfig"),
                     m.put("home/.docker/config.json", "docker")]
        self.name, self.abstract, self.loopback = listen_for_strangers()
        self.key = add_key(m, self.name)
        self.scene = Scene(m, "attack")
        shutil.copy(CHECKLIST, self.scene.folder)
        os.chmod(os.path.join(self.scene.folder, "checklist.py"), 0o644)
        self.mark = f"{os.getpid()}{threading.get_ident() % 100000}"
        self.word = f"sesame-{self.mark}"

    def victim(self):
        s = self.scene
        s.config("lost", plural="secrets", stringData={"word": self.word})
        place = s.place("victim", "secret")
        mounts = [{"name": "w", "mountPath": place}]
        env = [{"name": "VICTIM_WORD", "value": self.word}, {"name": "VICTIM_SECRET", "valueFrom": {
            "secretKeyRef": {"name": "lost", "key": "word"}}}]
        user = {"securityContext": {"runAsUser": 4712}} if self.user == "root" else {}
        s.start("victim", python(LISTEN, volumeMounts=mounts, env=env, **user) if s.namespaces else
                box(STAY, volumeMounts=mounts, env=env, **user),
                volumes=[{"name": "w", "secret": {"secretName": "lost"}}])
        pod = s.wait_ready("victim")
        self.address = pod["status"]["podIP"]
        if s.namespaces:
            s.until(lambda: "listens" in s.log("victim"), "the other pod listens")

    def attackers(self):
        """Those who try, by the name of their pod: what is special about them."""
        them = {"plain": {}}
        if self.user == "root":
            them["as-user"] = {"securityContext": {"runAsUser": 4711}}
        return them

    def run(self):
        s, m = self.scene, self.machine
        self.victim()
        files = files_with(m, self.word)
        victim_dir = os.path.join(m.data, "pods", s.now("victim")["metadata"]["uid"])
        files += glob.glob(victim_dir + "/**/token", recursive=True) + glob.glob(victim_dir + "/**/kubeconfig", recursive=True)
        elsewhere = os.path.join(m.make("elsewhere", mode=0o755), "config")
        for name, special in self.attackers().items():
            s.start(name, box(f'await go-{name}; . "$G/env-{name}"; exec /usr/bin/python3 "$G/checklist.py"', **special))
            s.wait_ready(name)
        # A server that starts later, with a kubeconfig somewhere else.
        later = Place(self.level, self.user, "--no-node", "--no-operator", "--kubeconfig", elsewhere)
        try:
            hidden = [p for p in m.secrets() + later.secrets() + [elsewhere] + self.home if os.path.exists(p)]
            env = {"HIDDEN": hidden, "WORDS": [self.word], "FILES": files, "LEVEL": [self.level], "KEYS": [self.name],
                   "OTHERS": ["muster up", later.data, victim_dir], "PIDS": [m.child.pid, later.child.pid, os.getpid()],
                   "ABSTRACT": [self.name], "PORTS": [self.loopback.getsockname()[1]], "MARK": [self.mark],
                   "VICTIM": [self.address] if s.namespaces else []}
            lines = "".join(f"export ATTACK_{k}='{backwards(v)}'\n" for k, v in env.items())
            for name in self.attackers():
                self.start_attack(name, lines)
            for name in self.attackers():
                self.judge(name)
            if s.namespaces:
                self.tap.run(f"no hostPath leads into a data directory ({m.name})", self.host_paths, later)
                self.tap.run(f"a forged source address reaches no other pod ({m.name})", self.forged)
            self.tap.run(f"what the pods wrote is not on the machine ({m.name})", self.litter)
            self.tap.run(f"the server lives, with its secrets ({m.name})", self.lives)
        finally:
            later.stop()
            later.remove()

    def start_attack(self, name, lines):
        path = os.path.join(self.scene.folder, f"env-{name}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(lines)
        os.chmod(path, 0o644)
        self.scene.open("go-" + name)

    def judge(self, name):
        pod = self.scene.wait_end(name, timeout=180)
        said = self.scene.log(name)
        who = f"{self.machine.name}, {name}" if self.user == "root" else self.machine.name
        self.tap.line(said.endswith("end\n"), f"the checklist went through ({who})", "" if said.endswith("end\n") else
                      f"{said}\n{pod['status']}")
        for line in said.splitlines():
            fine, text = not line.startswith("not ok "), line.split("ok ", 1)[-1]
            claim, _, why = text.partition(": ")
            if line == "end" or not line.startswith(("ok ", "not ok ")):
                continue
            if self.level == "shared":
                keeps = SHARED_USER_KEEPS if name == "as-user" else SHARED_KEEPS
                if claim not in keeps:
                    if not fine:
                        self.tap.note(f"not kept at level shared ({who}): {text}")
                    continue
            self.tap.line(fine, f"{claim} ({who})", why)

    def host_paths(self, later):
        """Of the own server, of another, over a symbolic link, and from above."""
        s, m = self.scene, self.machine
        link = os.path.join(m.make("links", mode=0o755), "data")
        os.symlink(m.data, link)
        words = [m.kube.headers.get("Authorization", "none")[7:], "PRIVATE KEY"]
        paths = {"own": m.data, "other": later.data, "deep": m.data + "/pki", "link": link, "above": m.folder,
                 "root": "/", "proc": f"/proc/{m.child.pid}/root{m.data}"}
        for name, path in paths.items():
            s.start("host-" + name, box("for f in token pki/ca.key ca.key data/token data/pki/ca.key kubeconfig ." + m.data + "/token; do cat /e2e-host/$f; done; "
                                        "ls -R /e2e-host/pki", volumeMounts=[{"name": "v", "mountPath": "/e2e-host"}]),
                    volumes=[{"name": "v", "hostPath": {"path": path}}])
        for name in paths:
            s.wait(lambda name=name: s.events("FailedMount", name="host-" + name) or s.get("host-" + name)["status"].get("phase") in (
                "Succeeded", "Failed"), f"host-{name} ends or is refused")
            if s.events("FailedMount", name="host-" + name):
                continue
            said = s.log("host-" + name)
            assert not any(w and w in said for w in words) and "ca.key" not in [line.strip() for line in said.splitlines()], f"{paths[name]}: {said[:300]}"

    def forged(self):
        s = self.scene
        s.until(lambda: s.log("victim").count("got honest") >= len(self.attackers()) or
                "cannot" in s.log("victim"), "the honest packet arrives")
        is_([line for line in s.log("victim").splitlines() if "forged" in line], [], "forged packets")

    def litter(self):
        found = [p for folder in ("/etc", "/usr", "/usr/bin", "/var/lib", "/opt", "/root", "/boot", "/lib", "/etc/cron.d")
                 for p in glob.glob(f"{folder}/attack-litter-{self.mark}")]
        for path in found:
            os.unlink(path)
        is_(found, [], "files")

    def lives(self):
        is_(self.machine.child.poll(), None, "muster up runs")
        self.scene.kube.list("pods", "attack")
        is_(self.machine.complains(), "", "the log")

    def stop(self):
        self.scene.stop()
        self.machine.empty()
        self.machine.stop()
        self.machine.remove()
        self.key.stdin.close()
        self.key.wait()
        self.abstract.close()
        self.loopback.shutdown(socket.SHUT_RDWR)
        self.loopback.close()


def escape(tap, level, user, _):
    attempt = Try(tap, level, user)
    try:
        attempt.run()
    finally:
        attempt.stop()


if __name__ == "__main__":
    on_each_of_argv(escape)
