"""A namespace of a test's own, everything in it watched, a stand-in that obeys, and words to say what
should be there."""

import datetime
import subprocess
import os
import threading
import time

from . import lag
from .kinds import TF
from .kube import ApiError
from .mirror import PATIENCE_S, Mirror, wait_for
from .record import Checker, condition, conditions, is_true
from .standin import Standin
from .tap import is_


def template(*, image="example.com/train", container="tensorflow", **spec):
    return {"spec": {"containers": [{"name": container, "image": image, **spec}]}}


def tfjob(name, **words):
    return job_of(TF, name, **words)


def job_of(kind, name, run_policy=None, annotations=None, more=None, **roles):
    """job_of(TF, "j", Worker=2) or Worker={"replicas": 2, "restartPolicy": "ExitCode"}. Words that begin in lower
    case are members of the spec: successPolicy="AllWorkers". more: types that are no such words."""
    spec = {k: v for k, v in roles.items() if k[0].islower()}
    specs = {}
    for role, value in [*[r for r in roles.items() if not r[0][0].islower()], *(more or {}).items()]:
        value = {"replicas": value} if isinstance(value, int) else dict(value)
        value.setdefault("template", template(container=kind.container))
        specs[role] = value
    spec[kind.specs] = specs
    if run_policy:
        spec["runPolicy"] = run_policy
    meta = {"name": name}
    if annotations:
        meta["annotations"] = annotations
    return {"metadata": meta, "spec": spec}


def seconds(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()


class Scene:
    def __init__(self, engine, ns, stale_s=3, kind=TF):
        """stale_s: how old the pods may be that a status speaks of."""
        self.engine, self.ns, self.stale_s, self.kind = engine, ns, stale_s, kind
        self.kube = engine.kube
        self.checked = True
        try:
            self.kube.make_namespace(ns)
        except ApiError as e:
            if e.status != 409:
                raise
        self.changed = threading.Condition()
        self.standin = Standin(self.kube, ns, own_watch=False, binds=not engine.has_scheduler)
        self.jobs = Mirror(self.kube, kind.plural, ns, changed=self.changed)
        self.pods = Mirror(self.kube, "pods", ns, changed=self.changed, on_change=self.standin.on_change)
        self.services = Mirror(self.kube, "services", ns, changed=self.changed)
        self.events = Mirror(self.kube, "events", ns, changed=self.changed)

    # ---- doing

    def script(self, *rules):
        self.standin.add(*rules)

    def create(self, name, **words):
        """The job as the server has it, once the watch knows of it, too."""
        job = self.kube.create(self.kind.plural, job_of(self.kind, name, **words), self.ns)
        uid = job["metadata"]["uid"]
        self.wait(lambda: any(c.obj["metadata"]["uid"] == uid for c in reversed(self.jobs.history)), f"{name} is seen")
        return job

    def edit(self, name, spec):
        return self.kube.patch(self.kind.plural, name, {"spec": spec}, self.ns)

    def run(self, *names):
        for name in names:
            self.standin.run(name, self.ns)

    def exit(self, name, code):
        self.standin.exit(name, code, self.ns)

    def kubectl(self, *args, check=True, stdin=None):
        kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
        done = subprocess.run([kubectl, "--kubeconfig", self.kube.kubeconfig, "-n", self.ns, *args],
                              capture_output=True, text=True, check=False, input=stdin)
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(args)}: {done.stdout}{done.stderr}")
        return done

    # ---- waiting

    def wait(self, predicate, what, timeout=PATIENCE_S):
        return wait_for(self.changed, predicate, what, timeout, self.engine.trouble)

    def job(self, name):
        return self.jobs.get(name)

    def wait_true(self, name, *kinds, timeout=PATIENCE_S):
        """Until one of the conditions is True of the job; returns the job. What it came of is seen, too: one
        watch may be behind another."""
        self.wait(lambda: any(is_true(self.job(name), k) for k in kinds), f"{name} is {' or '.join(kinds)}", timeout)
        job = self.job(name)
        self.pods.sync()
        return job

    def wait_was(self, name, kind):
        """Until the condition was True of the job once; returns the job as it was then. For jobs that may be
        gone before anybody looks."""
        return self.wait(lambda: next((c.obj for c in list(self.jobs.of(name)) if is_true(c.obj, kind)), None),
                         f"{name} was {kind}")

    def wait_pods(self, *names, timeout=PATIENCE_S):
        """Until exactly these pods are there, none of them leaving."""
        self.wait(lambda: self.live_pods() == sorted(names), f"pods {sorted(names)}", timeout)

    def wait_services(self, *names, timeout=PATIENCE_S):
        self.wait(lambda: self.services.names() == sorted(names), f"services {sorted(names)}", timeout)

    def wait_phase(self, name, phase, timeout=PATIENCE_S):
        self.wait(lambda: self.phase(name) == phase, f"pod {name} is {phase}", timeout)

    def wait_event(self, reason, part="", timeout=PATIENCE_S):
        self.wait(lambda: self.told(reason, part), f"event {reason} {part}", timeout)
        return self.told(reason, part)[0]

    def wait_counts(self, name, timeout=PATIENCE_S, **counts):
        """wait_counts("j", Worker={"active": 2}); the pods that were counted are seen, too."""
        self.wait(lambda: self.counts(name) == counts, f"{name} counts {counts}", timeout)
        self.pods.sync()

    # ---- asking

    def live_pods(self):
        return sorted(p["metadata"]["name"] for p in list(self.pods.now.values())
                      if not p["metadata"].get("deletionTimestamp"))

    def phase(self, name):
        pod = self.pods.get(name)
        return pod and pod.get("status", {}).get("phase")

    def uid(self, name):
        pod = self.pods.get(name)
        return pod and pod["metadata"]["uid"]

    def counts(self, name):
        job = self.job(name)
        return {role: {k: v for k, v in s.items() if v and k != "selector"}
                for role, s in ((job or {}).get("status", {}).get("replicaStatuses") or {}).items()}

    def told(self, reason, part=""):
        found = {}
        for c in list(self.events.history):
            if c.type != "DELETED" and c.obj["reason"] == reason and part in c.obj.get("message", ""):
                found[c.obj["metadata"]["name"]] = c.obj
        return list(found.values())

    def kinds(self, name):
        """Created(T) Running(F) Succeeded(T), as the spec writes it."""
        return " ".join(f"{c['type']}({c['status'][0]})" for c in conditions(self.job(name)))

    def is_kinds(self, name, want):
        is_(self.kinds(name), want, f"conditions of {name}")

    def message(self, name, kind):
        return condition(self.job(name), kind)["message"]

    def quiet(self, span=0.5):
        """Waits until the job, its pods and its services have not changed for that long; returns 0, or, where
        there is no end to it, how often they changed. Events are told a little later and do not count."""
        for mirror in (self.jobs, self.pods, self.services):
            mirror.sync()
        for _ in range(8):  # a busy machine is late with the last of it
            end = time.monotonic() + span
            before = self._changes()
            with self.changed:
                while time.monotonic() < end:
                    self.changed.wait(end - time.monotonic())
            changes = self._changes() - before
            if not changes:
                break
        return changes

    def _changes(self):
        return sum(len(m.history) for m in (self.jobs, self.pods, self.services))

    # ---- the end

    def check(self):
        if not self.checked:
            return
        for mirror in (self.jobs, self.pods, self.services, self.events):
            mirror.sync()
        # A server that was restarted may have forgotten what happened while nobody watched.
        whole = not any(m.gaps for m in (self.jobs, self.pods, self.services, self.events))
        stale_s = self.stale_s and self.stale_s * lag.factor()
        problems = Checker(list(self.jobs.history), list(self.pods.history), list(self.services.history),
                           list(self.events.history), stale_s, whole, self.kind).check()
        problems += [f"stand-in: {e}" for e in self.standin.errors]
        if problems:
            raise AssertionError("what must always be true was not:\n  " + "\n  ".join(problems))

    def story(self):
        """What happened, for a test that failed."""
        lines = []
        for what, mirror in (("job", self.jobs), ("pod", self.pods), ("service", self.services),
                             ("event", self.events)):
            for c in list(mirror.history):
                text = c.obj["metadata"]["name"]
                if what == "job":
                    counts = {r: {k: v for k, v in s.items() if v}
                              for r, s in (c.obj.get("status", {}).get("replicaStatuses") or {}).items()}
                    text += " " + " ".join(f"{k['type']}({k['status'][0]})" for k in conditions(c.obj)) + f" {counts}"
                elif what == "pod":
                    text += f" {c.obj.get('status', {}).get('phase')}"
                    text += " leaving" if c.obj["metadata"].get("deletionTimestamp") else ""
                elif what == "event":
                    text = f"{c.obj['type']} {c.obj['reason']}: {c.obj.get('message')}"
                lines.append((c.rev, f"{c.rev} {c.at % 1000:7.3f} {c.type.lower()} {what} {text}"))
        for mirror in (self.jobs, self.pods, self.services, self.events):
            lines += [(1 << 62, f"watch of {mirror.plural}: {p}") for p in mirror.problems]
        return "\n".join(text for _, text in sorted(lines, key=lambda x: x[0])[-80:])

    def stop(self):
        self.standin.stop()
        for m in (self.jobs, self.pods, self.services, self.events):
            m.stop()


def play(engine, ns, test, private=False):
    """One test in a scene of its own; what must always be true is looked at when it is over."""
    kind = getattr(test, "kind", TF)
    used = engine.private(ns) if private else engine
    scene = None
    try:
        scene = Scene(used, ns, kind=kind)
        test(scene)
        scene.check()
    except Exception as e:
        e.report = "\n" + (scene.story() if scene else "") + "\n" + (used.words() if private else "")
        raise
    finally:
        if scene:
            scene.stop()
        if private:
            used.stop()
