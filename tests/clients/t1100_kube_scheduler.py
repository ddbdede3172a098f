#!/usr/bin/python3
"""kube-scheduler 1.34 with its stock settings gives pods our node. See README.md."""

from harness.scene import job_of
from harness.kinds import PYTORCH
from harness.record import is_true
from harness.tap import Tap, claim, has, is_
from scheduler_process import SchedulerProcess
from world.machine import Machine, Refused
from world.record import condition

NS = "default"
PATIENCE_S = 120
# What it says when it is stopped, on any cluster.
EXPECTED = ("broadcaster already stopped",)


class Stage:
    def __init__(self):
        self.machine = Machine("namespaces", "root", "--no-scheduler")
        self.kube = self.machine.kube
        self.scheduler = None

    def pod(self, name, script="exit 0", resources=None, **spec):
        container = {"name": "c", "image": "x", "command": ["sh", "-c", script], "resources": resources or {}}
        container.update(spec.pop("container", {}))
        body = {"metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [container], **spec}}
        return self.kube.create("pods", body, NS)

    def now(self, name):
        return self.machine.pods.get(name, NS) or {}

    def phase(self, name):
        return self.now(name).get("status", {}).get("phase")

    def wait(self, so, what):
        self.machine.wait(so, what, PATIENCE_S)

    def events(self, name, reason):
        return [e for e in self.machine.told[NS] if e["involvedObject"]["name"] == name and e["reason"] == reason]


# ---- claims, in this order

def without_it_pods_wait(s):
    s.pod("first")
    s.scheduler = SchedulerProcess(s.machine)
    s.wait(lambda: s.phase("first") == "Succeeded", "first has run")
    s.wait(lambda: s.events("first", "Scheduled"), "its event")
    (event,) = s.events("first", "Scheduled")
    has(event["reportingInstance"], "default-scheduler-", "who gave it its node, ours has no such name")


def pods_run(s):
    names = [f"p{i}" for i in range(20)]
    for name in names:
        s.pod(name, resources={"requests": {"cpu": "10m"}})
    s.wait(lambda: all(s.phase(n) == "Succeeded" for n in names), "all have run")


def a_volume_comes_where_the_pod_goes(s):
    s.kube.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}, "storageClassName": "local-path"}}, NS)
    s.pod("writer", "echo x >/data/x", container={"volumeMounts": [{"name": "d", "mountPath": "/data"}]},
          volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])
    s.wait(lambda: s.phase("writer") == "Succeeded", "writer has run")


def jobs_run(s):
    container = {"name": PYTORCH.container, "image": "x", "command": ["sh", "-c", "exit 0"]}
    role = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    s.kube.create(PYTORCH.plural, job_of(PYTORCH, "job", Master=role, Worker={**role, "replicas": 2}), NS)
    s.machine.until(lambda: is_true(s.kube.find(PYTORCH.plural, "job", NS), "Succeeded"), "the job succeeds", PATIENCE_S)


def what_does_not_fit_waits_until_it_does(s):
    s.pod("large", resources={"requests": {"example.com/x": 1}, "limits": {"example.com/x": 1}})
    s.wait(lambda: condition(s.now("large"), "PodScheduled").get("reason") == "Unschedulable", "large waits")
    has(condition(s.now("large"), "PodScheduled")["message"], "Insufficient example.com/x", "its reason")
    s.pod("gated", schedulingGates=[{"name": "wait"}])
    s.kube.patch("pods", "gated", {"spec": {"schedulingGates": None}}, NS)
    s.wait(lambda: s.phase("gated") == "Succeeded", "gated has run")
    s.kube.delete("pods", "large", NS, grace=0)


def claims_to_devices_are_not_ignored(s):
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    s.kube.call("POST", f"/apis/resource.k8s.io/v1/namespaces/{NS}/resourceclaims", {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "gpu"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}})
    s.kube.call("POST", "/apis/resource.k8s.io/v1/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}})
    s.pod("claims", resourceClaims=claims)
    s.wait(lambda: condition(s.now("claims"), "PodScheduled").get("reason") == "Unschedulable", "claims waits")
    has(condition(s.now("claims"), "PodScheduled")["message"], "cannot allocate all claims", "its reason")
    (node,) = s.kube.list("nodes")
    s.pod("forced", resourceClaims=claims, nodeName=node["metadata"]["name"])
    s.wait(lambda: s.events("forced", "FailedPrepareDynamicResources"), "forced is not started")
    s.wait(lambda: s.phase("forced"), "forced is seen")
    is_(s.phase("forced"), "Pending", "phase of a pod that claims devices")
    for name in ("claims", "forced"):
        s.kube.delete("pods", name, NS, grace=0)


def another_one_goes_on(s):
    s.scheduler.child.kill()
    s.scheduler.child.wait()
    before = s.scheduler.complaints(EXPECTED)
    s.kube.delete("leases", "kube-scheduler", "kube-system")  # or it would wait until the lease has run out
    s.pod("later")
    s.scheduler = SchedulerProcess(s.machine)
    s.wait(lambda: s.phase("later") == "Succeeded", "later has run")
    is_(before, [], "what the first complained of")


def it_complains_of_nothing(s):
    s.scheduler.stop()
    is_(s.scheduler.complaints(EXPECTED), [], "errors and warnings")


def main():
    tap = Tap()
    claims = (without_it_pods_wait, pods_run, a_volume_comes_where_the_pod_goes, jobs_run,
              what_does_not_fit_waits_until_it_does, claims_to_devices_are_not_ignored, another_one_goes_on,
              it_complains_of_nothing)
    try:
        s = Stage()
    except Refused as e:
        tap.line(True, "kube-scheduler", skip=str(e))
        tap.end()
    for c in claims:
        tap.run(claim(c), c, s)
    tap.run("the server ends", lambda: is_(s.machine.stop(), 0, "its exit code"))
    tap.end()


if __name__ == "__main__":
    main()
