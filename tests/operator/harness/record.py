"""What must be true at every revision of a job and its pods, read off what the watches recorded.
Problems are collected and told all at once."""

from .kinds import TF
from .standin import PREFIX

LIMIT_TEXTS = ("has reached the specified backoff limit", "was active longer than specified deadline")


def conditions(job):
    return job.get("status", {}).get("conditions", [])


def condition(job, kind):
    for c in conditions(job):
        if c["type"] == kind:
            return c
    return None


def is_true(job, kind):
    c = job and condition(job, kind)
    return bool(c) and c["status"] == "True"


def finished(job):
    return is_true(job, "Succeeded") or is_true(job, "Failed")


def replicas(job):
    """{"worker": 2}, by the names that labels have."""
    specs = job.get("spec") or {}
    found = [v for k, v in specs.items() if k.endswith("ReplicaSpecs")] if isinstance(specs, dict) else []
    specs = found[0] if found else None
    if not isinstance(specs, dict):
        return {}
    return {k.lower(): v.get("replicas", 1) for k, v in specs.items()
            if isinstance(v, dict)}


def owner_uid(obj):
    for o in obj["metadata"].get("ownerReferences", []):
        if o.get("controller"):
            return o["uid"]
    return None


def role_index(obj):
    labels = obj["metadata"].get("labels", {})
    role = labels.get(PREFIX + "replica-type")
    return role, int(labels.get(PREFIX + "replica-index", 0 if role == "launcher" else -1))


class Checker:
    def __init__(self, jobs, pods, services, events, stale_s, whole, kind=TF):  # pylint: disable=too-many-arguments
        """Each: the history of a Mirror. stale_s: how old the pods may be that a status speaks of (None: each
        as old as its watch makes it); whole: nothing is missing in the histories."""
        self.jobs, self.pods, self.services, self.events = jobs, pods, services, events
        self.stale_s, self.whole, self.kind = stale_s, whole, kind.name
        self.problems = []

    def check(self):
        by_uid = {}
        for c in self.jobs:
            by_uid.setdefault(c.obj["metadata"]["uid"], []).append(c)
        for uid, changes in by_uid.items():
            changes = [c for c in changes if c.type != "DELETED"]
            pods = sorted((c for c in self.pods if owner_uid(c.obj) == uid), key=lambda c: c.rev)
            self._status(changes)
            self._places(changes, pods)
            if self.whole and self.stale_s is not None:
                self._counts(changes, pods)
            if self.whole:
                self._told_once(uid, changes, pods)
        return self.problems

    def _bad(self, job, text):
        meta = job["metadata"]
        self.problems.append(f"{meta['name']} at {meta['resourceVersion']}: {text}")

    # ---- status by itself

    def _status(self, changes):
        old = None
        for c in changes:
            self._one(c.obj)
            if old is not None and (finished(old) or not c.listed):
                self._step(old, c.obj)
            old = c.obj

    def _one(self, job):
        kinds = [c["type"] for c in conditions(job)]
        true = {k for k in kinds if is_true(job, k)}
        status = job.get("status", {})
        if len(kinds) != len(set(kinds)):
            self._bad(job, f"a condition twice: {kinds}")
        if kinds and kinds[0] != "Created":
            self._bad(job, f"Created is not first: {kinds}")
        if {"Succeeded", "Failed"} <= true:
            self._bad(job, "Succeeded and Failed")
        if "Running" in kinds and "Restarting" in kinds and not finished(job):
            self._bad(job, "Running and Restarting are both there")
        if finished(job) and true & {"Running", "Restarting"}:
            self._bad(job, f"finished, and {true}")
        if finished(job) != bool(status.get("completionTime")):
            self._bad(job, f"finished: {finished(job)}, completionTime: {status.get('completionTime')}")
        if is_true(job, "Suspended") and true & {"Running", "Restarting"}:
            self._bad(job, f"suspended, and {true}")
        for c in conditions(job):
            if not (c.get("reason", "").startswith(self.kind) and c.get("lastUpdateTime")
                    and c.get("lastTransitionTime")):
                self._bad(job, f"incomplete: {c}")

    def _step(self, old, new):
        a, b = old.get("status", {}), new.get("status", {})
        if a == b:
            return
        if finished(old) and "completionTime" in a:
            self._bad(new, f"status changed after the end: {a} to {b}")
        if _bare(a) == _bare(b):
            self._bad(new, f"only times changed: {a} to {b}")
        for kind in {c["type"] for c in conditions(old)} & {c["type"] for c in conditions(new)}:
            x, y = condition(old, kind), condition(new, kind)
            if x["status"] == y["status"] and x["lastTransitionTime"] != y["lastTransitionTime"]:
                self._bad(new, f"lastTransitionTime of {kind} moved without a transition")
            same = all(x.get(m) == y.get(m) for m in ("status", "reason", "message"))
            if same and x["lastUpdateTime"] != y["lastUpdateTime"]:
                self._bad(new, f"lastUpdateTime of {kind} moved without a change")
        if a.get("startTime") and a["startTime"] != b.get("startTime"):
            if not (is_true(old, "Suspended") and not is_true(new, "Suspended")):
                self._bad(new, f"startTime moved without a resume: {a['startTime']} to {b.get('startTime')}")

    # ---- status against the pods

    def _counts(self, changes, pods):
        old = None
        for c in changes:
            before = old.get("status") if old else None
            if c.obj.get("status") != before and not (old and finished(old)):
                self._truth(c, pods)
            old = c.obj

    def _truth(self, change, pods):
        """The counters are those of the pods at some moment shortly before the write."""
        job = change.obj
        said = {role.lower(): (s.get("active", 0), s.get("succeeded", 0), s.get("failed", 0))
                for role, s in job.get("status", {}).get("replicaStatuses", {}).items()}
        if not said or is_true(job, "Suspended"):
            if any(active for active, _, _ in said.values()):
                self._bad(job, f"suspended with active pods: {said}")
            return
        before = [p for p in pods if p.rev < change.rev]
        state, tried = {}, []
        for i, p in enumerate([None] + before):
            if p is not None:
                _apply(state, p)
            until = before[i].at if i < len(before) else change.at
            if until < change.at - self.stale_s:
                continue
            counted = _count(job, state)
            tried.append(counted)
            if _agrees(job, said, counted):
                return
        self._bad(job, f"says {said}, the pods were {tried[-4:]}")

    # ---- places

    def _places(self, changes, pods):
        """J1: never two live pods in one place, never one outside the range there was."""
        live = {}
        for p in pods:
            where, uid = role_index(p.obj), p.obj["metadata"]["uid"]
            there = live.setdefault(where, set())
            if p.type == "DELETED":
                there.discard(uid)
                continue
            if uid not in there and p.type == "ADDED":
                jobs = [c for c in changes if c.rev < p.rev and c.at > p.at - (self.stale_s or 60)] or changes[:1]
                last = [c for c in changes if c.rev < p.rev][-1:]
                limits = [replicas(c.obj).get(where[0], 0) for c in jobs + last]
                if limits and where[1] >= max(limits):
                    self._bad(changes[-1].obj, f"pod at {where} of {limits}")
            there.add(uid)
            if len(there) > 1:
                self._bad(changes[-1].obj, f"two live pods at {where}: {there}")

    # ---- events

    def _told_once(self, uid, changes, pods):
        told = {}
        latest = {}
        for c in self.events:
            if c.obj["involvedObject"].get("uid") == uid and c.type != "DELETED":
                latest[c.obj["metadata"]["name"]] = c.obj
        for e in latest.values():
            key = (e["type"], e["reason"], e.get("message", ""))
            told[key] = told.get(key, 0) + max(1, e.get("count") or 1)
        names = {}
        for p in pods:
            names.setdefault(p.obj["metadata"]["name"], set()).add(p.obj["metadata"]["uid"])
        suspends = sum(1 for a, b in zip([None] + changes, changes) if is_true(b.obj, "Suspended")
                       and not (a and is_true(a.obj, "Suspended")))
        failed = {p.obj["metadata"]["uid"] for p in pods if p.obj.get("status", {}).get("phase") == "Failed"}
        for (kind, reason, message), n in told.items():
            most = 1
            if reason in ("SuccessfulCreatePod", "SuccessfulDeletePod", "SuccessfulCreateService",
                          "SuccessfulDeleteService"):
                if " more " in message:
                    continue
                most = len(names.get(message.split(": ")[-1], ())) or 1
                if reason.endswith("Service"):
                    made = {c.obj["metadata"]["uid"] for c in self.services
                            if c.obj["metadata"]["name"] == message.split(": ")[-1]}
                    most = len(made) or 1
            elif reason == "ExitedWithCode":
                pod = message.split(" exited")[0].split(".", 1)[-1]
                most = max(1, sum(_lives(pods, u) for u in names.get(pod, ())))
            elif reason in (self.kind + "Suspended", self.kind + "Resumed"):
                most = max(1, suspends)
            elif reason in ("JobTerminated", "SuccessfulDeletePodGroup"):
                most = suspends + 1
            elif message.startswith("Error pod "):
                most = max(1, len(names.get(message.split()[2], ())))
            elif reason == self.kind + "Restarting":
                most = max(1, len(failed))
            elif reason.startswith(("FailedCreate", "FailedDelete")):
                # Once for each object, which not every message names.
                most = max([1, *(sum(replicas(c.obj).values()) for c in changes)])
            elif reason in ("SetPodTemplateRestartPolicy", "MPIJobRunning"):  # for each launcher, and when all run
                most = max(1, sum(map(len, names.values())))
            if n > most:
                self.problems.append(f"event told {n} times, at most {most}: {kind} {reason} {message}")


def _lives(pods, uid):
    """How many container IDs the pod's containers had."""
    found = set()
    for p in pods:
        if p.obj["metadata"]["uid"] == uid:
            found |= {c.get("containerID") for c in p.obj.get("status", {}).get("containerStatuses", [])}
    return max(1, len(found - {None}))


def _bare(status):
    """Without times."""
    return {**{k: v for k, v in status.items() if not k.endswith("Time")},
            "conditions": [{k: v for k, v in c.items() if not k.endswith("Time")}
                           for c in status.get("conditions", [])],
            "completed": "completionTime" in status, "started": "startTime" in status}


def _apply(state, change):
    uid = change.obj["metadata"]["uid"]
    if change.type == "DELETED":
        state.pop(uid, None)
    else:
        state[uid] = change.obj


def _count(job, state):
    """{"worker": (active, succeeded, failed)}, as core 12.2 has it."""
    limits = replicas(job)
    found = {role: [0, 0, 0] for role in limits}
    for pod in state.values():
        role, index = role_index(pod)
        if not isinstance(limits.get(role), int) or not 0 <= index < limits[role]:
            continue
        phase = pod.get("status", {}).get("phase")
        if phase == "Succeeded":
            found[role][1] += 1
        elif pod["metadata"].get("deletionTimestamp"):
            continue
        elif phase == "Failed":
            found[role][2] += 1
        elif phase == "Running":
            found[role][0] += 1
    return {role: tuple(n) for role, n in found.items()}


def _agrees(job, said, counted):
    for role in set(said) | set(counted):
        s, c = said.get(role, (0, 0, 0)), counted.get(role, (0, 0, 0))
        if role not in counted:
            continue  # a type taken out of the spec keeps its entry
        if role != "launcher" and any(counted.get("launcher", (0, 0, 0))[1:]):
            c = (0, 0, 0)  # once the launcher has ended, workers count no more (mpijob 6)
        if is_true(job, "Succeeded"):
            c = (0, c[1] + c[0], c[2])
        failed = condition(job, "Failed")
        if failed and failed["status"] == "True":
            policy = job["spec"].get("runPolicy", {}).get("cleanPodPolicy", "None")
            if policy in ("All", "Running") or any(t in failed["message"] for t in LIMIT_TEXTS):
                c = (0, c[1], c[2])
        if s != c:
            return False
    return True
