#!/usr/bin/python3
"""A newcomer's own scripts: plain Python, and in the environments of PyTorchJob, TFJob and MPIJob, with YAML and without,
at each level of isolation. The scripts need no framework (tests/frameworks has those): they meet by what the environment
says. What they leave is in the directory they were called in, and belongs to the user."""

import json
import os
import shutil

from harness.tap import Skip, Tap, has, is_
from newcomer import Newcomer

LEVELS = ("namespaces", "shared")

# Each replica sends its number to the first, which writes the sum: all have met.
MEET = """\
import json, socket, time

def meet(rank, world, host, port):
    print(f"rank {rank} of {world} trains", flush=True)
    if rank:
        while True:
            try:
                with socket.create_connection((host, port)) as s:
                    s.sendall(b"%d\\n" % rank)
                return
            except OSError: # the first is not there yet
                time.sleep(0.05)
    total = 0
    with socket.create_server(("", port)) as server:
        for _ in range(world - 1):
            with server.accept()[0] as s:
                total += int(s.makefile().readline())
    json.dump({"world": world, "sum": total}, open("model.json", "w"))
"""
PLAIN = """\
import json
json.dump({"world": 1, "sum": 0}, open("model.json", "w"))
print("rank 0 of 1 trains")
"""
TORCH = """\
import os
from meet import meet
e = os.environ
meet(int(e["RANK"]), int(e["WORLD_SIZE"]), e["MASTER_ADDR"], int(e["MASTER_PORT"]))
"""
TF = """\
import json, os
from meet import meet
config = json.loads(os.environ["TF_CONFIG"])
workers = config["cluster"]["worker"]
host, port = workers[0].rsplit(":", 1)
meet(config["task"]["index"], len(workers), host, int(port))
"""
# The processes of mpirun learn their rank from it.
MPI = """\
import json, os
e = os.environ
rank, world = int(e["OMPI_COMM_WORLD_RANK"]), int(e["OMPI_COMM_WORLD_SIZE"])
print(f"rank {rank} of {world} trains", flush=True)
if rank == 0:
    json.dump({"world": world, "sum": sum(range(world))}, open("model.json", "w"))
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec: {restartPolicy: Never, containers: [{name: main, image: mine, command: [python3, train.py]}]}
"""
JOB = """\
apiVersion: kubeflow.org/v1
kind: %s
metadata: {name: train}
spec:
  %s:
"""
REPLICAS = """\
    %s:
      replicas: %d
      restartPolicy: Never
      template: {spec: {containers: [{name: %s, image: mine, command: [%s]}]}}
"""
RUN = "python3, train.py"
MPIRUN = "mpirun, --allow-run-as-root, -np, '3', python3, train.py"

# kind: (script, options that make the job, the same in YAML, world)
KINDS = {
    "plain": (PLAIN, "", POD, 1),
    "pytorch": (TORCH, "--kind pytorch --replicas 3", JOB % ("PyTorchJob", "pytorchReplicaSpecs")
                + REPLICAS % ("Master", 1, "pytorch", RUN) + REPLICAS % ("Worker", 2, "pytorch", RUN), 3),
    "tf": (TF, "--kind tf --replicas 3", JOB % ("TFJob", "tfReplicaSpecs") + REPLICAS % ("Worker", 3, "tensorflow", RUN), 3),
    "mpi": (MPI, "--kind mpi --replicas 3", JOB % ("MPIJob", "mpiReplicaSpecs")
            + REPLICAS % ("Launcher", 1, "mpi", MPIRUN) + REPLICAS % ("Worker", 3, "mpi", "sleep, infinity"), 3),
}


def belongs(me, folder):
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            is_(os.stat(os.path.join(root, name)).st_uid, me.uid, f"who owns {name}")


def own(me, level, kind, with_yaml, why_not):
    if why_not:
        raise Skip(why_not)
    if kind == "mpi" and not shutil.which("mpirun", path="/usr/bin:/bin"):
        raise Skip("no mpirun: install openmpi-bin")
    script, options, text, world = KINDS[kind]
    cwd = me.folder("home", f"{kind}-{level}-{'yaml' if with_yaml else 'flags'}")
    files = {"train.py": script, "meet.py": MEET, "job.yaml": text}
    for name, content in files.items():
        me.write(cwd, name, content)
    out = me.works(f"muster run --timeout 2m --isolation {level} " + ("job.yaml" if with_yaml else f"{options} -- python3 train.py"), cwd)
    for rank in range(world):
        has(out, f"rank {rank} of {world} trains", "each rank writes")
    with open(os.path.join(cwd, "model.json"), encoding="utf-8") as f:
        is_(json.load(f), {"world": world, "sum": sum(range(world))}, "the model")
    is_(sorted(set(os.listdir(cwd)) - {"__pycache__"}), sorted([*files, "model.json"]), "what is in the directory")
    belongs(me, cwd)


# ---- what the README says below its first job

def a_virtual_environment_that_is_active_is_used(me, cwd):
    me.works("python3 -m venv --without-pip venv", cwd)
    me.write(cwd, "venv/lib/mine.py", "")
    me.write(cwd, "train.py", "import sys\nprint(sys.prefix)\n")
    is_(me.works(". venv/bin/activate; muster run -- python train.py", cwd), f"{cwd}/venv\n", "where its packages are")


def v_mounts_data_and_e_sets_variables(me, cwd):
    me.write(cwd, "lr.env", "LR=0.1\n# words\nEPOCHS=3\n")
    me.write(me.folder("home", "imagenet"), "first", "a cat\n")
    me.write(cwd, "train.py", "import os\nprint(os.environ['LR'], os.environ['EPOCHS'], open(os.environ['DATA'] + '/first').read())\n")
    out = me.works("muster run -v ~/imagenet:$HOME/data:ro -e DATA=$HOME/data --env-file lr.env -- python3 train.py", cwd)
    is_(out.split("\n")[0], "0.1 3 a cat", "what it sees")


def keep_files_copies_what_would_be_lost(me, cwd):
    me.write(cwd, "train.py", "import os\nopen(os.path.expanduser('~/weights'), 'w').write('1')\n")
    _, _, err = me.run("muster run --isolation namespaces --keep-files kept -- python3 train.py", cwd)
    has(err, f"1 file that pods changed in {me.home} was copied to", "it says so")
    with open(f"{cwd}/kept/train{me.home}/weights", encoding="utf-8") as f:
        is_(f.read(), "1", "the file")
    belongs(me, cwd)


def the_run_can_be_looked_at_afterwards_and_run_again(me, cwd):
    me.write(cwd, "train.py", "print('training')\n")
    me.works("muster run --name later -- python3 train.py", cwd)
    run = next(line.split()[0] for line in me.works("muster ps", cwd).splitlines() if line.startswith("later-"))
    has(me.works(f"muster logs {run}", cwd), "training", "its logs")
    me.write(cwd, "train.py", "print('training again')\n")
    has(me.works(f"muster rerun {run}", "/"), "training again", "it runs the script that is there now")
    me.works(f"muster ps rm {run}", cwd)
    assert run not in me.works("muster ps", cwd), "the run is still listed"


def what_init_writes_is_the_users(me, cwd):
    me.works("muster init pytorch my-project", cwd)
    is_(sorted(os.listdir(f"{cwd}/my-project")), ["train.py", "train.yaml"], "what it wrote")
    me.works("muster validate my-project/train.yaml", cwd)
    belongs(me, cwd)


SAID = [a_virtual_environment_that_is_active_is_used, v_mounts_data_and_e_sets_variables, keep_files_copies_what_would_be_lost,
        the_run_can_be_looked_at_afterwards_and_run_again, what_init_writes_is_the_users]


def said(me, test, levels):
    if test == keep_files_copies_what_would_be_lost and levels["namespaces"]:  # else nothing would be lost
        raise Skip(levels["namespaces"])
    test(me, me.folder("home", test.__name__))


def main():
    me, tap = Newcomer(), Tap()
    levels = {level: me.level_there(level) for level in LEVELS}
    tests = [(f"{level}, {kind}, {'with' if y else 'without'} YAML", own, me, level, kind, y, levels[level])
             for level in LEVELS for kind in KINDS for y in (True, False)]
    tests += [(test.__name__.replace("_", " "), said, me, test, levels) for test in SAID]
    tap.run_all(tests, width=2)
    tap.end()


if __name__ == "__main__":
    main()
