"""What images stand for on a test's machine: a cluster has `python`, `pip` and `torchrun` in them, here it is a
Python environment; and an index for pip that needs no network."""

import os
import subprocess
import zipfile

from kubeflow.training.constants import constants

from harness.engine import TOP

PYTHON = "/usr/bin/python3"
REAL_TORCH = os.access("/usr/bin/torchrun", os.X_OK) and not subprocess.run(
    [PYTHON, "-c", "import torch.distributed"], stderr=subprocess.DEVNULL, check=False).returncode
# Debian's PyTorch 1.13 trips over Python 3.11 unless it is told where output goes; the others do not mind.
TORCH_ENV = {"PET_REDIRECTS": "1", "PET_TEE": "1", "OMP_NUM_THREADS": "1"}
# What torchrun does for one process of each worker, where PyTorch is not installed: all begin when all are there,
# and end when all have ended. Who did not wait would be gone before the others have found it.
TORCHRUN = """#!/usr/bin/env python
import os, socket, subprocess, sys, time
e = os.environ
rank, world, at = int(e["PET_NODE_RANK"]), int(e["PET_NNODES"]), (e["PET_MASTER_ADDR"], int(e["PET_MASTER_PORT"]))
lines = []
if rank == 0 and world > 1:
    door = socket.create_server(("", at[1]))
    lines = [door.accept()[0] for _ in range(world - 1)]
while rank > 0 and not lines:
    try:
        lines = [socket.create_connection(at, 60)]
    except OSError:
        time.sleep(0.1)
code = subprocess.call(["python", "-u", *sys.argv[1:]], env={**e, "RANK": str(rank), "WORLD_SIZE": str(world)})
for line in lines:
    line.shutdown(socket.SHUT_WR)
for line in lines:
    line.settimeout(None)
    line.recv(1)
sys.exit(code)
"""
ARGUMENTS = """#!/usr/bin/python3
import json, os, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
"""
INITIALIZE = ARGUMENTS + """
for what, member in (("model", "model_uri"), ("dataset", "repo_id")):
    os.makedirs(f"/workspace/{what}", exist_ok=True)
    with open(f"/workspace/{what}/name", "w") as f:
        f.write(json.loads(given[f"--{what}_provider_parameters"])[member])
"""
TUNE = ARGUMENTS + """
model, rows = (open(given[f"--{what}_dir"] + "/name").read() for what in ("model", "dataset"))
print(f"a model of {model}, rows of {rows}, for {given['--transformer_type']}")
"""


def furnish(machine):
    """The images: an environment with pip; an index with one package; a program."""
    venv = machine.make("images", "python")
    subprocess.run(["cp", "-a", f"{TOP}/build/sdk/image/.", venv], check=True)
    if not REAL_TORCH:
        write(f"{venv}/bin/torchrun", TORCHRUN)
    for image in (constants.PYTORCHJOB_BASE_IMAGE, constants.TFJOB_BASE_IMAGE):
        map_image(machine, image.rsplit(":", 1)[0], "--venv", venv)
    write(f"{venv}/bin/hello", "#!/bin/sh\necho hello from $(hostname) $*\n")
    map_image(machine, "docker.io/hello-world", "--venv", venv, "--command", "hello")
    # train()'s two images, by what they leave and look for in the claim.
    write(f"{venv}/bin/initialize", INITIALIZE)
    write(f"{venv}/bin/tune", TUNE)
    map_image(machine, constants.STORAGE_INITIALIZER_IMAGE, "--venv", venv, "--command", "initialize")
    map_image(machine, constants.TRAINER_TRANSFORMER_IMAGE, "--venv", venv, "--command", "tune")
    make_wheel(machine)


def map_image(machine, image, *words):
    done = machine.muster_run("image", "map", image, *words, "--data", machine.data)
    assert done.returncode == 0, done.stderr


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def make_wheel(machine):
    """machine.folder/index/simple/kind-word: a package of one function, as PyPI would have it."""
    name = "kind_word-1.0-py3-none-any.whl"
    folder = machine.make("index", "simple", "kind-word")
    with zipfile.ZipFile(f"{folder}/{name}", "w") as z:
        z.writestr("kind_word.py", "def say():\n    return 'well done'\n")
        meta = "kind_word-1.0.dist-info/"
        z.writestr(meta + "METADATA", "Metadata-Version: 2.1\nName: kind-word\nVersion: 1.0\n")
        z.writestr(meta + "WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(meta + "RECORD", f"kind_word.py,,\n{meta}METADATA,,\n{meta}WHEEL,,\n{meta}RECORD,,\n")
    write(f"{folder}/index.html", f'<html><body><a href="{name}">{name}</a></body></html>\n')
