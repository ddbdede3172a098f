#!/usr/bin/python3
"""The same nodes and pods for our scheduler and for kube-scheduler: a pod fits the same nodes. See README.md.

WORLDS worlds (10) from seed WORLDS_SEED (1) on. In each, pods come one after the other. Each is tried on every node
by itself, then without saying where; the next one finds it on the same node in both clusters. At the end all pods
are created at once, and no node may have more than it has room for."""

import copy
import os
import random
import threading

from harness.mirror import Mirror, wait_for
from harness.tap import Tap, is_
from scheduler_process import SchedulerProcess
from world.machine import Machine, Refused
from world.record import condition
from worlds import CLASSES, OTHER, World, overcommitted, pin

FAST = ("--kube-api-qps", "5000", "--kube-api-burst", "5000")
# Its view of nodes may be behind its view of pods for a moment; after that it tries again.
SETTLE_S = 20
KEEP_OFF = {"taints": [{"key": "not-for-worlds", "effect": "NoSchedule"}]}


class Cluster:
    """One of the two, and who decides there."""

    def __init__(self, name, *flags):
        self.name = name
        self.machine = Machine("shared", "root", *flags)
        self.kube = self.machine.kube
        self.scheduler = SchedulerProcess(self.machine, *FAST) if flags else None
        self.nodes = Mirror(self.kube, "nodes", changed=self.machine.changed)
        self.machine.wait(lambda: self.nodes.now, "its node")
        (own,) = self.kube.list("nodes")
        self.kube.patch("nodes", own["metadata"]["name"], {"spec": KEEP_OFF})
        self.kube.create("namespaces", {"metadata": {"name": OTHER, "labels": {"team": "x"}}})
        for word, value in CLASSES.items():
            self.kube.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
                "metadata": {"name": word}, "value": value, "preemptionPolicy": "Never"})

    def pod(self, pod):
        return self.machine.pods.get(pod["metadata"]["name"], pod["metadata"]["namespace"]) or {}

    def verdict(self, pod):
        """The node, "" if it fits nowhere, None if that is not known yet."""
        now = self.pod(pod)
        refused = condition(now, "PodScheduled").get("reason") == "Unschedulable"
        return now.get("spec", {}).get("nodeName") or ("" if refused else None)

    def wait(self, predicate, what, timeout=60):
        wait_for(self.machine.changed, predicate, f"{self.name}: {what}", timeout, self.machine.trouble)

    def make(self, pod):
        self.kube.create("pods", pod, pod["metadata"]["namespace"])

    def remove(self, pod):
        self.kube.forget("pods", pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)
        self.wait(lambda: not self.pod(pod), f"{pod['metadata']['name']} goes")

    def populate(self, nodes):
        for node in nodes:
            self.kube.create("nodes", node)
            self.kube.patch("nodes", node["metadata"]["name"], {"status": node["status"]}, sub="status")

    def no_pods(self):
        for ns in ("default", OTHER):
            self.kube.call("DELETE", f"/api/v1/namespaces/{ns}/pods?gracePeriodSeconds=0")
        self.wait(lambda: not self.machine.pods.now, "all pods go")

    def clear(self, nodes):
        self.no_pods()
        for node in nodes:
            self.kube.delete("nodes", node["metadata"]["name"])


def in_both(clusters, act):
    """act(cluster) for each at once; their results, or the first error."""
    results = {}

    def run(cluster):
        try:
            results[cluster.name] = act(cluster)
        except Exception as e:  # pylint: disable=broad-except # raised again below
            results[cluster.name] = e
    threads = [threading.Thread(target=run, args=(c,)) for c in clusters]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for r in results.values():
        if isinstance(r, Exception):
            raise r
    return [results[c.name] for c in clusters]


def pinned(pod, i):
    """The pod as it would be if it could only go to node i."""
    found = copy.deepcopy(pod)
    resources = found["spec"]["containers"][0]["resources"]
    for words in ("requests", "limits"):
        resources[words][pin(i)] = "1"
    return found


def ask(clusters, pod, agree):
    """What both say of a pod, which stays. They may take their time to agree()."""
    def one(c):
        c.make(pod)
        c.wait(lambda: c.verdict(pod) is not None, f"a word on {pod['metadata']['name']}")
    in_both(clusters, one)
    if not agree(*(c.verdict(pod) for c in clusters)):
        try:
            clusters[1].wait(lambda: agree(*(c.verdict(pod) for c in clusters)), "agreement", SETTLE_S)
        except AssertionError:
            pass
    return [c.verdict(pod) for c in clusters]


def why(clusters, pod):
    return "\n".join(f"{c.name}: {c.verdict(pod) or condition(c.pod(pod), 'PodScheduled').get('message')}" for c in clusters)


def place(clusters, world, pod):
    fits = []
    for i, node in enumerate(world.nodes):
        probe = pinned(pod, i)
        got = ask(clusters, probe, lambda x, y: x == y)
        if got[0] != got[1]:
            raise AssertionError(f"{node['metadata']['name']}:\n{why(clusters, probe)}\n{probe}")
        if got[0]:
            fits.append(got[0])
        in_both(clusters, lambda c, p=probe: c.remove(p))
    ours, theirs = ask(clusters, pod, lambda x, y: bool(x) == bool(y))
    if bool(ours) != bool(fits) or bool(theirs) != bool(fits) or not {ours, theirs} <= set(fits or [""]):
        raise AssertionError(f"it fits {fits}:\n{why(clusters, pod)}\n{pod}")
    if not fits:
        in_both(clusters, lambda c: c.remove(pod))
    elif ours != theirs:
        clusters[1].remove(pod)
        moved = copy.deepcopy(pod)
        moved["spec"]["nodeName"] = ours
        clusters[1].make(moved)
        clusters[1].wait(lambda: clusters[1].verdict(pod) == ours, "it is moved")
    return len(fits)


def crowd(cluster, world):
    """All pods at once."""
    cluster.no_pods()
    for pod in world.pods:
        cluster.make(pod)
    cluster.wait(lambda: all(cluster.verdict(p) is not None for p in world.pods), "a word on each pod")
    for node in world.nodes:
        name = node["metadata"]["name"]
        wrong = overcommitted(node, [p for p in world.pods if cluster.verdict(p) == name])
        is_(wrong, "", f"{cluster.name}: given away twice on {name}")


def try_world(clusters, seed, counts):
    world = World(random.Random(seed), seed)
    in_both(clusters, lambda c: c.populate(world.nodes))
    try:
        for pod in world.pods:
            n = place(clusters, world, pod)
            counts["tried"] += len(world.nodes)
            counts["fits"] += n
            counts["nowhere"] += not n
        in_both(clusters, lambda c: crowd(c, world))
    except AssertionError as e:
        pods = [(p["metadata"]["name"], clusters[0].verdict(p)) for p in world.pods]
        raise AssertionError(f"{e}\npods: {pods}\nnodes: {world.nodes}\nall: {world.pods}") from e
    finally:
        in_both(clusters, lambda c: c.clear(world.nodes))


def main():
    tap = Tap()
    first, n = int(os.environ.get("WORLDS_SEED") or 1), int(os.environ.get("WORLDS") or 10)
    try:
        clusters = [Cluster("muster"), Cluster("kube-scheduler", "--no-scheduler")]
    except Refused as e:
        tap.line(True, "the same worlds", skip=str(e))
        tap.end()
    counts = {"tried": 0, "fits": 0, "nowhere": 0}
    for seed in range(first, first + n):
        tap.run(f"world {seed}", try_world, clusters, seed, counts)
    tap.note(f"{counts['tried']} times a pod on a node: it fits {counts['fits']} times; {counts['nowhere']} pods fit nowhere")
    tap.run("some fit and some do not", lambda: is_(0 < counts["fits"] < counts["tried"], True, str(counts)))
    clusters[1].scheduler.stop()
    tap.end()


if __name__ == "__main__":
    main()
