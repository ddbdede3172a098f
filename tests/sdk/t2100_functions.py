#!/usr/bin/env python3
"""Jobs that the SDK makes of Python functions and of images, run for real. What a cluster has in the image,
`python` and `torchrun` with packages, here is a Python environment that the image is mapped to.
Usage: t2100_functions.py [namespaces|shared] [part of a test's name]..."""

import re
import sys
import types

from kubeflow.training import models

from harness.kinds import PYTORCH, TF
from harness.tap import Skip, has, is_
from images import REAL_TORCH, TORCH_ENV, furnish
from real import NAME, text_of
from stages import each, fails, play_all
from world.record import phase

def logs_of(s, **words):
    """{pod: text}, of all replicas unless words choose."""
    logs, _ = s.sdk.get_job_logs(NAME, is_master=False, **words)
    return {pod: text_of(log) for pod, log in logs.items()}


def hears(s, part, what):
    """The job is over with its master; the others say their last word when they come to it."""
    s.until(lambda: part in "".join(logs_of(s).values()), lambda: f"{what}: {part} in {logs_of(s)}")


def verify(s):
    """What the SDK's own end-to-end tests ask of every job."""
    s.reaches()
    assert len(s.sdk.get_job_conditions(NAME)) >= 2
    s.holds(created=True, succeeded=True, running=False, restarting=False, failed=False)


# ---- functions, sent as their source

def tell(parameters):
    import json  # pylint: disable=import-outside-toplevel # it runs elsewhere
    import os  # pylint: disable=import-outside-toplevel,reimported,redefined-outer-name
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    print(f"{task['type']} {task['index']}: {parameters['epochs']} epochs at {parameters['rate']}, {os.environ['MODE']}")


@each(TF)
def a_function_runs_in_every_role(s):
    s.sdk.create_job(name=NAME, train_func=tell, parameters={"epochs": 2, "rate": 0.5}, num_workers=2,
                     num_chief_replicas=1, num_ps_replicas=1, env_vars={"MODE": "test"},
                     resources_per_worker={"cpu": 1, "memory": "512Mi", "gpu": 0})
    verify(s)
    s.until(lambda: len(logs_of(s)) == 4, "all four have run")
    want = {f"j-{role}-{i}": f"{role} {i}: 2 epochs at 0.5, test\n"
            for role, i in (("chief", 0), ("ps", 0), ("worker", 0), ("worker", 1))}
    s.until(lambda: logs_of(s) == want, lambda: f"what each says: {logs_of(s)}")
    is_(sorted(s.sdk.get_job_logs(NAME)[0]), ["j-chief-0"], "the chief is the master")


def alone():
    import os  # pylint: disable=import-outside-toplevel,reimported,redefined-outer-name
    import sys  # pylint: disable=import-outside-toplevel,reimported,redefined-outer-name
    print("one of", os.environ["WORLD_SIZE"], "by", os.path.basename(sys.executable))


@each(PYTORCH)
def a_function_alone_needs_no_torchrun(s):
    s.sdk.create_job(name=NAME, train_func=alone, num_workers=1, labels={"team": "a"}, annotations={"why": "test"})
    verify(s)
    is_(logs_of(s), {"j-master-0": "one of 1 by python\n"}, "what it says")
    job = s.sdk.get_job(NAME)
    is_((job.metadata.labels["team"], job.metadata.annotations["why"]), ("a", "test"), "labels and annotations")


def gather():
    import os  # pylint: disable=import-outside-toplevel,reimported,redefined-outer-name
    try:
        import torch.distributed as dist  # pylint: disable=import-outside-toplevel,import-error
    except ImportError:
        print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
        return
    import torch  # pylint: disable=import-outside-toplevel,import-error
    dist.init_process_group("gloo")
    numbers = torch.tensor([float(dist.get_rank())])
    dist.all_reduce(numbers)
    print("rank", dist.get_rank(), "of", dist.get_world_size(), "sum", int(numbers[0]))


@each(PYTORCH)
def a_function_is_trained_by_torchrun(s):
    """By itself torchrun would start as many processes as there are cores, in each of them."""
    s.sdk.create_job(name=NAME, train_func=gather, num_workers=3, num_procs_per_worker=1, env_vars=TORCH_ENV)
    verify(s)
    is_(sorted(s.sdk.get_job_pod_names(NAME)), ["j-master-0", "j-worker-0", "j-worker-1"], "pods")
    for rank in range(3):
        hears(s, f"rank {rank} of 3" + (" sum 3" if REAL_TORCH else ""), "every rank took part")


@each(PYTORCH)
def a_worker_has_several_processes(s):
    s.sdk.create_job(name=NAME, train_func=gather, num_workers=1, num_procs_per_worker=2, env_vars=TORCH_ENV)
    verify(s)
    is_(s.sdk.get_job(NAME).spec.nproc_per_node, "2", "processes a node")
    if REAL_TORCH:
        for rank in range(2):
            has(logs_of(s)["j-master-0"], f"rank {rank} of 2 sum 1", "each process")


def thankful():
    import kind_word  # pylint: disable=import-outside-toplevel,import-error
    print("they say", kind_word.say())


@each(TF)
def packages_are_installed_first(s):
    """The index is a directory, so no network is needed."""
    s.sdk.create_job(name=NAME, train_func=thankful, num_workers=1, packages_to_install=["kind-word"],
                     pip_index_url=f"file://{s.machine.folder}/index/simple",
                     volumes=[models.V1Volume(name="index", host_path=models.V1HostPathVolumeSource(
                         path=f"{s.machine.folder}/index"))],
                     volume_mounts=[models.V1VolumeMount(name="index", mount_path=f"{s.machine.folder}/index")])
    verify(s)
    has(logs_of(s)["j-worker-0"], "they say well done\n", "it has it")


def broken(parameters):
    raise ValueError(f"no {parameters['what']}")


@each(PYTORCH)
def a_function_that_raises_can_be_read(s):
    """It is tried again for ever, as no policy says otherwise; what it said is there between two tries."""
    s.sdk.create_job(name=NAME, train_func=broken, parameters={"what": "data"}, num_workers=1)
    s.wait_restarts("j-master-0", 1, box_name=s.kind.container, timeout=120)
    what = re.compile("Traceback.*\n.*ephemeral_script.py.*ValueError: no data\n", re.DOTALL)
    s.until(lambda: what.search(logs_of(s).get("j-master-0", "")), lambda: f"the log: {logs_of(s)}")
    s.holds(succeeded=False, failed=False)


@each(TF)
def a_function_that_raises_fails_the_job(s):
    """Replicas of this kind are not started again unless one says so."""
    s.sdk.create_job(name=NAME, train_func=broken, parameters={"what": "data"}, num_workers=1)
    has(fails(s.reaches), "is Failed", "waiting ends")
    has(logs_of(s)["j-worker-0"], "ValueError: no data\n", "the log")


# ---- images

@each(PYTORCH)
def an_image_becomes_a_job_that_ends_at_once(s):
    s.sdk.create_job(name=NAME, base_image="docker.io/hello-world", num_workers=1)
    verify(s)
    is_(logs_of(s), {"j-master-0": "hello from j-master-0\n"}, "what its own command says")


@each(TF)
def an_image_that_nobody_mapped_says_so(s):
    s.sdk.create_job(name=NAME, base_image="example.com/unknown:7", num_workers=1)
    has(s.wait_waiting("j-worker-0", "ImageNotMapped", s.kind.container), "muster image map", "what to do")

    def events():
        return "\n".join(s.sdk.get_job_logs(NAME, is_master=False, verbose=True)[1].get("pod/j-worker-0", ()))
    s.until(lambda: "muster image map example.com/unknown" in events(), lambda: f"told by the SDK as well: {events()}")


# ---- train()

def model_libraries():
    """transformers and peft, as far as the SDK's module looks at them: the real ones want PyTorch and a hub."""
    def module(name, *classes):
        found = sys.modules.setdefault(name, types.ModuleType(name))
        for c in classes:
            setattr(found, c, type(c, (), {"to_dict": lambda self: {"kind": type(self).__name__}}))
        return found
    module("peft", "LoraConfig")
    tasks = ("SequenceClassification", "TokenClassification", "QuestionAnswering", "CausalLM", "MaskedLM",
             "ImageClassification")
    return module("transformers", "TrainingArguments", *(f"AutoModelFor{t}" for t in tasks))


@each(PYTORCH)
def a_model_is_tuned_through_a_claim(s):
    """train(): the master's init container fills a claim of two access modes, every trainer finds it filled."""
    transformers = model_libraries()
    from kubeflow.storage_initializer import hugging_face  # pylint: disable=import-outside-toplevel
    if not s.namespaces:
        raise Skip("/workspace is one place for all pods there")
    args = {"model_provider_parameters": hugging_face.HuggingFaceModelParams(
                model_uri="hf://example/small", transformer_type=transformers.AutoModelForSequenceClassification),
            "dataset_provider_parameters": hugging_face.HuggingFaceDatasetParams(repo_id="example/rows"),
            "trainer_parameters": hugging_face.HuggingFaceTrainerParams()}
    s.sdk.train(name=NAME, num_workers=2, resources_per_worker={"gpu": 0, "cpu": 1, "memory": "1G"}, **args)
    verify(s)
    claim = s.sdk.core_api.read_namespaced_persistent_volume_claim(NAME, s.ns)
    is_((claim.status.phase, claim.spec.access_modes, claim.status.capacity), (
        "Bound", ["ReadWriteOnce", "ReadOnlyMany"], {"storage": "10Gi"}), "its claim")
    text = "a model of hf://example/small, rows of example/rows, for AutoModelForSequenceClassification"
    # The job is over with its master, and a worker that was still waiting for it never begins.
    s.until(lambda: all(text in log for log in logs_of(s).values()), lambda: f"each says {text}: {logs_of(s)}")
    s.sdk.delete_job(NAME)
    s.until(lambda: not s.sdk.get_job_pod_names(NAME), "pods go")
    s.sdk.train(name=NAME, num_workers=1, **args)  # the claim is there already, which is fine
    verify(s)


# ---- from within

INSIDE = """
from kubeflow.training import TrainingClient
client = TrainingClient(job_kind="TFJob")
client.create_job(name="inner", base_image="docker.io/hello-world", num_workers=1)
client.wait_for_job_conditions("inner", polling_interval=0.2, wait_timeout=240)
print(client.namespace, client.get_job_logs("inner")[0])
"""


@each(TF)
def a_pod_can_use_the_sdk(s):
    """As a notebook or a step of a pipeline does, by its service account and what its role allows."""
    rules = [{"apiGroups": ["kubeflow.org"], "resources": ["tfjobs"], "verbs": ["create", "get", "list"]},
             {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "train"}, "rules": rules}
    binding = {**role, "kind": "RoleBinding", "subjects": [{"kind": "ServiceAccount", "name": "default"}],
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "train"}}
    del binding["rules"]
    at = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{s.ns}"
    s.kube.call("POST", f"{at}/roles", role)
    s.kube.call("POST", f"{at}/rolebindings", binding)
    box = {"name": "main", "image": "example.com/notebook", "command": [sys.executable, "-c", INSIDE],
           "env": [{"name": "PYTHONPATH", "value": ""}, {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}]}
    s.start("notebook", box, gate=False)
    end = s.wait_end("notebook", timeout=240)
    is_(phase(end), "Succeeded", s.log("notebook"))
    has(s.log("notebook"), f"{s.ns} {{'inner-worker-0':", "the namespace, and the log")
    has(s.log("notebook"), "hello from inner-worker-0", "of the job")


if __name__ == "__main__":
    play_all(furnish=furnish, width=4)
