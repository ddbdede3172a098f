#!/usr/bin/python3
"""The tools themselves: the stand-in moves pods as a kubelet would, the proxy does the harm it is told
to do. With OPERATOR_KUBECONFIG on that cluster, else on a server of its own."""

import os
import threading

from harness.engine import MusterUp
from harness.kube import ApiError, Kube
from harness.mirror import Mirror, wait_for
from harness.proxy import Proxy
from harness.standin import OPERATOR, PREFIX, Standin
from harness.tap import Tap, claim, is_


def pod(name, role="worker", index=0, job="j"):
    labels = {OPERATOR: "tfjob-controller", PREFIX + "job-name": job, PREFIX + "replica-type": role,
              PREFIX + "replica-index": str(index)}
    return {"metadata": {"name": name, "labels": labels},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "tensorflow", "image": "example.com/i"}]}}


def phase(p):
    return p and p.get("status", {}).get("phase")


class Bench:
    def __init__(self, kube, ns):
        self.kube, self.ns = kube, ns
        kube.make_namespace(ns)
        self.pods = Mirror(kube, "pods", ns)

    def wait(self, predicate, what):
        return wait_for(self.pods.changed, predicate, what)


def a_script_leads_each_attempt_to_its_end(b):
    Standin(b.kube, b.ns, [{"attempt": 1, "do": ["run", {"exit": 130}]}, {"do": ["run", {"exit": 0}]}])
    b.kube.create("pods", pod("p"), b.ns)
    b.wait(lambda: phase(b.pods.get("p")) == "Failed", "first attempt fails")
    status = b.pods.get("p")["status"]["containerStatuses"][0]
    is_(status["state"]["terminated"]["exitCode"], 130, "with its code")
    b.kube.delete("pods", "p", b.ns)
    b.wait(lambda: not b.pods.get("p"), "a pod at its end goes at once")
    b.kube.create("pods", pod("p"), b.ns)
    b.wait(lambda: phase(b.pods.get("p")) == "Succeeded", "second attempt succeeds")


def deleted_pods_take_their_grace_and_may_end_badly(b):
    s = Standin(b.kube, b.ns, [{"index": 0, "do": ["run"], "grace": None}, {"do": ["run"], "grace": 0.1, "death": 143}])
    for i in (0, 1):
        b.kube.create("pods", pod(f"p{i}", index=i), b.ns)
    b.wait(lambda: all(phase(b.pods.get(f"p{i}")) == "Running" for i in (0, 1)), "both run")
    for i in (0, 1):
        b.kube.delete("pods", f"p{i}", b.ns)
    b.wait(lambda: not b.pods.get("p1"), "one goes")
    is_(phase([c for c in b.pods.of("p1") if c.type != "DELETED"][-1].obj), "Failed", "having ended as Failed")
    is_(phase(b.pods.get("p0")), "Running", "the other stays")
    s.finish("p0", b.ns)
    b.wait(lambda: not b.pods.get("p0"), "until it is told to go")


def pods_are_restarted_evicted_lost_and_unknown(b):
    s = Standin(b.kube, b.ns)
    for i, name in enumerate(("restarted", "evicted", "lost", "unknown")):
        b.kube.create("pods", pod(name, index=i), b.ns)
        s.run(name, b.ns)
    s.restart("restarted", 1, b.ns, times=2)
    for word in ("evict", "lose", "unknown"):
        getattr(s, word)({"evict": "evicted", "lose": "lost"}.get(word, word), b.ns)
    b.wait(lambda: phase(b.pods.get("unknown")) == "Unknown", "told of")
    is_(b.pods.get("restarted")["status"]["containerStatuses"][0]["restartCount"], 2, "restarts are counted")
    for name, reason in (("evicted", "Evicted"), ("lost", "NodeLost")):
        status = b.pods.get(name)["status"]
        is_((status["phase"], status["reason"]), ("Failed", reason), name)
        assert any(c["type"] == "DisruptionTarget" and c["status"] == "True" for c in status["conditions"])
    is_(s.errors, [], "no complaints")


def the_proxy_passes_and_counts(b):
    proxy = Proxy(b.kube)
    client = through(proxy)
    client.create("pods", pod("p"), b.ns)
    is_([p["metadata"]["name"] for p in client.list("pods", b.ns)], ["p"], "listed")
    client.delete("pods", "p", b.ns)
    is_(proxy.tally(), {"create pods": 1, "list pods": 1, "delete pods": 1}, "counted")
    is_([r.status for r in proxy.requests], [201, 200, 200], "with their answers")


def through(proxy):
    folder = os.environ.get("TMPDIR", "/tmp")
    path = proxy.kubeconfig(folder)
    client = Kube(path)
    os.unlink(path)
    return client


def the_proxy_injects_answers_and_drops(b):
    proxy = Proxy(b.kube)
    client = through(proxy)
    proxy.fault(lambda r: r.verb == "create", "answer", 429, {"Retry-After": "1"})
    try:
        client.create("pods", pod("p"), b.ns)
        raise AssertionError("was not refused")
    except ApiError as e:
        is_((e.status, e.reason), (429, "TooManyRequests"), "refused")
    is_(b.kube.find("pods", "p", b.ns), None, "nothing was made")
    fault = proxy.fault(lambda r: r.verb == "create", "drop", "after", times=2)
    for _ in range(2):
        try:
            client.create("pods", pod("p"), b.ns)
            raise AssertionError("was answered")
        except OSError:
            pass
        if len(fault.hits) == 2:
            break
    assert b.kube.find("pods", "p", b.ns), "it was made all the same"


def the_proxy_cuts_a_watch_in_the_middle_of_a_line(b):
    proxy = Proxy(b.kube)
    mirror = Mirror(through(proxy), "pods", b.ns)
    fault = proxy.fault(lambda r: r.verb == "watch", "cut")
    b.kube.create("pods", pod("p"), b.ns)
    wait_for(mirror.changed, lambda: mirror.get("p"), "comes with the next list")
    is_(len(fault.hits), 1, "was cut")
    assert mirror.problems, "and noticed"


def the_proxy_partitions_half_opens_and_refuses(b):
    proxy = Proxy(b.kube)
    client = through(proxy)
    client.list("pods", b.ns)
    proxy.partition()
    done = threading.Event()
    threading.Thread(target=lambda: (through(proxy).list("pods", b.ns), done.set()), daemon=True).start()
    wait_for(proxy.changed, lambda: len(proxy.requests) == 2, "it has asked")
    assert not done.wait(0.3), "nothing passes"
    proxy.heal()
    client.list("pods", b.ns)
    assert any(r.status is None for r in proxy.requests), "what was on its way is lost"
    is_(proxy.half_open() > 0, True, "there are connections")
    mirror = Mirror(through(proxy), "pods", b.ns)
    proxy.refuse()
    b.kube.create("pods", pod("p"), b.ns)
    try:
        through(proxy).list("pods", b.ns)
        raise AssertionError("was answered")
    except OSError:
        pass
    proxy.listen()
    wait_for(mirror.changed, lambda: mirror.get("p"), "comes when it listens again")


def the_proxy_calls_after_the_nth_write(b):
    for answered in (False, True):
        proxy = Proxy(b.kube)
        client = through(proxy)
        called, done = [], threading.Event()

        def kill(called=called, done=done):
            called.append([c["metadata"]["name"] for c in b.kube.list("configmaps", b.ns)])
            done.set()

        proxy.kill_after(2, kill, answered=answered)
        for i in range(2):
            try:
                client.create("configmaps", {"metadata": {"name": f"c{i}-{answered}".lower()}}, b.ns)
            except (OSError, ApiError):
                pass
        assert done.wait(60), "it is called"
        is_(len(called), 1, "once")
        assert f"c1-{answered}".lower() in called[0], "when the second was carried out"


TESTS = [a_script_leads_each_attempt_to_its_end, deleted_pods_take_their_grace_and_may_end_badly,
         pods_are_restarted_evicted_lost_and_unknown, the_proxy_passes_and_counts,
         the_proxy_injects_answers_and_drops, the_proxy_cuts_a_watch_in_the_middle_of_a_line,
         the_proxy_partitions_half_opens_and_refuses, the_proxy_calls_after_the_nth_write]


def main():
    tap = Tap()
    given = os.environ.get("OPERATOR_KUBECONFIG")
    engine = None if given else MusterUp(inside=False)
    kube = Kube(given) if given else engine.kube
    tap.run_all([(claim(t), t, Bench(kube, f"harness-{os.getpid()}-{i}")) for i, t in enumerate(TESTS)], width=4)
    if engine:
        engine.stop()
    tap.end()


if __name__ == "__main__":
    main()
