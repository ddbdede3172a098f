"""Tokens of service accounts as a forger makes them."""

import base64
import hashlib
import hmac
import json
import time


def part(value):
    data = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def parts(token):
    """Head, claims and signature of a real one."""
    head, claims, sign = token.split(".")
    pad = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))  # noqa: E731
    return json.loads(pad(head)), json.loads(pad(claims)), sign


def signed(claims, key, head=None):
    body = part(head or {"alg": "HS256", "typ": "JWT"}) + "." + part(claims)
    return body + "." + part(hmac.new(key, body.encode(), hashlib.sha256).digest())


def forged(real, key, public):
    """name: token; key: the server's own, which no forger has, for what must be refused even so."""
    head, claims, sign = parts(real)
    now = int(time.time())
    body = real.rsplit(".", 1)[0]
    admin = {**claims, "sub": "system:serviceaccount:kube-system:admin"}
    return {
        "alg none": part({"alg": "none"}) + "." + part(claims) + ".",
        "alg None with the signature": part({"alg": "None"}) + "." + part(claims) + "." + sign,
        "signed with nothing": signed(claims, b""),
        "signed with another key": signed(claims, b"x" * 32),
        "signed with the public certificate": signed(claims, public, {"alg": "HS256", "typ": "JWT"}),
        "other claims, old signature": part(head) + "." + part(admin) + "." + sign,
        "a signature cut short": body + "." + sign[:-2],
        "no signature": body + ".",
        "two parts": body,
        "four parts": real + "." + sign,
        "truncated": real[:len(real) // 2],
        "one bit flipped": real[:-3] + ("A" if real[-3] != "A" else "B") + real[-2:],
        "very long": real + "A" * 12000,
        "padded": real + "==",
        "with a space": real[:20] + " " + real[20:],
        "expired": signed({**claims, "exp": now - 1}, key),
        "not valid yet": signed({**claims, "nbf": now + 3600}, key),
        "for another audience": signed({**claims, "aud": ["https://elsewhere"]}, key),
        "for nobody": signed({k: v for k, v in claims.items() if k != "aud"}, key),
        "without an end": signed({k: v for k, v in claims.items() if k != "exp"}, key),
        "of an account that was replaced": signed({**claims, "kubernetes.io": {
            **claims["kubernetes.io"], "serviceaccount": {"name": "default", "uid": "00000000-0000-0000-0000-000000000000"}}}, key),
        "claims that are no object": part(head) + "." + part(b"[1,2]") + "." + sign,
        "claims that are no JSON": signed_raw(b"\xff\xfe{", key),
    }


def signed_raw(data, key):
    body = part({"alg": "HS256"}) + "." + part(data)
    return body + "." + part(hmac.new(key, body.encode(), hashlib.sha256).digest())
