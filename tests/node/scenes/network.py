"""Addresses, ports, and names of services."""

import os

from harness.tap import has, is_
from world.record import condition
from world.scene import STAY, box, python

from . import scene

SERVE = """
import os, socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('0.0.0.0', {port}))
s.listen()
open(os.environ['G'] + '/up-' + os.environ['ME'], 'w').close()
while True:
    c, _ = s.accept()
    c.sendall(os.environ['ME'].encode())
    c.close()
"""
# What a name leads to, and who answers there: ask NAME PORT
ASK = """
ask() { /usr/bin/python3 -c "
import socket, sys
c = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
print(c.recv(99).decode())" "$1" "$2" 2>&1; }
look() { /usr/bin/python3 -c "
import socket, sys
try:
    print(' '.join(sorted({a[4][0] for a in socket.getaddrinfo(sys.argv[1], 80, socket.AF_INET, socket.SOCK_STREAM)})))
except socket.gaierror:
    print('none')" "$1"; }
"""
READY = {"exec": {"command": ["sh", "-c", "test -e $G/ready-$ME"]}, "periodSeconds": 1}


def server(s, name, port=27000, wait=True, **words):
    more = words.pop("more", {})
    s.start(name, python(SERVE.format(port=port), env=[{"name": "ME", "value": name}], **more), **words)
    if wait:
        s.read("up-" + name)
    return s.wait_pod(name, lambda p: p["status"].get("podIP"), "has an address")["status"]["podIP"]


def fit(s, name, yes=True):
    path = f"{s.folder}/ready-{name}"
    if yes:
        with open(path, "w", encoding="utf-8"):
            pass
    else:
        os.unlink(path)


def looks(s, pod, name, want, what):
    """A pod that goes on looking a name up until it leads to these addresses."""
    s.start(pod, box(ASK + f"until [ \"$(look {name})\" = '{want}' ]; do look {name} >$G/last-{pod}; sleep 0.3; done; "
                     f"echo yes | say found-{pod}"))
    try:
        s.read("found-" + pod)
    except AssertionError as e:
        raise AssertionError(f"{what}: {name} should be {want}, was {s.read('last-' + pod)}") from e


@scene
def two_pods_bind_the_same_port_on_all_addresses(s):
    a, b = server(s, "a"), server(s, "b")
    assert a != b, f"both have {a}"
    s.start("c", box(ASK + f"ask {a} 27000 | say a; ask {b} 27000 | say b"))
    is_((s.read("a"), s.read("b")), ("a\n", "b\n"), "each answers at its own address")


@scene
def a_pod_reaches_itself_by_loopback_and_by_address(s):
    s.start("p", box(ASK + "export ME=p; /usr/bin/python3 -c \"" + SERVE.format(port=27001) + "\" & "
                     "until [ -e $G/up-p ]; do sleep 0.1; done; ask 127.0.0.1 27001 | say lo; ask localhost 27001 | say "
                     "name; ask $IP 27001 | say ip; ask $(hostname) 27001 | say host; kill $!",
                     env=[{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]))
    for name in ("lo", "name", "ip", "host"):
        is_(s.read(name), "p\n", name)


@scene
def a_pods_host_name_is_its_name(s):
    s.start("p", "hostname | say p")
    s.start("q", "hostname | say q", hostname="other")
    if s.namespaces:
        is_((s.read("p"), s.read("q")), ("p\n", "other\n"), "host names")
    is_(s.wait_end("q")["status"]["phase"], "Succeeded", "phase")


@scene
def a_headless_service_is_its_pods(s):
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a, b = server(s, "a", labels={"app": "x"}), server(s, "b", labels={"app": "x"})
    server(s, "c", labels={"app": "y"})
    for i, name in enumerate(("svc", f"svc.{s.ns}", f"svc.{s.ns}.svc", f"svc.{s.ns}.svc.cluster.local")):
        looks(s, f"look{i}", name, " ".join(sorted((a, b))), "all forms of the name")


@scene
def a_job_replica_is_reached_by_its_services_name(s):
    s.service("job-worker-0", {"index": "0"}, clusterIP="None", ports=[{"port": 27000}])
    server(s, "job-worker-0", labels={"index": "0"})
    s.start("c", box(ASK + "until ask job-worker-0 27000 | grep -q '^job-worker-0$'; do sleep 0.3; done; echo y | say y"))
    s.read("y")


@scene
def names_of_other_namespaces_want_the_namespace(s):
    other = s.ns + "-other"
    s.kube.make_namespace(other)
    s.kube.create("services", {"metadata": {"name": "far"}, "spec": {
        "clusterIP": "None", "selector": {"app": "x"}, "ports": [{"port": 27000}]}}, other)
    s.kube.create("pods", s.pod("a", STAY, gate=False, labels={"app": "x"}), other)
    s.machine.wait(lambda: (s.machine.pods.get("a", other) or {}).get("status", {}).get("podIP"), "it has an address")
    address = s.machine.pods.get("a", other)["status"]["podIP"]
    looks(s, "p", f"far.{other}", address, "with its namespace")
    looks(s, "q", "far", "none", "without")


@scene
def a_name_leads_to_ready_pods_alone(s):
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a = server(s, "a", labels={"app": "x"})
    server(s, "b", labels={"app": "x"}, more={"readinessProbe": READY})
    s.wait_ready("a")
    looks(s, "p", "svc", a, "one is ready")


@scene
def a_name_follows_readiness(s):
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a = server(s, "a", labels={"app": "x"}, more={"readinessProbe": {**READY, "failureThreshold": 1}})
    looks(s, "p", "svc", "none", "not yet ready")
    fit(s, "a")
    s.wait_ready("a")
    looks(s, "q", "svc", a, "ready")
    fit(s, "a", False)
    s.wait_ready("a", "False")
    looks(s, "r", "svc", "none", "no longer ready")


@scene
def a_name_can_lead_to_pods_that_are_not_ready(s):
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}], publishNotReadyAddresses=True)
    a = server(s, "a", labels={"app": "x"}, more={"readinessProbe": READY})
    looks(s, "p", "svc", a, "not ready, but there")
    is_(condition(s.now("a"), "Ready")["status"], "False", "it is not ready")


@scene
def names_follow_changes_while_a_pod_runs(s):
    s.start("p", box(ASK + "until [ \"$(look svc)\" != none ]; do sleep 0.3; done; look svc | say one; "
                     "until [ \"$(look svc)\" = none ]; do sleep 0.3; done; echo gone | say two"))
    s.wait_ready("p")
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a = server(s, "a", labels={"app": "x"})
    is_(s.read("one").strip(), a, "a service that came later")
    s.delete("a", grace=0)
    is_(s.read("two"), "gone\n", "and its pod that went")


@scene
def a_cluster_ip_leads_to_a_ready_pod(s):
    s.service("svc", {"app": "x"}, ports=[{"port": 27000}])
    server(s, "a", labels={"app": "x"})
    s.wait_ready("a")
    s.start("c", box(ASK + "until ask svc 27000 | grep -q '^a$'; do sleep 0.3; done; echo y | say y"))
    s.read("y")


@scene
def pods_of_a_subdomain_have_names(s):
    s.service("sub", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a = server(s, "a", labels={"app": "x"}, hostname="first", subdomain="sub")
    looks(s, "p", f"first.sub.{s.ns}.svc.cluster.local", a, "host name and subdomain")
    looks(s, "q", "first.sub", a, "in short")


@scene
def resolvers_of_libc_agree(s):
    s.service("svc", {"app": "x"}, clusterIP="None", ports=[{"port": 27000}])
    a = server(s, "a", labels={"app": "x"})
    looks(s, "p", "svc", a, "getaddrinfo")
    s.start("q", "getent hosts svc | say hosts; getent ahostsv4 svc | say ahosts; /usr/bin/python3 -c \"import socket; "
            "print(socket.gethostbyname('svc'))\" | say byname")
    for name in ("hosts", "ahosts", "byname"):
        has(s.read(name), a, name)


@scene
def a_name_nobody_has_is_nobodys(s):
    looks(s, "p", f"nobody.{s.ns}.svc.cluster.local", "none", "nobody")


@scene
def a_pod_on_the_hosts_network_has_its_address(s):
    s.start("p", "ls /sys/class/net | say net", hostNetwork=True)
    pod = s.wait_phase("p", "Succeeded")
    is_(pod["status"]["podIP"], pod["status"]["hostIP"], "address")
