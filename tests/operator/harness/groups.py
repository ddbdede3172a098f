"""PodGroups: their definitions, as far as the operator needs them, and a stand-in for the scheduler that
lets groups in."""

import time

from .kube import ApiError

GROUPS = {"podgroups.volcano": ("scheduling.volcano.sh", "v1beta1"),
          "podgroups.plugins": ("scheduling.x-k8s.io", "v1alpha1"),
          "podgroups.kube": ("scheduling.k8s.io", "v1alpha2")}


def definition(plural):
    group, version = GROUPS[plural]
    meta = {"name": f"podgroups.{group}"}
    if group.endswith("k8s.io"):
        meta["annotations"] = {"api-approved.kubernetes.io": "unapproved, for tests"}
    return {"metadata": meta, "spec": {
        "group": group, "scope": "Namespaced",
        "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
        "versions": [{"name": version, "served": True, "storage": True,
                      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def install(kube, plural):
    """As somebody would who installs the scheduler; a server may have it from the start."""
    try:
        kube.create("customresourcedefinitions", definition(plural))
    except ApiError as e:
        if e.status != 409:
            raise
    wait_served(kube, plural, True)


def remove(kube, plural):
    kube.forget("customresourcedefinitions", definition(plural)["metadata"]["name"])
    wait_served(kube, plural, False)


def wait_served(kube, plural, wanted):
    """Nothing announces it."""
    end = time.monotonic() + 60
    while is_served(kube, plural) != wanted:
        if time.monotonic() > end:
            raise AssertionError(f"{plural} are {'not ' if wanted else 'still '}served")
        time.sleep(0.05)


def is_served(kube, plural):
    try:
        kube.list(plural, ns="default")
        return True
    except ApiError as e:
        if e.status not in (404, 429):
            raise
        return False


class Volcano:
    """Writes the status of groups as Volcano does: through the object itself, with a new transitionID each cycle."""

    def __init__(self, scene):
        self.scene = scene
        self.cycle = 0

    def say(self, name, phase, why=None, **counts):
        self.cycle += 1
        status = {"phase": phase, **counts}
        if why:
            status["conditions"] = [{"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources",
                                     "message": why, "transitionID": f"cycle-{self.cycle}",
                                     "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}]
        self.scene.kube.patch("podgroups.volcano", name, {"status": status}, self.scene.ns)

    def let_in(self, name):
        self.say(name, "Inqueue")
