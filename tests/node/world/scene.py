"""A namespace of a scene's own, on a machine that others use, too; and words to say what should be there.

Pods and test talk through a folder on the machine, in each container as $G: a pod waits for the test with
`await go` (s.open("go") lets it on), and says something with `echo yes >$G/answer` (s.read("answer"))."""

import json
import os
import re
import subprocess
import time

from harness import lag
from harness.kube import ApiError, path_of
from harness.tap import is_

from .record import ORDER, condition, container, phase, problems_of

# A pipe holds what is written until it is read, so nobody has to look again and again.
WORDS = """await() { mkfifo "$G/$1" 2>/dev/null; read -r _ <"$G/$1"; }
say() { cat >"$G/$1.new" && mv "$G/$1.new" "$G/$1"; }
"""
STAY = "exec sleep 1000"


def box(script, name="main", **more):
    """A container that runs a script of sh. To Kubernetes, $$ is an escaped $."""
    return {"name": name, "image": "example.com/e2e:1", "command": ["sh", "-c", WORDS + script.replace("$$", "$$$$")],
            **more}


def python(code, name="main", **more):
    return {"name": name, "image": "example.com/e2e:1", "command": ["/usr/bin/python3", "-c", code], **more}


class Scene:
    def __init__(self, machine, ns):
        self.machine, self.ns, self.kube = machine, ns, machine.kube
        self.level, self.user = machine.level, machine.user
        self.namespaces = machine.level == "namespaces"
        self.folder = machine.make("gates", ns)
        self.pipes = {}
        self.made = []
        self.kube.make_namespace(ns)

    # ---- doing

    def place(self, pod, what):
        """Where a volume can be mounted at this level: anywhere, or where its user may write."""
        if self.namespaces:
            return f"/e2e-{what}"
        return os.path.join(self.machine.make("places", self.ns, pod), what)

    def pod(self, name, *containers, restart="Never", labels=None, annotations=None, volumes=(), init=(), gate=True,
            grace=1, **spec):
        """The pod, not yet created; a script stands for a container."""
        containers = [box(c) if isinstance(c, str) else dict(c) for c in containers]
        init = [dict(c) for c in init]
        volumes = list(volumes)
        if gate:
            volumes.append({"name": "gate", "hostPath": {"path": self.folder}})
            for c in containers + init:
                c["volumeMounts"] = [*c.get("volumeMounts", ()), {"name": "gate", "mountPath": self.place(name, "g")}]
                c["env"] = [{"name": "G", "value": self.place(name, "g")}, *c.get("env", ())]
        meta = {"name": name, "labels": labels, "annotations": annotations}
        return {"metadata": {k: v for k, v in meta.items() if v},
                "spec": {"restartPolicy": restart, "terminationGracePeriodSeconds": grace, "containers": containers,
                         **({"initContainers": init} if init else {}), **({"volumes": volumes} if volumes else {}),
                         **spec}}

    def start(self, name, *containers, **words):
        return self.create("pods", self.pod(name, *containers, **words))

    def create(self, plural, obj):
        self.made.append((plural, obj["metadata"]["name"]))
        return self.kube.create(plural, obj, self.ns)

    def config(self, name, plural="configmaps", **members):
        return self.create(plural, {"metadata": {"name": name}, **members})

    def service(self, name, selector, **spec):
        return self.create("services", {"metadata": {"name": name}, "spec": {"selector": selector, **spec}})

    def open(self, name, times=1):
        """Lets on who awaits that, now or later."""
        path = os.path.join(self.folder, name)
        if name not in self.pipes:
            try:
                os.mkfifo(path)
            except FileExistsError:
                pass
            else:
                os.chmod(path, 0o666)
            self.pipes[name] = os.open(path, os.O_RDWR)
        os.write(self.pipes[name], b"go\n" * times)

    def delete(self, name, grace=None, plural="pods"):
        return self.kube.delete(plural, name, self.ns, grace=grace)

    def kubectl(self, *args, check=True, stdin=None, timeout=180):
        kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
        done = subprocess.run([kubectl, "--kubeconfig", self.kube.kubeconfig, "-n", self.ns, *args], timeout=timeout,
                              capture_output=True, text=True, check=False, input=stdin)
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(args)}: {done.stdout}{done.stderr}")
        return done

    def log(self, name, check=True, **query):
        """What the API says is in the log; with check=False, the status and the text."""
        status, _, text = self.kube.raw("GET", path_of("pods", name, self.ns, "log", **query))
        if check and status != 200:
            raise AssertionError(f"log of {name} {query}: {status} {text.decode(errors='replace')}")
        text = text.decode(errors="replace")
        return text if check else (status, text)

    # ---- waiting

    def wait(self, predicate, what, timeout=60):
        return self.machine.wait(predicate, what, timeout)

    def get(self, name):
        return self.machine.pods.get(name, self.ns)

    def now(self, name):
        """As the server has it, which may be newer than what the watch told."""
        return self.kube.get("pods", name, self.ns)

    def wait_pod(self, name, predicate, what, timeout=60):
        """Until it is so of the pod as the watch tells it; the pod."""
        self.wait(lambda: self.get(name) is not None and predicate(self.get(name)), f"{name} {what}", timeout)
        return self.get(name)

    def wait_phase(self, name, want, timeout=60):
        def over():
            now = phase(self.get(name))
            if ORDER.get(now) == 2 and now != want:
                raise AssertionError(f"{name} is {now}, not {want}")
            return now == want
        self.wait(over, f"{name} is {want}", timeout)
        return self.get(name)

    def wait_ready(self, name, want="True", timeout=60):
        return self.wait_pod(name, lambda p: condition(p, "Ready").get("status") == want, f"has Ready={want}", timeout)

    def wait_end(self, name, timeout=60):
        return self.wait_pod(name, lambda p: ORDER.get(phase(p)) == 2, "ends", timeout)

    def wait_waiting(self, name, reason, box_name="main", timeout=60):
        """Until the container waits for that reason; the message."""
        pod = self.wait_pod(name, lambda p: container(p, box_name).get("state", {}).get("waiting", {}).get("reason") ==
                            reason, f"waits because of {reason}", timeout)
        return container(pod, box_name)["state"]["waiting"].get("message", "")

    def wait_restarts(self, name, count, box_name="main", timeout=60):
        return self.wait_pod(name, lambda p: container(p, box_name).get("restartCount", 0) >= count,
                             f"restarted {count} times", timeout)

    def wait_gone(self, name, timeout=60):
        """Until the pod is gone; its last revision."""
        self.wait(lambda: self.get(name) is None and self.history(name), f"{name} goes", timeout)
        return self.history(name)[-1].obj

    def wait_event(self, reason, part="", name=None, timeout=60):
        self.wait(lambda: self.events(reason, part, name), f"event {reason} {part!r} of {name or 'any'}", timeout)
        return self.events(reason, part, name)[0]

    def read(self, name, timeout=60):
        """What a pod said; waits for it."""
        path = os.path.join(self.folder, name)
        began = time.monotonic()
        while not os.path.exists(path):
            why = self.machine.trouble()
            if time.monotonic() > began + lag.patience(timeout) or why:
                raise AssertionError(why or f"waited {timeout} s in vain for a pod to say {name}")
            time.sleep(0.05)
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def until(self, predicate, what, timeout=60):
        self.machine.until(predicate, what, timeout)

    # ---- asking

    def history(self, name):
        return [c for c in list(self.machine.seen[self.ns]) if c.obj["metadata"]["name"] == name]

    def events(self, reason, part="", name=None):
        return [e for e in list(self.machine.told[self.ns]) if e["reason"] == reason and part in e.get("message", "")
                and name in (None, e["involvedObject"].get("name"))]

    def mark(self, number=0):
        """Seconds to sleep that nobody else sleeps: by them a process is known."""
        return f"{self.machine.port}.{self.ns[1:]}{number}"

    def alive(self, mark):
        """Processes of this machine with these words in their command lines."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(pid))
        return found

    # ---- the end

    def check(self):
        by_uid = {}
        for c in list(self.machine.seen[self.ns]):
            by_uid.setdefault(c.obj["metadata"]["uid"], []).append(c)
        found = [p for changes in by_uid.values() for p in problems_of(changes, not self.machine.pods.gaps)]
        if found:
            raise AssertionError("what must always be true was not:\n  " + "\n  ".join(found))

    def story(self):
        lines = []
        for c in list(self.machine.seen[self.ns]):
            status = {k: v for k, v in c.obj.get("status", {}).items() if k not in ("hostIP", "hostIPs", "podIPs")}
            status["conditions"] = " ".join(f"{k['type']}({k['status'][0]} {k.get('reason', '')})"
                                            for k in status.get("conditions") or [])
            lines.append((c.rev, f"{c.at % 1000:7.3f} {c.type.lower()} {c.obj['metadata']['name']} "
                          f"{json.dumps(status)[:1500]}"))
        for e in list(self.machine.told[self.ns]):
            lines.append((int(e["metadata"]["resourceVersion"]),
                          f"        event {e['involvedObject'].get('name')} {e['reason']}: {e.get('message')}"))
        return "\n".join(text for _, text in sorted(lines, key=lambda x: x[0])[-40:])

    def stop(self):
        for pipe in self.pipes.values():
            os.close(pipe)
        for plural, name in reversed(self.made):  # jobs before their pods
            if plural != "pods":
                self.kube.forget(plural, name, self.ns, propagation="Background")
        for pod in self.kube.list("pods", self.ns):
            self.kube.forget("pods", pod["metadata"]["name"], self.ns, grace=1)


def ended(pod, name="main"):
    """state.terminated of a container."""
    return container(pod, name).get("state", {}).get("terminated", {})


def is_end(pod, code, reason, name="main"):
    end = ended(pod, name)
    is_((end.get("exitCode"), end.get("reason")), (code, reason), f"how {name} ended: {end}")


def matches(text, pattern, what):
    if not re.search(pattern, text or ""):
        raise AssertionError(f"{what}\n     got: {text!r}\nexpected: {pattern!r}")


def play(machine, ns, test):
    scene = None
    try:
        scene = Scene(machine, ns)
        test(scene)
        scene.check()
    except Exception as e:
        e.report = "\n" + (scene.story() if scene else "")
        raise
    finally:
        if scene:
            try:
                scene.stop()
            except (ApiError, OSError):
                pass  # the server went away: told elsewhere
