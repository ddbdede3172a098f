"""The SDK on a `muster up` that really runs pods: a namespace with its client, and programs that meet over
TCP by what the operator tells them, with nothing but Python."""

import inspect
import os
import threading

from kubeflow.training import TrainingClient, models
from kubeflow.training.api import training_client

from harness.kinds import KINDS, pods_of
from harness.tap import is_
from sdk import JOB_MODELS, SPECS
from world.scene import Scene

NAME = "j"
POLL = {"polling_interval": 0.2, "wait_timeout": 240}  # on a busy machine it may take long; it never should
IMAGE = "docker.io/library/python:3.11"  # mapped to nothing: its command runs on this machine


def meet(rank, world, host, port):
    """Every rank's number, added up at rank 0 and told to all."""
    import socket
    import time
    if rank == 0:
        door = socket.create_server(("", port))
        lines = [door.accept()[0].makefile("rw") for _ in range(world - 1)]
        total = sum(int(line.readline()) for line in lines)
        for line in lines:
            print(total, file=line, flush=True)
        return total
    for _ in range(2400):  # names are known once a pod is ready
        try:
            line = socket.create_connection((host, port), timeout=120).makefile("rw")
            break
        except OSError:
            time.sleep(0.05)
    else:
        raise SystemExit(f"{host}:{port} does not answer")
    print(rank, file=line, flush=True)
    return int(line.readline())


def await_gate():
    """Until the test opens it; without a gate at once."""
    import os
    if "GATE" in os.environ:
        print("waiting", flush=True)
        with open(os.environ["GATE"], "rb", buffering=0) as gate:
            gate.read(3)


HEAD = "import json, os, socket, sys\ne = os.environ\n" + inspect.getsource(meet) + inspect.getsource(await_gate)
TAIL = """
await_gate()
total = meet(rank, world, host, int(port))
assert total == sum(range(world)), total
print(f"rank {rank} of {world}: the sum is {total}", flush=True)
"""
RANK = """
import os, socket
rank, world = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
print(f"rank {rank} of {world} on {socket.gethostname()}", flush=True)
"""
# Who one is and whom to call, as the operator says it for each kind.
WHO = {
    "TFJob": """
alone = {"cluster": {"worker": ["localhost:2222"]}, "task": {"type": "worker", "index": 0}}  # then it is not told
config = json.loads(e.get("TF_CONFIG") or json.dumps(alone))
all_of_us = [(role, i) for role in sorted(config["cluster"]) for i in range(len(config["cluster"][role]))]
rank, world = all_of_us.index((config["task"]["type"], config["task"]["index"])), len(all_of_us)
host, port = config["cluster"][all_of_us[0][0]][0].rsplit(":", 1)
""",
    "PyTorchJob": """
rank, world, host, port = int(e["RANK"]), int(e["WORLD_SIZE"]), e["MASTER_ADDR"], e["MASTER_PORT"]
""",
    "PaddleJob": """
role, index = socket.gethostname().rsplit("-", 2)[-2:]
host, port = e["PADDLE_MASTER"].rsplit(":", 1)
rank, world = int(index) + (role == "worker"), int(e["PADDLE_NNODES"])
""",
    "JAXJob": """
rank, world = int(e["PROCESS_ID"]), int(e["NUM_PROCESSES"])
host, port = e["COORDINATOR_ADDRESS"], e["COORDINATOR_PORT"]
""",
}
WHO["XGBoostJob"] = WHO["PyTorchJob"]
BY_NAME = {k.name: k for k in KINDS}


def python(code):
    return ["/usr/bin/python3", "-uc", code]


def rendezvous(kind):
    """role: the command of a replica. Where there is a launcher, mpirun sees to it that all meet: its program
    runs in the workers, which wait for it, and pods of this kind have no names for each other."""
    if kind.name != "MPIJob":
        return {role: python(HEAD + WHO[kind.name] + TAIL) for role in kind.shape}
    mpirun = ["mpirun", "--allow-run-as-root", "-n", str(kind.shape["Worker"]), "--mca", "btl", "tcp,self"]
    return {"Launcher": python(HEAD + f"await_gate()\nos.execvp('mpirun', {mpirun + python(RANK)})"),
            "Worker": ["sleep", "infinity"]}


class Told:
    """What the SDK prints while it follows logs."""

    def __init__(self):
        self.lines = []
        self.changed = threading.Condition()
        training_client.print = self  # in its module, in place of the function

    def __call__(self, text):
        with self.changed:
            self.lines.append(text)
            self.changed.notify_all()


TOLD = Told()


class Stage(Scene):
    """A scene with a client of the SDK, for one kind of jobs."""

    def __init__(self, machine, ns, kind):
        super().__init__(machine, ns)
        self.kind = kind
        self.sdk = TrainingClient(config_file=self.kube.kubeconfig, namespace=ns, job_kind=kind.name)

    def gate(self, name):
        """An environment variable and a mounted folder by which replicas wait for self.open(name)."""
        self.open(name, times=0)
        return {"GATE": os.path.join(self.folder, name)}

    def replica(self, n, command, policy=None, env=None, **container):
        """The gates are where they are on the machine, too, at both levels of isolation."""
        box = models.V1Container(
            name=self.kind.container, image=IMAGE, command=command,
            env=[models.V1EnvVar(name=k, value=v) for k, v in (env or {}).items()],
            resources=models.V1ResourceRequirements(requests={"cpu": "10m"}, limits={"memory": "1Gi", "cpu": 1}),
            volume_mounts=[models.V1VolumeMount(name="gates", mount_path=self.folder)], **container)
        pod = models.V1PodSpec(
            containers=[box], termination_grace_period_seconds=1,
            volumes=[models.V1Volume(name="gates", host_path=models.V1HostPathVolumeSource(path=self.folder))])
        meta = models.V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"})
        return models.KubeflowOrgV1ReplicaSpec(replicas=n, restart_policy=policy,
                                               template=models.V1PodTemplateSpec(metadata=meta, spec=pod))

    def model(self, commands, name=NAME, policy="Never", shape=None, env=None, **run_policy):
        """A job of the kind's usual shape. commands: those of all roles, or by role."""
        job, spec = JOB_MODELS[self.kind.name]
        replicas = {role: self.replica(n, commands[role] if isinstance(commands, dict) else commands, policy, env)
                    for role, n in (shape or self.kind.shape).items()}
        run_policy.setdefault("clean_pod_policy", "None")
        return job(api_version="kubeflow.org/v1", kind=self.kind.name, metadata=models.V1ObjectMeta(name=name),
                   spec=spec(**{SPECS[self.kind.name]: replicas},
                             run_policy=models.KubeflowOrgV1RunPolicy(**run_policy)))

    def names(self, shape=None, name=NAME):
        return [f"{name}-{p}" for p in pods_of(shape or self.kind.shape)]

    def reaches(self, name=NAME, *conditions, **words):
        """The job, once one of them is True."""
        return self.sdk.wait_for_job_conditions(name, expected_conditions=set(conditions or ("Succeeded",)),
                                                **POLL, **words)

    def holds(self, name=NAME, **want):
        for word, value in want.items():
            is_(getattr(self.sdk, f"is_job_{word}")(name), value, f"is_job_{word}")

    def all_run(self, names=None):
        for name in names or self.names():
            self.wait_phase(name, "Running", timeout=120)

    def stop(self):
        for job in self.sdk.list_jobs():
            self.sdk.delete_job(job.metadata.name)
        super().stop()


def text_of(log):
    """A log as read_namespaced_pod_log gives it: some clients hand out the bytes as Python writes them."""
    if log.startswith(("b'", 'b"')):
        log = eval(log).decode()  # pylint: disable=eval-used # the only way back
    return log


def told(pod, part):
    """Waits until the SDK printed such a line of that pod's."""
    with TOLD.changed:
        ok = TOLD.changed.wait_for(lambda: any(f"[Pod {pod}]: " in t and part in t for t in list(TOLD.lines)), 240)
    assert ok, f"{pod} is not heard to say {part!r}: {[t for t in TOLD.lines if pod in t]}"
