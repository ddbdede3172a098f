"""pods/portforward with the Python client of Debian: forwards.py KUBECONFIG POD. Prints ok LINES."""

import sys
import time

from kubernetes import client, config
from kubernetes.stream import portforward


def more(sock):
    got = sock.recv(65536)
    assert got, "it was closed"
    return got


def ask(sock, text):
    sock.settimeout(100)
    sock.sendall(text)
    got = b""
    while b"\r\n\r\n" not in got:
        got += more(sock)
    head, body = got.split(b"\r\n\r\n", 1)
    size = int([line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")][0])
    while len(body) < size:
        body += more(sock)
    return body


def main():
    config.load_kube_config(sys.argv[1])
    api = client.CoreV1Api()

    def forward(ports):
        return portforward(api.connect_get_namespaced_pod_portforward, sys.argv[2], "default", ports=ports)

    both = forward("7001,7002")
    for port in (7002, 7001):
        assert ask(both.socket(port), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") == b"port %d" % port
    print("ok two ports")

    one = forward("7001").socket(7001)
    assert len(ask(one, b"GET /5000000 HTTP/1.1\r\nHost: x\r\n\r\n")) == 5000000
    much = b"y" * 3000000
    assert ask(one, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + much) == b"3000000"
    print("ok much, both ways")

    none = forward("7009")
    until = time.monotonic() + 100
    while not none.error(7009) and time.monotonic() < until:
        time.sleep(0.05)
    assert "connection refused" in none.error(7009), none.error(7009)
    print("ok nobody listens")


main()
