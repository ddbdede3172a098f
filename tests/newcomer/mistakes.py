"""The mistakes: what is in the directory, what is called, and how it ends. What is shown is in expected/."""

import os
import shutil
import signal as signals
from dataclasses import dataclass, field
from textwrap import dedent, indent

from newcomer import AS_ROOT, ORDINARY


@dataclass
class Mistake:
    name: str
    what: str
    command: str
    code: int
    files: dict = field(default_factory=dict)
    same: list = field(default_factory=list)  # (pattern, what stands for it): what differs here
    signal: int = 0  # sent once the command has written something
    level: str = ""  # needs this level of isolation
    cwd: str = ""
    before: str = ""  # runs first, as root if we are, and so does after
    after: str = ""
    needs_root: bool = False
    as_root: bool = False
    executable: bool = False


def fits(case, levels):
    """Why it cannot be tried here; or None."""
    if (case.needs_root or case.as_root) and not AS_ROOT:
        return "needs root"
    if case.as_root and not limits_kept():
        return "no control group with memory limits here"
    if case.name == "python" and shutil.which("python", path="/usr/bin:/bin"):
        return "there is a python here"
    return levels.get(case.level)


def limits_kept():
    try:
        with open("/sys/fs/cgroup/cgroup.controllers", encoding="utf-8") as f:
            return "memory" in f.read() and os.access("/sys/fs/cgroup", os.W_OK)
    except OSError:
        return os.access("/sys/fs/cgroup/memory", os.W_OK)


def pod(more="", container="", command="[python3, train.py]"):
    return dedent(f"""\
        apiVersion: v1
        kind: Pod
        metadata:
          name: train
        spec:
          restartPolicy: Never
        """) + indent(dedent(more), "  ") + "  containers:\n  - name: main\n    image: mine\n" + (
            f"    command: {command}\n" if command else "") + indent(dedent(container), "    ")


def pytorch(worker="", master="", name="train", kind="PyTorchJob", version="kubeflow.org/v1", role="Worker", container="pytorch"):
    def part(more):
        return f"restartPolicy: Never\ntemplate:\n  spec:\n    containers:\n    - name: {container}\n      image: mine\n" \
               f"      command: [python3, train.py]\n" + indent(dedent(more), "      ")
    return f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  pytorchReplicaSpecs:\n" \
           f"    Master:\n      replicas: 1\n{indent(part(master), '      ')}    {role}:\n      replicas: 2\n{indent(part(worker), '      ')}"


def one(name, what, script, code=1, **more):
    """A script that is run by itself."""
    more.setdefault("command", "muster run -- python3 train.py")
    return Mistake(name, what, code=code, files={"train.py": script, **more.pop("files", {})}, **more)


def yaml(name, what, text, code=2, script="print('training')\n", **more):
    more.setdefault("command", "muster run --pending-timeout 1s job.yaml")
    return Mistake(name, what, code=code, files={"job.yaml": text, "train.py": script, **more.pop("files", {})}, **more)


def line(name, what, command, code=2, **more):
    """A command line that is wrong."""
    script = {} if "cwd" in more else {"train.py": "print('training')\n"}
    return Mistake(name, what, command, code, files={**script, **more.pop("files", {})}, **more)


WAITS = "import threading\nprint('training', flush=True)\nthreading.Event().wait()\n"
FAILS_IN_ONE = """\
import glob, os, threading, time
rank = int(os.environ["RANK"])
while rank == 2 and len(glob.glob("ready-*")) < 3:
    time.sleep(0.01)
print(f"rank {rank} has {1 / (rank - 2)}", flush=True)
open(f"ready-{rank}", "w").close()
threading.Event().wait()
"""
FAILS_ONCE = """\
import os, threading
if not os.path.exists("begun"):
    open("begun", "w").close()
    print("training")
    raise SystemExit(1)
threading.Event().wait()
"""
# As on a machine whose administrator forbids namespaces.
UNPRIVILEGED = "unshare -U --map-current-user --keep-caps sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && " \
    "exec setpriv --inh-caps=-all --ambient-caps=-all "
HAS = [(r"(?<=this machine has )[0-9.]+[A-Z]?i?(, [0-9.]+[a-zA-Z]* free)?", "4")]

MISTAKES = [
    # ---- the file
    line("no-file", "the file is not there", "muster run jbo.yaml"),
    line("no-yaml-in-directory", "a directory without YAML", "muster run ."),
    line("empty-file", "an empty file", "muster run job.yaml", files={"job.yaml": ""}),
    yaml("yaml-syntax", "a bracket is not closed", pod().replace("[python3, train.py]", "[python3, train.py")),
    yaml("yaml-tab", "a tab in YAML", pod().replace("  containers", "\tcontainers")),
    yaml("yaml-indent", "a line is indented too little", pod().replace("    image", "   image")),
    yaml("script-as-file", "the script is given instead of a file", pod(), command="muster run train.py"),
    yaml("misspelt-field", "a field is misspelt", pytorch().replace("command", "comand", 1)),
    yaml("wrong-kind", "a kind that is not there", pytorch(kind="PytorchJob")),
    yaml("wrong-apiversion", "an apiVersion that is not there", pytorch(version="kubeflow.org/v2")),
    yaml("no-apiversion", "no apiVersion", pytorch().replace("apiVersion: kubeflow.org/v1\n", "")),
    yaml("unknown-role", "a type of replica that is not there", pytorch(role="Wroker")),
    yaml("container-name", "no container of the name that the kind wants", pytorch(container="main")),
    yaml("no-container-name", "a container without a name", pytorch().replace("- name: pytorch\n            ", "- ")),
    yaml("no-name", "a job without a name", pytorch().replace("  name: train\n", "  labels: {}\n", 1)),
    yaml("no-replicas", "a Master without replicas", pytorch().replace("      replicas: 1\n", "")),
    yaml("bad-type", "a word where a number is wanted", pytorch().replace("replicas: 2", "replicas: two")),
    yaml("bad-name", "a name that cannot be one", pytorch(name="My_Job")),
    yaml("one-name-twice", "two jobs with one name", pytorch() + "---\n" + pytorch().replace("replicas: 2", "replicas: 3")),
    yaml("nothing-to-run", "a file without a job", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\ndata: {a: b}\n"),
    yaml("deployment", "a Deployment, which nobody runs here", dedent("""\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          selector: {matchLabels: {app: web}}
          template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: mine}]}}
        """)),
    # ---- the command line
    line("no-words", "nothing to run", "muster run"),
    line("no-command", "nothing after --", "muster run --"),
    line("script-alone", "the script without python3", "muster run -- train.py"),
    line("unknown-option", "an option that is not there", "muster run --kind pytorch --replcas 2 -- python3 train.py"),
    line("misspelt-command", "a command is misspelt", "muster rum job.yaml"),
    line("unknown-command", "a command that is not there", "muster start job.yaml", same=[(r"(?s)(?<=Usage: ).*'muster COMMAND", "...\n'muster COMMAND")]),
    line("unknown-kind", "--kind of a kind that is not there", "muster run --kind torch -- python3 train.py"),
    line("unknown-role-flag", "--role of a role that is not there", "muster run --kind pytorch --role ps=2 -- python3 train.py"),
    line("replicas-0", "no replicas", "muster run --kind pytorch --replicas 0 -- python3 train.py"),
    line("replicas-without-kind", "replicas of no kind", "muster run --replicas 2 -- python3 train.py"),
    line("file-and-command", "a file and a command", "muster run job.yaml -- python3 train.py", files={"job.yaml": pod()}),
    line("forgotten-dashes", "a command without --", "muster run python3 train.py"),
    line("bad-timeout", "a time without a unit", "muster run --timeout 10x -- python3 train.py"),
    line("bad-volume", "-v of a path that is not there", "muster run -v data:/data -- python3 train.py"),
    line("bad-volume-words", "-v without the second path", "muster run -v . -- python3 train.py"),
    line("bad-env", "-e without a name", "muster run -e =0.1 -- python3 train.py"),
    line("bad-env-file", "a line of --env-file that is none", "muster run --env-file lr.env -- python3 train.py",
         files={"lr.env": "LR=0.1\nexport EPOCHS 3\n"}),
    line("no-env-file", "--env-file of a file that is not there", "muster run --env-file no.env -- python3 train.py"),
    line("bad-keep-files", "--keep-files of a file", "muster run --keep-files train.py -- python3 train.py"),
    line("bad-workdir", "--workdir of a directory that is not there", "muster run --workdir mnist -- python3 train.py"),
    line("bad-name-flag", "--name of what cannot be one", "muster run --name My_Job -- python3 train.py"),
    line("no-value", "an option without its value", "muster run --timeout"),
    line("bad-memory", "--memory of no number", "muster run --memory 4GB -- python3 train.py"),
    line("bad-isolation", "a level of isolation that is not there", "muster run --isolation docker -- python3 train.py"),
    line("no-such-run", "logs of a run that is not there", "muster logs train-1a2b3c4d", 1),
    line("no-such-rerun", "a run that is not there, once more", "muster rerun train-1a2b3c4d", 1),
    line("init-unknown-kind", "muster init of a kind that is not there", "muster init torch"),
    line("init-again", "muster init where there is a script", "muster init pytorch", 1),
    line("no-server", "muster get without a server", "muster get", 1),
    # ---- where it is called
    line("in-root", "called in /", "muster run -- python3 train.py", cwd="/"),
    line("in-home", "called in the home directory", "muster run -- python3 train.py", cwd="$HOME"),
    one("read-only-directory", "the working directory cannot be written to", "open('model.json', 'w')\n",
        before="chmod 555 .", after="chmod 755 ."),
    one("disk-full", "the disk is full", "print('training')\nopen('data/model', 'wb').write(bytes(1 << 21))\n", needs_root=True,
        before=f"mkdir data && mount -t tmpfs -o size=1m,uid={ORDINARY} tmpfs data", after="umount -l data"),
    # ---- the program
    line("no-program", "a program that is not there", "muster run -- pyhton3 train.py", 1),
    line("quoted-command", "the command in quotes", "muster run -- 'python3 train.py'", 1),
    line("python", "python where there is only python3", "muster run -- python train.py", 1),
    line("no-script", "a script that is not there", "muster run -- python3 trian.py", 1),
    line("not-executable", "a script that may not be executed", "muster run -- ./train.py", 1),
    one("no-interpreter", "the script's first line names no program", "#!/usr/bin/pyhton3\n", command="muster run -- ./train.py",
        executable=True),
    one("no-module", "a module that is not installed", "import numpie as np\n"),
    line("wrong-venv", "a virtual environment that is not there", "muster run -- venv/bin/python train.py", 1),
    one("syntax-error", "the script has a syntax error", "print('training'\n"),
    one("traceback", "an exception in one replica; the others wait for it", FAILS_IN_ONE,
        command="muster run --kind pytorch --replicas 4 -- python3 train.py"),
    one("exit-3", "exit code 3", "print('training')\nraise SystemExit(3)\n"),
    one("segfault", "a segmentation fault", "import os\nprint('training', flush=True)\nos.kill(os.getpid(), 11)\n"),
    one("killed", "it is killed", "import os\nprint('training', flush=True)\nos.kill(os.getpid(), 9)\n"),
    one("restarts", "it fails, is restarted, and reaches its backoffLimit", FAILS_ONCE,
        files={"job.yaml": pytorch().split("    Worker:")[0].replace("Never", "OnFailure").replace("spec:", "spec:\n  runPolicy: {backoffLimit: 1}", 1)},
        command="muster run job.yaml"),
    one("hang", "it hangs", WAITS, command="muster run --timeout 5s -- python3 train.py", code=124),
    one("ctrl-c", "Ctrl-C", WAITS, signal=signals.SIGINT, code=130),
    one("sigterm", "SIGTERM", WAITS, signal=signals.SIGTERM, code=143),
    one("port-taken", "another program has the port", "import os, socket\nsocket.create_server(('', int(os.environ['PORT'])))\n",
        level="shared", command="python3 taken.py muster run --isolation shared -e PORT -- python3 train.py",
        files={"taken.py": dedent("""\
            import os, socket, subprocess, sys
            with socket.create_server(("", 0)) as taken:
                os.environ["PORT"] = str(taken.getsockname()[1])
                sys.exit(subprocess.run(sys.argv[1:]).returncode)
            """)}, same=[(r"\('', \d+\)", "('', 29500)")]),
    one("memory", "more memory than the limit", "print('training', flush=True)\nx = b'x' * (1 << 30)\n", as_root=True,
        before="chown 0 .", command="muster run --memory 64Mi -- python3 train.py"),
    one("files-not-kept", "results outside of the working directory", "import os\nos.makedirs(os.path.expanduser('~/models'))\n"
        "open(os.path.expanduser('~/models/model.json'), 'w').write('{}')\n", code=0, level="namespaces",
        command="muster run --isolation namespaces -- python3 train.py"),
    # ---- what the machine does not have
    line("no-gpu", "a GPU that is not there", "muster run --pending-timeout 1s --gpus 1 --resources nvidia.com/gpu=0 -- python3 train.py", 1),
    line("too-many-cpus", "more CPUs than there are", "muster run --pending-timeout 1s --cpu 5000 -- python3 train.py", 1, same=HAS),
    line("too-much-memory", "more memory than there is", "muster run --pending-timeout 1s --memory 500Ti -- python3 train.py", 1, same=HAS),
    line("no-namespaces", "a level of isolation that this machine does not have", UNPRIVILEGED + "muster run --isolation namespaces -- python3 train.py'", 1,
         level="namespaces"),
    yaml("node-selector", "a node that is not there", pod("nodeSelector: {gpu: a100}\n"), 1),
    yaml("image-without-command", "an image that is not mapped, and no command", pod(command=""), 1),
    yaml("no-configmap", "a ConfigMap that is not there", pod("volumes: [{name: words, configMap: {name: words}}]\n",
                                                              "volumeMounts: [{name: words, mountPath: /words}]\n"), 1),
    yaml("no-secret", "a Secret that is not there", pod(container="envFrom: [{secretRef: {name: token}}]\n"), 1),
    yaml("no-claim", "a claim that is not there", pod("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n",
                                                      "volumeMounts: [{name: data, mountPath: /data}]\n"), 1),
    yaml("no-host-path", "a hostPath that is not there", pod("volumes: [{name: data, hostPath: {path: /no/such/data}}]\n",
                                                             "volumeMounts: [{name: data, mountPath: /data}]\n"), 1),
    yaml("no-volume", "a mount of a volume that is not there", pod(container="volumeMounts: [{name: data, mountPath: /data}]\n")),
]
