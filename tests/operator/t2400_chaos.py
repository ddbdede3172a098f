#!/usr/bin/python3
"""Everything at once: random jobs, random ends, evictions, edits and deletions, while the operator is
killed and its connections fail. When it is quiet again every job is where its spec and its pods say,
and what must always be true was true all the time.

Usage: t2400_chaos.py [SEED [SECONDS]]; OPERATOR_SEEDS=40 plays that many, from 1 on. A seed gives the same actions,
not the same timing. With OPERATOR_KUBECONFIG on that cluster."""

import os
import random
import sys
import time

from harness import lag
from harness.engine import Proxied, Server
from harness.kube import ApiError
from harness.record import condition, finished, is_true, owner_uid, replicas, role_index
from harness.scene import Scene, template, tfjob
from harness.tap import Tap
from scenes.restarts import tally

LIMITED = ("backoff limit", "specified deadline")


class Chaos:
    def __init__(self, server, ns, seed):
        self.dice = random.Random(seed)
        self.engine = Proxied(server.kube, ns)
        self.scene = Scene(self.engine, ns, stale_s=None)
        self.kube, self.ns = server.kube, ns
        self.did = {}
        for grace, death in ((0, None), (0.1, 143), (0.3, 0)):
            self.scene.script(*[{"index": i, "do": [{"after": 0.05 * i}, "run"], "grace": grace, "death": death}
                                for i in range(self.dice.randint(0, 4))])
        self.scene.standin.script.append({"do": ["run"], "grace": 0.05})
        self.jobs = [f"j{i}" for i in range(8)]
        for name in self.jobs:
            self.make(name)

    def make(self, name):
        pick = self.dice.choice
        roles = {"Worker": self._replicas(pick((1, 2, 4)))}
        if pick((0, 1)):
            roles["PS"] = self._replicas(pick((1, 2)))
        if pick((0, 0, 1)):
            roles["Chief"] = self._replicas(1)
        policy = {"cleanPodPolicy": pick(("None", "Running", "All")), "backoffLimit": pick((0, 3, 8, 8, 100, 100))}
        if pick((0, 1)):
            del policy["backoffLimit"]
        self.kube.create("tfjobs", tfjob(name, run_policy=policy, **roles), self.ns)

    def _replicas(self, n):
        return {"replicas": n, "template": template(),
                "restartPolicy": self.dice.choice(("Never", "OnFailure", "Always", "ExitCode", "ExitCode", "ExitCode"))}

    # ---- one thing that happens

    def act(self):
        actions = ((self.pod_ends, 8), (self.pod_leaves, 4), (self.job_changes, 6), (self.job_goes, 1),
                   (self.network_fails, 6), (self.operator_dies, 1), (self.service_goes, 1))
        what = self.dice.choices([a for a, _ in actions], [w for _, w in actions])[0]
        self.did[what.__name__] = self.did.get(what.__name__, 0) + 1
        try:
            what()
        except ApiError as e:
            if e.status not in (404, 409, 422):  # it is not there any more, or has ended already
                raise

    def _pod(self):
        names = self.scene.live_pods()
        return self.dice.choice(names) if names else "none"

    def pod_ends(self):
        name, code = self._pod(), self.dice.choice((0, 1, 130, 137, 137, 137))
        self.scene.exit(name, code)

    def pod_leaves(self):
        name = self._pod()
        how = self.dice.choice(("evict", "lose", "delete", "restart", "unknown"))
        if how == "delete":
            self.kube.delete("pods", name, self.ns)
        elif how == "restart":
            self.scene.standin.restart(name, 1, self.ns)
        elif how == "unknown":
            self.scene.standin.unknown(name, self.ns)
            self.scene.run(name)
        else:
            getattr(self.scene.standin, how)(name, self.ns)

    def job_changes(self):
        name = self.dice.choice(self.jobs)
        patch = self.dice.choice((
            {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": self.dice.randint(1, 5)}}}},
            {"spec": {"runPolicy": {"suspend": True}}}, {"spec": {"runPolicy": {"suspend": False}}},
            {"spec": {"runPolicy": {"suspend": False}}}, {"metadata": {"annotations": {"touched": str(time.time())}}}))
        self.kube.patch("tfjobs", name, patch, self.ns)

    def job_goes(self):
        name = self.dice.choice(self.jobs)
        uid = self.kube.get("tfjobs", name, self.ns)["metadata"]["uid"]
        self.kube.delete("tfjobs", name, self.ns)
        for plural in ("pods", "services"):  # as a garbage collector does, where there is none
            for obj in self.kube.list(plural, self.ns):
                if owner_uid(obj) == uid:
                    try:
                        self.kube.delete(plural, obj["metadata"]["name"], self.ns)
                    except ApiError as e:
                        if e.status != 404:
                            raise
        self.make(name)

    def service_goes(self):
        names = self.scene.services.names()
        if names:
            self.kube.delete("services", self.dice.choice(names), self.ns)

    def network_fails(self):
        proxy = self.engine.proxy
        times = self.dice.randint(1, 4)
        which = self.dice.choice(("answer", "answer", "drop", "cut", "late", "lag", "all"))
        if which == "answer":
            code = self.dice.choice((409, 429, 500, 503))
            proxy.fault(lambda r: r.writes and not (code == 409 and r.verb == "delete"), "answer", code, times=times)
        elif which == "drop":
            proxy.fault(lambda r: r.writes, "drop", self.dice.choice(("before", "after")), times=times)
        elif which in ("cut", "lag"):
            words = ("cut",) if which == "cut" else ("lag", 0.1)
            proxy.fault(lambda r: r.plural in ("pods", "tfjobs", "services"), *words, times=times)
        elif which == "late":
            proxy.fault(lambda r: r.writes, "late", 0.1, times=times)
        else:
            proxy.drop_all()

    def operator_dies(self):
        self.engine.kill_operator()
        self.engine.start_operator(wait=False)

    # ---- the end

    def calm(self):
        proxy = self.engine.proxy
        with proxy.changed:
            proxy.faults.clear()
            proxy.stream_faults.clear()

    def wrong(self):
        """What is not yet as it should be, as text; empty when all is."""
        found = []
        for name in self.jobs:
            job = self.scene.job(name)
            if job is None:
                return [f"{name} is not seen"]
            found += [f"{name}: {text}" for text in self.wrong_of(job)]
        return found

    def wrong_of(self, job):
        uid = job["metadata"]["uid"]
        pods = {role_index(p): p for p in list(self.scene.pods.now.values()) if owner_uid(p) == uid}
        services = {role_index(p) for p in list(self.scene.services.now.values()) if owner_uid(p) == uid}
        if any(p["metadata"].get("deletionTimestamp") for p in pods.values()):
            return ["a pod is leaving"]
        want = {(role, i) for role, n in replicas(job).items() for i in range(n)}
        if finished(job):
            return self.wrong_end(job, pods)
        if job["spec"]["runPolicy"].get("suspend"):
            return [] if is_true(job, "Suspended") and not pods and not services else ["not suspended"]
        if is_true(job, "Suspended"):
            return ["still suspended"]
        if set(pods) != want or services != want:
            return [f"pods {sorted(pods)}, services {sorted(services)}, should be {sorted(want)}"]
        failed = [p for p in pods.values() if p["status"].get("phase") == "Failed"]
        return [f"{len(failed)} failed pods and no end"] if failed else []

    def wrong_end(self, job, pods):
        policy = job["spec"]["runPolicy"].get("cleanPodPolicy", "None")
        alive = [p for p in pods.values() if p["status"].get("phase") not in ("Succeeded", "Failed")]
        failed = condition(job, "Failed")
        limited = bool(failed) and any(t in failed["message"] for t in LIMITED)
        if policy == "All" and pods:
            return ["policy All, and pods"]
        if alive and (policy == "Running" or limited):
            return ["finished, and pods that run"]
        return []

    def check(self):
        began = time.monotonic()
        while self.scene.quiet(1.5) or self.wrong():  # counts are told once a second
            if time.monotonic() > began + 60 * lag.factor():
                raise AssertionError("not where it should be: " + ("; ".join(self.wrong()) or "it still moves"))
        for name in self.jobs:
            self.check_tally(name)
        self.scene.check()

    def check_tally(self, name):
        """J4: each restart was counted once at most."""
        job, count = self.scene.job(name), tally(self.scene, name)
        if count and count["since"] == job["status"].get("startTime"):
            failed = {c.obj["metadata"]["uid"] for c in self.scene.pods.history
                      if owner_uid(c.obj) == job["metadata"]["uid"] and c.obj["status"].get("phase") == "Failed"}
            assert count["n"] <= len(failed), f"{name}: {count['n']} restarts of {len(failed)} failed pods"


def run(tap, server, ns, seed, seconds):
    chaos = Chaos(server, ns, seed)
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            chaos.act()
            time.sleep(chaos.dice.uniform(0, 0.08))  # the pace of the world
        chaos.calm()
        chaos.check()
        ended = sum(finished(chaos.scene.job(n)) for n in chaos.jobs)
        tap.note(f"seed {seed}: {chaos.did}; {len(chaos.engine.proxy.requests)} requests, {ended} of 8 jobs ended")
    except Exception as e:
        e.report = "\n" + chaos.scene.story() + "\n" + chaos.engine.words()
        raise
    finally:
        chaos.scene.stop()
        chaos.engine.stop()


def main():
    tap = Tap()
    server = Server()
    many = int(os.environ.get("OPERATOR_SEEDS", "4"))
    seeds = [int(sys.argv[1])] if len(sys.argv) > 1 else range(1, many + 1)
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 8
    tap.run_all([(f"seed {seed} ({server.name})", run, tap, server, f"c{os.getpid()}-{seed}", seed, seconds)
                 for seed in seeds], width=4)
    server.stop()
    tap.end()


if __name__ == "__main__":
    main()
