"""A kube-apiserver that can only exec, by script: what becomes of a pod, and of a command in it,
is told by the pod's name. usage: exec_server.py PORT_FILE LOG_FILE"""

import base64
import hashlib
import json
import socket
import struct
import sys
import threading
import time
from urllib.parse import parse_qs, urlsplit

tries = {}  # pod -> requests of its kind so far
log = open(sys.argv[2], "a", buffering=1)


def pod(name, phase="Running", ready=True):
    return {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "5",
                     **({"annotations": {"kubectl.kubernetes.io/default-container": "chosen"}}
                        if name == "annotated" else {})},
        "spec": {"containers": [{"name": "first"}, {"name": "chosen"}]},
        "status": {"phase": phase, "conditions": [
            {"type": "Ready", "status": "True" if ready else "False"}]}}


def status(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "code": code, "reason": reason, "message": message}


# What a list of the pod shows, and then a watch: (seconds later, type, object)
def scenes(name):
    waiting, failed = pod(name, "Pending", False), pod(name, "Failed", False)
    return {
        "late": ([waiting], [(0.5, "MODIFIED", pod(name, "Running", False)),
                             (0.5, "MODIFIED", pod(name))]),
        "comes": ([], [(0.5, "ADDED", waiting), (0.3, "MODIFIED", pod(name))]),
        "fails": ([waiting], [(0.3, "MODIFIED", failed)]),
        "failed": ([failed], []),
        "done": ([pod(name, "Succeeded", False)], []),
        "never": ([], []),
        "goes": ([waiting], [(0.2, "DELETED", waiting)]),
        "again": ([waiting], [(0.2, "DELETED", waiting), (0.2, "ADDED", waiting),
                              (0.2, "MODIFIED", pod(name))]),
        "cutwatch": ([waiting], [(0.2, "CUT", None)]),
    }.get(name, ([pod(name)], []))


class Session:
    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, code, body, chunked=False):
        text = json.dumps(body).encode()
        head = f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\n"
        if chunked:
            half = len(text) // 2
            parts = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (text[:half], text[half:]))
            self.send(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n")
        else:
            self.send(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)

    # ---- frames

    def frame(self, payload, op=2, fin=True, masked=False):
        n = len(payload)
        size = bytes([n]) if n < 126 else b"\x7e" + struct.pack(">H", n) if n < 65536 else \
            b"\x7f" + struct.pack(">Q", n)
        if masked:
            size = bytes([size[0] | 128]) + size[1:] + b"\0\0\0\0"
        self.send(bytes([op | (128 if fin else 0)]) + size + payload)

    def out(self, text, channel=1):
        self.frame(bytes([channel]) + text)

    def end(self, code=0, close=True):
        body = {"status": "Success"} if code == 0 else {
            "status": "Failure", "reason": "NonZeroExitCode",
            "message": f"command terminated with non-zero exit code: {code}",
            "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}
        self.frame(b"\x03" + json.dumps(body).encode())
        if close:
            self.frame(struct.pack(">H", 1000), op=8)

    def read_frame(self):
        a, b = self.file.read(2)
        assert b & 128, "a client masks"
        n = b & 127
        if n == 126:
            n, = struct.unpack(">H", self.file.read(2))
        elif n == 127:
            n, = struct.unpack(">Q", self.file.read(8))
        mask = int.from_bytes(self.file.read(4) * (n // 4 + 1), "big") >> 8 * (4 - n % 4)
        return a & 15, (int.from_bytes(self.file.read(n), "big") ^ mask).to_bytes(n, "big")

    # ---- what is asked

    def pods(self, name, query):
        n = tries[name] = tries.get(name, 0) + 1
        there, later = scenes(name)
        if name == "forbidden" and n <= 2 or name == "hidden":
            self.answer(403, status(403, "Forbidden", "pods is forbidden: not yet"))
        elif "watch" in query:
            self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for delay, kind, obj in later:
                time.sleep(delay)
                if kind == "CUT":
                    scenes_done.add(name)
                    self.sock.shutdown(socket.SHUT_RDWR)
                    return
                line = json.dumps({"type": kind, "object": obj}).encode() + b"\n"
                self.send(b"%x\r\n%s\r\n" % (len(line), line))
            time.sleep(60)
        else:
            if name in scenes_done:
                there = [pod(name)]
            self.answer(200, {"kind": "PodList", "apiVersion": "v1",
                              "metadata": {"resourceVersion": "5"}, "items": there})

    def exec(self, name, query, headers):
        n = tries["exec " + name] = tries.get("exec " + name, 0) + 1
        log.write(f"exec {name} {json.dumps(query)} auth={headers.get('authorization')}\n")
        if name == "dials" and n == 1:
            return self.answer(500, status(500, "InternalError", "error dialing backend: no"))
        if name == "refused":
            return self.answer(400, status(400, "BadRequest", "container x is not valid for pod"))
        if name == "chunked":
            return self.answer(403, status(403, "Forbidden", "pods/exec is forbidden"), True)
        if name == "plain":
            return self.answer(200, {})
        offered = [p.strip() for p in headers["sec-websocket-protocol"].split(",")]
        chosen = {"v4": "v4.channel.k8s.io", "odd": "v9"}.get(name, offered[0])
        accept = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + (
            "" if name == "liar" else "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")).encode()).digest())
        head = (f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Accept: {accept.decode()}\r\n"
                f"Sec-WebSocket-Protocol: {chosen}\r\n\r\n").encode()
        if name == "split":
            for i in range(len(head)):
                self.send(head[i:i + 1])
        else:
            self.send(head)
        self.run(name, query)

    def run(self, name, query):
        command = query["command"]
        self.out(b"", 1)  # as the kubelet begins
        if name == "cut":
            self.out(b"half")
            self.sock.shutdown(socket.SHUT_RDWR)
        elif name == "closes":
            self.frame(struct.pack(">H", 1000), op=8)
        elif name == "masks":
            self.frame(b"\x01x", masked=True)
        elif name == "early":
            self.end(3, close=False)
            time.sleep(0.3)
            self.out(b"after the end\n")
            self.frame(struct.pack(">H", 1000), op=8)
        elif name == "split":
            self.frame(b"\x01one ", fin=False)
            self.frame(b"hello?", op=9)
            self.frame(b"two\n", op=0)
            op, payload = self.read_frame()
            assert (op, payload) == (10, b"hello?"), (op, payload)
            self.end()
        elif name == "big":
            for i in range(160):
                self.out(bytes([97 + i % 26]) * 65535)
            self.end()
        elif "stdin" in query:
            while True:
                op, payload = self.read_frame()
                if op != 2:
                    continue
                if payload[0] == 255:
                    assert payload[1] == 0
                    break
                self.out(payload[1:])
                if name == "v4" and payload[1:].endswith(b"bye\n"):
                    break  # there is no other way to tell the end of input
            self.end()
        elif command[0] == "exit":
            self.end(int(command[1]))
        elif command[0] == "lost":
            self.frame(b"\x03" + json.dumps(status(500, "InternalError", "no such program")).encode())
            self.frame(struct.pack(">H", 1000), op=8)
        else:
            self.out((" ".join(command) + "\n").encode())
            self.out((query["container"][0] + "\n").encode(), 2)
            self.end()
        time.sleep(0.2)

    def serve(self):
        while True:
            line = self.file.readline().decode()
            if not line:
                return
            headers = {}
            while True:
                h = self.file.readline().decode().strip()
                if not h:
                    break
                key, value = h.split(":", 1)
                headers[key.lower()] = value.strip()
            url = urlsplit(line.split()[1])
            query = parse_qs(url.query)
            parts = url.path.strip("/").split("/")  # api v1 namespaces ns pods NAME exec
            if parts[-1] == "exec":
                self.exec(parts[5], query, headers)
                self.sock.close()
                return
            if len(parts) == 6:
                there = scenes(parts[5])[0]
                self.answer(200, there[0]) if there else self.answer(
                    404, status(404, "NotFound", f'pods "{parts[5]}" not found'))
            else:
                self.pods(query["fieldSelector"][0].split("=")[1], query)


scenes_done = set()


def guarded(session):
    try:
        session.serve()
    except (OSError, ValueError) as e:
        log.write(f"connection: {e}\n")


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
with open(sys.argv[1], "w") as f:
    f.write(str(listener.getsockname()[1]))
while True:
    sock, _ = listener.accept()
    threading.Thread(target=guarded, args=(Session(sock),), daemon=True).start()
