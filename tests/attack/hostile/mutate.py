"""Changes requests, knowing what they are made of: methods, paths, queries, headers, bodies, bytes. All that is by
chance comes from the random.Random that is given, so a seed makes the same requests again."""

import copy
import gzip
import json
import re
import urllib.parse

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND", ""]
SEGMENTS = ["api", "apis", "v1", "namespaces", "default", "fuzz", "pods", "secrets", "configmaps", "services", "serviceaccounts", "token", "status",
            "scale", "log", "exec", "attach", "portforward", "binding", "eviction", "ephemeralcontainers", "watch", "proxy", "kubeflow.org", "tfjobs",
            "mpijobs", "apps", "deployments", "batch", "jobs", "rbac.authorization.k8s.io", "roles", "authorization.k8s.io", "selfsubjectaccessreviews",
            "selfsubjectrulesreviews", "authentication.k8s.io", "selfsubjectreviews", "apiextensions.k8s.io", "customresourcedefinitions", "openapi", "v2",
            "v3", "metrics", "healthz", "..", ".", "", "%2e%2e", "%2f", "%00", "%ff", "%", "%zz", "a" * 300, "\u00e9", "nodes", "events", "leases",
            "coordination.k8s.io", "finalize", "approval", "resize", "horizontalpodautoscalers", "autoscaling"]
PARAMETERS = ["watch", "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "timeoutSeconds", "dryRun",
              "fieldManager", "force", "fieldValidation", "pretty", "allowWatchBookmarks", "sendInitialEvents", "gracePeriodSeconds", "propagationPolicy",
              "orphanDependents", "container", "command", "stdin", "stdout", "tty", "follow", "previous", "tailLines", "limitBytes", "sinceSeconds",
              "sinceTime", "timestamps", "ports", "attempt", "uid", "includeUninitialized", "kind", "preconditions", "stream", "insecureSkipTLSVerifyBackend"]
VALUES = ["", "0", "1", "-1", "true", "false", "yes", "All", "a=b", "a in (b,c)", "!a", "metadata.name=a", "99999999999999999999", "-9223372036854775808",
          "1e9", "%ff", "%00", "null", "Strict", "Exact", "NotOlderThan", "Foreground", "Orphan", "2024-01-01T00:00:00Z", "x" * 500, "(" * 200, "\u20ac" * 200,
          "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "a,,b", "=", "==", "a==b,c!=d", "\"", "%22%3e", "spec.nodeName=x"]
HEADERS = [("Accept", "application/yaml"), ("Accept", "application/vnd.kubernetes.protobuf"), ("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
           ("Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"), ("Accept", "*/*;q=0.1, text/html"), ("Accept", "\xff"),
           ("Accept", "application/json;stream=watch"), ("Accept", ",,,;;;==="), ("Content-Type", "application/yaml"), ("Content-Type", "application/json; charset=\"x"),
           ("Content-Type", "application/vnd.kubernetes.protobuf"), ("Content-Type", "application/merge-patch+json"), ("Content-Type", "application/json-patch+json"),
           ("Content-Type", "application/strategic-merge-patch+json"), ("Content-Type", "application/apply-patch+yaml"), ("Content-Type", "text/plain"),
           ("Content-Type", ""), ("Impersonate-User", "x"), ("Impersonate-Group", "y"), ("Impersonate-Extra-A", "b"), ("Accept-Encoding", "gzip"),
           ("Accept-Encoding", "gzip;q=0"), ("Content-Encoding", "gzip"), ("If-Match", "*"), ("If-None-Match", "x"), ("Range", "bytes=0-"),
           ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Upgrade", "SPDY/3.1"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
           ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"), ("Expect", "100-continue"), ("X-Forwarded-For", "1.2.3.4"), ("User-Agent", "\x7f" * 20),
           ("Origin", "https://evil"), ("Cookie", "a=b"), ("X-Stream-Protocol-Version", "v4.channel.k8s.io"), ("Kubectl-Command", "x" * 2000), ("Host", "other")]
ODD = [None, True, False, 0, -1, 1, 2 ** 31, 2 ** 63, -2 ** 63, 2 ** 64, 1e308, 0.1, "", "a", "0", "-1", "1Gi", "1e999999", "100m", "\x00", "\u2028", "\ud800", "\U0001f600" * 50,
       "x" * 3000, [], {}, [[]], [None], {"": ""}, {"a": None}, "RAWBYTES", "NUMBER", "a/b", "../..", "-", ".", "A_b", "2024-01-01T00:00:00Z", "{{}}", "$(A)", "^(.*a){25}$", "[" * 50]


def odd(rng):
    return copy.deepcopy(rng.choice(ODD))


def deep(rng):
    """A word in whose place so many lists and objects within each other are put."""
    return f"DEEP{rng.choice((10, 100, 505, 512, 600, 3000))}"


class Request:
    def __init__(self, seed):
        self.method, self.path, self.headers, self.body = seed.method, seed.path, list(seed.headers), seed.body
        self.exact = True  # nothing but what it says of itself
        self.cut = None

    def bytes(self, host, token):
        def raw(text):
            return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        lines = [raw(self.method) + b" " + raw(self.path) + b" HTTP/1.1"]
        if not any(n.lower() == "host" for n, _ in self.headers):
            lines.append(b"Host: " + host)
        if token:
            lines.append(b"Authorization: Bearer " + token)
        lines += [raw(n) + b": " + (v if isinstance(v, bytes) else v.encode("latin-1", "replace")) for n, v in self.headers]
        if self.body is not None and not any(n.lower() in ("content-length", "transfer-encoding") for n, _ in self.headers):
            lines.append(b"Content-Length: %d" % len(self.body))
        data = b"\r\n".join(lines) + b"\r\n\r\n" + (self.body or b"")
        return self.cut(data) if self.cut else data


def set_header(r, name, value):
    r.headers = [(n, v) for n, v in r.headers if n.lower() != name.lower()] + [(name, value)]


def method(rng, r, _):
    r.method = rng.choice(METHODS)
    if r.method in ("", "CONNECT"):
        r.exact = False


def segment(rng, r, _):
    path, _, query = r.path.partition("?")
    parts = path.split("/")
    at = rng.randrange(len(parts))
    what = rng.randrange(5)
    if what == 0:
        parts[at] = rng.choice(SEGMENTS)
    elif what == 1:
        parts.insert(at, rng.choice(SEGMENTS))
    elif what == 2 and len(parts) > 1:
        del parts[at]
    elif what == 3 and parts[at]:
        k = rng.randrange(len(parts[at]))
        parts[at] = parts[at][:k] + "%%%02x" % (ord(parts[at][k]) & 255) + parts[at][k + 1:]
    else:
        parts[at] += rng.choice(("%00", "%20", ";x", "%ff", "A", "." * 5, "%2f"))
    r.path = "/".join(parts).replace(" ", "%20").replace("\n", "%0a") + ("?" + query if query else "")


def query(rng, r, _):
    pairs = [f"{rng.choice(PARAMETERS)}={urllib.parse.quote(rng.choice(VALUES), safe='%')}" for _ in range(rng.choice((1, 1, 2, 5)))]
    if rng.random() < 0.1:
        pairs = ["&".join(pairs * 200)]
    r.path += ("&" if "?" in r.path else "?") + "&".join(pairs)


def header(rng, r, _):
    name, value = rng.choice(HEADERS)
    if rng.random() < 0.7:
        set_header(r, name, value)
    else:
        r.headers.append((name, value))
    r.exact = r.exact and name not in ("Connection", "Upgrade", "Expect", "Host")


def nodes(value, path=()):
    yield path
    if isinstance(value, dict):
        for k, v in value.items():
            yield from nodes(v, (*path, k))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from nodes(v, (*path, i))


def put(value, path, new):
    if not path:
        return new
    at = value
    for k in path[:-1]:
        at = at[k]
    at[path[-1]] = new
    return value


def get(value, path):
    for k in path:
        value = value[k]
    return value


def tree(rng, r, seeds):
    """JSON, by its parts."""
    try:
        value = json.loads(r.body or b"{}")
    except (ValueError, RecursionError):  # no JSON, or what was made deep before
        return bits(rng, r, seeds)
    for _ in range(rng.choice((1, 1, 2, 4))):
        path = rng.choice(list(nodes(value)))
        what = rng.randrange(7)
        try:
            if what <= 1:
                value = put(value, path, odd(rng))
            elif what == 2:
                value = put(value, path, deep(rng))
            elif what == 3:
                other = json.loads(rng.choice(seeds).body or b"{}")
                value = put(value, path, copy.deepcopy(get(other, rng.choice(list(nodes(other))))))
            elif what == 4 and path and isinstance(get(value, path[:-1]), (dict, list)):
                del get(value, path[:-1])[path[-1]]
            elif what == 5 and isinstance(get(value, path), list):
                get(value, path).extend(copy.deepcopy(get(value, path)) * rng.choice((1, 3, 200)))
            elif isinstance(get(value, path), dict):
                get(value, path)[rng.choice(("", "a", "metadata", "spec", "finalizers", "\u20ac", "x" * 300, "$patch", "kind"))] = odd(rng)
        except (ValueError, KeyError, IndexError, TypeError):
            pass
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    text = text.replace(b'"RAWBYTES"', b'"' + rng.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x98")) + b'"')
    text = re.sub(rb'"DEEP(\d+)"', lambda m: b'[{"a":' * (int(m[1]) // 2) + b"0" + b"}]" * (int(m[1]) // 2), text)
    r.body = text.replace(b'"NUMBER"', rng.choice((b"1e400", b"-0", b"00", b"1" * 400, b"0.1e-400", b"Infinity", b"+1")))[:1 << 20]


def bits(rng, r, _):
    data = bytearray(r.body or b"{}")
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(5)
        if what == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at:at] = rng.choice((b"\xff", b"\0", b"\xc3\x28", b"{", b"[", b'"', b"\\u", b"&a *a", b"\n---\n", b"!!x ", b"\xef\xbb\xbf"))
        elif what == 2:
            del data[at:at + rng.randrange(1, 20)]
        elif what == 3:
            del data[at:]
        else:
            data[at:at] = data[max(0, at - 50):at] * rng.choice((1, 5, 100))
    r.body = bytes(data[:1 << 20])


def form(rng, r, _):
    """The same in another coat."""
    what = rng.randrange(5)
    if what == 0:
        set_header(r, "Content-Type", "application/yaml")
    elif what == 1:
        r.body = b"k8s\0" + (r.body or b"")[:rng.randrange(1, 200)]
        set_header(r, "Content-Type", "application/vnd.kubernetes.protobuf")
    elif what == 2:
        r.body = b"k8s\0\x0a" + bytes(rng.randrange(256) for _ in range(rng.randrange(80)))
        set_header(r, "Content-Type", "application/vnd.kubernetes.protobuf")
    elif what == 3:
        r.body = gzip.compress(r.body or b"")
        set_header(r, "Content-Encoding", "gzip")
    else:
        r.body = b"- &a [x]\n" + b"- [*a, *a, *a]\n" * rng.choice((1, 100)) + (r.body or b"")
        set_header(r, "Content-Type", "application/yaml")


def wire(rng, r, _):
    """The bytes of all of it."""
    where, what, more = rng.random(), rng.randrange(4), rng.choice((b"\r\n", b"\n", b"\0", b"\xff", b" ", b":", b"\r\nContent-Length: 3", b"\r\nTransfer-Encoding: chunked"))

    def cut(data):
        at = int(where * len(data))
        if what == 0:
            return data[:at] + more + data[at:]
        if what == 1:
            return data[:at]
        if what == 2:
            return data[:at] + bytes((data[at - 1] ^ 0x20,)) + data[at + 1:]
        return data[:at] + data[at + 5:]
    r.cut, r.exact = cut, False


KINDS = (tree, tree, tree, tree, query, query, segment, segment, header, header, method, bits, form, wire)


def mutate(rng, seeds):
    r = Request(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3))):
        try:
            rng.choice(KINDS)(rng, r, seeds)
        except RecursionError:  # of Python's: deep enough
            break
    return r
