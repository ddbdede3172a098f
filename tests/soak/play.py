"""One job's life: made, meddled with, waited for, judged, removed. Written by the dice, played against the clock."""

import os
import shutil
import time

from harness.kinds import JAX, PADDLE, PYTORCH
from harness.record import finished, is_true, owner_uid, role_index

SCALABLE = (PYTORCH, PADDLE, JAX)  # by the subresource
PATIENCE_S = 90  # of a machine that has time


class Play:
    def __init__(self, soak, plan, life=1):
        self.soak, self.plan, self.life = soak, plan, life
        self.mark = f"{plan.name}.{life}"
        self.folder = soak.machine.make("soak", self.mark)
        self.uid = self.entry = None
        self.did = []

    # ---- the job as an object

    def template(self, role):
        place = "/soak" if self.soak.machine.level == "namespaces" else os.path.dirname(self.folder)
        words = ["sh", f"{place}/replica.sh", f"{place}/{self.mark}"]
        words += ["stubborn"] * self.plan.stubborn + ["litters"] * self.plan.litters
        container = {"name": self.plan.kind.container, "image": "example.com/soak:1", "command": words, "env": [
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]}
        spec = {"containers": [container], "terminationGracePeriodSeconds": self.plan.grace}
        if self.soak.machine.level == "namespaces":
            container["volumeMounts"] = [{"name": "soak", "mountPath": place}]
            spec["volumes"] = [{"name": "soak", "hostPath": {"path": os.path.dirname(self.folder)}}]
        return {"metadata": {"labels": {"role": role.lower()}}, "spec": spec}

    def write_scripts(self):
        for pod, attempts in self.plan.scripts.items():
            with open(f"{self.folder}/script.{self.plan.name}-{pod}", "w", encoding="utf-8") as f:
                f.writelines(f"{a.seconds} {a.code}\n" for a in attempts)

    # ---- its life

    def play(self):
        self.write_scripts()
        self.entry = self.soak.ledger.create(self.plan.kind.plural, self.plan.job(self.template), self.mark,
                                             may_go=self.plan.ttl is not None)
        self.uid = self.entry.uid
        self.did.append("made")
        began = time.monotonic()
        for deed in self.plan.deeds:
            self.soak.pause(began + deed.at - time.monotonic())
            getattr(self, deed.what.replace(" ", "_"))(deed)
            self.did.append(deed.what)
        if self.entry.deletion:
            if self.plan.again:  # at once, while the last one's pods are still going
                self.soak.perform(self.plan.reborn(), self.life + 1)
            self.wait(self.gone, "goes with its pods")
            return
        self.wait(self.settled, "ends")
        self.soak.judge.ended(self)
        if self.plan.ttl is not None and not self.plan.stays_suspended:
            self.wait(lambda: self.job() is None, "goes when its time is over")
        elif self.plan.kept and self.job():
            return
        else:
            self.soak.ledger.delete(self.entry, "Foreground" if self.plan.stubborn else "Background")
            self.did.append("removed")
        self.wait(self.gone, "goes with its pods")

    def wait(self, predicate, what):
        self.soak.machine.wait(predicate, f"{self.mark} {what}", PATIENCE_S)

    # ---- what is done to it

    def suspend(self, deed):
        self.soak.ledger.patch(self.entry, {("spec", "runPolicy", "suspend"): deed.value})

    def scale(self, deed):
        path = ("spec", self.plan.kind.specs, "Worker", "replicas")
        if self.plan.kind in SCALABLE and deed.value % 2:
            self.soak.ledger.scale(self.entry, path, deed.value)
        else:
            self.soak.ledger.patch(self.entry, {path: deed.value})

    def touch(self, deed):
        self.soak.ledger.patch(self.entry, {("metadata", "annotations", "touched"): str(deed.value)})

    def lose_a_pod(self, deed):
        """Deleted by somebody, as a node that is drained does."""
        names = sorted(p["metadata"]["name"] for p in self.pods())
        if names:
            self.soak.forget_pod(names[int(deed.value * len(names))])

    def delete(self, deed):
        self.soak.ledger.delete(self.entry, "Foreground" if deed.value < 0.3 else "Background")

    # ---- what is there

    def job(self):
        found = self.soak.jobs[self.plan.kind.plural].get(self.plan.name, self.soak.ns)
        return found if found and found["metadata"]["uid"] == self.uid else None

    def last(self):
        """Its last revision, there or gone."""
        history = self.history()
        return history[-1].obj if history else None

    def history(self):
        return self.soak.of_job(self.plan.kind.plural, self.uid)

    def pods(self):
        return [p for p in list(self.soak.machine.pods.now.values()) if owner_uid(p) == self.uid]

    def gone(self):
        return self.job() is None and not self.pods()

    def settled(self):
        """It is where it must be at last, with its pods."""
        job = self.job() or self.last()
        if job is None:
            return False
        if finished(job):
            return self.job() is None or self.tidy(job)
        return self.plan.stays_suspended and is_true(job, "Suspended") and not self.pods()

    def tidy(self, job):
        """What cleanPodPolicy asks for is done; replaced pods are gone."""
        pods = self.pods()
        alive = [p for p in pods if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        if any(p["metadata"].get("deletionTimestamp") for p in pods) and self.plan.clean != "None":
            return False
        limited = self.plan.ends in ("limit", "deadline") and is_true(job, "Failed")
        return not ((self.plan.clean == "All" and pods) or (alive and (limited or self.plan.clean == "Running")))

    def places(self):
        """{pod's name: its uids}, of all it ever had."""
        found = {}
        for change in self.soak.of_pods(self.uid):
            found.setdefault(change.obj["metadata"]["name"], {})[change.obj["metadata"]["uid"]] = role_index(change.obj)
        return found

    def written(self, what, pod):
        """Lines of began or ended, as words."""
        try:
            with open(f"{self.folder}/{what}.{pod}", encoding="utf-8") as f:
                return [line.split() for line in f]
        except FileNotFoundError:
            return []

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)

