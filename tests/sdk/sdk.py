"""What the tests of the SDK share: a client and a namespace of a test's own, pods moved by the stand-in, and
jobs made of the SDK's own models."""

import logging

from kubeflow.training import TrainingClient, models
from kubernetes import client as kubernetes

from harness.kube import path_of
from harness.mirror import Mirror, wait_for
from harness.standin import Standin

logging.disable(logging.INFO)  # the client tells each step
POLL = {"polling_interval": 0.1, "wait_timeout": 240}  # as long as it may take on a busy machine

# The module's names are not always what the kind's name suggests.
JOB_MODELS = {kind: (getattr(models, f"KubeflowOrgV1{kind}"), getattr(models, f"KubeflowOrgV1{kind}Spec"))
              for kind in ("TFJob", "PyTorchJob", "XGBoostJob", "MPIJob", "PaddleJob", "JAXJob")}
SPECS = {"TFJob": "tf_replica_specs", "PyTorchJob": "pytorch_replica_specs", "XGBoostJob": "xgb_replica_specs",
         "MPIJob": "mpi_replica_specs", "PaddleJob": "paddle_replica_specs", "JAXJob": "jax_replica_specs"}


def replica(kind, n, policy=None, **resources):
    limits = {"cpu": 1, "memory": "1Gi", **resources}  # integers, as users write them
    container = models.V1Container(name=kind.container, image="example.com/train", command=["train"],
                                   resources=models.V1ResourceRequirements(limits=limits, requests={"cpu": 1}))
    template = models.V1PodTemplateSpec(metadata=models.V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"}),
                                        spec=models.V1PodSpec(containers=[container]))
    return models.KubeflowOrgV1ReplicaSpec(replicas=n, restart_policy=policy, template=template)


def model(kind, name, shape=None, policy=None, **run_policy):
    job, spec = JOB_MODELS[kind.name]
    replicas = {role: replica(kind, n, policy) for role, n in (shape or kind.shape).items()}
    run_policy.setdefault("clean_pod_policy", "None")
    return job(api_version="kubeflow.org/v1", kind=kind.name, metadata=models.V1ObjectMeta(name=name),
               spec=spec(**{SPECS[kind.name]: replicas}, run_policy=models.KubeflowOrgV1RunPolicy(**run_policy)))


def specs_of(kind, job):
    return getattr(job.spec, SPECS[kind.name])


class Stage:
    """A namespace with its client and its stand-in."""

    def __init__(self, engine, ns, kind, script):
        self.engine, self.ns, self.kind, self.kube = engine, ns, kind, engine.kube
        self.kube.make_namespace(ns)
        self.sdk = TrainingClient(config_file=self.kube.kubeconfig, namespace=ns, job_kind=kind.name)
        self.standin = Standin(self.kube, ns, script, own_watch=False)
        self.pods = Mirror(self.kube, "pods", ns, on_change=self.standin.on_change)

    def stop(self):
        self.standin.stop()
        self.pods.stop()

    def wait(self, predicate, what):
        return wait_for(self.pods.changed, predicate, what, trouble=self.engine.trouble)

    def wait_pods(self, *names):
        self.wait(lambda: self.live() == sorted(names), f"pods {sorted(names)}")

    def live(self):
        return sorted(p["metadata"]["name"] for p in list(self.pods.now.values())
                      if not p["metadata"].get("deletionTimestamp"))

    def wait_phase(self, phase, *names):
        self.wait(lambda: all((self.pods.get(n) or {}).get("status", {}).get("phase") == phase for n in names),
                  f"{names} are {phase}")

    def until(self, name, *conditions):
        """The job, once one of them is True."""
        return self.sdk.wait_for_job_conditions(name, expected_conditions=set(conditions), **POLL)

    def holds(self, name, **want):
        """holds("j", created=True, failed=False): what each is_job_... says."""
        for word, value in want.items():
            got = getattr(self.sdk, f"is_job_{word}")(name)
            assert got is value, f"is_job_{word} says {got}"

    def poll(self, ask, what):
        """Asks again whenever a pod changes, and at least once a second."""
        return self.wait(ask, what)

    def scale_of(self, name):
        return self.kube.call("GET", path_of(self.kind.plural, name, self.ns, "scale"))

    @property
    def objects(self):
        """The client below the SDK."""
        return kubernetes.CustomObjectsApi(self.sdk.core_api.api_client)
