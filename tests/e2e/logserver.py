"""A server with one job whose pods write: logserver.py FOLDER; prints its port.

FOLDER/job.json and FOLDER/pods.json are the job and its pods, read anew on each request; a watch tells
of them whenever FOLDER/turn has another number in it. FOLDER/POD.RUN.log is what a pod wrote in a run;
followed, it is read on until FOLDER/POD.RUN.end is there. Requests for logs are noted in FOLDER/asked."""

import http.server
import json
import os
import sys
import time
import urllib.parse

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def turn():
    try:
        return read("turn").strip()
    except OSError:
        return ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, reason, message):
        self.answer(code, {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})

    def begin(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, objects):
        self.begin("application/json")
        last, end = turn(), time.time() + 30
        while time.time() < end:
            if turn() != last:
                last = turn()
                for obj in objects():
                    self.piece(json.dumps({"type": "MODIFIED", "object": obj}).encode() + b"\n")
            time.sleep(0.02)

    def log(self, pod, query):
        with open(os.path.join(folder, "asked"), "a", encoding="utf-8") as f:
            f.write(pod + " " + urllib.parse.urlencode(sorted(query.items())) + "\n")
        run = [p["status"]["containerStatuses"][0]["restartCount"] for p in pods() if p["metadata"]["name"] == pod][0]
        name = "%s.%d" % (pod, run - (query.get("previous") == "true"))
        if not os.path.exists(os.path.join(folder, name + ".log")):
            return self.refuse(400, "BadRequest", 'container "tensorflow" in pod "%s" is waiting to start' % pod)
        self.begin("text/plain")
        done = 0
        while True:
            end = query.get("follow") != "true" or os.path.exists(os.path.join(folder, name + ".end"))
            text = read(name + ".log").encode()
            if len(text) > done:
                self.piece(text[done:])
                done = len(text)
            if end:
                break
            time.sleep(0.02)
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        path, _, rest = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(rest))
        parts = path.strip("/").split("/")
        if parts[-1] == "log":
            self.log(parts[-2], query)
        elif parts[-1] == "pods":
            if query.get("watch"):
                self.watch(pods)
            else:
                self.answer(200, {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": pods()})
        elif parts[-1] == "tfjobs":
            if query.get("watch"):
                self.watch(lambda: [json.loads(read("job.json"))])
            else:
                self.answer(200, {"kind": "TFJobList", "metadata": {"resourceVersion": "1"},
                                  "items": [json.loads(read("job.json"))]})
        elif parts[-2] == "tfjobs" and parts[-1] == json.loads(read("job.json"))["metadata"]["name"]:
            self.answer(200, json.loads(read("job.json")))
        else:
            self.refuse(404, "NotFound", "not found")


def pods():
    return json.loads(read("pods.json"))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
