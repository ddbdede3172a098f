"""What a kubelet (or the node controllers) would write into a pod's status: pure functions from a pod
to a merge patch of its status."""

import datetime


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _old(pod, name):
    for status in pod.get("status", {}).get("containerStatuses", []):
        if status["name"] == name:
            return status
    return {}


def _containers(pod, state, restarts=0, last=None, ready=False):
    """state: of every container; restarts: how many more than before."""
    uid = pod["metadata"]["uid"]
    found = []
    for c in pod["spec"]["containers"]:
        count = _old(pod, c["name"]).get("restartCount", 0) + restarts
        ident = f"standin://{uid}/{c['name']}/{count}"
        if "waiting" in state:
            this = state
        elif "terminated" in state:
            this = {"terminated": {**state["terminated"], "containerID": ident}}
        else:
            this = state
        status = {"name": c["name"], "image": c.get("image", ""), "imageID": "", "ready": ready,
                  "started": ready, "restartCount": count, "state": this}
        if "waiting" not in state:
            status["containerID"] = ident
        if last:
            status["lastState"] = last
        found.append(status)
    return found


def _conditions(pod, **changes):
    """The pod's conditions with these set: Ready=("False", "reason", "message")."""
    kept = [c for c in pod.get("status", {}).get("conditions", []) if c["type"] not in changes]
    for kind, (status, reason, message) in changes.items():
        c = {"type": kind, "status": status, "lastTransitionTime": now()}
        if reason:
            c["reason"] = reason
        if message:
            c["message"] = message
        kept.append(c)
    return kept


YES = ("True", "", "")


def running(pod):
    return {"phase": "Running", "startTime": now(), "podIP": "10.9.8.7", "podIPs": [{"ip": "10.9.8.7"}],
            "conditions": _conditions(pod, Initialized=YES, Ready=YES, ContainersReady=YES),
            "containerStatuses": _containers(pod, {"running": {"startedAt": now()}}, ready=True)}


def waiting(pod, reason, message):
    return {"phase": "Pending", "containerStatuses":
            _containers(pod, {"waiting": {"reason": reason, "message": message}})}


def unschedulable(pod, message):
    return {"conditions": _conditions(pod, PodScheduled=("False", "Unschedulable", message))}


def _ended(code):
    return {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error",
                           "startedAt": now(), "finishedAt": now()}}


def exited(pod, code):
    """All containers ended, for good."""
    why = ("False", "PodCompleted" if code == 0 else "PodFailed", "")
    return {"phase": "Succeeded" if code == 0 else "Failed",
            "conditions": _conditions(pod, Ready=why, ContainersReady=why),
            "containerStatuses": _containers(pod, _ended(code))}


def restarted(pod, code, times=1):
    """The kubelet restarted the containers in place; the pod goes on."""
    return {"phase": "Running", "containerStatuses":
            _containers(pod, {"running": {"startedAt": now()}}, restarts=times, last=_ended(code), ready=True)}


def evicted(pod):
    """As the kubelet does under pressure: Failed, no exit code."""
    return {"phase": "Failed", "reason": "Evicted",
            "message": "The node was low on resource: memory.",
            "conditions": _conditions(pod, DisruptionTarget=("True", "TerminationByKubelet",
                                                             "The node was low on resource: memory."))}


def lost(pod):
    """As the pod garbage collector does with pods of a node that is gone: Failed, no exit code."""
    return {"phase": "Failed", "reason": "NodeLost", "message": "Node is gone",
            "conditions": _conditions(pod, DisruptionTarget=("True", "DeletionByPodGC",
                                                             "PodGC: node no longer exists"))}


def unknown(pod):
    """The node does not report any more."""
    return {"phase": "Unknown", "reason": "NodeLost", "message": "Node is unresponsive",
            "conditions": _conditions(pod, Ready=("Unknown", "NodeStatusUnknown", ""))}
