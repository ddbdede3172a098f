"""What people see and type: kubectl's columns, its waiting, and what it says when something is wrong (J7)."""

import json

from harness.tap import is_
from world.scene import STAY, box, matches

from . import scene


def column(s, name):
    """READY, STATUS, RESTARTS of a pod."""
    return s.kubectl("get", "pod", name, "--no-headers").stdout.split()[1:4]


def shows(s, name, ready, status):
    s.until(lambda: column(s, name)[:2] == [ready, status], lambda: f"{ready} {status}, not {column(s, name)}")


@scene
def kubectl_shows_how_pods_are(s):
    s.start("runs", box(STAY, "a"), box(STAY, "b"))
    s.start("done", "exit 0")
    s.start("failed", "exit 1")
    s.start("begins", box(STAY), init=[box("await go", "i")])
    s.start("unknown", {"name": "main", "image": "example.com/unknown:1"}, gate=False)
    s.start("waits", box(STAY), nodeSelector={"nobody": "has"})
    s.start("lost", box("exit 0", env=[{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "k"}}}]))
    for name, ready, status in (("runs", "2/2", "Running"), ("done", "0/1", "Completed"), ("failed", "0/1", "Error"),
                                ("begins", "0/1", "Init:0/1"), ("unknown", "0/1", "ImageNotMapped"),
                                ("waits", "0/1", "Pending"), ("lost", "0/1", "CreateContainerConfigError")):
        shows(s, name, ready, status)


@scene(slow=True)
def kubectl_shows_crashes(s):
    s.start("p", "exit 1", restart="Always")
    shows(s, "p", "0/1", "CrashLoopBackOff")
    assert int(column(s, "p")[2]) >= 1, "restarts"
    s.wait_event("BackOff", name="p")
    text = s.kubectl("describe", "pod", "p").stdout
    for part in ("Exit Code: +1\n", "Restart Count: +[1-9]", "Back-off restarting failed container main"):
        matches(text, part, "kubectl describe")


@scene
def kubectl_shows_who_is_leaving(s):
    s.start("p", "trap '' TERM; echo up | say up; while :; do sleep 0.2; done", grace=600)
    s.read("up")
    s.delete("p")
    shows(s, "p", "1/1", "Terminating")


@scene
def kubectl_shows_who_had_too_little_memory(s):
    s.start("p", box("exec /usr/bin/python3 -c 'import time; x = bytearray(300 << 20); time.sleep(600)'",
                     resources={"limits": {"memory": "64Mi"}}))
    shows(s, "p", "0/1", "OOMKilled")


@scene
def kubectl_waits_and_deletes(s):
    s.start("p", STAY)
    s.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=60s")
    s.start("q", "exit 0")
    s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/q", "--timeout=60s")
    s.kubectl("delete", "pod", "p", "q", "--timeout=60s")
    is_(s.kubectl("get", "pods", "-o", "name").stdout, "", "they are gone when it returns")


@scene
def kubectl_runs_a_pod(s):
    s.kubectl("run", "p", "--image=example.com/e2e:1", "--restart=Never", "--command", "--", "sh", "-c", "exit 4")
    s.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/p", "--timeout=60s")


@scene
def a_field_that_is_none_is_named(s):
    pod = s.pod("p", box("exit 0", comand=["x"]))
    pod = {"apiVersion": "v1", "kind": "Pod", **pod}
    done = s.kubectl("apply", "--validate=warn", "-f", "-", stdin=json.dumps(pod))
    matches(done.stderr, r'Warning: .*unknown field "?spec.containers\[0\].comand', "the warning")


@scene
def manifests_come_in_any_order(s):
    """A pod before what it needs: it waits, and all is well in one pass."""
    place = s.place("p", "v")
    pod = s.pod("p", box(f"cat {place}/k | say k", envFrom=[{"secretRef": {"name": "t"}}],
                         volumeMounts=[{"name": "v", "mountPath": place}]), volumes=[{"name": "v", "configMap": {"name": "c"}}])
    items = [{"apiVersion": "v1", "kind": "Pod", **pod},
             {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"},
              "spec": {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 1}]}},
             {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"X": "y"}},
             {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}]
    s.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    is_(s.read("k", timeout=120), "v", "it ran")
