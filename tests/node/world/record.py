"""What must be true of every revision of every pod, whatever the scene."""

ORDER = {"Pending": 0, "Running": 1, "Succeeded": 2, "Failed": 2}
STATES = ("waiting", "running", "terminated")
LISTS = ("initContainerStatuses", "containerStatuses")


def condition(pod, kind):
    for c in (pod or {}).get("status", {}).get("conditions") or []:
        if c["type"] == kind:
            return c
    return {}


def phase(pod):
    return (pod or {}).get("status", {}).get("phase")


def container(pod, name):
    """The status of the container of that name, {} when there is none yet."""
    for member in LISTS:
        for status in (pod or {}).get("status", {}).get(member) or []:
            if status["name"] == name:
                return status
    return {}


def problems_of(changes, whole):
    """changes: of one pod, oldest first; not whole: some may have been missed. What was not as it must be."""
    found, before = [], None
    for change in changes:
        now = change.obj
        found += [f"{now['metadata']['name']} at {change.rev}: {p}" for p in _alone(now)]
        if before is not None:
            found += [f"{now['metadata']['name']} at {change.rev}: {p}" for p in _together(before, now, whole)]
        before = now
    return found


def _alone(pod):
    status = pod.get("status", {})
    if status.get("phase") not in ORDER:
        yield f"phase {status.get('phase')}"
    kinds = [c["type"] for c in status.get("conditions") or []]
    if len(set(kinds)) != len(kinds):
        yield f"conditions {kinds}"
    for c in status.get("conditions") or []:
        if c["status"] not in ("True", "False", "Unknown") or not (c.get("lastTransitionTime") or "/" in c["type"]):
            yield f"condition {c}"
    if condition(pod, "Ready").get("status") == "True":
        if condition(pod, "ContainersReady").get("status") != "True" or status["phase"] != "Running":
            yield "Ready without ContainersReady or not Running"
    for member, listed in zip(LISTS, ("initContainers", "containers")):
        told = status.get(member)
        if told and {s["name"] for s in told} != {c["name"] for c in pod["spec"][listed]}:
            yield f"{member} are of {[s['name'] for s in told]}"
        for s in told or []:
            yield from _container(s)
    if ORDER.get(status.get("phase")) == 2 and any("running" in s["state"] for m in LISTS for s in status.get(m) or []):
        yield f"{status['phase']} with a running container"


def _container(s):
    for member, kind in (("name", str), ("image", str), ("imageID", str), ("ready", bool), ("restartCount", int),
                         ("state", dict), ("lastState", dict), ("started", bool)):
        if not isinstance(s.get(member), kind):
            yield f"container {s.get('name')}: {member} is {s.get(member)!r}"
            return
    if len(s["state"]) != 1 or next(iter(s["state"])) not in STATES:
        yield f"container {s['name']}: state {s['state']}"
    if s["lastState"] and list(s["lastState"]) != ["terminated"]:
        yield f"container {s['name']}: lastState {s['lastState']}"
    if s["restartCount"] and not (s["lastState"] or "terminated" in s["state"]):
        yield f"container {s['name']}: restarted, but after what"
    if s["ready"] and "waiting" in s["state"]:
        yield f"container {s['name']}: ready while waiting"
    for end in (s["state"].get("terminated"), s["lastState"].get("terminated")):
        if end and not ("exitCode" in end and end.get("reason") and "startedAt" in end and "finishedAt" in end):
            yield f"container {s['name']}: terminated {end}"
    if not s["state"].get("running", {"startedAt": 1}).get("startedAt"):
        yield f"container {s['name']}: running since when"


def _stopped(pod):
    """Nothing of it runs: it may come back elsewhere."""
    return not any("running" in s["state"] for m in LISTS for s in pod.get("status", {}).get(m) or [])


def _together(before, now, whole):
    was, is_ = before.get("status", {}), now.get("status", {})
    if ORDER.get(is_.get("phase"), 0) < ORDER.get(was.get("phase"), 0):
        yield f"phase {was.get('phase')} -> {is_.get('phase')}"
    if ORDER.get(was.get("phase")) == 2 and is_.get("phase") != was["phase"]:
        yield f"phase {was['phase']} -> {is_.get('phase')}: the end is final"
    if was.get("startTime") and is_.get("startTime") != was["startTime"]:
        yield f"startTime {was['startTime']} -> {is_.get('startTime')}"
    if was.get("podIP") and is_.get("podIP") not in (was["podIP"], None) and not _stopped(before):
        yield f"podIP {was['podIP']} -> {is_.get('podIP')}"
    for c in is_.get("conditions") or []:
        old = condition(before, c["type"])
        if whole and old and old["status"] == c["status"] and old["lastTransitionTime"] != c["lastTransitionTime"]:
            yield f"condition {c['type']}: time without a change"
    for member in LISTS:
        for s in is_.get(member) or []:
            old = container(before, s["name"])
            if old and s["restartCount"] < old["restartCount"]:
                yield f"container {s['name']}: restartCount {old['restartCount']} -> {s['restartCount']}"
            if old and "running" in old["state"] and "running" in s["state"] and \
                    old.get("containerID") != s.get("containerID") and old["restartCount"] == s["restartCount"]:
                yield f"container {s['name']}: another one, not counted"
