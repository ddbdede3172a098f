"""Conversations of HTTP/2 whose frames are changed: kinds, flags, streams, lengths, order, bytes. All that is by chance
comes from the random.Random that is given, so a seed makes the same conversations again."""

import struct

from . import h2, mutate

# Of the static table of HPACK: what the first byte of an answer says.
STATUS = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}
NOT_OF_HTTP2 = ("host", "connection", "upgrade", "transfer-encoding", "keep-alive", "content-length")
PIECE = 16384  # the longest frame that is allowed


def fields(rng, r, port, token):
    """The header block of a request; some of it for the other's table."""
    pairs = [(":method", r.method), (":scheme", "https"), (":authority", f"127.0.0.1:{port}"), (":path", r.path)]
    if token:
        pairs.append(("authorization", "Bearer " + token))
    pairs += [(n.lower(), v) for n, v in r.headers if n.lower() not in NOT_OF_HTTP2]
    return b"".join(h2.literal(raw(n), raw(v), rng.random() < 0.2) for n, v in pairs)


def raw(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def of_request(rng, r, stream, port, token):
    """Its frames: headers, perhaps continued, and the body."""
    block, body = fields(rng, r, port, token), r.body or b""
    cuts = [block[i:i + PIECE] for i in range(0, len(block), PIECE)]
    if rng.random() < 0.3 and len(cuts[0]) > 2:
        at = rng.randrange(1, len(cuts[0]))
        cuts[:1] = [cuts[0][:at], cuts[0][at:]]
    frames = [[h2.HEADERS if i == 0 else h2.CONTINUATION, 0, stream, part] for i, part in enumerate(cuts)]
    frames[-1][1] |= h2.END_HEADERS
    frames[0][1] |= 0 if body else h2.END_STREAM
    parts = [[h2.DATA, 0, stream, body[i:i + PIECE]] for i in range(0, min(len(body), 65535), PIECE)]  # what the first window takes
    if parts and len(body) <= 65535:
        parts[-1][1] |= h2.END_STREAM
    return frames + parts


def settings(rng):
    return b"".join(struct.pack(">HI", rng.choice((1, 2, 3, 4, 5, 6, 8, 77)), rng.choice((0, 1, 100, 4096, 16383, 16384, 65536, 2 ** 24, 2 ** 31 - 1, 2 ** 32 - 1)))
                    for _ in range(rng.choice((1, 1, 3, 50))))


def other(rng, streams):
    """A frame that belongs to no request."""
    stream = rng.choice((0, *streams, 2, 2 ** 31 - 1))
    kind = rng.choice((h2.PRIORITY, h2.RST_STREAM, h2.SETTINGS, h2.PUSH, h2.PING, h2.GOAWAY, h2.WINDOW_UPDATE, h2.CONTINUATION, 10, 77, 255))
    payload = {h2.PRIORITY: struct.pack(">IB", rng.choice((0, 1, stream)), 15), h2.RST_STREAM: struct.pack(">I", rng.randrange(16)),
               h2.SETTINGS: settings(rng), h2.PING: b"12345678", h2.GOAWAY: bytes(8), h2.WINDOW_UPDATE: struct.pack(">I", rng.choice((0, 1, 65535, 2 ** 31 - 1)))}
    usual = 0 if kind in (h2.SETTINGS, h2.PING, h2.GOAWAY) else stream
    return [kind, 0, usual if rng.random() < 0.7 else stream, payload.get(kind, b"x" * rng.randrange(20))]


def change(rng, frames, streams):
    at = rng.randrange(len(frames))
    f = frames[at] = list(frames[at])
    what = rng.randrange(9)
    if what == 0:
        frames.insert(at, other(rng, streams))
    elif what == 1:
        f[0] = rng.randrange(12)
    elif what == 2:
        f[1] ^= 1 << rng.randrange(8)
    elif what == 3:
        f[2] = rng.choice((0, 1, 2, f[2] + 2, 2 ** 31 - 1, 2 ** 31 + f[2]))
    elif what == 4:
        frames[at:at] = [f] * rng.choice((1, 2, 50))
    elif what == 5:
        del frames[at]
        frames.insert(rng.randrange(len(frames) + 1), f)
    elif what == 6:
        f[3] = f[3][:rng.randrange(len(f[3]) + 1)] + rng.choice((b"", b"\xff" * 5, h2.indexed(0), h2.indexed(62), h2.indexed(2 ** 20), b"\x3f\xe1\x7f", f[3]))
    elif what == 7 and f[3]:
        data = bytearray(f[3])
        for _ in range(rng.choice((1, 1, 4))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        f[3] = bytes(data)
    elif len(frames) > 1:
        del frames[at]


def conversation(rng, seeds, port, token):
    """(frames as bytes, requests by stream, exact): exact: each of the requests has to be answered."""
    asked = {1 + 2 * i: mutate.mutate(rng, seeds) for i in range(rng.choice((1, 1, 2, 5)))}
    parts = [of_request(rng, r, stream, port, token) for stream, r in asked.items()]
    frames = [f for part in parts for f in part]
    exact = all(r.exact and len(r.body or b"") <= 65535 for r in asked.values())
    if rng.random() < 0.8:
        exact = False
        for _ in range(rng.choice((1, 1, 2, 5))):
            change(rng, frames, list(asked))
            if not frames:
                break
    data = b"".join(h2.frame(kind, flags, stream, payload) for kind, flags, stream, payload in frames)
    if not exact and rng.random() < 0.2:  # a length that is none
        data = data[:rng.randrange(len(data) + 1)] + bytes(rng.randrange(256) for _ in range(rng.randrange(30)))
    return data, asked, exact


class Answers:
    """What came for each stream."""

    def __init__(self):
        self.status, self.body, self.ended = {}, {}, set()

    def take(self, kind, flags, stream, payload):
        """True: the whole connection is over."""
        if kind == h2.HEADERS and stream not in self.status:
            self.status[stream] = STATUS.get(payload[0] if payload else 0, 0)
        elif kind == h2.RST_STREAM:
            self.status.setdefault(stream, 0)
        elif kind == h2.DATA:
            self.body[stream] = self.body.get(stream, b"") + payload
        if kind in (h2.HEADERS, h2.DATA) and flags & h2.END_STREAM:
            self.ended.add(stream)
        return kind == h2.GOAWAY
