"""What programs do with Debian's python3-kubernetes where pods really run: each case is a function, named as a
claim. Usage: pods_client.py KUBECONFIG NAMESPACE; prints "ok NAME" or "not ok NAME" a case, traces on stderr."""

import sys
import threading
import time
import traceback

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

PATIENCE_S = 180
JOB = {"group": "kubeflow.org", "version": "v1", "plural": "tfjobs"}
SCRIPT = 'echo "hello from $(hostname)"; until test -e /tmp/done; do sleep 0.1; done; echo bye'


def job(name, script=SCRIPT, workers=2):
    box = {"name": "tensorflow", "image": "example.com/train", "command": ["sh", "-c", script],
           "resources": {"requests": {"cpu": "10m"}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name, "labels": {"from": "python"}},
            "spec": {"successPolicy": "AllWorkers", "runPolicy": {"cleanPodPolicy": "None"}, "tfReplicaSpecs": {"Worker": {
                "replicas": workers, "restartPolicy": "Never", "template": {"spec": {
                    "terminationGracePeriodSeconds": 1, "containers": [box]}}}}}}


def state(obj):
    return {c["type"] for c in obj.get("status", {}).get("conditions") or [] if c["status"] == "True"}


def until(ask, what):
    """For what nothing announces."""
    end = time.monotonic() + PATIENCE_S
    while not ask():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.1)


class Cases:
    def __init__(self, ns):
        self.ns = ns
        self.core = client.CoreV1Api()
        self.custom = client.CustomObjectsApi()
        self.selector = "training.kubeflow.org/job-name=life"

    def run(self, pod, *words):
        """A program in a pod: what it prints."""
        return stream(self.core.connect_get_namespaced_pod_exec, pod, self.ns, command=list(words), stdout=True,
                      stderr=True, stdin=False, tty=False)

    def a_job_is_watched_until_it_runs(self):
        self.custom.create_namespaced_custom_object(namespace=self.ns, body=job("life"), **JOB)
        seen = []
        for e in watch.Watch().stream(self.custom.list_namespaced_custom_object, namespace=self.ns,
                                      timeout_seconds=PATIENCE_S, **JOB):
            seen.append(e["type"])
            if "Running" in state(e["object"]):
                break
        else:
            raise AssertionError(seen)
        assert seen[0] == "ADDED" and set(seen[1:]) <= {"MODIFIED"}, seen

    def pods_are_watched_until_they_are_ready(self):
        ready = set()
        for e in watch.Watch().stream(self.core.list_namespaced_pod, self.ns, label_selector=self.selector,
                                      timeout_seconds=PATIENCE_S):
            pod = e["object"]
            if any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions or []):
                ready.add(pod.metadata.name)
            if len(ready) == 2:
                break
        assert ready == {"life-worker-0", "life-worker-1"}, ready

    def pods_are_listed_in_their_models(self):
        pods = self.core.list_namespaced_pod(self.ns, label_selector=self.selector).items
        assert [p.metadata.name for p in pods] == ["life-worker-0", "life-worker-1"]
        one = pods[0].status
        assert one.phase == "Running" and one.pod_ip and one.host_ip and one.start_time
        assert one.container_statuses[0].state.running.started_at and one.container_statuses[0].ready
        node = self.core.read_node(pods[0].spec.node_name)
        assert any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)

    def a_program_runs_in_a_pod(self):
        assert self.run("life-worker-1", "hostname") == "life-worker-1\n"
        both = self.run("life-worker-1", "sh", "-c", "echo out; echo err >&2")
        assert sorted(both.split()) == ["err", "out"], both

    def a_program_in_a_pod_can_be_talked_to(self):
        talk = stream(self.core.connect_get_namespaced_pod_exec, "life-worker-0", self.ns,
                      command=["sh", "-c", "read word; echo got $word; echo aside >&2; exit 3"], stdin=True, stdout=True,
                      stderr=True, tty=False, _preload_content=False)
        talk.write_stdin("news\n")
        assert talk.readline_stdout(timeout=PATIENCE_S) == "got news"
        assert talk.readline_stderr(timeout=PATIENCE_S) == "aside"
        talk.run_forever(timeout=PATIENCE_S)
        assert talk.returncode == 3, talk.returncode
        talk.close()

    def a_log_is_read_and_followed(self):
        until(lambda: self.core.read_namespaced_pod_log("life-worker-0", self.ns) == "hello from life-worker-0\n", "its log")
        assert self.core.read_namespaced_pod_log("life-worker-0", self.ns, tail_lines=1, timestamps=True).split(" ", 1)[
            1] == "hello from life-worker-0\n"
        lines, first = [], threading.Event()

        def follow():
            for line in watch.Watch().stream(self.core.read_namespaced_pod_log, "life-worker-0", self.ns):
                lines.append(line)
                first.set()

        reader = threading.Thread(target=follow, daemon=True)
        reader.start()
        assert first.wait(PATIENCE_S)
        for pod in ("life-worker-0", "life-worker-1"):  # the answer may be cut off: the pod ends by it
            self.run(pod, "touch", "/tmp/done")
        reader.join(PATIENCE_S)
        assert lines == ["hello from life-worker-0", "bye"], lines

    def the_end_is_told(self):
        until(lambda: "Succeeded" in state(self.custom.get_namespaced_custom_object(
            namespace=self.ns, name="life", **JOB)), "the job succeeds")
        pod = self.core.read_namespaced_pod("life-worker-1", self.ns)
        assert pod.status.container_statuses[0].state.terminated.exit_code == 0
        until(lambda: "TFJobSucceeded" in {e.reason for e in self.core.list_namespaced_event(
            self.ns, field_selector="involvedObject.kind=TFJob,involvedObject.name=life").items}, "an event of it")

    def nothing_runs_in_a_pod_that_is_over(self):
        try:
            self.run("life-worker-1", "true")
        except ApiException as e:
            assert "Handshake status" in str(e), e
        else:
            raise AssertionError("it ran")

    def a_dynamic_client_finds_the_kinds_by_itself(self):
        found = dynamic.DynamicClient(client.ApiClient())
        tfjobs = found.resources.get(api_version="kubeflow.org/v1", kind="TFJob")
        assert {"create", "delete", "get", "list", "patch", "update", "watch"} <= set(tfjobs.verbs), tfjobs.verbs
        made = tfjobs.create(body=job("dyn", "sleep 1000"), namespace=self.ns)
        assert made.metadata.uid and made.spec.runPolicy.cleanPodPolicy == "None"
        names = [j.metadata.name for j in tfjobs.get(namespace=self.ns, label_selector="from=python").items]
        assert sorted(names) == ["dyn", "life"], names
        tfjobs.patch(name="dyn", namespace=self.ns, body={"metadata": {"annotations": {"a": "b"}}},
                     content_type="application/merge-patch+json")
        for e in tfjobs.watch(namespace=self.ns, field_selector="metadata.name=dyn", timeout=PATIENCE_S):
            if "Running" in state(e["raw_object"]):
                break
        pods = found.resources.get(api_version="v1", kind="Pod")
        until(lambda: pods.get(name="dyn-worker-0", namespace=self.ns).status.phase == "Running", "the first worker runs")
        assert tfjobs.get(name="dyn", namespace=self.ns).metadata.annotations.a == "b"

    def a_dynamic_client_replaces_and_deletes(self):
        found = dynamic.DynamicClient(client.ApiClient())
        tfjobs = found.resources.get(api_version="kubeflow.org/v1", kind="TFJob")

        def grow():
            live = tfjobs.get(name="dyn", namespace=self.ns).to_dict()
            live["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] = 3
            try:
                return tfjobs.replace(body=live, namespace=self.ns)
            except ApiException as e:  # the operator was faster
                assert e.status == 409, e
                return None

        until(grow, "it is replaced")
        until(lambda: len(self.core.list_namespaced_pod(
            self.ns, label_selector="training.kubeflow.org/job-name=dyn").items) == 3, "there are three")
        tfjobs.delete(name="dyn", namespace=self.ns)
        until(lambda: not self.core.list_namespaced_pod(
            self.ns, label_selector="training.kubeflow.org/job-name=dyn").items, "its pods go")

    def deletion_is_watched(self):
        rv = self.core.list_namespaced_pod(self.ns).metadata.resource_version
        self.custom.delete_namespaced_custom_object(namespace=self.ns, name="life", **JOB)
        gone = set()
        for e in watch.Watch().stream(self.core.list_namespaced_pod, self.ns, resource_version=rv,
                                      label_selector=self.selector, timeout_seconds=PATIENCE_S):
            if e["type"] == "DELETED":
                gone.add(e["object"].metadata.name)
            if len(gone) == 2:
                return
        raise AssertionError(gone)


def main():
    config.load_kube_config(sys.argv[1])
    cases = Cases(sys.argv[2])
    for name in (n for n in vars(Cases) if n not in ("run", "__init__") and not n.startswith("_")):
        try:
            getattr(cases, name)()
            print("ok", name, flush=True)
        except Exception:  # whatever went wrong is this case's failure
            print("not ok", name, flush=True)
            traceback.print_exc()


main()
