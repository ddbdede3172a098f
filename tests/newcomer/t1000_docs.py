#!/usr/bin/python3
"""The README and docs/ as a newcomer follows them: the console blocks of each page in order, in a new directory of a
new user, and their output compared with what the page shows. Usage: t1000_docs.py [PAGE]..."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

from harness.tap import Skip, Tap, is_
from newcomer import TOP, Newcomer
from pages import How, Reader, blocks

HERE = os.path.dirname(os.path.abspath(__file__))
# Pages that other suites show, as a whole: docs/examples below.
OTHERS = {"docs/performance.md": "bench/run"}
INSTALLS = "changes the machine, or builds: tests/e2e/t0100-install.t"
CLUSTER = "needs a cluster: tests/cluster/run, tests/operator/run --cluster"
DEPLOY = "needs a cluster: tests/deploy/run"
SDK = "needs PyTorch and the SDK: tests/sdk/run"
GPU = "needs a GPU: tests/unit/node/test_resources.c, tests/node"

# Commands that are not run here, and why. One that its page no longer has must leave this list.
NOT_RUN = {
    ("README.md", "make demo"): "installs packages and builds: t0100-install.t checks its steps, t7310-examples.t runs its jobs",
    ("README.md", "sudo make install"): INSTALLS,
    ("README.md", "muster manifests install --image registry.example/muster:0.1.0 | kubectl apply -f -"): DEPLOY,
    ("README.md", "muster manifests | kubectl apply -f -"): CLUSTER,
    ("README.md", "muster operator"): CLUSTER,
    ("docs/cli.md", "muster resources"): "shows what this machine has: tests/e2e/t7420-guide.t",
    ("docs/cli.md", "muster why big"): "its jobs compete for two GPUs of one server: t6070-why.t makes such jobs",
    ("docs/cli.md", "muster run --context prod --image pytorch/pytorch:2.1.2 --kind pytorch -N 4 --gpus 1 --upload -- python train.py"):
        "needs a cluster: tests/e2e/t7347-make-cluster.t",
    **{("docs/gang.md", command): "needs the guide's job: tests/e2e/t7420-guide.t" for command in (
        "kubectl get podgroup", "muster get", "muster resources nvidia.com/gpu=4")},
    ("docs/gpus.md", "muster run --gang-scheduler-name none examples/pytorchjob-gpu.yaml"): GPU,
    ("docs/gpus.md", "kubectl get node -o yaml"): GPU,
    ("docs/images.md", "docker save pytorch/pytorch:2.4.0 | muster image import -"): "needs Docker: tests/e2e/t7330-image.t",
    ("docs/images.md", "muster run job.yaml"): "needs the image: tests/e2e/t7330-image.t",
    ("docs/images.md", "muster image pull pytorch/pytorch:2.4.0"): "needs a registry: tests/e2e/t7335-pull.t",
    ("docs/images.md", "muster image rm pytorch/pytorch:2.4.0"): "needs the image: tests/e2e/t7330-image.t",
    **{("docs/install.md", command): INSTALLS for command in (
        "make", "sudo make install", "make install PREFIX=$HOME/.local", "make install PREFIX=/usr DESTDIR=/tmp/m",
        "sudo make uninstall", "make deb", "sudo apt install ./build/muster_*.deb")},
    **{("docs/install.md", command): "builds: tests/e2e/t0110-bundle.t, tests/pack/try" for command in (
        "make tarball", "tar -xzf muster-*.tar.gz -C /opt", "ln -s /opt/muster-*/muster /usr/local/bin/muster")},
    **{("docs/install.md", command): DEPLOY for command in (
        "make image", "skopeo copy oci-archive:build/muster-0.1.0-image.tar docker://registry.example/muster:0.1.0",
        "muster manifests install --image registry.example/muster:0.1.0 | kubectl apply -f -",
        "muster manifests install --namespace team-a --enable-scheme pytorchjob | kubectl apply -f -",
        "kubectl apply -k deploy/kustomize/overlays/standalone", "kubectl apply -k deploy/kustomize/overlays/kubeflow",
        "helm install muster deploy/helm/muster -n muster-system --create-namespace --set image.repository=registry.example/muster",
        "helm test muster -n muster-system", "helm upgrade muster deploy/helm/muster -n muster-system --reset-then-reuse-values",
        "kubectl delete validatingwebhookconfiguration validator.training-operator.kubeflow.org",
        "muster manifests uninstall | kubectl delete --ignore-not-found -f -", "helm uninstall muster -n muster-system")},
    ("docs/operator.md", "muster manifests | kubectl apply -f -"): CLUSTER,
    ("docs/operator.md", "muster operator"): CLUSTER,
    ("docs/operator.md", "muster operator --kubeconfig other.conf --namespace team-a"): CLUSTER,
    ("docs/sdk.md", "python3 sum.py"): SDK,
}

VENV = "python3 -m venv --without-pip ~/torch"
UP = "muster up --detach --listen 127.0.0.1:0"
SIZES = [(r"\b\d+m +\d+Mi +", "1m 1Mi "), (r"CPU\(cores\) +MEMORY\(bytes\) +", "CPU MEMORY ")]
# How commands are run that cannot be run as they are.
HOW = {
    ("README.md", "muster run --kind pytorch --replicas 3 -- python3 train.py"): How(level="namespaces"),  # else a worker may miss the Master
    ("README.md", "muster up --detach && export KUBECONFIG=~/.local/share/muster/kubeconfig"):
        How(instead=f"{UP} && export KUBECONFIG=~/.local/share/muster/kubeconfig"),
    ("README.md", "kubectl get pods"): How(changes=True),
    ("README.md", "kubectl get tfjobs"): How(changes=True),
    ("README.md", "muster validate job.yaml"): How(before="cp misspelt.yaml job.yaml", code=2),
    ("README.md", "muster get"): How(changes=True,
        before="sed -i s,DIR,$PWD,g ps-worker.yaml && kubectl delete tfjob ring && kubectl apply -f ps-worker.yaml"),
    ("README.md", "muster logs ps-worker -f"): How(before="touch end"),
    ("docs/api-server.md", "muster up --detach"): How(instead=UP),
    ("docs/api-server.md", "kubectl get namespaces"): How(changes=True),
    ("docs/api-server.md", "cat boats.yaml"): How(writes="boats.yaml"),
    ("docs/api-server.md", "printf 'apiVersion: harbour.dev/v1\\nkind: Boat\\nmetadata: {name: nutshell}\\nspec: {metres: 0}\\n' "
        "| kubectl apply -f -"): How(code=1),
    ("docs/cli.md", "muster get pod/x"): How(code=1, instead=f"{UP} >up.log 2>&1 && muster get pod/x; code=$?; muster down; (exit $code)"),
    ("docs/cli.md", "muster run big.yaml"): How(instead="muster run --pending-timeout 1s --resources cpu=2 big.yaml", code=1),
    ("docs/cli.md", "muster run --kind pytorch --replicas 2 --stall-after 5m -- python3 train.py"): How(level="namespaces", stopped=True, code=130,
        before="cp stall.py train.py", instead="muster run --kind pytorch --replicas 2 --stall-after 1s -- python3 train.py",
        same=[(r"since \d\S+Z", "since 2026-11-16T15:19:11Z")]),
    ("docs/cli.md", "muster run -- python3 prepare.py"): How(before="cp prepare.py train.py"),
    ("docs/cli.md", "muster run --kind mpi -N 4 -- ./simulate"): How(program="mpirun"),
    ("docs/cli.md", "muster ps"): How(before="muster ps rm --all && muster run mnist.yaml && ! muster run --name mnist -- false",
        same=[(r"(?m)^(mnist-\S+) +(\S+) .*? ((logs).*)$", r"\1 \2 \3"), (r"RUN +STATE .*LEFT", "RUN STATE LEFT"), (r" {2,}", " "), (r"\(.*?\)", "(1 KiB)")]),
    ("docs/cli.md", "muster get"): How(changes=True, before=f"{UP} && kubectl --kubeconfig ~/.local/share/muster/kubeconfig apply -f jobs.yaml"),
    ("docs/cli.md", "muster top"): How(changes=True, same=SIZES),
    ("docs/cli.md", "muster top ring"): How(changes=True, same=SIZES),
    ("docs/cli.md", "muster validate bad.yaml"): How(before="muster down", code=2),
    ("docs/gpus.md", "muster run --resources nvidia.com/gpu=2 --kind jax --replicas 2 --gpus 1 -- sh -c 'echo GPU $NVIDIA_VISIBLE_DEVICES'"):
        How(same=[(r"GPU [01]", "GPU 0")]),  # which of them is first
    ("docs/node.md", "muster image map pytorch/pytorch --venv ~/torch --command 'python3 -u train.py'"): How(before=VENV),
    ("docs/node.md", "muster image map example.org/tool --rootfs ~/images/tool"): How(before="mkdir -p ~/images/tool"),
    ("docs/sdk.md", "muster up --detach"): How(instead=UP),
    ("docs/sdk.md", "muster image map 'docker.io/pytorch/*' --venv ~/torch"): How(before=VENV),
}


def pages(folder="docs"):
    for root, _, names in os.walk(os.path.join(TOP, folder)):
        yield from (os.path.relpath(os.path.join(root, name), TOP) for name in sorted(names) if name.endswith(".md"))


def steps(page):
    """(block, command, lines shown), where a block is no command the last two are None."""
    for block in blocks(page):
        if block.language in ("console", "sh"):
            yield from ((block, command, shown) for command, shown in block.commands())
        else:
            yield block, None, None


def no_command_is_hidden(page):
    """In an indented block, or in one without a language, a command would not be tried."""
    with open(os.path.join(TOP, page), encoding="utf-8") as f:
        is_([line for line in f if re.match(r" {4,}\$ ", line)], [], "commands in an indented block: use ```console")
    hidden = [line for block, command, _ in steps(page) if command is None for line in block.lines if line.startswith("$ ")]
    is_(hidden, [], "commands in another block: use ```console")


def step(reader, levels, page, command, shown):
    how = HOW.get((page, command), How())
    if (page, command) in NOT_RUN:
        raise Skip(NOT_RUN[page, command])
    if how.level and levels[how.level]:
        raise Skip(levels[how.level])
    reader.follow(command, shown, how)


def validate(reader, text):
    reader.me.write(reader.cwd, "shown.yaml", text)
    reader.me.works("muster validate shown.yaml", reader.cwd)


def follow(tap, levels, page):
    me = Newcomer()
    reader = Reader(me, os.path.join(HERE, "given", os.path.splitext(os.path.basename(page))[0]))
    for block, command, shown in steps(page):
        text = "\n".join(block.lines) + "\n"
        script = re.search(r"`(\w+\.py)`", block.before)
        if command:
            tap.run(f"{page}: $ {command}", step, reader, levels, page, command, shown)
        elif block.language == "python" and script:
            me.write(reader.cwd, script[1], text)
        elif block.language == "yaml" and "apiVersion:" in text:
            tap.run(f"{page}: the YAML at line {block.line} is valid", validate, reader, text)
    me.run("muster down", reader.cwd)
    me.remove()


def frameworks_train(page):
    """The jobs of a page about a framework are those that the suite of frameworks trains."""
    folder, trained = os.path.join(TOP, "tests/frameworks"), set()
    for name in os.listdir(folder):
        if name.endswith(".t"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                trained |= set(re.findall(r"\b(?:train|submit|edited) (?:\S+ )?([a-z]+job-?[a-z0-9-]*)", f.read()))
    found = [re.search(r"muster run .*examples/(\S+)\.yaml", command or "") for _, command, _ in steps(page)]
    shown = {match[1] for match in found if match}
    assert shown, "no job is run"
    is_(shown - trained, set(), "not in tests/frameworks")


def main(names):
    tap, me = Tap(), Newcomer()
    levels = {"namespaces": me.level_there("namespaces")}
    frameworks = list(pages("docs/examples"))
    every = [p for p in ["README.md", *pages()] if p not in frameworks and p not in OTHERS]
    chosen = [p for p in every if not names or p in names]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(follow, tap, levels, page) for page in chosen]:
            done.result()
    for page in chosen:
        tap.run(f"{page}: no command is hidden", no_command_is_hidden, page)
    if not names:
        for page in frameworks:
            tap.run(f"{page}: tests/frameworks train its jobs", frameworks_train, page)
        known = {(page, command) for page in every for _, command, _ in steps(page)}
        tap.run("the tables name only commands that pages have", is_, {*NOT_RUN, *HOW} - known, set(), "not there")
    tap.end()


if __name__ == "__main__":
    main(sys.argv[1:])
