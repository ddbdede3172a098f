#!/usr/bin/python3
"""Many short jobs one after the other, and nothing of them is left: no process, namespace, mount, device, control
group, descriptor, file or memory. LEAK_JOBS says how many (60). Usage: t3000_leaks.py [namespaces|shared] [root|user]"""

import os

from harness.kinds import KINDS
from harness.kube import path_of
from harness.scene import job_of
from harness.tap import is_
from world.cast import nothing_left, on_each_of_argv
from world.leaks import Watch
from world.machine import Machine

WAVE = 12
WARM = 3  # waves until pools and tables have their size
GROWS_KB = 2048  # what allocators may still do in the second half, and 10 % of what there is
SCRIPT = "echo of $HOSTNAME >/tmp/x; setsid sleep 1000 & (setsid sh -c 'sleep 1001; sleep 1002' &); exit 0"


def job(kind, name, level):
    container = {"name": kind.container, "image": "x", "command": ["sh", "-c", SCRIPT]}
    template = {"spec": {"containers": [container]}}
    if level == "namespaces":  # where each pod can have its own at the same place
        container["volumeMounts"] = [{"name": "v", "mountPath": "/no/such/place"}]
        template["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    role = {"replicas": 1, "restartPolicy": "Never", "template": template}
    first = "Master" if kind.name in ("PyTorchJob", "XGBoostJob") else "Worker"
    more = {"Worker": role} if first == "Master" else {}
    return job_of(kind, name, **{first: role if more else {**role, "replicas": 2}}, **more)


def wave(machine, watch, kinds, number):
    """Jobs that come, succeed and go."""
    kube, made = machine.kube, []
    for i in range(WAVE):
        kind, name = kinds[i % len(kinds)], f"j{number}-{i}"
        kube.create(kind.plural, job(kind, name, machine.level), "default")
        made.append((kind, name))
    for kind, name in made:
        def succeeded(kind=kind, name=name):
            found = kube.get(kind.plural, name, "default").get("status", {}).get("conditions") or []
            return any(c["type"] == "Succeeded" and c["status"] == "True" for c in found)
        machine.until(succeeded, f"{kind.name} {name} succeeds", timeout=120)
    watch.uids |= {pod["metadata"]["uid"] for pod in kube.list("pods", "default")}
    for kind, name in made:
        kube.delete(kind.plural, name, "default", propagation="Background")
    machine.wait(lambda: not machine.pods.now, "all pods go", timeout=120)
    machine.until(lambda: len(kube.list("services", "default")) == 1, "all services go")
    kube.call("DELETE", path_of("events", ns="default"))


def settles(machine, watch, before):
    """Counts are no higher than they were, soon: the last keepers may still be clearing away."""
    def differences():
        now = watch.counts()
        return {k: (before.get(k), n) for k, n in now.items() if n > before.get(k, 0)}
    machine.until(lambda: not differences(), lambda: f"nothing is left (before, now): {differences()}")


def memory_stays(watch, before):
    now = watch.memory_kb()
    for words, kb in before.items():
        assert now.get(words, 0) <= kb * 1.1 + GROWS_KB, f"{words}: {kb} KB before, {now.get(words)} KB now"
    print(f"# resident KB: {before} -> {now}")


def many_jobs(tap, level, user, parts):
    del parts
    machine = Machine(level, user)
    kinds = [k for k in KINDS if k.name != "MPIJob"]
    watch = Watch(machine)
    waves = max(int(os.environ.get("LEAK_JOBS", "60")) // WAVE, WARM + 1)

    def warm():
        for number in range(WARM):
            wave(machine, watch, kinds, number)

    tap.run(f"jobs come and go ({machine.name})", warm)
    before, memory = watch.counts(), {}

    def rest():
        for number in range(WARM, waves):
            if number == max(waves // 2, WARM):  # the history of changes is full after some 250 jobs
                memory.update(watch.memory_kb())
            wave(machine, watch, kinds, number)
            if number % 10 == 0:
                tap.note(f"{number * WAVE} jobs ({machine.name}), resident KB: {list(watch.memory_kb().values())}")
        # removed beside the loop, after the pods
        machine.until(lambda: not machine.pod_files(watch.uids), lambda: f"files of pods: {machine.pod_files(watch.uids)}")
        is_(machine.cgroups(watch.uids), [], "control groups of pods")

    tap.run(f"{waves * WAVE} of them ({machine.name})", rest)
    tap.run(f"N2: no process, namespace, mount, device, descriptor, file more ({machine.name})", settles, machine, watch, before)
    with open(machine.muster, "rb") as f:
        if b"__asan_init" not in f.read():
            tap.run(f"R1: nor memory ({machine.name})", memory_stays, watch, memory)
    tap.run(f"stopped, it leaves nothing behind ({machine.name})", nothing_left, machine)
    machine.remove()


if __name__ == "__main__":
    on_each_of_argv(many_jobs)
