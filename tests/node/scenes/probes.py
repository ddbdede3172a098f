"""Liveness, readiness and startup probes: by a command, by HTTP, by TCP."""

import os

from harness.tap import has, is_
from world.record import condition, container
from world.scene import STAY, box, is_end, matches, python

from . import scene

OFTEN = {"periodSeconds": 1, "timeoutSeconds": 20}
SERVER = """
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(os.environ['G'] + '/asked', 'a') as f:
            print(self.path, self.headers.get('X-Test'), file=f)
        self.send_response(int(open(os.environ['G'] + '/code').read()))
        self.end_headers()
        self.wfile.write(b'words of the server')
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(('0.0.0.0', 28080), H).serve_forever()
"""


def test(script):
    return {"exec": {"command": ["sh", "-c", script]}, **OFTEN}


def write(s, name, text):
    with open(s.folder + "/" + name, "w", encoding="utf-8") as f:
        f.write(text)


@scene
def readiness_by_a_command_comes_and_goes(s):
    s.start("p", box(STAY, readinessProbe={**test("cat $G/fit"), "failureThreshold": 1}))
    pod = s.wait_pod("p", lambda p: "running" in container(p, "main").get("state", {}), "runs")
    is_((container(pod, "main")["ready"], container(pod, "main")["started"]), (False, True), "ready, started")
    is_(condition(pod, "Ready")["reason"], "ContainersNotReady", "why not ready")
    told = s.wait_event("Unhealthy", "Readiness probe failed: ", name="p")
    is_(told["type"], "Warning", "its type")
    has(told["message"], "fit", "what the command said")
    write(s, "fit", "yes")
    s.wait_ready("p")
    os.unlink(s.folder + "/fit")
    pod = s.wait_ready("p", "False")
    is_(container(pod, "main")["restartCount"], 0, "readiness restarts nothing")


@scene(slow=True)
def a_liveness_probe_that_fails_restarts_the_container(s):
    s.start("p", box("trap 'exit 7' TERM; if [ -e $G/once ]; then rm $G/ill; else : >$G/once; : >$G/ill; fi; "
                     "while :; do sleep 0.1; done",
                     livenessProbe={**test("test ! -e $G/ill"), "failureThreshold": 2}), restart="Always", grace=30)
    pod = s.wait_restarts("p", 1)
    s.wait_event("Unhealthy", "Liveness probe failed", name="p")
    s.wait_event("Killing", "Container main failed liveness probe, will be restarted", name="p")
    end = container(pod, "main")["lastState"]["terminated"]
    is_((end["exitCode"], end["reason"]), (7, "Error"), "it was asked to stop first")
    s.wait_ready("p")


@scene
def a_liveness_probe_under_never_ends_the_pod(s):
    s.start("p", box(STAY, livenessProbe={**test("exit 1"), "failureThreshold": 1}), grace=1)
    pod = s.wait_phase("p", "Failed")
    assert container(pod, "main")["state"]["terminated"]["exitCode"] in (137, 143)


@scene
def a_startup_probe_holds_the_others_back(s):
    s.start("p", box(STAY, startupProbe={**test("test -e $G/begun"), "failureThreshold": 1000},
                     livenessProbe={**test(": >$G/looked; test -e $G/begun"), "failureThreshold": 1}))
    pod = s.wait_pod("p", lambda p: "running" in container(p, "main").get("state", {}), "runs")
    is_((container(pod, "main")["ready"], container(pod, "main")["started"]), (False, False), "ready, started")
    s.wait_event("Unhealthy", "Startup probe failed", name="p")
    write(s, "begun", "")
    pod = s.wait_ready("p")
    is_((container(pod, "main")["started"], container(pod, "main")["restartCount"]), (True, 0), "started, restarts")
    s.read("looked")


@scene
def a_startup_probe_that_goes_on_failing_ends_the_container(s):
    s.start("p", box(STAY, startupProbe={**test("exit 1"), "failureThreshold": 2}), grace=1)
    s.wait_phase("p", "Failed")
    s.wait_event("Killing", "Container main failed startup probe", name="p")


@scene
def a_probe_that_takes_too_long_has_failed(s):
    s.start("p", box(STAY, readinessProbe={"exec": {"command": ["sleep", "100"]}, "periodSeconds": 1,
                                           "timeoutSeconds": 1}))
    told = s.wait_event("Unhealthy", "Readiness probe", name="p")
    matches(told["message"], "timed out|deadline", "why")


@scene
def a_probe_has_a_grace_of_its_own(s):
    s.start("p", box("trap '' TERM; while :; do sleep 0.1; done", livenessProbe={
        **test("exit 1"), "failureThreshold": 1, "terminationGracePeriodSeconds": 1}), grace=600)
    is_end(s.wait_phase("p", "Failed"), 137, "Error")


@scene
def readiness_by_http_wants_a_good_answer(s):
    write(s, "code", "503")
    s.start("p", python(SERVER, ports=[{"name": "web", "containerPort": 28080}],
                        readinessProbe={"httpGet": {"path": "/fit?x=1", "port": "web", "httpHeaders": [
                            {"name": "X-Test", "value": "yes"}]}, **OFTEN}))
    s.wait_event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", name="p")
    write(s, "code", "204")
    s.wait_ready("p")
    has(s.read("asked"), "/fit?x=1 yes", "what it was asked")


@scene(slow=True)
def liveness_by_http_restarts(s):
    write(s, "code", "200")
    s.start("p", python(SERVER, livenessProbe={"httpGet": {"path": "/", "port": 28080}, "failureThreshold": 1,
                                               "initialDelaySeconds": 2, **OFTEN},
                        startupProbe={"tcpSocket": {"port": 28080}, "failureThreshold": 100, **OFTEN}),
            restart="Always")
    s.wait_ready("p")
    write(s, "code", "500")
    s.wait_restarts("p", 1)
    write(s, "code", "200")
    s.wait_event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", name="p")


@scene
def readiness_by_tcp_wants_a_listener(s):
    s.start("p", box("mkfifo $G/go 2>/dev/null; read -r _ <$G/go; exec /usr/bin/python3 -c \"import socket, time; "
                     "s = socket.create_server(('', 29090)); time.sleep(1000)\"",
                     readinessProbe={"tcpSocket": {"port": 29090}, **OFTEN}))
    told = s.wait_event("Unhealthy", "Readiness probe failed: ", name="p")
    matches(told["message"], "refused", "why")
    assert condition(s.now("p"), "Ready")["status"] == "False"
    s.open("go")
    s.wait_ready("p")
