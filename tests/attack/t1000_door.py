#!/usr/bin/python3
"""What comes through the door of the API without, or with the least of, credentials: requests within requests,
paths with two readings, forged tokens, bytes that are no text, floods. As root and as an ordinary user.
Usage: t1000_door.py [root|user] [part of a claim]..."""

import socket
import sys
import threading

from harness import lag
from harness.tap import claim, is_
from hostile import h2, tokens
from hostile.door import Door
from hostile.raw import Others, answers, ask, connect, send
from world.cast import on_each

ATTACKS = []
PATIENCE_S = 5  # nobody else waits longer than that, on a machine that has time


def attack(test):
    ATTACKS.append(test)
    return test


def calm(d, attack_once):
    """While that is done, others are answered, and afterwards the memory is what it was, nearly."""
    before = d.memory_mb()
    with Others(d.port, d.admin) as others:
        attack_once()
    d.lives()
    assert not others.bad, f"others were answered {others.bad[:5]}"
    worst = max(others.took)
    assert worst < 1000 * lag.patience(PATIENCE_S), f"somebody else waited {worst:.0f} ms"
    assert d.memory_mb() < before + 200, f"{before} MB before, {d.memory_mb()} MB after"


# ---- requests within requests

EVIL = (b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n"
        b"Content-Type: application/json\r\nContent-Length: 32\r\n\r\n" b'{"metadata":{"name":"smuggled"}}')
SMUGGLED = {
    "both lengths": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
    "lengths that differ": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n",
    "lengths in a list": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 0, 5\r\n\r\n",
    "a signed length": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
    "a negative length": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
    "a length in hex": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello",
    "a length beyond 64 bits": b"POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551616\r\n\r\n",
    "codings twice": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked, then identity": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a coding with a tab": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a chunk size in words": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
    "a chunk size with 0x": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "a chunk size beyond bounds": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n",
    "a negative chunk": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "a chunk that ends too early": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    "a line feed in an extension": b"POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\nab\r\n0\r\n\r\n",
    "a folded header": b"GET /version HTTP/1.1\r\nHost: h\r\nX: a\r\n b: folded\r\n\r\n",
    "a bare line feed": b"GET /version HTTP/1.1\r\nHost: h\nX: y\r\n\r\n",
    "a bare carriage return": b"GET /version HTTP/1.1\r\nHost: h\r\nX: y\rZ: z\r\n\r\n",
    "two hosts": b"GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET /version HTTP/1.1\r\n\r\n",
    "a NUL in a header": b"GET /version HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
    "a NUL in a name": b"GET /version HTTP/1.1\r\nHost: h\r\nX\0: a\r\n\r\n",
    "a name that is empty": b"GET /version HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n",
    "a version that is none": b"GET /version HTTP/9.9\r\nHost: h\r\n\r\n",
    "no version": b"GET /version\r\n\r\n",
    "a method of odd bytes": b"G\x00T /version HTTP/1.1\r\nHost: h\r\n\r\n",
    "spaces in the target": b"GET /version extra HTTP/1.1\r\nHost: h\r\n\r\n",
}


@attack
def no_request_hides_in_another(d):
    bad = []
    evil = EVIL % d.admin.encode()
    for name, data in SMUGGLED.items():
        codes = answers(send(d.port, data + evil))
        if len(codes) > 1 or any(code < 300 for code in codes) or d.kube.find("configmaps", "smuggled", "default"):
            bad.append((name, codes))
    is_(bad, [], "got through")
    d.lives()


@attack
def credentials_are_not_handed_on_to_the_next_request(d):
    both = b"GET /api/v1/namespaces HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n" % d.admin.encode()
    both += b"GET /api/v1/namespaces HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    is_(answers(send(d.port, both)), [200, 401], "the second has none")
    twice = b"GET /api/v1/namespaces HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer %s\r\nAuthorization: Bearer %s\r\n\r\n"
    for one, two in ((d.admin, "x"), ("x", d.admin)):
        codes = answers(send(d.port, twice % (one.encode(), two.encode())))
        assert codes and codes[0] != 200 or (one, codes) == (d.admin, [200]), f"two credentials: {codes}"


# ---- paths

TRICKS = ["/api/v1/namespaces/open/../closed/secrets/s", "/api/v1/namespaces/open/%2e%2e/closed/secrets/s",
          "/api/v1/namespaces/open%2f..%2fclosed/secrets/s", "/api/v1/namespaces/open/secrets/..%2f..%2fclosed%2fsecrets%2fs",
          "/api/v1/namespaces/open/secrets/../../closed/secrets/s", "//api/v1/namespaces/closed/secrets/s",
          "/api//v1/namespaces/closed/secrets/s", "/api/v1/namespaces/closed//secrets/s", "/api/v1/namespaces/closed/secrets//s",
          "/api/v1/./namespaces/closed/secrets/s", "/api/v1/namespaces/closed/secrets/s/", "/api/v1/namespaces/%63losed/secrets/s",
          "/api/v1/namespaces/closed%00/secrets/s", "/api/v1/namespaces/open%00closed/secrets/s",
          "/api/v1/namespaces/%c0%ae%c0%ae/closed/secrets/s", "/api/v1/namespaces/closed/secrets/s%00",
          "/api/v1/namespaces/closed/%73ecrets/s", "/api/v1/namespaces/closed/secrets;x/s", "/api/v1/namespaces/closed/secrets/s;x",
          "/api/v1/namespaces/closed/secrets/s%3f", "/api/v1/namespaces/closed/secrets%2fs", "/api/v1/namespaces/closed/SECRETS/s",
          "/api/v1/namespaces/open/secrets/s?namespace=closed", "/api/v1/namespaces/open/secrets?fieldSelector=metadata.namespace%3Dclosed",
          "/api/v1/namespaces/closed\\secrets\\s", "/api/v1/namespaces/\uff43losed/secrets/s", "/api/v1/secrets",
          "/api/v1/watch/namespaces/closed/secrets", "/api/v1/watch/secrets", "/api/v1/namespaces/open/secrets/s/../../../closed/secrets/s",
          "http://127.0.0.1/api/v1/namespaces/closed/secrets/s", "/api/v1/namespaces/closed/secrets/s#", "/%61pi/v1/namespaces/closed/secrets/s",
          "/api/v1/namespaces/closed/secrets/s?pretty=1&watch=%31", "/apis//v1/namespaces/closed/secrets/s",
          "/api/v1/proxy/namespaces/closed/secrets/s", "/api/v1/nodes/x/proxy/secrets"]


@attack
def no_path_leads_into_another_namespace(d):
    token = d.account("reader", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}])
    is_(d.ask("GET", "/api/v1/namespaces/open/secrets/s", token)[0], 200, "what it may read")
    bad = []
    for path in TRICKS:
        for method in ("GET", "DELETE", "PUT"):
            code, _, body = d.ask(method, path, token, body=b"{}" if method == "PUT" else None, timeout=3)
            if b"word-of-closed" in body or (code == 200 and method != "GET" and "open" not in path):
                bad.append((method, path, code))
    secret = d.kube.get("secrets", "s", "closed")
    is_((bad, bool(secret)), ([], True), "led there")
    d.kube.forget("secrets", "s", "open")
    d.kube.create("secrets", {"metadata": {"name": "s"}, "stringData": {"word": "word-of-open"}}, "open")


@attack
def no_path_reads_a_file(d):
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/api/v1/../../../etc/passwd",
                 "/static/../../etc/passwd", "/api/v1/namespaces/default/pods/x/log?container=../../../../etc/passwd",
                 "/api/v1/namespaces/default/pods/..%2f..%2f..%2ftoken/log", "/logs/../token", "/openapi/v3/../../token"):
        for token in (d.pod, d.admin):
            code, _, body = d.ask("GET", path, token)
            assert code != 200 and b"root:" not in body and d.admin.encode() not in body, (path, code)


@attack
def long_and_odd_paths_get_an_answer(d):
    for path in ("/" + "a" * 15000, "/" + "a" * 17000, "/" + "a" * 200000, "/api/v1/" + "x/" * 5000, "/" + "%" * 100, "/%zz",
                 "/\xff", "/" + "%ff" * 1000, "/api/v1/namespaces/default/configmaps?" + "&" * 10000,
                 "/api/v1/namespaces/default/configmaps?" + "a=b&" * 3000, "/api/v1/namespaces/default/configmaps?labelSelector=" + "(" * 5000,
                 "/api/v1/namespaces/default/configmaps?fieldSelector=" + "%2c" * 5000, "*", "", "?", "/?"):
        code = d.ask("GET", path if isinstance(path, bytes) else path.encode("latin-1"))[0]
        assert code == 0 or 300 <= code < 500, (path[:40], code)
    d.lives()


# ---- credentials

@attack
def forged_tokens_are_refused(d):
    key = d.read("pki/accounts.key", "rb")
    is_(d.ask("GET", "/api", d.pod)[0], 200, "the real one")
    genuine = tokens.signed(tokens.parts(d.pod)[1], key)
    is_(d.ask("GET", "/api", genuine)[0], 200, "one made with the server's own key: what follows is refused for its claims")
    got = {name: d.ask("GET", "/api", token)[0] for name, token in
           tokens.forged(d.pod, key, d.read("pki/ca.crt", "rb")).items()}
    is_({name: code for name, code in got.items() if code not in (401, 400, 431)}, {}, "let in")
    d.lives()


@attack
def tokens_end_with_what_they_are_bound_to(d):
    d.kube.call("POST", "/api/v1/namespaces/open/serviceaccounts", {"metadata": {"name": "brief"}})
    pod = d.kube.create("pods", {"metadata": {"name": "bound"}, "spec": {"serviceAccountName": "brief", "nodeSelector": {"no": "where"}, "containers": [
        {"name": "c", "image": "x", "command": ["sleep", "100"]}]}}, "open")
    bound = d.token("open", "brief", boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "bound",
                                                     "uid": pod["metadata"]["uid"]})
    free = d.token("open", "brief")
    is_((d.ask("GET", "/api", bound)[0], d.ask("GET", "/api", free)[0]), (200, 200), "at first")
    d.kube.delete("pods", "bound", "open", grace=0)
    is_((d.ask("GET", "/api", bound)[0], d.ask("GET", "/api", free)[0]), (401, 200), "without the pod")
    d.kube.call("DELETE", "/api/v1/namespaces/open/serviceaccounts/brief")
    is_(d.ask("GET", "/api", free)[0], 401, "without the account")
    d.kube.call("POST", "/api/v1/namespaces/open/serviceaccounts", {"metadata": {"name": "brief"}})
    is_(d.ask("GET", "/api", free)[0], 401, "with another of its name")


@attack
def nobody_without_a_credential_reads_or_changes_anything(d):
    for method, path in (("GET", "/api"), ("GET", "/apis"), ("GET", "/metrics"), ("GET", "/openapi/v2"),
                         ("GET", "/api/v1/namespaces/default/configmaps"), ("DELETE", "/api/v1/namespaces/default"),
                         ("POST", "/api/v1/namespaces"), ("PATCH", "/api/v1/namespaces/default"),
                         ("GET", "/api/v1/namespaces/default/pods/x/exec"), ("GET", "/debug/pprof"), ("PUT", "/"),
                         ("OPTIONS", "/api/v1/namespaces"), ("TRACE", "/api/v1/namespaces"), ("HEAD", "/api/v1/namespaces")):
        code = d.ask(method, path, "", body=b"{}" if method in ("POST", "PATCH", "PUT") else None)[0]
        assert code in (401, 403, 405, 400, 501), (method, path, code)


# ---- text that is none

@attack
def bytes_that_are_no_text_crash_nothing(d):
    """The least token there is; each answer is text."""
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    long = ("é" * 3000).encode()
    bodies = [b'{"spec":"\xff"}', b'{"spec":"' + long + b'"}', b'{"spec":"a' + long + b'"}', b'{"spec":"\xe2\x98"}', b'{"\xff":1}', b"\xff",
              b"\xff\xfe\x00", b'{"spec":"\\ud800"}', b'{"spec":"\\u0000"}', b'{"spec":{"resourceAttributes":{"verb":"\xff"}}}',
              '{"spec":"\U0001f600'.encode() * 500 + b'"}', b"spec: \xff", b"spec: \"\\xff\"", b"k8s\x00\n\xff\xff", b"k8s\x00", b"",
              b'{"kind":"\xc3\x28"}', b'{"apiVersion":"' + "\u20ac".encode() * 900 + b'","kind":1}', b'{"spec":"\xc3' + b"a" * 600 + b'"}']
    wanted = ("application/yaml", "application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io")
    for body in bodies:
        for given in ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf"):
            for accept in wanted:
                code, head, text = d.ask("POST", reviews, body=body, headers=[("Content-Type", given), ("Accept", accept)])
                assert code and code < 500, (body[:40], given, accept, code, text[:200])
                if "protobuf" not in (head.get("Content-Type") or ""):
                    text.decode()
    d.lives()


@attack
def names_and_headers_that_are_no_text_crash_nothing(d):
    for token in (d.pod, d.admin):
        for path in ("/api/v1/namespaces/%ff/pods", "/api/v1/namespaces/default/configmaps/%ff%fe", "/apis/%ff/v1",
                     "/api/v1/namespaces/default/configmaps?labelSelector=%ff", "/api/v1/namespaces/default/configmaps?fieldSelector=%ff%3d%ff",
                     "/api/v1/namespaces/default/configmaps?continue=%ff", "/api/v1/namespaces/default/configmaps?limit=%ff",
                     "/api/v1/namespaces/default/configmaps?resourceVersion=%ff&watch=1", "/api/v1/namespaces/default/configmaps?dryRun=%ff&fieldManager=%ff"):
            for accept in ("application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io", "\udcff"):
                code, _, text = d.ask("GET", path, token, timeout=3, headers=[("Accept", accept.encode("latin-1", "surrogateescape"))])
                assert code < 500, (path, accept, code)
                text.decode()
        for name in ("User-Agent", "Content-Type", "Accept", "X-Forwarded-For", "Impersonate-User", "Origin", "Accept-Encoding"):
            code, _, text = d.ask("POST", "/api/v1/namespaces/default/configmaps", token, body=b'{"metadata":{"generateName":"odd-"}}',
                                  headers=[(name, b"\xff\xfe" * 200)])
            assert code < 500, (name, code)
            text.decode()
    d.lives()


# ---- floods

@attack
def connections_that_say_nothing_hold_nobody_up(d):
    def flood():
        held = []
        try:
            for _ in range(800):
                held.append(socket.create_connection(("127.0.0.1", d.port), timeout=30))
            threading.Event().wait(0.5)
        finally:
            for s in held:
                s.close()
    calm(d, flood)


@attack
def headers_that_drip_hold_nobody_up(d):
    def flood():
        held = []
        try:
            for _ in range(100):
                s = connect(d.port)
                s.sendall(b"GET /version HTTP/1.1\r\nHost: h\r\nX-Drip: ")
                held.append(s)
            for _ in range(5):
                for s in held:
                    s.sendall(b"x")
        finally:
            for s in held:
                s.close()
    calm(d, flood)


@attack
def headers_without_end_are_cut_off(d):
    calm(d, lambda: [send(d.port, b"GET /version HTTP/1.1\r\nHost: h\r\n" + b"X: " + b"a" * (4 << 20)),
                     send(d.port, b"GET /version HTTP/1.1\r\nHost: h\r\n" + b"X: a\r\n" * 50000),
                     send(d.port, b"GET /" + b"a" * (1 << 20))])


@attack
def requests_that_are_given_up_leave_nothing(d):
    def flood():
        for i in range(300):
            s = connect(d.port)
            s.sendall(b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n" % d.admin.encode())
            if i % 3:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
    calm(d, flood)


@attack
def many_requests_in_one_write_are_answered_in_order(d):
    line = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
    got = send(d.port, line * 500 + b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    is_(answers(got), [200] * 501, "answers")


# ---- HTTP/2

def h2_flood(d, make, rounds=1):
    """Writes what make() gives until the server has had enough of it."""
    def flood():
        for _ in range(rounds):
            s = h2.Session(d.port)
            try:
                for part in make(s):
                    if not s.send(part):
                        break
                for _ in s.frames(timeout=0.5):
                    pass
            finally:
                s.close()
    calm(d, flood)


@attack
def rapid_resets_hold_nobody_up(d):
    def make(_):
        head = h2.request(d.port, "GET", "/api/v1/namespaces/default/configmaps", ("authorization", "Bearer " + d.pod))
        for i in range(100):
            yield b"".join(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1 + 2 * (i * 100 + k), head) +
                           h2.frame(h2.RST_STREAM, 0, 1 + 2 * (i * 100 + k), b"\0\0\0\x08") for k in range(100))
    h2_flood(d, make)


@attack
def continuations_without_end_are_cut_off(d):
    def make(_):
        yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.request(d.port))
        for _ in range(200):
            yield h2.frame(h2.CONTINUATION, 0, 1, h2.literal("x", "y" * 100) * 100) * 10
    h2_flood(d, make)


@attack
def empty_continuations_are_cut_off(d):
    def make(_):
        yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.request(d.port))
        for _ in range(100):
            yield h2.frame(h2.CONTINUATION, 0, 1) * 1000
    h2_flood(d, make)


@attack
def references_to_a_long_header_hold_nobody_up(d):
    """HPACK: four kilobytes sent once, named thousands of times, without a credential."""
    def make(_):
        yield h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, h2.request(d.port) + h2.literal("x", "y" * 4000, index=True))
        for i in range(40):
            yield h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 3 + 2 * i, h2.request(d.port) + h2.indexed(62) * 16000)
    h2_flood(d, make, 3)


@attack
def small_frames_by_the_thousand_hold_nobody_up(d):
    for part in (h2.frame(h2.SETTINGS, 0, 0), h2.frame(h2.PING, 0, 0, b"12345678"), h2.frame(h2.PRIORITY, 0, 5, b"\0\0\0\0\1"),
                 h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\1"), h2.frame(h2.SETTINGS, 0, 0, b"\0\4\0\0\0\1" * 100), h2.frame(77, 0, 0, b"x")):
        h2_flood(d, lambda _, part=part: (part * 1000 for _ in range(10)))


@attack
def frames_that_break_the_rules_crash_nothing(d):
    head = h2.request(d.port)
    both = h2.END_HEADERS | h2.END_STREAM
    for data in (h2.frame(h2.HEADERS, both, 0, head), h2.frame(h2.HEADERS, both, 2, head), h2.frame(h2.DATA, 0, 1, b"x"),
                 h2.frame(h2.HEADERS, both, 1, b"\xff" * 100), h2.frame(h2.HEADERS, both, 1, head) * 2,
                 h2.frame(h2.HEADERS, both, 5, head) + h2.frame(h2.HEADERS, both, 3, head), h2.frame(h2.PUSH, 4, 1, b"\0\0\0\2" + head),
                 h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2, h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\0"),
                 h2.frame(h2.SETTINGS, 0, 0, b"\0\4\xff\xff\xff\xff"), h2.frame(h2.SETTINGS, 0, 0, b"\0\5\0\0\0\0"), h2.frame(h2.SETTINGS, 1, 0, b"xxxxxx"),
                 h2.frame(h2.PING, 0, 0, b"x"), h2.frame(h2.GOAWAY, 0, 0, b""), h2.frame(h2.RST_STREAM, 0, 1, b"\0\0\0\0"), b"\xff\xff\xff" + b"\0" * 6,
                 h2.frame(h2.HEADERS, both | 8, 1, b"\xff" + head), h2.frame(h2.HEADERS, both | 0x20, 1, b"\0\0\0\1\0" + head),
                 h2.frame(h2.HEADERS, both, 1, head + h2.literal("transfer-encoding", "chunked")), h2.frame(h2.HEADERS, both, 1, h2.literal("x", "y") + head),
                 h2.frame(h2.HEADERS, both, 1, head + h2.literal(":path", "/other")), h2.frame(h2.HEADERS, both, 1, head + h2.literal("x", "a\r\nb: c")),
                 h2.frame(h2.HEADERS, both, 1, head + h2.literal("X", "upper")), h2.frame(h2.HEADERS, both, 1, head + h2.literal("", "none")),
                 h2.frame(h2.HEADERS, both, 1, h2.request(d.port, "GET", "/healthz\r\nx: y")), h2.frame(h2.HEADERS, both, 1, h2.request(d.port, "GET", "/a b\0")),
                 h2.frame(h2.HEADERS, both, 1, b"\x3f\xe1\xff\xff\xff\xff\xff\xff\xff\xff\x01" + head), h2.frame(h2.HEADERS, both, 1, h2.indexed(4000)),
                 h2.frame(h2.HEADERS, h2.END_HEADERS, 1, head + h2.literal("content-length", "5")) + h2.frame(h2.DATA, h2.END_STREAM, 1, b"xx")):
        s = h2.Session(d.port)
        s.send(data)
        for _ in s.frames(timeout=0.2):
            pass
        s.close()
    d.lives()


@attack
def headers_of_http_2_smuggle_nothing(d):
    """A request whose header would be two to who reads it as HTTP/1.1."""
    both = h2.END_HEADERS | h2.END_STREAM
    for more in (("x", f"y\r\nauthorization: Bearer {d.admin}"), ("authorization\r\nx", f"Bearer {d.admin}"), ("authorization ", f"Bearer {d.admin}")):
        s = h2.Session(d.port)
        s.send(h2.frame(h2.HEADERS, both, 1, h2.request(d.port, "GET", "/api/v1/namespaces", more)))
        got = b"".join(payload for kind, _, _, payload in s.frames(timeout=0.5) if kind == h2.DATA)
        s.close()
        assert b"NamespaceList" not in got, more
    d.lives()


def door(tap, _, user, parts):
    d = Door(user, "--no-operator")
    for test in ATTACKS:
        if not parts or any(p in test.__name__ for p in parts):
            d.revive()
            tap.run(f"{claim(test)} (as {user})", test, d)
    d.revive()
    tap.run(f"it stops as it should (as {user})", lambda: is_(d.machine.stop(), 0, "exit code"))
    d.machine.remove()


if __name__ == "__main__":
    on_each(door, ["shared", *sys.argv[1:]])
