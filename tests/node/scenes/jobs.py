"""Jobs whose replicas really run here, and find each other by the names they are given."""

from harness.kinds import KINDS
from harness.tap import is_
from world.record import phase
from world.scene import box, python

from . import scene

PORT = 25123  # seldom used: at level shared, a server of the machine that listens on all addresses is in the way
PLURAL = {k.name: k for k in KINDS}
# Everybody listens, everybody calls everybody, and ends when all have called.
MEET = """
import socket, sys, threading, time
def meet(port, others):
    listener = socket.create_server(('0.0.0.0', port), backlog=64)
    def call(host, port):
        while True:
            try:
                with socket.create_connection((host, port), 20) as c:
                    if c.recv(9) == b'hello':
                        return
            except OSError:
                pass
            time.sleep(0.2)
    threads = [threading.Thread(target=call, args=o) for o in others]
    for t in threads:
        t.start()
    for _ in others:
        c, _ = listener.accept()
        c.sendall(b'hello')
        c.close()
    for t in threads:
        t.join()
"""
TF = MEET + """
import json, os
config = json.loads(os.environ['TF_CONFIG'])
kind, index = config['task']['type'], config['task']['index']
everybody = [(k, i, a) for k, all in config['cluster'].items() for i, a in enumerate(all)]
others = [(a.rsplit(':', 1)[0], int(a.rsplit(':', 1)[1])) for k, i, a in everybody if (k, i) != (kind, index)]
meet(int(config['cluster'][kind][index].rsplit(':', 1)[1]), others)
"""
TORCH = """
import os, socket, time
address = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
if os.environ['RANK'] == '0':
    s = socket.create_server(('0.0.0.0', address[1]))
    for _ in range(int(os.environ['WORLD_SIZE']) - 1):
        c, _ = s.accept()
        c.sendall(b'hello')
        print('met', c.recv(9).decode())
else:
    while True:
        try:
            c = socket.create_connection(address, 20)
            break
        except OSError:
            time.sleep(0.2)
    assert c.recv(9) == b'hello'
    c.sendall(os.environ['RANK'].encode())
"""


def submit(s, kind, name, run_policy=None, **roles):
    """roles: Worker=(replicas, container) or with its restart policy."""
    kind = PLURAL[kind]
    specs = {}
    for role, (replicas, container, *policy) in roles.items():
        specs[role] = {"replicas": replicas, "restartPolicy": policy[0] if policy else "Never", "template": {"spec": {
            "terminationGracePeriodSeconds": 1, "containers": [{
                **container, "name": kind.container, "ports": [{"name": kind.name.lower() + "-port", "containerPort": PORT}]}]}}}
    s.create(kind.plural, {"metadata": {"name": name}, "spec": {kind.specs: specs, "runPolicy": run_policy or {}}})


def state(s, kind, name):
    job = s.kube.find(PLURAL[kind].plural, name, s.ns) or {}
    return [c["type"] for c in job.get("status", {}).get("conditions") or [] if c["status"] == "True"]


def wait_state(s, kind, name, want, timeout=120):
    other = {"Succeeded": "Failed", "Failed": "Succeeded"}.get(want)

    def so():
        now = state(s, kind, name)
        if other in now:
            raise AssertionError(f"{name} is {now}")
        return want in now
    s.until(so, lambda: f"{name} is {want}, not {state(s, kind, name)}", timeout)


@scene
def a_replica_restarts_in_place(s):
    """Its volumes stay, so the second attempt finds what the first left."""
    place = s.place("t", "v")
    kind = PLURAL["TFJob"]
    container = box(f"[ -e {place}/again ] && exit 0; : >{place}/again; exit 1", kind.container,
                    volumeMounts=[{"name": "v", "mountPath": place}])
    s.create(kind.plural, {"metadata": {"name": "t"}, "spec": {kind.specs: {"Worker": {
        "restartPolicy": "OnFailure", "template": {"spec": {"containers": [container], "volumes": [
            {"name": "v", "emptyDir": {}}]}}}}}})
    wait_state(s, "TFJob", "t", "Succeeded")
    is_(s.now("t-worker-0")["status"]["containerStatuses"][0]["restartCount"], 1, "restarts")


@scene
def a_job_fails_with_its_replica(s):
    submit(s, "TFJob", "t", Worker=(2, box("exit 3")))
    wait_state(s, "TFJob", "t", "Failed")


@scene
def a_deleted_job_leaves_no_process(s):
    mark = s.mark(8)
    submit(s, "TFJob", "t", Worker=(2, box(f"setsid sleep {mark} & exec sleep {mark}")))
    s.until(lambda: len(s.alive(mark)) == 4, lambda: f"all run: {s.alive(mark)}")
    s.kube.delete("tfjobs", "t", s.ns, propagation="Background")
    s.until(lambda: not s.alive(mark), lambda: f"all end: {s.alive(mark)}")
    s.until(lambda: not s.kube.list("pods", s.ns), "the pods go")


@scene
def pods_of_a_job_that_is_over_are_cleaned_up(s):
    mark = s.mark(9)
    submit(s, "TFJob", "t", {"cleanPodPolicy": "Running"}, PS=(1, box(f"exec sleep {mark}")),
           Worker=(1, box("exit 0")))
    wait_state(s, "TFJob", "t", "Succeeded")
    s.until(lambda: not s.alive(mark), "the one that ran on ends")
    s.wait_gone("t-ps-0")
    is_(phase(s.now("t-worker-0")), "Succeeded", "the other stays")


@scene
def replicas_of_a_tfjob_meet(s):
    submit(s, "TFJob", "t", PS=(1, python(TF)), Worker=(2, python(TF)))
    wait_state(s, "TFJob", "t", "Succeeded")


@scene
def replicas_of_a_pytorchjob_meet(s):
    submit(s, "PyTorchJob", "t", Master=(1, python(TORCH)), Worker=(2, python(TORCH)))
    wait_state(s, "PyTorchJob", "t", "Succeeded")
