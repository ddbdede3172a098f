"""S3 by experiment: worlds in which a job waits. Without a change it goes on waiting; after what
`muster why -o json` says would help, it starts. why_worlds.py SEED WORLDS"""

import json
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "operator"))

from harness.kube import Kube  # pylint: disable=wrong-import-position

GPU = "example.com/gpu"
NS = "default"
LABEL = "training.kubeflow.org/job-name"

api = Kube(os.environ["KUBECONFIG"])


def why(name):
    done = subprocess.run(["muster", "why", "tfjob/" + name, "-o", "json"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def spec(needs):
    return {"terminationGracePeriodSeconds": 0, "containers": [{
        "name": "tensorflow", "image": "none", "command": ["sleep", "1000"], "resources": {"limits": needs}}]}


def create_job(name, workers, needs):
    api.create("tfjobs", {"metadata": {"name": name}, "spec": {"tfReplicaSpecs": {"Worker": {
        "replicas": workers, "template": {"spec": spec(needs)}}}}}, NS)


def create_pod(name, needs):
    api.create("pods", {"metadata": {"name": name}, "spec": spec(needs)}, NS)


def pods():
    return api.list("pods", NS)


def is_placed(p):
    return bool(p["spec"].get("nodeName"))


def of(items, name):
    return [p for p in items if p["metadata"].get("labels", {}).get(LABEL) == name]


def until(what, happened):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if happened():
            return
        time.sleep(0.05)
    raise SystemExit(f"not within a minute: {what}\n{json.dumps(pods())}")


def amount(needs, resource):
    text = needs.get(resource, "0")
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def told(p):
    return any(c["type"] == "PodScheduled" for c in p.get("status", {}).get("conditions", []))


def all_looked_at(count):
    items = pods()
    return len(items) == count and all(is_placed(p) or told(p) for p in items)


class World:
    def __init__(self, dice):
        self.dice = dice
        self.jobs = {}

    def needs(self, most):
        needs = {GPU: str(self.dice.randint(0, most)), "cpu": f"{100 * self.dice.randint(1, 12)}m"}
        return {k: v for k, v in needs.items() if v != "0"}

    def fill(self):
        count = 0
        for i in range(self.dice.randint(1, 3)):
            create_pod(f"held{i}", self.needs(2))
            count += 1
        for i in range(self.dice.randint(2, 3)):
            name, workers = f"job{i}", self.dice.randint(1, 2)
            self.jobs[name] = (workers, self.needs(3))
            create_job(name, *self.jobs[name])
            count += workers
        until("the scheduler has looked at all pods", lambda: all_looked_at(count))

    def waiting(self):
        items = pods()
        return [j for j in sorted(self.jobs) if not all(is_placed(p) for p in of(items, j))]

    def do(self, step, name):
        if step["do"] == "End":
            api.delete("tfjobs" if step["kind"] == "job" else "pods", step["name"], NS)
        elif step["do"] == "Lower":
            workers, needs = self.jobs[name]
            to = step["to"]
            lower = dict(needs)
            if amount(needs, step["resource"]) > amount({step["resource"]: to}, step["resource"]):
                lower[step["resource"]] = to
            self.jobs[name] = (workers, lower)
        else:
            raise SystemExit(f"an unknown step: {step}")

    def create_again(self, name):
        api.delete("tfjobs", name, NS)
        until(f"the pods of {name} are gone", lambda: not of(pods(), name))
        create_job(name, *self.jobs[name])

    def check(self):
        """True: something waited."""
        names = self.waiting()
        if not names:
            return False
        name = self.dice.choice(names)
        said = why(name)
        assert said["state"] == "Waiting", said
        # it goes on waiting: the scheduler has looked once more when this pod has a node
        create_pod("probe", {})
        until("the probe has a node", lambda: any(
            p["metadata"]["name"] == "probe" and is_placed(p) for p in pods()))
        assert name in self.waiting(), f"{name} started by itself: {said}"
        helps = [h for h in said["help"] if h["steps"] and h["steps"][0]["do"] != "Offer"]
        if not helps:
            assert said["scheduling"]["never"] or said["queue"]["before"], said
            return True
        best = self.dice.choice(helps)
        print(f"# {name}: {said['sentence']}\n#   so: {best['text']}", flush=True)
        for step in best["steps"]:
            self.do(step, name)
        if best["steps"][0]["do"] == "Lower":
            self.create_again(name)
        workers = self.jobs[name][0]
        until(f"{name} starts: {best}", lambda: len([
            p for p in of(pods(), name) if is_placed(p) and not p["metadata"].get("deletionTimestamp")]) == workers)
        return True

    def clear(self):
        for kind in ("tfjobs", "pods"):
            for o in api.list(kind, NS):
                api.forget(kind, o["metadata"]["name"], NS)
        until("all is gone", lambda: not pods() and not api.list("tfjobs", NS))


def main():
    seed, worlds = int(sys.argv[1]), int(sys.argv[2])
    dice, done = random.Random(seed), 0
    print(f"# seed {seed}", flush=True)
    while done < worlds:
        w = World(dice)
        w.fill()
        done += w.check()
        w.clear()


main()
