#!/usr/bin/python3
"""The original training operator on our API, its pods on our node: all kinds of jobs, leader election, a server that
dies, and several minutes of work in which nothing is listed twice. See README.md."""

import json
import os
import re
import shutil
import subprocess
import time

from harness.kinds import KINDS, MPI, TF
from harness.kube import ApiError, path_of
from harness.record import is_true
from harness.scene import job_of
from harness.tap import Tap, claim, is_
from world.cast import nothing_left
from world.machine import Machine, Refused
from world.record import condition

NS = "kubeflow"
LEASE = "1ca428e5.training-operator.kubeflow.org"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = ("jaxjob-rendezvous", "paddlejob-rendezvous", "pytorchjob-rendezvous", "tfjob-rendezvous",
            "xgboostjob-rendezvous", "mpijob-simple")
PATIENCE_S = 180
# What it says of its own accord on any cluster: it works from a cache that is behind, and tries again; and at the
# start its certificate is not there yet.
OWN = ("the object has been modified", " not found", "already exists", "could not refresh CA and server certs")
# While there is no server, and of who lost its lease over that.
AWAY = ("connection refused", "EOF", "connection reset", "i/o timeout", "Failed to update lock", "context deadline",
        "client connection lost", "no route to host", "TLS handshake", "connection error", "etcdserver", "http2:")
INIT = """- name: init-pytorch
  image: {{.InitContainerImage}}
  command: ['sh', '-c', 'for i in $(seq {{.MaxTries}}); do getent hosts {{.MasterAddr}} && exit 0; sleep 0.5; done; exit 1']
"""
DELIVERY = ("sh -c 'cp \"$(command -v kubectl)\" \"$TARGET_DIR/kubectl\" && cut -d\" \" -f1 /etc/mpi/hostfile | "
            "xargs \"$TARGET_DIR/kubectl\" wait --for=condition=Ready --timeout=120s pod'")


class Stage:
    def __init__(self):
        self.machine = Machine("namespaces", "root", "--no-operator")
        self.kube = self.machine.kube
        self.operators = []
        self.seconds = float(os.environ.get("CLIENTS_SECONDS") or 240)

    def kubectl(self, *words, stdin=None):
        done = subprocess.run([os.environ.get("E2E_KUBECTL", "kubectl"), "--kubeconfig", self.kube.kubeconfig, *words],
                              capture_output=True, text=True, check=False, input=stdin, timeout=300)
        if done.returncode:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def image(self, name, *words):
        done = self.machine.muster_run("image", "map", name, *words, "--data", self.machine.data)
        is_(done.returncode, 0, done.stderr)

    # ---- the operator

    def install(self):
        root = self.machine.make("image")
        os.makedirs(os.path.join(root, "etc", "config"))
        shutil.copy(os.path.join(os.environ["TRAINING_OPERATOR"], "manager"), root)
        with open(os.path.join(root, "etc", "config", "initContainer.yaml"), "w", encoding="utf-8") as f:
            f.write(INIT)
        self.image("kubeflow/training-operator", "--rootfs", root)
        self.image("kubeflow/kubectl-delivery", "--host", "--command", DELIVERY)
        manifests = self.kubectl("kustomize", os.environ["TRAINING_MANIFESTS"])
        self.kubectl("apply", "--server-side", "-f", "-", stdin=manifests)
        # Its manifests leave that to who turns leader election on.
        self.kubectl("create", "role", "elect", "-n", NS, "--verb=get,create,update", "--resource=leases.coordination.k8s.io")
        self.kubectl("create", "rolebinding", "elect", "-n", NS, "--role=elect", f"--serviceaccount={NS}:training-operator")

    def start(self, name):
        """As its Deployment would."""
        found = self.kube.call("GET", f"/apis/apps/v1/namespaces/{NS}/deployments/training-operator")
        template = found["spec"]["template"]
        template["spec"]["containers"][0]["args"] = ["--leader-elect"]
        pod = {"metadata": {"name": name, "labels": template["metadata"]["labels"]}, "spec": template["spec"]}
        self.operators.append(name)
        self.kube.create("pods", pod, NS)

    def wait_ready(self, name):
        self.machine.wait(lambda: condition(self.machine.pods.get(name, NS), "Ready").get("status") == "True",
                          f"{name} is ready", PATIENCE_S)

    def holder(self):
        lease = self.kube.find("leases", LEASE, NS) or {}
        return (lease.get("spec", {}).get("holderIdentity") or "").rsplit("_", 1)[0]

    def log(self, name):
        status, _, text = self.kube.raw("GET", path_of("pods", name, NS, "log"))
        is_(status, 200, f"log of {name}")
        return text.decode(errors="replace").splitlines()

    # ---- jobs

    def wait_job(self, kind, name, want="Succeeded"):
        def so():
            job = self.kube.find(kind.plural, name, "default")
            if is_true(job, "Failed") and want != "Failed":
                raise AssertionError(f"{name}: {job['status']}")
            return is_true(job, want)
        try:
            self.machine.until(so, f"{name} is {want}", PATIENCE_S)
        except AssertionError as e:
            e.report = "\n" + self.kubectl("describe", kind.plural, name) + "\n".join(self.log(self.operators[-1])[-40:])
            raise
        return self.kube.get(kind.plural, name, "default")

    def pods_of(self, job):
        return [p for p in list(self.machine.pods.now.values())
                if p["metadata"].get("labels", {}).get("training.kubeflow.org/job-name") == job]

    def requests(self):
        """{(verb, resource, code): how many}"""
        _, _, text = self.kube.raw("GET", "/metrics")
        rows = re.findall(r'^apiserver_request_total\{verb="(\w+)",resource="([^"]+)",code="(\d+)"\} (\d+)', text.decode(), re.M)
        return {(verb, resource, code): int(n) for verb, resource, code, n in rows}

    def small_job(self, kind, name, script="exit 0"):
        def role(words):
            container = {"name": kind.container, "image": "x", "command": ["sh", "-c", words]}
            template = {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}
            return {"replicas": 1, "restartPolicy": "Never", "template": template}
        # A launcher waits for its workers.
        shape = {r: role("exec sleep 1000" if kind is MPI and r == "Worker" else script) for r in kind.shape}
        self.kube.create(kind.plural, job_of(kind, name, **shape), "default")

    def remove(self, kind, name):
        self.kube.delete(kind.plural, name, "default", propagation="Background")
        self.machine.wait(lambda: not self.pods_of(name), f"the pods of {name} go", PATIENCE_S)


# ---- claims, in this order

def it_starts_from_its_own_manifests(s):
    s.install()
    s.start("operator-a")
    s.wait_ready("operator-a")
    s.machine.until(lambda: s.holder() == "operator-a", "operator-a leads", PATIENCE_S)


def it_runs_jobs_of_all_kinds(s):
    for name in EXAMPLES:
        s.kubectl("apply", "-f", f"{TOP}/examples/{name}.yaml")
    for kind in KINDS:
        for job in s.kube.list(kind.plural, "default"):
            s.wait_job(kind, job["metadata"]["name"])
            wrote = {m["manager"] for m in s.kube.get(kind.plural, job["metadata"]["name"], "default")["metadata"]["managedFields"]
                     if m.get("subresource") == "status"}
            is_(wrote, {"manager"}, "whose status it is")


def it_restarts_what_fails(s):
    place = s.machine.make("again")  # of the machine, so that the second attempt finds what the first left
    job = job_of(TF, "again", Worker={"replicas": 1, "restartPolicy": "ExitCode", "template": {"spec": {
        "volumes": [{"name": "v", "hostPath": {"path": place}}], "containers": [{
            "name": TF.container, "image": "x", "command": ["sh", "-c", "mkdir /v/done || exit 0; exit 137"],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}})
    s.kube.create(TF.plural, job, "default")
    s.wait_job(TF, "again")
    s.remove(TF, "again")


def it_suspends_and_resumes(s):
    s.small_job(TF, "later", "sleep 1000")
    s.wait_job(TF, "later", "Running")
    s.kube.patch(TF.plural, "later", {"spec": {"runPolicy": {"suspend": True}}}, "default")
    s.wait_job(TF, "later", "Suspended")
    s.machine.wait(lambda: not s.pods_of("later"), "its pods go", PATIENCE_S)
    s.kube.patch(TF.plural, "later", {"spec": {"runPolicy": {"suspend": False}}}, "default")
    s.wait_job(TF, "later", "Running")
    s.remove(TF, "later")


def another_takes_over(s):
    s.start("operator-b")
    s.wait_ready("operator-b")
    is_(s.holder(), "operator-a", "who leads")
    s.kube.delete("pods", "operator-a", NS, grace=0)
    s.operators.remove("operator-a")
    s.machine.until(lambda: s.holder() == "operator-b", "operator-b leads", PATIENCE_S)
    s.small_job(TF, "after-a")
    s.wait_job(TF, "after-a")
    s.remove(TF, "after-a")


def the_server_dies_and_it_goes_on(s):
    s.machine.kill()
    s.machine.start()
    s.small_job(TF, "after-death")
    s.wait_job(TF, "after-death")
    s.remove(TF, "after-death")
    # Each informer lists again, once for each time that the operator itself had to start over.
    for kind in KINDS:
        lists = sum(n for (verb, what, _), n in s.requests().items() if (verb, what) == ("list", kind.plural))
        assert lists <= 4, f"{kind.plural} were listed {lists} times"


def it_works_without_listing_again(s):
    before, end, done = s.requests(), time.monotonic() + s.seconds, 0
    while time.monotonic() < end or done < len(KINDS):
        kind = KINDS[done % len(KINDS)]
        s.small_job(kind, f"work-{done}")
        s.wait_job(kind, f"work-{done}")
        s.remove(kind, f"work-{done}")
        done += 1
    now = s.requests()
    more = {key: n - before.get(key, 0) for key, n in now.items() if n > before.get(key, 0)}
    print(f"# {done} jobs; requests meanwhile: " + json.dumps({" ".join(k): n for k, n in sorted(more.items())}))
    informed = [k.plural for k in KINDS] + ["services", "configmaps", "roles", "rolebindings", "serviceaccounts"]
    is_({k: n for k, n in more.items() if k[0] == "list" and k[1] in informed}, {}, "lists")
    for plural in informed:  # client-go asks for a new one after five to ten minutes
        watches = sum(n for (verb, what, _), n in more.items() if (verb, what) == ("watch", plural))
        assert watches <= 1 + s.seconds / 300, f"{watches} watches of {plural}"
    is_({k: n for k, n in more.items() if k[2] >= "500"}, {}, "errors of the server")


def it_has_no_errors_but_its_own(s):
    for name in s.operators:
        pod = s.kube.get("pods", name, NS)
        restarts = pod["status"]["containerStatuses"][0]["restartCount"]
        assert restarts <= 3, f"{name} was restarted {restarts} times"  # who loses its lease starts over
        lines = [x for x in s.log(name) if re.match(r"E\d{4} |panic|\S+\tERROR\t|.*level=error", x)]
        odd = [x for x in lines if not any(t in x for t in OWN + AWAY)]
        is_(odd, [], f"errors of {name}, besides {len(lines)} of its own")


def it_can_be_removed(s):
    for kind in KINDS:
        for job in s.kube.list(kind.plural, "default"):
            s.kube.forget(kind.plural, job["metadata"]["name"], "default", propagation="Background")
    s.machine.wait(lambda: all(key[0] == NS for key in s.machine.pods.now), "all pods of jobs go", PATIENCE_S)
    nothing_left(s.machine)


def main():
    tap = Tap()
    try:
        stage = Stage()
    except Refused as e:
        tap.note(f"NOT RUN: {e}")
        tap.line(True, "the training operator on muster up", skip=str(e).splitlines()[0])
        tap.end()
    for test in (it_starts_from_its_own_manifests, it_runs_jobs_of_all_kinds, it_restarts_what_fails, it_suspends_and_resumes,
                 another_takes_over, the_server_dies_and_it_goes_on, it_works_without_listing_again, it_has_no_errors_but_its_own,
                 it_can_be_removed):
        before = tap.failed
        tap.run(claim(test), test, stage)
        if tap.failed > before and test is it_starts_from_its_own_manifests:
            try:
                tap.note("\n".join(stage.log("operator-a")[-60:]))
            except (ApiError, AssertionError) as e:
                tap.note(str(e))
            break
    stage.machine.remove()
    tap.end()


if __name__ == "__main__":
    main()
