"""A collection as its watch tells it: what is there now, every revision seen, and a way to wait for
what comes. Nothing here polls."""

import http.client
import json
import threading
import time
from collections import namedtuple

from . import lag
from .kube import ApiError, path_of

# at: seconds since 1970, rev: resourceVersion as a number, listed: revisions before it may have been missed
Change = namedtuple("Change", "type obj at rev listed", defaults=(False,))

PATIENCE_S = 60  # for all that will come; how soon is no claim of a test


def rev_of(obj):
    return int(obj["metadata"]["resourceVersion"])


class Mirror:
    def __init__(self, kube, plural, ns=None, selector=None, changed=None, on_change=None):
        self.kube, self.plural, self.ns, self.selector = kube, plural, ns, selector
        self.changed = changed or threading.Condition()
        self.on_change = on_change
        self.now = {}  # (namespace, name): object
        self.history = []
        self.problems = []
        self.gaps = 0  # how often changes may have been missed
        self.stopped = False
        self.version = None  # where the watch goes on; None: with a list
        self.conn = None
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        if not self.ready.wait(PATIENCE_S):
            raise TimeoutError(f"no list of {plural}")

    def _run(self):
        while not self.stopped:
            try:
                if self.version is None:
                    self.version = self._list()
                self._watch()
            except (OSError, http.client.HTTPException, ApiError, ValueError) as e:
                self.problems.append(repr(e))
            if not self.stopped:
                time.sleep(0.1)  # a server that is away does not say when it is back

    def _list(self):
        answer = self.kube.call("GET", path_of(self.plural, ns=self.ns, labelSelector=self.selector))
        seen = {}
        for obj in answer["items"]:
            key = (obj["metadata"].get("namespace"), obj["metadata"]["name"])
            seen[key] = obj
            old = self.now.get(key)
            if old is not None and old["metadata"]["uid"] != obj["metadata"]["uid"]:
                self._tell("DELETED", old)
                old = None
            if old is None or rev_of(old) != rev_of(obj):
                self._tell("ADDED" if old is None else "MODIFIED", obj, self.ready.is_set())
        for key in set(self.now) - set(seen):
            self._tell("DELETED", self.now[key])
        self.gaps += self.ready.is_set()
        self.ready.set()
        return answer["metadata"]["resourceVersion"]

    def _watch(self):
        conn = self.conn = self.kube.connect(timeout=None)
        try:
            conn.request("GET", path_of(self.plural, ns=self.ns, labelSelector=self.selector, watch="true",
                                        resourceVersion=self.version, allowWatchBookmarks="true"),
                         headers=self.kube.headers)
            answer = conn.getresponse()
            if answer.status != 200:
                self.problems.append(f"{answer.status} at {self.version}: {answer.read()}")
                self.version = None
                return
            while not self.stopped:
                line = answer.readline()
                if not line:
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self.problems.append(f"at {self.version}: {event}")
                    self.version = None
                    return
                if event["type"] != "BOOKMARK":
                    self._tell(event["type"], event["object"])
                self.version = event["object"]["metadata"]["resourceVersion"]
        finally:
            conn.close()

    def _tell(self, kind, obj, listed=False):
        change = Change(kind, obj, time.time(), rev_of(obj), listed)
        key = (obj["metadata"].get("namespace"), obj["metadata"]["name"])
        with self.changed:
            if kind == "DELETED":
                self.now.pop(key, None)
            else:
                self.now[key] = obj
            self.history.append(change)
            if self.on_change:  # before anybody who waits for the change looks at what came of it
                self.on_change(change)
            self.changed.notify_all()

    def sync(self):
        """Returns when it knows what a list says now; watches of different kinds are not equally fast."""
        answer = self.kube.call("GET", path_of(self.plural, ns=self.ns, labelSelector=self.selector))
        want = {(o["metadata"].get("namespace"), o["metadata"]["name"]): rev_of(o) for o in answer["items"]}
        newest = rev_of(answer)

        def caught_up():
            seen = {}
            for c in self.history:
                seen[(c.obj["metadata"].get("namespace"), c.obj["metadata"]["name"])] = c.rev
            return (all(seen.get(key, 0) >= rev for key, rev in want.items()) and
                    all(key in want or rev_of(obj) > newest for key, obj in self.now.items()))

        wait_for(self.changed, caught_up, f"the watch of {self.plural} is up to date")

    def get(self, name, ns=None):
        return self.now.get((ns or self.ns, name))

    def names(self):
        return sorted(name for _, name in list(self.now))

    def of(self, name):
        """Every revision of that name, oldest first."""
        return [c for c in list(self.history) if c.obj["metadata"]["name"] == name]

    def stop(self):
        self.stopped = True
        conn = self.conn
        if conn is not None and conn.sock is not None:
            try:
                conn.sock.shutdown(2)
            except OSError:
                pass


def wait_for(condition, predicate, what, timeout=PATIENCE_S, trouble=None):
    """Until the predicate holds; looked at again whenever the condition is told of a change. trouble()
    says, once a second, why there is nothing to wait for any more. The time is that of a machine that has
    nothing else to do."""
    began = time.monotonic()
    timeout = max(timeout, PATIENCE_S)
    with condition:
        while True:
            value = predicate()
            if value:
                return value
            left = began + lag.patience(timeout) - time.monotonic()
            why = trouble() if trouble else None
            if left <= 0 or why:
                raise AssertionError(why or f"waited {timeout} s in vain: {what}")
            condition.wait(min(left, 1))
