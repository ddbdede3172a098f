"""One side of the comparison: an API named by a kubeconfig, and asking it."""

import base64
import http.client
import json
import os
import re
import socket
import ssl
import tempfile
import threading
import time
import urllib.parse

from . import script

WAIT = 60  # seconds for one answer, and for @until to come true
MAY_STAND = "/?&=%:,;!()*$'@-._~+"  # in a path as a script writes it


class Kubeconfig:
    """The few fields needed, of a file with one cluster and one user: YAML or JSON."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        self.folder = os.path.dirname(os.path.abspath(path))

        def field(name):
            found = re.search(rf"""\b{name}["']?:\s*["']?([^"'\s,}}]+)""", text)
            return found and found[1]

        self.server, self.token = field("server"), field("token")
        if not self.server:
            raise ValueError(f"{path}: names no server")
        authority = self.file(field, "certificate-authority")
        self.tls = ssl.create_default_context(cafile=authority)
        certificate = self.file(field, "client-certificate")
        if certificate:
            self.tls.load_cert_chain(certificate, self.file(field, "client-key"))

    def file(self, field, name):
        data, path = field(name + "-data"), field(name)
        if data:
            with tempfile.NamedTemporaryFile(delete=False) as f:
                f.write(base64.b64decode(data))
            return f.name
        return path and os.path.join(self.folder, path)


class Side:
    """Asks requests, and knows what was kept of the answers."""

    def __init__(self, kubeconfig, run):
        self.config = Kubeconfig(kubeconfig)
        self.url = urllib.parse.urlsplit(self.config.server)
        self.values = {"run": run}
        self.made, self.idle = [], None

    def connect(self):
        if self.url.scheme == "http":
            return http.client.HTTPConnection(self.url.netloc, timeout=WAIT)
        context = self.config.tls
        return http.client.HTTPSConnection(self.url.netloc, timeout=WAIT, context=context)

    def start(self, method, path, headers, body):
        """Sends, and reads up to the headers. A kept connection may have gone stale."""
        path = urllib.parse.quote(self.url.path.rstrip("/") + path, safe=MAY_STAND)
        headers = {"User-Agent": "parity/1", **headers}
        if "Authorization" not in headers and self.config.token:
            headers["Authorization"] = "Bearer " + self.config.token
        headers = {k: v for k, v in headers.items() if v}
        kept, self.idle = self.idle, None
        for connection in filter(None, (kept, self.connect())):
            try:
                connection.request(method, path, body and body.encode(), headers)
                return connection, connection.getresponse()
            except (ConnectionError, http.client.HTTPException):
                connection.close()
                if connection is not kept:
                    raise

    def ask(self, request):
        """The answer, asked for again while @until says so; a thread for a live watch."""
        if request.live:
            live = LiveWatch(self, request)
            live.answer = self.ask_once(request, live)
            return live
        deadline = time.monotonic() + WAIT
        while True:
            answer = self.ask_once(request)
            if not request.until or is_so(answer, request.until) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        self.remember(request, answer)
        return answer

    def ask_once(self, request, live=None):
        text = {k: script.expand(v, self.values) for k, v in request.headers.items()}
        path = script.expand(request.path, self.values)
        body = request.body and script.expand(request.body, self.values)
        asked = {"method": request.method, "path": path, "headers": text, "body": body}
        answer = {"asked": asked, "kept": dict(self.values)}
        try:
            connection, response = self.start(request.method, path, text, body)
        except (OSError, http.client.HTTPException) as e:
            return {**answer, "code": 0, "headers": {}, "body": f"no answer: {e!r}"}
        answer["code"] = response.status
        answer["headers"] = {}
        for name, value in response.getheaders():
            answer["headers"].setdefault(name.lower(), []).append(value)
        if request.is_watch() and response.status == 200:
            if live:
                live.start(response, connection)
                return answer
            answer["body"] = read_events(response, request.events)
            connection.close()
            return answer
        try:
            answer["body"] = read_body(response)
            self.idle = connection
        except (OSError, http.client.HTTPException) as e:
            answer["body"] = f"half an answer: {e!r}"
        return answer

    def remember(self, request, answer):
        for name, path in request.keep.items():
            self.values.pop(name, None)
            value = look_up(answer["body"], path)
            if value is not None:
                self.values[name] = value
        made = look_up(answer["body"], "metadata.name")
        if answer["code"] == 201 and made:
            path = answer["asked"]["path"].split("?")[0]
            if request.method == "POST":
                path += "/" + made
            self.made.append(path)

    def run(self, area):
        """The answers to an area's requests, in a namespace of its own."""
        run = self.values["run"]
        self.values = {"run": run, "ns": f"{run}-{area.name}"}
        home = script.Request("", "")
        home.method, home.path = "POST", "/api/v1/namespaces"
        home.headers["Content-Type"] = "application/json"
        home.body = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"$ns"}}'
        self.ask(home)
        answers = [self.ask(request) for request in area.requests]
        return [a.wait() if isinstance(a, LiveWatch) else a for a in answers]

    def clean_up(self):
        """Removes what the run made, newest first, and without asking for success.

        Namespaces need their finalizer taken by hand where no controller runs.
        """
        for path in dict.fromkeys(reversed(self.made)):
            request = script.Request("clean/up", "")
            request.method, request.path = "PATCH", path
            request.headers = {"Content-Type": script.PATCH["merge"]}
            request.body = '{"metadata":{"finalizers":null}}'
            self.ask_once(request)
            request.method = "DELETE"
            request.body = '{"gracePeriodSeconds":0,"propagationPolicy":"Background"}'
            request.headers = {"Content-Type": "application/json"}
            gone = self.ask_once(request)
            if re.fullmatch("/api/v1/namespaces/[^/]+", path) and isinstance(gone["body"], dict):
                request.method, request.path = "PUT", path + "/finalize"
                request.body = json.dumps({**gone["body"], "spec": {"finalizers": []}})
                self.ask_once(request)


class LiveWatch:
    """A watch that goes on in its own thread while further requests are made."""

    def __init__(self, side, request):
        self.side, self.request, self.thread, self.answer = side, request, None, None

    def start(self, response, connection):
        def read():
            self.answer["body"] = read_events(response, self.request.events)
            connection.close()

        self.thread = threading.Thread(target=read, daemon=True)
        self.thread.start()

    def wait(self):
        if self.thread:
            self.thread.join(WAIT)
        self.answer.setdefault("body", "the watch did not end")
        self.answer["kept"] = dict(self.side.values)
        self.side.remember(self.request, self.answer)
        return self.answer


def read_body(response):
    raw = response.read()
    text = raw.decode("utf-8", "backslashreplace")
    if "json" in (response.getheader("Content-Type") or ""):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text


def read_events(response, most):
    """A watch's lines, until it ends, falls silent, or has given enough."""
    events = []
    try:
        for line in response:
            events.append(json.loads(line))
            if len(events) == most:
                break
    except (socket.timeout, TimeoutError):
        events.append("silence, and no end")
    except (OSError, ValueError, http.client.HTTPException) as e:
        events.append(f"broken off: {e!r}")
    return events


def look_up(value, path):
    """`spec.ports.0.nodePort` in a decoded body, or None."""
    for step in path.split("."):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def is_so(answer, until):
    if until.isdigit():
        return answer["code"] == int(until)
    path, _, want = until.partition("=")
    return str(look_up(answer["body"], path)) == want
