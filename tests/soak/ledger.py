"""What the server acknowledged, and whether it is still there. Each object has one writer at a time. A request whose
answer never came may or may not have been carried out: both are right, until an answer says which."""

import http.client
import threading
import time

from harness.kube import ApiError, path_of
from harness.mirror import rev_of

MARK = "soak.muster.dev/is"  # tells one object of a name from the next
BROKEN = (OSError, http.client.HTTPException)


class Entry:
    def __init__(self, plural, name, mark, may_go):
        self.plural, self.name, self.mark, self.may_go = plural, name, mark, may_go
        self.uid, self.rev = None, 0
        self.said = {}  # path: value, acknowledged
        self.asked = {}  # path: value, perhaps there
        self.deletion = None  # "asked", "acknowledged"
        self.moves = 0  # requests begun and ended: odd while one is under way


class Ledger:
    def __init__(self, machine, ns):
        self.machine, self.ns = machine, ns
        self.lock = threading.Lock()
        self.entries = {}  # (plural, mark)
        self.newest = 0  # the highest revision anybody was told
        self.acknowledged = self.unanswered = self.checked = 0
        self.violations = []
        self.stopped = threading.Event()
        self.back = threading.Event()  # the server answers
        self.back.set()

    # ---- writing

    def create(self, plural, obj, mark, may_go=False):
        """The object as it is there."""
        name = obj["metadata"]["name"]
        meta = {**obj["metadata"], "annotations": {**obj["metadata"].get("annotations", {}), MARK: mark}}
        entry = Entry(plural, name, mark, may_go)
        with self.lock:
            self.entries[plural, mark] = entry

        def ours():
            found = self.machine.kube.find(plural, name, self.ns)
            return found if found and found["metadata"]["annotations"].get(MARK) == mark else None
        self._send(entry, {}, lambda: self.machine.kube.create(plural, {**obj, "metadata": meta}, self.ns), already=ours)
        return entry

    def patch(self, entry, values):
        """values: {("spec", "x"): value}. False: it is gone, by itself."""
        patch = {}
        for path, value in values.items():
            at = patch
            for step in path[:-1]:
                at = at.setdefault(step, {})
            at[path[-1]] = value
        return self._send(entry, values, lambda: self.machine.kube.patch(entry.plural, entry.name, patch, self.ns))

    def scale(self, entry, path, number):
        """By the subresource; path: where the number is in the object."""
        kube = self.machine.kube

        def send():
            answer = kube.patch(entry.plural, entry.name, {"spec": {"replicas": number}}, self.ns, "scale")
            return {"metadata": {**answer["metadata"], "uid": entry.uid}}
        return self._send(entry, {path: number}, send)

    def delete(self, entry, propagation="Background"):
        entry.deletion = entry.deletion or "asked"
        self._send(entry, {}, lambda: self.machine.kube.delete(entry.plural, entry.name, self.ns, uid=entry.uid,
                                                               propagation=propagation))
        entry.deletion = "acknowledged"

    def _send(self, entry, values, send, already=None):
        """Until there is an answer. already(): what is there under that name, if it is this one."""
        entry.asked = {**entry.asked, **values}
        while True:
            self.back.wait()
            if self.stopped.is_set():
                raise InterruptedError("the server is gone for good")
            entry.moves += 1
            try:
                answer = self._once(send, already)
            except BROKEN:
                self.unanswered += 1
                time.sleep(0.05)  # who killed it is about to say so
                continue
            except ApiError as e:
                if e.status == 409 and already:  # the last one of that name is still going
                    time.sleep(0.2)
                    continue
                if e.status in (404, 409) and (entry.deletion or entry.may_go):
                    return False
                raise
            finally:
                entry.moves += 1
            self._note(entry, values, answer)
            return True

    @staticmethod
    def _once(send, already):
        try:
            return send()
        except ApiError as e:
            found = already() if e.status == 409 and already else None
            if not found:
                raise
            return found

    def _note(self, entry, values, answer):
        with self.lock:
            self.acknowledged += 1
            if answer.get("kind") != "Status":
                entry.uid = entry.uid or answer["metadata"]["uid"]
                entry.rev = rev_of(answer)
                self.newest = max(self.newest, entry.rev)
            for path, value in values.items():
                entry.said[path] = value
                entry.asked.pop(path, None)

    # ---- looking

    def verify(self):
        """A1: what was acknowledged is there; nothing went back."""
        with self.lock:
            before = {key: (e.moves, dict(e.said), e.rev, e.deletion) for key, e in self.entries.items() if e.uid}
            newest = self.newest
        there = {}
        for plural in sorted({plural for plural, _ in before}):
            answer = self.machine.kube.call("GET", path_of(plural, ns=self.ns))
            if int(answer["metadata"]["resourceVersion"]) < newest:
                self._bad(f"revision {answer['metadata']['resourceVersion']} of {plural}, {newest} was told before")
            there.update({(plural, o["metadata"].get("annotations", {}).get(MARK)): o for o in answer["items"]})
        for key, (moves, said, rev, deletion) in before.items():
            entry = self.entries[key]
            problem = self._problem(entry, there.get(key), said, rev, deletion)
            if problem and moves == entry.moves and moves % 2 == 0:  # nobody wrote meanwhile
                self._bad(f"{key[0]} {entry.name} ({entry.mark}): {problem}")
            self.checked += 1

    def _problem(self, entry, obj, said, rev, deletion):
        if obj is None or obj["metadata"]["uid"] != entry.uid:
            return None if deletion or entry.may_go else f"acknowledged at {rev}, and not there"
        if deletion == "acknowledged" and not obj["metadata"].get("deletionTimestamp"):
            return "its deletion was acknowledged"
        if rev_of(obj) < rev:
            return f"at {rev_of(obj)}, {rev} was acknowledged"
        for path, value in said.items():
            found = obj
            for step in path:
                found = found.get(step, {}) if isinstance(found, dict) else {}
            if found != value and (path not in entry.asked or found != entry.asked[path]):
                return f"{'.'.join(path)} is {found!r}, {value!r} was acknowledged"
        return None

    def _bad(self, text):
        with self.lock:
            self.violations.append("A1: " + text)

    def forget(self, entry):
        """It is gone and nobody asks any more: keeps the ledger small."""
        with self.lock:
            self.entries.pop((entry.plural, entry.mark), None)
