"""Runs in a pod: HTTP on 127.0.0.1:7001 alone, and on the wildcard's 7002. GET /N: N bytes; POST: their number."""

import http.server
import socketserver
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(b"x" * int(self.path[1:].split("?")[0]) if self.path != "/" else b"port %d" % self.server.server_address[1])

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        total = 0
        while left:
            got = len(self.rfile.read(min(left, 1 << 16)))
            left -= got
            total += got
        self.answer(b"%d" % total)

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):  # without asking for this host's name
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


servers = [Server(("127.0.0.1", 7001), Handler), Server(("0.0.0.0", 7002), Handler)]
for server in servers:
    threading.Thread(target=server.serve_forever).start()
print("listening", flush=True)
