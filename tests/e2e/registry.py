"""A registry that misbehaves on request: registry.py LAYOUT NOTES, an OCI layout and a directory for notes.

Prints the port of the registry. Any tag leads to the first manifest of the layout. It wants a token, which it gives
to anybody for open/..., and to user:secret or the identity token "refresh" for all else. Blobs come from another port, which notes in NOTES/leaked
when it is shown credentials. The first part of the repository's name says what is wrong:

bad     blobs have a byte too many          away    blobs are said to lie elsewhere, in plain HTTP
cut     the connection breaks, once         huge    the manifest never ends
round   redirects to itself                 lie     the manifest is another one than its digest says
"""
import base64
import http.server
import json
import os
import socket
import sys
import threading
import urllib.parse

layout, notes = sys.argv[1:3]
broken = set()


def note(name, text):
    with open(os.path.join(notes, name), "a", encoding="utf-8") as f:
        f.write(text + "\n")


def blob(digest):
    with open(os.path.join(layout, "blobs/sha256", digest.split(":")[1]), "rb") as f:
        return f.read()


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Blobs(Quiet):
    def do_GET(self):
        kind, digest = self.path.strip("/").split("/")
        if self.headers.get("Authorization"):
            note("leaked", self.path)
        body = blob(digest)
        if kind == "cut" and digest not in broken:
            broken.add(digest)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        self.answer(200, body + (b"x" if kind == "bad" else b""))


class Registry(Quiet):
    def token(self, query):
        scope = urllib.parse.parse_qs(query).get("scope", [""])[0]
        known = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"user:secret").decode()
        note("asked", scope)
        if not known and not scope.startswith("repository:open/"):
            return self.answer(401)
        return self.answer(200, json.dumps({"token": "abc"}).encode())

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        note("asked", f"{self.path} {form['grant_type'][0]} {form['scope'][0]}")
        if form.get("refresh_token") != ["refresh"]:
            return self.answer(401)
        return self.answer(200, json.dumps({"access_token": "abc"}).encode())

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/token":
            return self.token(query)
        if self.headers.get("Authorization") != "Bearer abc":
            realm = f'Bearer realm="http://{self.headers["Host"]}/token",service="test"'
            return self.answer(401, WWW_Authenticate=realm)
        if path == "/v2/":
            return self.answer(200, b"{}")
        kind, last = path.split("/")[2], path.split("/")[-1]
        if kind == "round":
            return self.answer(307, Location=path)
        if "/blobs/" in path:
            place = "http://registry.invalid" if kind == "away" else f"http://127.0.0.1:{blobs.server_port}"
            return self.answer(307, Location=f"{place}/{kind}/{last}")
        if kind == "huge":
            return self.answer(200, b" " * (5 << 20))
        with open(os.path.join(layout, "index.json"), "rb") as f:
            first = json.load(f)["manifests"][0]["digest"]
        body = blob(last if last.startswith("sha256:") and kind != "lie" else first)
        return self.answer(200, body, Content_Type="application/vnd.oci.image.manifest.v1+json")


class Six(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


blobs = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blobs)
threading.Thread(target=blobs.serve_forever, daemon=True).start()
registry = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
try:
    six = Six(("::1", registry.server_port), Registry)
    threading.Thread(target=six.serve_forever, daemon=True).start()
    note("ipv6", "")
except OSError:
    pass  # no IPv6
print(registry.server_port, flush=True)
registry.serve_forever()
