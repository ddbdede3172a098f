#!/usr/bin/python3
"""Requests that cost too much: others wait at most five times as long as with a quiet server. What is measured is the
99th of a hundred answers to somebody else, quiet and under attack in the same run; on a busy machine that says little
below FLOOR_MS, so nobody is held to less. ATTACK_STRICT=1 takes the floor away. Usage: t8000_budget.py [root|user]"""

import json
import os
import sys
import threading
import time

from harness import lag
from harness.tap import claim, is_
from hostile import h2
from hostile.door import Door
from hostile.raw import Others, ask
from world.cast import on_each

FLOOR_MS = 1 if os.environ.get("ATTACK_STRICT") else 40
QUIET_S, ATTACK_S = 1, 2
FILES = int(os.environ.get("ATTACK_FILES") or 20000)
COSTS = []


def cost(test):
    COSTS.append(test)
    return test


def crd(d, name, schema):
    """A kind of objects with that in their spec; where they go."""
    d.kube.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{name}s.attack.dev"},
        "spec": {"group": "attack.dev", "scope": "Namespaced", "names": {"plural": f"{name}s", "singular": name, "kind": name.title()}, "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}]}})
    path = f"/apis/attack.dev/v1/namespaces/open/{name}s"
    d.machine.until(lambda: d.ask("GET", path, d.admin)[0] == 200, "it is served")
    return path, {"apiVersion": "attack.dev/v1", "kind": name.title(), "metadata": {"generateName": "x-"}}


def again_and_again(d, *requests):
    """Two of them at a time."""
    def attack(stop):
        def one(n):
            i = n
            while not stop.is_set():
                method, path, body, *headers = requests[i % len(requests)]
                ask(d.port, method, path, d.admin, body=body, headers=headers, timeout=60)
                i += 1
        threads = [threading.Thread(target=one, args=(n,)) for n in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    return attack


def held_up(d, attack):
    """Quiet, and under attack."""
    with Others(d.port, d.admin) as quiet:
        time.sleep(QUIET_S)
    stop = threading.Event()
    thread = threading.Thread(target=attack, args=(stop,))
    with Others(d.port, d.admin) as others:
        thread.start()
        time.sleep(ATTACK_S)
        stop.set()
        thread.join()
    d.lives()
    assert not others.bad, others.bad[:5]
    d.note(f"99 of 100 quiet: {quiet.at(99):.1f} ms, under attack: {others.at(99):.1f} ms, {others.at(99) / max(quiet.at(99), 0.1):.1f} times, "
           f"longest {max(others.took):.0f} ms, of {len(others.took)} answers")
    most = 5 * max(quiet.at(99), FLOOR_MS) * min(lag.factor(), 3)
    assert others.at(99) <= most, f"99 of 100 took {others.at(99):.0f} ms, quiet {quiet.at(99):.0f} ms"


@cost
def rules_that_make_long_texts(d):
    rule = "self.replace('a', 'aaaaaaaaaaaaaaaa')" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * 5 + " != ''"
    path, head = crd(d, "replace", {"type": "string", "maxLength": 1000, "x-kubernetes-validations": [{"rule": rule}]})
    held_up(d, again_and_again(d, ("POST", path, json.dumps({**head, "spec": "a" * 400}))))


@cost
def patterns_that_try_everything(d):
    path, head = crd(d, "pattern", {"type": "string", "pattern": "^(.*a){25}$"})
    held_up(d, again_and_again(d, ("POST", path + "?dryRun=All", json.dumps({**head, "spec": "b" * 1400000})),
                               ("POST", path + "?dryRun=All", json.dumps({**head, "spec": "ab" * 300000}))))


@cost
def patterns_with_many_counts(d):
    """And what matches is not refused."""
    path, head = crd(d, "count", {"type": "string", "pattern": "^(.*a){900}$"})
    is_(d.ask("POST", path, d.admin, body=json.dumps({**head, "spec": "ba" * 900}))[0], 201, "what matches")
    is_(d.ask("POST", path, d.admin, body=json.dumps({**head, "spec": "ba" * 899}))[0], 422, "what does not")
    held_up(d, again_and_again(d, ("POST", path + "?dryRun=All", json.dumps({**head, "spec": "ab" * 20000}))))


@cost
def objects_with_many_keys(d):
    many = json.dumps({"metadata": {"generateName": "many-"}, "data": {f"k{i}": "" for i in range(200000)}})
    twice = '{"metadata":{"generateName":"m-"},"data":{' + ",".join(f'"k{i}":1' for i in range(240000)) + "}}"
    held_up(d, again_and_again(d, ("POST", "/api/v1/namespaces/open/configmaps?dryRun=All", many[:2900000]),
                               ("POST", "/api/v1/namespaces/open/configmaps?dryRun=All", twice)))


@cost
def deep_and_wide_bodies(d):
    deep = '{"metadata":{"generateName":"d-"},"x":' + "[" * 500 + "]" * 500 + "}"
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(8))
    held_up(d, again_and_again(d, ("POST", "/api/v1/namespaces/open/configmaps?dryRun=All", deep),
                               ("POST", "/api/v1/namespaces/open/configmaps?dryRun=All", bomb, ("Content-Type", "application/yaml"))))


@cost
def header_references_without_a_credential(d):
    def attack(stop):
        while not stop.is_set():
            s = h2.Session(d.port)
            s.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, h2.request(d.port) + h2.literal("x", "y" * 4000, index=True)))
            for i in range(40):
                if stop.is_set() or not s.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 3 + 2 * i, h2.request(d.port) + h2.indexed(62) * 16000)):
                    break
            s.close()
    held_up(d, attack)


@cost
def a_pod_with_many_files_that_goes(d):
    """An emptyDir full of small files is removed while others ask."""
    script = f'cd "$TMPDIR" && i=0; /usr/bin/python3 -c "import os\nfor i in range({FILES}): os.close(os.open(str(i), os.O_CREAT | os.O_WRONLY))" && echo full && sleep 300'
    d.kube.create("pods", {"metadata": {"name": "full"}, "spec": {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never", "containers": [
        {"name": "c", "image": "x", "command": ["sh", "-c", script]}]}}, "open")
    d.machine.until(lambda: d.ask("GET", "/api/v1/namespaces/open/pods/full/log", d.admin)[2] == b"full\n", "the files are there")

    def attack(_):
        d.kube.delete("pods", "full", "open", grace=0)
        d.machine.until(lambda: d.kube.find("pods", "full", "open") is None, "it goes")
    held_up(d, attack)


def budget(tap, _, user, parts):
    d = Door(user, "--no-operator")
    d.note = tap.note
    for test in COSTS:
        if not parts or any(p in test.__name__ for p in parts):
            d.revive()
            tap.run(f"{claim(test)} hold up nobody (as {user})", test, d)
    d.revive()
    tap.run(f"it stops as it should (as {user})", lambda: is_(d.machine.stop(), 0, "exit code"))
    d.machine.remove()


if __name__ == "__main__":
    # One is enough, and two at a time would measure each other.
    on_each(budget, ["shared", *(sys.argv[1:] or ["user" if os.geteuid() else "root"])])
