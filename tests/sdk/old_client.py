"""The calls of kubeflow-tfjob, run by a Python that has it: old_client.py KUBECONFIG NAMESPACE GATE. The server puts
the old labels on pods. Each case prints a line, ok or not ok; t3000_tfjob.py reads them."""

import io
import logging
import os
import sys
import traceback

from kubeflow.tfjob import TFJobClient, V1ReplicaSpec, V1TFJob, V1TFJobSpec
from kubernetes import client as kubernetes, watch

CONFIG, NAMESPACE, GATE = sys.argv[1:]
# Waits for the test to open the gate, where there is one.
PROGRAM = """
import os, time
print("begin", flush=True)
while not os.path.exists(os.environ["GATE"]):
    time.sleep(0.05)
print("end", flush=True)
"""
FAST = {"timeout_seconds": 240, "polling_interval": 0.2}


def job(name, gate=GATE, workers=2, **spec):
    box = kubernetes.V1Container(name="tensorflow", image="gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0",
                                 command=["/usr/bin/python3", "-uc", PROGRAM],
                                 env=[kubernetes.V1EnvVar(name="GATE", value=gate)],
                                 volume_mounts=[kubernetes.V1VolumeMount(name="gate", mount_path=os.path.dirname(GATE))])
    volume = kubernetes.V1Volume(name="gate", host_path=kubernetes.V1HostPathVolumeSource(path=os.path.dirname(GATE)))
    template = kubernetes.V1PodTemplateSpec(spec=kubernetes.V1PodSpec(containers=[box], volumes=[volume]))
    worker = V1ReplicaSpec(replicas=workers, restart_policy="Never", template=template)
    return V1TFJob(api_version="kubeflow.org/v1", kind="TFJob",
                   metadata=kubernetes.V1ObjectMeta(name=name, namespace=NAMESPACE),
                   spec=V1TFJobSpec(clean_pod_policy="None", tf_replica_specs={"Worker": worker}, **spec))


def said(call, *args, **words):
    """What a call says through the log."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    logging.getLogger().addHandler(handler)
    try:
        call(*args, **words)
    finally:
        logging.getLogger().removeHandler(handler)
    return text.getvalue()


def wait_until_running(core, pod):
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, timeout_seconds=240):
        if event["object"].metadata.name == pod and event["object"].status.phase == "Running":
            return
    raise AssertionError(f"{pod} does not run")


class Cases:
    def __init__(self):
        self.tfjobs = TFJobClient(config_file=CONFIG)

    def a_job_is_created_and_read(self):
        made = self.tfjobs.create(job("t"))
        assert made["metadata"]["uid"] and "cleanPodPolicy" not in made["spec"], made
        assert self.tfjobs.get("t", namespace=NAMESPACE)["metadata"]["uid"] == made["metadata"]["uid"]
        assert [j["metadata"]["name"] for j in self.tfjobs.get(namespace=NAMESPACE)["items"]] == ["t"]

    def a_condition_is_waited_for(self):
        seen = []
        self.tfjobs.wait_for_condition("t", ["Running"], namespace=NAMESPACE, status_callback=seen.append, **FAST)
        assert seen and seen[-1]["kind"] == "TFJob"
        assert self.tfjobs.get_job_status("t", namespace=NAMESPACE) == "Running"
        assert self.tfjobs.is_job_running("t", namespace=NAMESPACE)
        assert not self.tfjobs.is_job_succeeded("t", namespace=NAMESPACE)

    def pods_are_found_by_the_labels_of_then(self):
        names = lambda **words: self.tfjobs.get_pod_names("t", namespace=NAMESPACE, **words)
        assert names() == {"t-worker-0", "t-worker-1"}, names()
        assert names(master=True) == {"t-worker-0"}, names(master=True)
        assert names(replica_type="worker", replica_index=1) == {"t-worker-1"}
        assert names(replica_type="ps") is None

    def a_job_is_patched(self):
        patch = job("t", workers=3)
        patch.metadata.labels = {"team": "a"}
        assert self.tfjobs.patch("t", patch, namespace=NAMESPACE)["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] == 3
        assert self.tfjobs.get("t", namespace=NAMESPACE)["metadata"]["labels"] == {"team": "a"}

    def a_job_is_watched_to_its_end(self):
        wait_until_running(self.tfjobs.core_api, "t-worker-2")  # the job succeeds with worker 0, and has logs of all
        with open(GATE, "w", encoding="utf-8"):
            pass
        self.tfjobs.wait_for_job("t", namespace=NAMESPACE, watch=True, timeout_seconds=240)
        assert self.tfjobs.is_job_succeeded("t", namespace=NAMESPACE)

    def logs_are_told(self):
        text = said(self.tfjobs.get_logs, "t", namespace=NAMESPACE)
        assert "The logs of Pod t-worker-0:\n begin\nend\n" in text and "t-worker-1" not in text, text
        text = said(self.tfjobs.get_logs, "t", namespace=NAMESPACE, master=False, replica_type="worker", follow=True)
        assert "Pod t-worker-0" in text and "Pod t-worker-1" in text, text

    def a_job_is_deleted(self):
        assert self.tfjobs.delete("t", namespace=NAMESPACE)["status"] == "Success"
        try:
            self.tfjobs.get("t", namespace=NAMESPACE)
        except RuntimeError as e:
            assert "NotFound" in str(e), e
        else:
            raise AssertionError("it is still there")

    def its_own_test_of_everything_passes(self):
        """sdk/python/test/test_e2e.py of then."""
        self.tfjobs.create(job("mnist-ci-test", workers=1), namespace=NAMESPACE)
        self.tfjobs.wait_for_job("mnist-ci-test", namespace=NAMESPACE, **FAST)
        assert self.tfjobs.is_job_succeeded("mnist-ci-test", namespace=NAMESPACE)
        assert "end" in said(self.tfjobs.get_logs, "mnist-ci-test", namespace=NAMESPACE, master=False)
        self.tfjobs.delete("mnist-ci-test", namespace=NAMESPACE)


def main():
    cases = Cases()
    for name in (n for n in vars(Cases) if not n.startswith("_")):
        try:
            getattr(cases, name)()
            print("ok", name, flush=True)
        except Exception:  # pylint: disable=broad-except # whatever went wrong is this case's failure
            print("not ok", name, flush=True)
            traceback.print_exc(file=sys.stdout)


main()
