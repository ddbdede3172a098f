"""A proxy that can be told to misbehave: plain HTTP/1.1 in, a real server's own protocol and
credentials out. It keeps a record of every request.

Faults are armed with fault(): what the function `match` says yes to gets it, `times` times. The whole
proxy can be partitioned (nothing passes, sockets stay), half-opened (so for the connections there are;
new ones work) or refuse to listen. With kill_after() a function is called in the moment after a write
was carried out, before or after its answer is passed on; writes then go one by one.
"""

import http.client
import json
import os
import re
import socket
import struct
import threading
import time

from . import protobuf

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
PATH = re.compile(r"^/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/([^/?]+))?/([^/?]+)(?:/([^/?]+))?(?:/([^/?]+))?")


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.agent = headers.get("user-agent", "")
        self.at = time.time()  # when it came
        self.sent = self.answered = None  # when it was passed on, when the server answered
        self.status = None  # the client's view; None: it got no answer
        self.fault = None
        bare, _, query = path.partition("?")
        found = PATH.match(bare)
        self.ns, self.plural, self.name, self.sub = found.groups() if found else (None, bare, None, None)
        if method != "GET":
            self.verb = VERBS.get(method, method)
        elif "watch=true" in query or "watch=1" in query:
            self.verb = "watch"
        else:
            self.verb = "get" if self.name else "list"

    @property
    def writes(self):
        """Questions that are POSTed change nothing."""
        return self.method != "GET" and not self.plural.startswith("selfsubject")

    def json(self):
        if self.body and self.body.startswith(protobuf.MAGIC):
            return protobuf.read(self.body)
        return json.loads(self.body) if self.body else None

    def __str__(self):
        sub = f"/{self.sub}" if self.sub else ""
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.verb} {self.plural}{sub} {self.name or ''} {self.status}{fault}"


class Fault:
    def __init__(self, match, action, times, every=1):
        self.match, self.action, self.left, self.every = match, action, times, every
        self.met = 0
        self.hits = []


class Dropped(Exception):
    """The client's connection is to be closed without a further word."""


def _reset(sock):
    """Closes with RST, as a crashed peer's machine answers."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    except OSError:
        pass


class Connection:
    """One of the client's, served by its own thread."""

    def __init__(self, proxy, sock):
        self.proxy, self.sock = proxy, sock
        self.epoch = proxy.epoch
        self.stuck = False
        self.upstream = None
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = sock.makefile("rb")

    def serve(self):
        try:
            while True:
                request = self._read()
                if request is None:
                    return
                self.proxy.note(request)
                self._handle(request)
        except (Dropped, OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            self.close()

    def close(self):
        self.file.close()  # which holds the socket too
        _reset(self.sock)
        if self.upstream:
            self.upstream.close()
        self.proxy.forget(self)

    def _read(self):
        line = self.file.readline(65536)
        if not line:
            return None
        method, path, _ = line.decode().split(" ", 2)
        headers = {}
        while True:
            line = self.file.readline(65536)
            if line in (b"\r\n", b"\n", b""):
                break
            name, _, value = line.decode().partition(":")
            headers[name.strip().lower()] = value.strip()
        if "100-continue" in headers.get("expect", "").lower():
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = None
        if "content-length" in headers:
            body = self.file.read(int(headers["content-length"]))
        elif "chunked" in headers.get("transfer-encoding", ""):
            body = b""
            while True:
                size = int(self.file.readline().split(b";")[0], 16)
                body += self.file.read(size)
                self.file.readline()
                if size == 0:
                    break
        return Request(method, path, headers, body)

    def _gate(self):
        """Returns when bytes may pass this connection; never, if it is half-open."""
        self.proxy.wait_open(self)
        if self.epoch != self.proxy.epoch:
            raise Dropped

    def _handle(self, request):
        self._gate()
        action = self.proxy.pick(request)
        if action and action[0] == "delay":
            time.sleep(action[1])
            self._gate()
            action = None
        if action and action[0] == "answer":
            self._answer(request, action[1], action[2] if len(action) > 2 else {})
            return
        if action and action == ("drop", "before"):
            raise Dropped
        if request.writes and self.proxy.one_by_one:
            with self.proxy.write_lock:
                self._gate()
                self._forward(request, action)
        else:
            self._forward(request, action)

    def _forward(self, request, action):
        keep = {k: v for k, v in request.headers.items()
                if k in ("content-type", "accept", "user-agent", "accept-encoding")}
        if request.verb == "watch":
            keep["accept-encoding"] = "identity"
        keep.update({k: v for k, v in self.proxy.kube.headers.items() if k == "Authorization"})
        request.sent = time.time()
        answer = self._ask(request, keep)
        request.answered = time.time()
        if request.verb == "watch" and answer.status == 200:
            self._stream(request, answer, action)
            return
        body = answer.read()
        if action == ("drop", "after"):
            raise Dropped
        if action and action[0] == "late":
            time.sleep(action[1])
        self._gate()
        self.proxy.written(request, answered=False)
        self._gate()
        head = {k: v for k, v in answer.getheaders()
                if k.lower() in ("content-type", "content-encoding", "retry-after", "audit-id", "warning")}
        self._send(request, answer.status, head, body)
        self.proxy.written(request, answered=True)

    def _ask(self, request, headers):
        for fresh in (False, True):
            if self.upstream is None or fresh:
                self.upstream = self.proxy.kube.connect(timeout=None if request.verb == "watch" else 60)
            try:
                self.upstream.request(request.method, request.path, request.body, headers)
                return self.upstream.getresponse()
            except http.client.RemoteDisconnected:
                self.upstream.close()
                if fresh:
                    raise
        raise AssertionError

    def _stream(self, request, answer, action):
        request.status = 200
        self.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        if action and action[0] == "end-410":
            self._gate()
            self._chunk(b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
                        b'"message":"too old resource version","reason":"Expired","code":410}}\n')
            self.sock.sendall(b"0\r\n\r\n")
            raise Dropped
        while True:
            piece = answer.read1(65536)
            self._gate()
            if not piece:
                self.sock.sendall(b"0\r\n\r\n")
                return
            later = self.proxy.pick_stream(request)
            if later and later[0] == "cut":
                self._chunk(piece[:max(1, len(piece) // 2)])
                self.sock.shutdown(socket.SHUT_WR)  # a reset could overtake the half line
                raise Dropped
            if later and later[0] == "lag":
                time.sleep(later[1])
            if later and later[0] == "crumbs":
                for i in range(0, len(piece), later[1]):
                    self._chunk(piece[i:i + later[1]])
                continue
            self._chunk(piece)

    def _chunk(self, piece):
        self.sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))

    def _answer(self, request, status, headers):
        reasons = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError",
                   503: "ServiceUnavailable", 504: "Timeout", 403: "Forbidden"}
        body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": status,
                "message": f"injected {status}", "reason": reasons.get(status, "Unknown")}
        self._send(request, status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode())

    def _send(self, request, status, headers, body):
        request.status = status
        lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, '')}", f"Content-Length: {len(body)}"]
        lines += [f"{k}: {v}" for k, v in headers.items()]
        self.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


class Proxy:
    def __init__(self, kube, host="127.0.0.1"):
        self.kube, self.host = kube, host
        self.requests = []
        self.changed = threading.Condition()
        self.faults, self.stream_faults = [], []
        self.connections = set()
        self.open = True  # False: partitioned
        self.epoch = 0
        self.one_by_one = False
        self.write_lock = threading.RLock()
        self.writes = 0
        self.kill = None  # (which write, answered, function)
        self.listener = None
        self.port = 0
        self.listen()

    # ---- listening

    def listen(self):
        self.listener = socket.create_server((self.host, self.port), backlog=512, reuse_port=False)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            conn = Connection(self, sock)
            with self.changed:
                self.connections.add(conn)
            threading.Thread(target=conn.serve, daemon=True).start()

    def refuse(self):
        """As a server that stopped: nobody listens, and what was connected is reset."""
        self.listener.shutdown(2)
        self.listener.close()
        self.drop_all()

    def drop_all(self):
        for conn in list(self.connections):
            _shut(conn)

    stop = refuse

    def kubeconfig(self, folder):
        path = os.path.join(folder, f"kubeconfig-{self.port}")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "proxy",
                       "clusters": [{"name": "proxy", "cluster": {"server": f"http://{self.host}:{self.port}"}}],
                       "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "none"}}],
                       "users": [{"name": "none", "user": {}}]}, f)
        return path

    # ---- states

    def partition(self):
        with self.changed:
            self.open = False

    def heal(self):
        """New connections pass; what the old ones still hold is lost, as packets are."""
        with self.changed:
            self.open = True
            for conn in self.connections:
                conn.epoch = -1
            self.changed.notify_all()

    def half_open(self):
        """The connections there are carry nothing any more; nobody is told."""
        with self.changed:
            for conn in self.connections:
                conn.stuck = True
            return len(self.connections)

    def wait_open(self, conn):
        with self.changed:
            while conn.stuck or not self.open:
                self.changed.wait()

    def forget(self, conn):
        with self.changed:
            self.connections.discard(conn)
            self.changed.notify_all()

    # ---- faults

    def fault(self, match, *action, times=1, every=1):
        """every: only each so many-th of those that match. Returns the fault, with its hits."""
        f = Fault(match, action, times, every)
        with self.changed:
            (self.stream_faults if action[0] in ("cut", "crumbs", "lag") else self.faults).append(f)
        return f

    def _pick(self, faults, request):
        with self.changed:
            for f in faults:
                if f.left > 0 and f.match(request):
                    f.met += 1
                    if f.met % f.every:
                        continue
                    f.left -= 1
                    f.hits.append(request)
                    request.fault = " ".join(str(w) for w in f.action)
                    self.changed.notify_all()
                    return f.action
        return None

    def pick(self, request):
        return self._pick(self.faults, request)

    def pick_stream(self, request):
        return self._pick(self.stream_faults, request)

    def kill_after(self, n, function, answered=False):
        """Calls the function in the moment after the n-th write (from 1) was carried out; connections
        from before it are dropped, with what they still hold."""
        self.one_by_one = True
        self.writes = 0
        self.kill = (n, answered, function)

    def written(self, request, answered):
        if not request.writes:
            return
        with self.write_lock:
            if not answered:
                self.writes += 1
            if self.kill and self.kill[0] == self.writes and self.kill[1] == answered:
                function = self.kill[2]
                self.kill = None
                function()
                self.epoch += 1

    # ---- the record

    def note(self, request):
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()

    def written_requests(self):
        return [r for r in list(self.requests) if r.writes]

    def tally(self, since=0):
        """How many of each: {"create pods": 4, ...}"""
        counts = {}
        for r in list(self.requests)[since:]:
            key = f"{r.verb} {r.plural}" + (f"/{r.sub}" if r.sub else "")
            counts[key] = counts.get(key, 0) + 1
        return counts


def _shut(conn):
    try:
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.sock.shutdown(2)
    except OSError:
        pass
    if conn.upstream is not None and conn.upstream.sock is not None:
        try:
            conn.upstream.sock.shutdown(2)
        except OSError:
            pass
