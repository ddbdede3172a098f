"""Bytes to a server over TLS, and what comes back, as they are."""

import http.client
import io
import re
import socket
import ssl
import threading
import time


def context(alpn=None):
    made = ssl.create_default_context()
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if alpn:
        made.set_alpn_protocols([alpn])
    return made


HTTP1, HTTP2 = context("http/1.1"), context("h2")


def connect(port, tls=HTTP1, timeout=30):
    return tls.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=timeout))


def send(port, data, timeout=30, tls=HTTP1):
    """All of the bytes on a connection of their own; everything that came back until the other side closed."""
    got = b""
    try:
        with connect(port, tls, timeout) as s:
            s.sendall(data)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def answers(data):
    """Status codes of the answers in there."""
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d+) ", data)]


class _Bytes:
    def __init__(self, data):
        self.data = data

    def makefile(self, *_):
        return io.BytesIO(self.data)


def ask(port, method, path, token=None, body=None, headers=(), timeout=30):
    """One request in which path and headers go as they are, bytes or text: (status, headers, body)."""
    def raw(text):
        return text if isinstance(text, bytes) else text.encode()
    if body is not None and not isinstance(body, bytes):
        body = body.encode()
    lines = [raw(method) + b" " + raw(path) + b" HTTP/1.1", b"Host: 127.0.0.1:%d" % port, b"Connection: close"]
    if token:
        lines.append(b"Authorization: Bearer " + raw(token))
    lines += [raw(name) + b": " + raw(value) for name, value in headers]
    if body is not None:
        if not any(raw(n).lower() == b"content-type" for n, _ in headers):
            lines.append(b"Content-Type: application/json")
        lines.append(b"Content-Length: %d" % len(body))
    got = send(port, b"\r\n".join(lines) + b"\r\n\r\n" + (body or b""), timeout)
    if not got:
        return 0, {}, b""
    answer = http.client.HTTPResponse(_Bytes(got), method=method if isinstance(method, str) else None)
    try:
        answer.begin()
        return answer.status, answer.headers, answer.read()
    except (http.client.HTTPException, ValueError):
        return 0, {}, got


class Others:
    """Somebody who asks again and again, and how long each answer took (ms)."""

    def __init__(self, port, token, path="/api/v1/namespaces/default/configmaps/attack", pause=0.005):
        self.port, self.token, self.path, self.pause = port, token, path, pause
        self.took, self.bad = [], []
        self.on = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        conn = None
        while self.on:
            began = time.monotonic()
            try:
                if conn is None:
                    conn = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=HTTP1)
                conn.request("GET", self.path, headers={"Authorization": "Bearer " + self.token} if self.token else {})
                answer = conn.getresponse()
                answer.read()
                if answer.status >= 500 or answer.status == 429:
                    self.bad.append(answer.status)
            except (OSError, http.client.HTTPException) as e:
                self.bad.append(repr(e))
                conn = None
            self.took.append((time.monotonic() - began) * 1000)
            time.sleep(self.pause)

    def stop(self):
        self.on = False
        self.thread.join(90)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def at(self, share):
        """The time that so many of a hundred stayed below."""
        return sorted(self.took)[min(len(self.took) - 1, int(len(self.took) * share / 100))] if self.took else 0
