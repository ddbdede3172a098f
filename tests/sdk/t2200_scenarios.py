#!/usr/bin/env python3
"""The end-to-end tests that the Training Operator has for its SDK (sdk/python/test/e2e), told anew with programs
that run here: the same jobs, calls and assertions, in one namespace, one after the other, as pytest runs them.
Its gang tests want a gang scheduler beside the cluster; a few lines here do what it would.
Usage: t2200_scenarios.py [namespaces|shared] [part of a test's name]..."""

import sys

from kubeflow.training import TrainingClient, models

from harness.kinds import JAX, MPI, PADDLE, PYTORCH, TF, XGBOOST
from harness.tap import Tap, claim, has, is_
from images import TORCH_ENV, furnish
from real import HEAD, POLL, TAIL, WHO, python, text_of
from sdk import JOB_MODELS, SPECS
from stages import machines
from world.machine import LEVELS

NAMESPACE = "default"
CONTROLLERS = {"default": "kubeflow.org/training-operator", "multikueue": "kueue.x-k8s.io/multikueue",
               "invalid": "kueue.x-k8s.io/other-controller"}
SCHEDULER = "another"  # muster up would take pods that name volcano
TESTS = []


def scenario(f):
    TESTS.append(f)
    return f


# ---- helpers, as theirs

def verify_job_e2e(client, name):
    job = client.wait_for_job_conditions(name, NAMESPACE, **POLL)
    conditions = client.get_job_conditions(job=job)
    assert len(conditions) > 1, conditions
    for word, want in (("created", True), ("succeeded", True), ("running", False), ("restarting", False),
                       ("failed", False)):
        is_(getattr(client, f"is_job_{word}")(job=job), want, f"{word}: {conditions}")


def print_job_results(client, name):
    client.get_job(name, NAMESPACE)
    assert client.get_job_pod_names(name, NAMESPACE), "pods"
    logs, _ = client.get_job_logs(name, NAMESPACE)
    return logs


def container(kind, command, memory, cpu):
    return models.V1Container(name=kind.container, image="docker.io/kubeflow/e2e:latest", command=command,
                              resources=models.V1ResourceRequirements(limits={"memory": memory, "cpu": cpu}))


def replica(n, policy, box):
    template = models.V1PodTemplateSpec(metadata=models.V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"}),
                                        spec=models.V1PodSpec(containers=[box]))
    return models.KubeflowOrgV1ReplicaSpec(replicas=n, restart_policy=policy, template=template)


def job_of(kind, name, replicas, managed_by=None, gang=None, **more):
    """gang: how many pods have to be there before one of them starts, which its scheduler sees to."""
    job, spec = JOB_MODELS[kind.name]
    policy = models.KubeflowOrgV1RunPolicy(clean_pod_policy="None", managed_by=managed_by)
    if gang:
        policy.scheduling_policy = models.KubeflowOrgV1SchedulingPolicy(min_available=gang)
        for role in replicas.values():
            role.template.spec.scheduler_name = SCHEDULER
    return job(api_version="kubeflow.org/v1", kind=kind.name, metadata=models.V1ObjectMeta(name=name, namespace=NAMESPACE),
               spec=spec(**{SPECS[kind.name]: replicas}, run_policy=policy, **more))


def rendezvous(kind):
    return python(HEAD + WHO[kind.name] + TAIL)


def client_of(machine, kind):
    return TrainingClient(config_file=machine.kube.kubeconfig, job_kind=kind.name)


def hears(machine, client, name, part, many):
    """So many say that: the job is over with its master, the others say their last word when they come to it."""
    def logs():
        return {pod: text_of(log) for pod, log in client.get_job_logs(name, NAMESPACE, is_master=False)[0].items()}
    machine.until(lambda: sum(part in log for log in logs().values()) >= many, lambda: f"{many} say {part!r}: {logs()}")


def run_e2e(machine, job, kind, ranks):
    """Created, verified, printed, deleted; and every rank took part, which theirs do not look at."""
    client, name = client_of(machine, kind), job.metadata.name
    client.create_job(job, namespace=NAMESPACE)
    verify_job_e2e(client, name)
    print_job_results(client, name)
    for rank in range(ranks):
        hears(machine, client, name, f"rank {rank} of {ranks}", 1)
    client.delete_job(name, NAMESPACE)


# ---- the jobs

def pytorchjob(name="pytorchjob-e2e", **more):
    box = container(PYTORCH, rendezvous(PYTORCH), "2Gi", "0.8")
    return job_of(PYTORCH, name, {"Master": replica(1, "OnFailure", box), "Worker": replica(1, "OnFailure", box)}, **more)


def tfjob(**more):
    box = container(TF, rendezvous(TF), "4Gi", "1.6")
    return job_of(TF, "tfjob-mnist-ci-test", {"Worker": replica(1, "Never", box)}, **more)


def xgboostjob(**more):
    box = container(XGBOOST, rendezvous(XGBOOST), "2Gi", "0.8")
    return job_of(XGBOOST, "xgboostjob-iris-ci-test", {
        "Master": replica(1, "OnFailure", box), "Worker": replica(1, "OnFailure", box)}, **more)


def mpijob(**more):
    """A launcher that starts before its worker would fail the job for good. Their worker has no command and stays
    by the image's, which here is said."""
    rank = "import os; e = os.environ; print('rank', e['OMPI_COMM_WORLD_RANK'], 'of', e['OMPI_COMM_WORLD_SIZE'])"
    program = ["mpirun", "--allow-run-as-root", "-np", "1", *python(rank)]
    return job_of(MPI, "mpijob-pytorch-ci-test", {
        "Launcher": replica(1, "Never", container(MPI, program, "1Gi", "0.4")),
        "Worker": replica(1, "Never", container(MPI, ["sleep", "infinity"], "3Gi", "1.2"))}, slots_per_worker=1, **more)


def paddlejob(**more):
    program = HEAD + WHO["PaddleJob"].replace(' + (role == "worker")', "") + TAIL  # there is no master
    box = container(PADDLE, python(program), "2Gi", "0.8")
    return job_of(PADDLE, "paddlejob-cpu-ci-test", {"Worker": replica(2, "OnFailure", box)}, **more)


def jaxjob(**more):
    box = container(JAX, rendezvous(JAX), "3Gi", "1.2")
    return job_of(JAX, "jaxjob-cpu-ci-test", {"Worker": replica(2, "OnFailure", box)}, **more)


# ---- test_e2e_pytorchjob.py

@scenario
def pytorchjob_e2e(machine):
    run_e2e(machine, pytorchjob(), PYTORCH, 2)


@scenario
def pytorchjob_e2e_managed_by(machine):
    client = client_of(machine, PYTORCH)
    for word, manager in CONTROLLERS.items():
        job = pytorchjob(f"pytorchjob-e2e-{word}-controller", managed_by=manager)
        try:
            client.create_job(job, namespace=NAMESPACE)
        except RuntimeError as e:
            has(str(e), f"Failed to create PyTorchJob: {NAMESPACE}/pytorchjob-e2e-invalid-controller", "what is raised")
            is_(word, "invalid", "who is refused")
        else:
            assert word != "invalid", "it was taken"
    # The job of the test before was deleted a moment ago: it is gone.
    names = ["pytorchjob-e2e-default-controller", "pytorchjob-e2e-multikueue-controller"]
    is_(sorted(j.metadata.name for j in client.list_jobs(NAMESPACE)), names, "jobs there are")
    verify_job_e2e(client, names[0])
    is_(client.get_job_conditions(names[1], NAMESPACE), [], "another's job is left alone")
    print_job_results(client, names[0])
    for name in names:
        client.delete_job(name, NAMESPACE)


def train_func():
    import time  # pylint: disable=import-outside-toplevel,reimported,redefined-outer-name # it runs elsewhere
    for i in range(10):
        print(f"Start training for Epoch {i}")
        time.sleep(0.1)


@scenario
def pytorchjob_create_from_func(machine):
    client, name = client_of(machine, PYTORCH), "pytorchjob-from-func"
    client.create_job(name=name, namespace=NAMESPACE, train_func=train_func, num_workers=3, num_procs_per_worker=1,
                      env_vars=TORCH_ENV)
    verify_job_e2e(client, name)
    pods = client.get_job_pod_names(name, NAMESPACE)
    is_(len(pods), 3, "pods")
    assert f"{name}-worker-0" in pods, pods
    hears(machine, client, name, "Start training for Epoch 9", 3)
    client.delete_job(name, NAMESPACE)


@scenario
def pytorchjob_create_from_image(machine):
    client, name = client_of(machine, PYTORCH), "pytorchjob-from-image"
    client.create_job(name=name, namespace=NAMESPACE, base_image="docker.io/hello-world", num_workers=1)
    verify_job_e2e(client, name)
    has(text_of(*print_job_results(client, name).values()), f"hello from {name}-master-0", "its log")
    client.delete_job(name, NAMESPACE)


# ---- the other kinds

@scenario
def tfjob_e2e(machine):
    run_e2e(machine, tfjob(), TF, 1)


@scenario
def xgboostjob_e2e(machine):
    run_e2e(machine, xgboostjob(), XGBOOST, 2)


@scenario
def mpijob_e2e(machine):
    run_e2e(machine, mpijob(), MPI, 1)


@scenario
def paddlejob_e2e(machine):
    run_e2e(machine, paddlejob(), PADDLE, 2)


@scenario
def jaxjob_e2e(machine):
    run_e2e(machine, jaxjob(), JAX, 2)


# ---- test_sdk_e2e_with_gang_scheduling, of each kind

GANGS = ((PYTORCH, lambda **more: pytorchjob("pytorchjob-gang-scheduling", **more), 2, 2), (TF, tfjob, 1, 1),
         (XGBOOST, xgboostjob, 2, 2), (MPI, mpijob, 2, 1), (PADDLE, paddlejob, 2, 2), (JAX, jaxjob, 2, 2))


def schedule(machine, client, name, pods):
    """What a gang scheduler does: when as many pods wait as the job wants at once, all of them get a node. It looks
    at the job, as `muster up` makes no PodGroups. True: they got one."""
    want = client.get_job(name, NAMESPACE).spec.run_policy.scheduling_policy.min_available

    def waiting():
        return [p for p in client.get_job_pods(name, NAMESPACE) if p.spec.scheduler_name == SCHEDULER
                and not p.spec.node_name and not p.metadata.deletion_timestamp]
    machine.until(lambda: len(waiting()) == pods, lambda: f"{pods} pods wait: {[p.metadata.name for p in waiting()]}")
    if pods < want:
        return False
    node = client.core_api.list_node().items[0].metadata.name
    for pod in waiting():
        target = {"target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        machine.kube.call("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod.metadata.name}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.metadata.name}, **target})
    return True


def gang_e2e(machine, kind, make, pods, ranks):
    client = client_of(machine, kind)
    job = make(gang=10)
    name = job.metadata.name
    client.create_job(job, namespace=NAMESPACE)
    client.wait_for_job_conditions(name, NAMESPACE, expected_conditions={"Created"}, **POLL)
    is_(schedule(machine, client, name, pods), False, "ten are wanted, and not so many there")
    job = client.get_job(name, NAMESPACE)
    is_((client.is_job_created(job=job), client.is_job_running(job=job)), (True, False), "created, and not running")
    client.update_job(make(gang=pods), name, NAMESPACE)
    is_(schedule(machine, client, name, pods), True, "as many are wanted as are there")
    verify_job_e2e(client, name)
    print_job_results(client, name)
    for rank in range(ranks):
        hears(machine, client, name, f"rank {rank} of {ranks}", 1)
    client.delete_job(name, NAMESPACE)


def main():
    parts = [w for w in sys.argv[1:] if w not in LEVELS]
    tap = Tap()
    for machine in machines(tap, LEVELS[:1]):
        furnish(machine)
        for f in TESTS:
            if not parts or any(p in claim(f) for p in parts):
                tap.run(f"{claim(f)} ({machine.level})", f, machine)
        gangs = [(f"{kind.name.lower()} with gang scheduling ({machine.level})", gang_e2e, machine, kind, *more)
                 for kind, *more in GANGS]
        tap.run_all([g for g in gangs if not parts or any(p in g[0] for p in parts)], width=len(GANGS))
    tap.end()


if __name__ == "__main__":
    main()
