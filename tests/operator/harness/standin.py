"""A stand-in for scheduler and kubelet: does with pods what a script says, or what a test asks.

A script is a list of rules; the first whose words all match a pod is its program:

    {"role": "worker", "index": 0, "attempt": 1, "do": ["run", {"after": 0.2}, {"exit": 130}]}

Words: namespace, job, role, index, name, and attempt, which counts the pods there have been in that
place, from 1. Steps: "bind" (or {"bind": NODE}), "run", {"after": SECONDS}, {"exit": CODE},
{"restart": CODE} (in place), "evict", "lose" (as the pod collector reports it), "unknown",
{"waiting": [REASON, MESSAGE]}, {"unschedulable": MESSAGE}. "run" and what follows bind first. Where a
scheduler binds (binds=False), a program begins when its pod has a node.
Besides, a rule may have: "grace", seconds until a deleted pod is gone (null: never, until asked;
0 unless told), and "death", the code it ends with before that.
"""

import heapq
import http.client
import itertools
import sys
import threading
import time
import traceback

from . import podstatus
from .kube import ApiError, MERGE
from .mirror import Mirror

PREFIX = "training.kubeflow.org/"
OPERATOR = PREFIX + "operator-name"


def place(pod):
    labels = pod["metadata"].get("labels", {})
    return (pod["metadata"]["namespace"], labels.get(PREFIX + "job-name"),
            labels.get(PREFIX + "replica-type"), labels.get(PREFIX + "replica-index"))


class Standin:
    def __init__(self, kube, ns=None, script=(), node="standin", own_watch=True, binds=True):
        self.kube, self.node, self.binds = kube, node, binds
        self.script = list(script)
        self.attempts = {}  # place: [uid, ...]
        self.programs = {}  # uid: the steps not done yet
        self.rules = {}  # uid: its rule
        self.begun = set()  # uids whose program has begun
        self.leaving = set()  # uids whose end is on the way
        self.lock = threading.RLock()
        self.due = []
        self.count = itertools.count()
        self.wake = threading.Condition()
        self.stopped = False
        self.errors = []
        threading.Thread(target=self._work, daemon=True).start()
        self.mirror = Mirror(kube, "pods", ns, selector=OPERATOR, on_change=self.on_change) if own_watch else None

    def stop(self):
        self.stopped = True
        with self.wake:
            self.wake.notify()
        if self.mirror:
            self.mirror.stop()

    # ---- the script

    def on_change(self, change):
        """Told of every change of a pod, from whatever watch there is."""
        pod = change.obj
        if OPERATOR not in pod["metadata"].get("labels", {}) or change.type == "DELETED":
            return
        uid = pod["metadata"]["uid"]
        with self.lock:
            if uid not in self.rules:
                tries = self.attempts.setdefault(place(pod), [])
                tries.append(uid)
                self.rules[uid] = rule = self._rule(pod, len(tries))
                self.programs[uid] = list(rule.get("do", []))
            if uid not in self.begun and (self.binds or pod["spec"].get("nodeName")):
                self.begun.add(uid)
                self._later(0, lambda: self._advance(pod))
            gone = pod["metadata"].get("deletionTimestamp") and pod["spec"].get("nodeName")
            if gone and uid not in self.leaving:
                self.leaving.add(uid)
                grace = self.rules[uid].get("grace", 0)
                if grace is not None:
                    self._later(grace, lambda: self._finish(pod))

    def add(self, *rules):
        """More rules, before those there are; for pods not yet seen."""
        with self.lock:
            self.script[:0] = rules

    def _rule(self, pod, attempt):
        ns, job, role, index = place(pod)
        facts = {"namespace": ns, "job": job, "role": role, "index": int(index or -1),
                 "name": pod["metadata"]["name"], "attempt": attempt}
        for rule in self.script:
            if all(rule.get(word, fact) == fact for word, fact in facts.items()):
                return rule
        return {}

    def _advance(self, pod):
        uid = pod["metadata"]["uid"]
        steps = self.programs[uid]
        while steps and uid not in self.leaving:
            step = steps.pop(0)
            word, value = next(iter(step.items())) if isinstance(step, dict) else (step, None)
            if word == "after":
                self._later(value, lambda: self._advance(pod))
                return
            self._step(word, value, pod["metadata"])

    def _step(self, word, value, meta):
        name, ns, uid = meta["name"], meta["namespace"], meta["uid"]
        if word == "bind":
            self.bind(name, ns, value)
        elif word == "waiting":
            self.report(name, ns, lambda pod: podstatus.waiting(pod, *value), uid)
        elif word == "unschedulable":
            self.report(name, ns, lambda pod: podstatus.unschedulable(pod, value), uid, bind=False)
        elif word in ("exit", "restart"):
            getattr(self, word)(name, value, ns, uid=uid)
        else:
            getattr(self, word)(name, ns, uid)

    def _later(self, seconds, what):
        with self.wake:
            heapq.heappush(self.due, (time.monotonic() + seconds, next(self.count), what))
            self.wake.notify()

    def _work(self):
        while not self.stopped:
            with self.wake:
                left = self.due[0][0] - time.monotonic() if self.due else None
                if left is None or left > 0:
                    self.wake.wait(left)
                    continue
                what = heapq.heappop(self.due)[2]
            try:
                what()
            except ApiError as e:
                if e.status not in (404, 409):  # it went away meanwhile
                    self.errors.append(str(e))
                    print("# stand-in:", e, file=sys.stderr, flush=True)
            except (OSError, http.client.HTTPException):  # the server is away; it comes back, or the test ends
                self._later(0.1, what)
            except Exception:  # pylint: disable=broad-except # of a thread nobody joins
                if not self.stopped:
                    self.errors.append(traceback.format_exc())
                    traceback.print_exc()

    # ---- by hand; each returns when the server has it

    def bind(self, name, ns, node=None):
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node or self.node}}
        self.kube.call("POST", f"/api/v1/namespaces/{ns}/pods/{name}/binding", body)

    def report(self, name, ns, status, uid=None, bind=True):
        """Patches the pod's status with what the function makes of the pod as it is: the one with that
        uid, or whichever has the name. What has ended has ended: nothing is reported of it any more."""
        pod = self.kube.get("pods", name, ns)
        if pod["status"].get("phase") in ("Succeeded", "Failed") or uid not in (None, pod["metadata"]["uid"]):
            return None
        if bind and not pod["spec"].get("nodeName"):
            try:
                self.bind(name, ns)
            except ApiError as e:
                if e.status != 409:  # the script was faster
                    raise
            return self.report(name, ns, status, pod["metadata"]["uid"], bind=False)  # it may have ended meanwhile
        meta = {m: pod["metadata"][m] for m in ("uid", "resourceVersion")}
        try:
            return self.kube.patch("pods", name, {"metadata": meta, "status": status(pod)}, ns, "status", MERGE)
        except ApiError as e:
            if e.status != 409:
                raise
            return self.report(name, ns, status, meta["uid"], bind)

    def run(self, name, ns, uid=None):
        return self.report(name, ns, podstatus.running, uid)

    def exit(self, name, code, ns, uid=None):
        return self.report(name, ns, lambda pod: podstatus.exited(pod, code), uid)

    def restart(self, name, code, ns, times=1, uid=None):
        return self.report(name, ns, lambda pod: podstatus.restarted(pod, code, times), uid)

    def evict(self, name, ns, uid=None):
        return self.report(name, ns, podstatus.evicted, uid)

    def lose(self, name, ns, uid=None):
        return self.report(name, ns, podstatus.lost, uid)

    def unknown(self, name, ns, uid=None):
        return self.report(name, ns, podstatus.unknown, uid)

    def _finish(self, pod):
        meta = pod["metadata"]
        death = self.rules[meta["uid"]].get("death")
        if death is not None:
            self.exit(meta["name"], death, meta["namespace"], uid=meta["uid"])
        self.kube.delete("pods", meta["name"], meta["namespace"], grace=0, uid=meta["uid"])

    def finish(self, name, ns):
        """The pod's containers have ended and the object goes."""
        self._finish(self.kube.get("pods", name, ns))
