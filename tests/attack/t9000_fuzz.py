#!/usr/bin/python3
"""An HTTP fuzzer: recorded requests, changed, to a muster built with sanitizers, from somebody without a credential,
from a plain pod, and from an account that may do all in one namespace; one turn in four speaks HTTP/2, whose frames
are changed, too. ATTACK_SECONDS (60), ATTACK_SEED (1).
Finds: a crash or what a sanitizer says, requests without an answer, 5xx, answers that are no text. Each finding is
written to ATTACK_OUT (build/attack); t9000_fuzz.py --replay FILE... sends it again (HTTP/2 with the credential of its
run, which no longer holds: its seed finds it again)."""

import collections
import json
import os
import pathlib
import random
import re
import sys
import threading
import time

from harness import lag
from harness.tap import Tap

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
ASAN = os.environ.get("ATTACK_MUSTER", str(TOP / "build-asan" / "muster"))
os.environ["MUSTER"] = ASAN
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1")
os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
# pylint: disable=wrong-import-position
from hostile import frames, h2, mutate, record  # noqa: E402
from hostile.door import Door  # noqa: E402
from hostile.raw import HTTP2, Others, connect, send  # noqa: E402

SECONDS = float(os.environ.get("ATTACK_SECONDS") or 60)
SEED = int(os.environ.get("ATTACK_SEED") or 1)
OUT = pathlib.Path(os.environ.get("ATTACK_OUT") or TOP / "build" / "attack")
WORKERS = 4
IN_HTTP2 = 0.25  # of the turns
HANG_S = 30  # nobody who asked a whole question waits longer, on a machine that has time
ACCEPTED = {501, 505}
# Mistakes of the client's that kube-apiserver, too, answers with 500 (A3).
AS_KUBE = re.compile(r"without impersonating a user|resourceVersion: Invalid value|DeleteOptions|failed to create typed patch object|"
                     r"no kind .* is registered for|json: cannot unmarshal|couldn't get version/kind|unexpected EOF|target\.name: Required value|"
                     r"doesn't match \$setElementOrder|to be a protobuf message|^empty body|resourceVersion should not be set|Too large resource version|^proto: |^strconv\.")
# All that can be had in a namespace, but for what the rights themselves are made of.
RULES = [{"apiGroups": ["apps", "batch", "kubeflow.org", "autoscaling", "coordination.k8s.io", "events.k8s.io", "policy", "networking.k8s.io",
                        "discovery.k8s.io", "scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io", "resource.k8s.io", "node.k8s.io",
                        "fuzz.dev"], "resources": ["*"], "verbs": ["*"]},
         {"apiGroups": [""], "verbs": ["*"], "resources": [
             "pods", "pods/log", "pods/exec", "pods/attach", "pods/portforward", "pods/status", "pods/eviction", "pods/binding", "bindings", "configmaps", "secrets",
             "services", "services/status", "events", "endpoints", "persistentvolumeclaims", "persistentvolumeclaims/status", "replicationcontrollers",
             "resourcequotas", "limitranges", "podtemplates", "pods/ephemeralcontainers"]}]


class Wire:
    """One connection, opened anew when it has to be."""

    def __init__(self, port):
        self.port, self.sock = port, None

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock = None

    def ask(self, data, exact):
        """(status, content type, body, whole): status 0: the connection was closed without an answer."""
        for fresh in (False, True):
            if self.sock is None:
                self.sock, fresh = connect(self.port), True
            try:
                self.sock.settimeout(lag.patience(HANG_S) if exact else 1)
                self.sock.sendall(data)
                got = self.sock.recv(65536)
            except TimeoutError:
                self.close()
                if exact:
                    raise
                return 0, "", b"", False
            except OSError:
                self.close()
                if fresh:
                    return 0, "", b"", False
                continue
            if got:
                return self._rest(got)
            self.close()
            if fresh:
                break
        return 0, "", b"", False

    def _rest(self, got):
        """The rest of the answer, or of a stream what comes within a moment."""
        whole = False
        until = time.monotonic() + 2
        try:
            while not (whole := complete(got)) and time.monotonic() < until:
                self.sock.settimeout(0.5)
                part = self.sock.recv(65536)
                if not part:
                    break
                got += part
        except OSError:
            pass
        head, _, body = got.partition(b"\r\n\r\n")
        found = re.match(rb"HTTP/1\.1 (\d+)", head)
        kind = re.search(rb"(?im)^content-type: *([^\r\n]*)", head)
        coded = re.search(rb"(?im)^(content-encoding|upgrade):", head)
        if not whole or re.search(rb"(?im)^connection: *(close|upgrade)", head):
            self.close()
        return int(found[1]) if found else -1, (kind[1].decode("latin-1") if kind and not coded else ""), body, bool(whole)


def complete(got):
    """Whether that is exactly one answer with a length."""
    head, found, body = got.partition(b"\r\n\r\n")
    size = re.search(rb"(?im)^content-length: *(\d+)", head)
    return bool(found and size and len(body) == int(size[1]))


class Fuzzer:
    def __init__(self):
        self.door = Door("user")
        self.door.kube.make_namespace(record.NS)
        # Nothing of what is made here runs, and nobody looks after more than he must.
        for node in self.door.kube.list("nodes"):
            self.door.kube.patch("nodes", node["metadata"]["name"], {"spec": {"unschedulable": True}})
        self.tenant = self.door.account("tenant", RULES, record.NS)
        self.seeds = record.from_files() + record.of_groups() + record.from_kubectl(self.door.kube, self.door.machine.make("record"))
        self.found = collections.OrderedDict()
        self.lock = threading.Lock()
        self.last = [b""] * WORKERS
        self.sent = [0] * WORKERS
        self.talks = [0] * WORKERS
        self.codes = collections.Counter()
        self.until = 0
        self.restarts = 0

    def note(self, kind, what, data):
        """Once each."""
        with self.lock:
            if (kind, what) in self.found:
                return
            OUT.mkdir(parents=True, exist_ok=True)
            path = OUT / f"{kind}-{SEED}-{len(self.found):03d}.http"
            path.write_bytes(data)
            self.found[kind, what] = path

    def credential(self, rng):
        return rng.choices((None, self.door.pod, self.tenant), (1, 4, 5))[0]

    def judge(self, status, kind, body, whole, data):
        path = data.split(b" ", 2)[1].split(b"?")[0][:80].decode("latin-1") if data.count(b" ") > 1 else ""
        self.codes[status] += 1
        if status >= 500 and status not in ACCEPTED:
            try:
                answer = json.loads(body)
                said, bare = answer.get("message", ""), "reason" not in answer
            except (ValueError, AttributeError):
                said = body.decode("latin-1")
                bare = said.startswith("apiVersion:") and "\nreason:" not in said
            # kube-apiserver has no reason for its 500 to a patch that cannot be applied; a failure of ours has one.
            if bare or AS_KUBE.search(said) or (data.startswith(b"HEAD ") and not body):
                return  # an answer to HEAD says no reason: its GET is judged
            self.note("5xx", f"{status}: {re.sub(r'[0-9a-f-]{8,}', '…', said)[:160]}", data)
        if status == -1:
            self.note("confused", f"no answer of HTTP: {body[:60]!r}", data)
        if whole and body and kind.startswith(("application/json", "application/yaml", "text/plain")):
            try:
                text = body.decode()
                if kind.startswith("application/json"):
                    json.loads(text)
            except ValueError as e:
                self.note("confused", f"{kind} that is none at {path}: {e}"[:120], data)

    def worker(self, n):
        rng = random.Random(f"{SEED}/{n}")
        wire = Wire(self.door.port)
        host = b"127.0.0.1:%d" % self.door.port
        while time.monotonic() < self.until:
            if rng.random() < IN_HTTP2:
                self.talk(n, rng, host)
                continue
            r = mutate.mutate(rng, self.seeds)
            token = self.credential(rng)
            data = r.bytes(host, token and token.encode())
            self.last[n] = data
            try:
                self.judge(*wire.ask(data, r.exact), data)
            except TimeoutError:
                if self.door.machine.child.poll() is None:
                    self.note("hang", data.split(b"\r\n")[0][:100].decode("latin-1"), data)
            except OSError:  # it is away
                wire.close()
                self.crashed()
                time.sleep(0.2)
            self.sent[n] += 1
        wire.close()

    def talk(self, n, rng, host):
        """One connection of HTTP/2."""
        token = self.credential(rng)
        sent, asked, exact = frames.conversation(rng, self.seeds, self.door.port, token)
        data = self.last[n] = h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) + sent
        got = frames.Answers()
        try:
            session = h2.Session(self.door.port)
        except OSError:  # it is away
            self.crashed()
            time.sleep(0.2)
            return
        session.send(sent)
        until = time.monotonic() + lag.patience(HANG_S)
        over = False
        while not over and not session.closed and len(got.status) < len(asked) and time.monotonic() < until:
            over = any([got.take(*f) for f in session.frames(timeout=0.3)]) or not exact
        if not over and not session.closed and len(got.status) < len(asked) and self.door.machine.child.poll() is None:
            self.note("hang", "HTTP/2: " + next(iter(asked.values())).path[:100], data)
        session.close()
        for stream, status in got.status.items():
            if stream in asked:
                r = asked[stream]
                self.judge(status, "", got.body.get(stream, b""), stream in got.ended, r.bytes(host, token and token.encode()))
        self.talks[n] += 1

    def crashed(self):
        with self.lock:
            code = self.door.machine.child.poll()
            if code is None:
                return
            words = self.door.machine.words(120)
            last = list(self.last)
            os.truncate(self.door.machine.log, 0)
            self.restarts += 1
            self.door.machine.start()
        place = re.search(r"(Assertion `[^']*' failed|ERROR: \w+Sanitizer: [^\n]*|runtime error: [^\n]*|watchdog[^\n]*)", words)
        frame = re.findall(r"#\d+ \S+ in (\w+) [^\n]*src/", words)
        what = re.sub(r"0x[0-9a-f]+|pc \S+|==\d+==", "", f"{code} {place[0] if place else words[-200:]} in {' < '.join(frame[:3])}")
        for n, data in enumerate(last):
            self.note("crash", what + ("" if not n else f" (or this, of another connection: {n})"), data)
        path = OUT / f"crash-{SEED}-{self.restarts:03d}.log"
        path.write_text(words, encoding="utf-8")

    def run(self, seconds):
        self.until = time.monotonic() + seconds
        threads = [threading.Thread(target=self.worker, args=(n,)) for n in range(WORKERS)]
        with Others(self.door.port, "", "/healthz", pause=0.2) as others:
            for t in threads:
                t.start()
            while any(t.is_alive() for t in threads):
                time.sleep(0.5)
                self.crashed()
        self.health = others
        said = self.door.machine.complains()
        if said:
            self.note("sanitizer", said[:300], b"".join(self.last))

    def stop(self):
        code = self.door.machine.stop(timeout=120)
        self.door.machine.remove()
        return code


def replay(paths):
    f = Fuzzer()
    for path in paths:
        data = pathlib.Path(path).read_bytes()
        if data.startswith(h2.PREFACE):
            print(path, send(f.door.port, data, 5, HTTP2)[:200], f.door.machine.child.poll())
            continue
        data = re.sub(rb"Host: 127.0.0.1:\d+", b"Host: 127.0.0.1:%d" % f.door.port, data)
        data = re.sub(rb"Bearer [\w.-]+", b"Bearer " + f.tenant.encode(), data)
        print(path, Wire(f.door.port).ask(data, True), f.door.machine.child.poll())
    print(f.door.machine.words(60))
    f.stop()


def main():
    tap = Tap()
    if not os.path.exists(ASAN):
        tap.line(True, "the HTTP fuzzer", skip=f"{ASAN} is not there: make check-asan builds it")
        tap.end()
    f = Fuzzer()
    f.run(SECONDS)
    tap.note(f"{sum(f.sent)} requests and {sum(f.talks)} conversations of HTTP/2 out of {len(f.seeds)} recorded ones in {SECONDS:.0f} s, seed {SEED}; answers: "
             f"{', '.join(f'{n} {code}' for code, n in sorted(f.codes.items()))}; /healthz took {f.health.at(50):.0f} ms, "
             f"{max(f.health.took):.0f} ms at most; {f.restarts} restarts")
    for kind, claim in (("crash", "no request ends the server"), ("sanitizer", "no sanitizer complains"), ("hang", "every request is answered"),
                        ("5xx", "no request makes it fail"), ("confused", "every answer is what it says it is")):
        mine = [f"{what}\n  {path}" for (k, what), path in f.found.items() if k == kind]
        tap.line(not mine, f"{claim}", "\n".join(mine[:20]))
    code = f.stop()
    tap.line(code == 0, "and it stops as it should", f"exit code {code}" if code else "")
    tap.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--replay"]:
        replay(sys.argv[2:])
    else:
        main()
