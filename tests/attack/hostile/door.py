"""A server, its administrator, and others with little or no rights."""

import os
import threading

from harness.kube import ApiError
from harness.tap import is_

from .place import Place
from .raw import ask


class Door:
    """A server, its administrator, and somebody with the token of a plain pod."""

    def __init__(self, user, *flags):
        self.machine = Place("shared", user, *flags)
        self.port, self.kube = self.machine.port, self.machine.kube
        self.kube.create("configmaps", {"metadata": {"name": "attack"}}, "default")
        self.kube.make_namespace("open")
        self.kube.make_namespace("closed")
        for ns in ("open", "closed"):
            self.kube.create("secrets", {"metadata": {"name": "s"}, "stringData": {"word": f"word-of-{ns}"}}, ns)
        self.admin = self.kube.headers.get("Authorization", "")[7:] or self.read("token").strip()
        self.pod = self.token("default", "default")

    def read(self, name, mode="r"):
        with open(os.path.join(self.machine.data, name), mode) as f:
            return f.read()

    def token(self, ns, name, **spec):
        for _ in range(200):
            try:
                return self.kube.call("POST", f"/api/v1/namespaces/{ns}/serviceaccounts/{name}/token", {
                    "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})["status"]["token"]
            except ApiError as e:
                if e.status != 404:
                    raise
                threading.Event().wait(0.05)
        raise AssertionError(f"no account {ns}/{name}")

    def ask(self, method, path, token=None, **more):
        return ask(self.port, method, path, self.pod if token is None else token, **more)

    def lives(self):
        is_(self.machine.child.poll(), None, "muster up runs")
        is_(ask(self.port, "GET", "/healthz")[0], 200, "/healthz")
        is_(self.machine.complains(), "", "the log")

    def revive(self):
        """One attack that got through is enough: the next finds a server."""
        if self.machine.child.poll() is not None:
            os.truncate(self.machine.log, 0)
            self.machine.start()

    def memory_mb(self):
        with open(f"/proc/{self.machine.child.pid}/status", encoding="utf-8") as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1]) // 1024

    def account(self, name, rules, ns="open", cluster=False):
        """One that may do that, in its namespace or everywhere; its token."""
        group = "rbac.authorization.k8s.io"
        self.kube.call("POST", f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": name}})
        where, kind = f"/apis/{group}/v1" + ("" if cluster else f"/namespaces/{ns}"), "Cluster" if cluster else ""
        self.kube.call("POST", f"{where}/{kind.lower()}roles", {
            "apiVersion": f"{group}/v1", "kind": kind + "Role", "metadata": {"name": name}, "rules": rules})
        self.kube.call("POST", f"{where}/{kind.lower()}rolebindings", {
            "apiVersion": f"{group}/v1", "kind": kind + "RoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": kind + "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": ns}]})
        return self.token(ns, name)
