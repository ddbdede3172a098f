"""HTTP/2 as somebody writes it who means no good: frames by hand, headers without compression unless asked for."""

import struct

from .raw import HTTP2, connect

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def number(value, bits, first=0):
    most = (1 << bits) - 1
    if value < most:
        return bytes((first | value,))
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes((*out, value))


def text(data):
    data = data if isinstance(data, bytes) else data.encode()
    return number(len(data), 7) + data


def literal(name, value, index=False):
    """A header by name; index: kept in the other's table."""
    return (b"\x40" if index else b"\x00") + text(name) + text(value)


def indexed(at):
    return number(at, 7, 0x80)


def request(port, method="GET", path="/healthz", *more):
    fields = ((":method", method), (":scheme", "https"), (":authority", f"127.0.0.1:{port}"), (":path", path), *more)
    return b"".join(literal(n, v) for n, v in fields)


class Session:
    def __init__(self, port, timeout=30):
        self.port = port
        self.sock = connect(port, HTTP2, timeout)
        self.buffer = b""
        self.closed = False
        self.send(PREFACE + frame(SETTINGS, 0, 0))

    def send(self, data):
        """False: the other side would have no more of it."""
        try:
            self.sock.sendall(data)
            return True
        except OSError:
            self.closed = True
            return False

    def frames(self, timeout=10):
        """What comes, until nothing does: (kind, flags, stream, payload)."""
        self.sock.settimeout(timeout)
        try:
            while True:
                while len(self.buffer) >= 9:
                    size = struct.unpack(">I", b"\0" + self.buffer[:3])[0]
                    if len(self.buffer) < 9 + size:
                        break
                    head, payload = self.buffer[:9], self.buffer[9:9 + size]
                    self.buffer = self.buffer[9 + size:]
                    yield head[3], head[4], struct.unpack(">I", head[5:9])[0] & 0x7FFFFFFF, payload
                part = self.sock.recv(65536)
                if not part:
                    self.closed = True
                    return
                self.buffer += part
        except OSError:
            return

    def close(self):
        self.sock.close()
