"""A small client of any Kubernetes API: the standard library only, one connection a thread."""

import base64
import http.client
import json
import os
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

from .kinds import KINDS

# plural, with the group where that is not enough: (group and version, kind, in a namespace)
RESOURCES = {
    "pods": ("v1", "Pod", True),
    "services": ("v1", "Service", True),
    "events": ("v1", "Event", True),
    "configmaps": ("v1", "ConfigMap", True),
    "secrets": ("v1", "Secret", True),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim", True),
    "persistentvolumes": ("v1", "PersistentVolume", False),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass", False),
    "namespaces": ("v1", "Namespace", False),
    "nodes": ("v1", "Node", False),
    "rolebindings": ("rbac.authorization.k8s.io/v1", "RoleBinding", True),
    "horizontalpodautoscalers": ("autoscaling/v2", "HorizontalPodAutoscaler", True),
    **{kind.plural: ("kubeflow.org/v1", kind.name, True) for kind in KINDS},
    "leases": ("coordination.k8s.io/v1", "Lease", True),
    "podgroups.volcano": ("scheduling.volcano.sh/v1beta1", "PodGroup", True),
    "podgroups.plugins": ("scheduling.x-k8s.io/v1alpha1", "PodGroup", True),
    "podgroups.kube": ("scheduling.k8s.io/v1alpha2", "PodGroup", True),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass", False),
    "customresourcedefinitions": ("apiextensions.k8s.io/v1", "CustomResourceDefinition", False),
}
MERGE = "application/merge-patch+json"


class ApiError(Exception):
    def __init__(self, status, body):
        self.status = status
        self.body = body if isinstance(body, dict) else {}
        self.reason = self.body.get("reason", "")
        self.message = self.body.get("message", str(body))
        super().__init__(f"{status} {self.reason}: {self.message}")


def path_of(plural, name=None, ns=None, sub=None, **query):
    version, _, namespaced = RESOURCES[plural]
    path = ("/api/" if version == "v1" else "/apis/") + version
    if namespaced and ns:
        path += "/namespaces/" + ns
    path += "/" + plural.split(".")[0]
    if name:
        path += "/" + name
    if sub:
        path += "/" + sub
    query = {k: v for k, v in query.items() if v is not None}
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def read_kubeconfig(path):
    """Cluster and user of a kubeconfig's current context. kubectl knows YAML; what is JSON needs no help,
    which matters where requests are counted: kubectl asks servers for their version."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.startswith("{"):
        config = json.loads(text)
        return config["clusters"][0]["cluster"], config["users"][0]["user"]
    kubectl = os.environ.get("E2E_KUBECTL", "kubectl")
    text = subprocess.run([kubectl, "config", "view", "--raw", "--minify", "--flatten", "-o", "json",
                           "--kubeconfig", path], check=True, capture_output=True).stdout
    config = json.loads(text)
    return config["clusters"][0]["cluster"], config["users"][0]["user"]


class Kube:
    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        cluster, user = read_kubeconfig(kubeconfig)
        self.server = urllib.parse.urlsplit(cluster["server"])
        self.headers = {"Accept": "application/json", "User-Agent": "operator-test"}
        self.tls = None
        if self.server.scheme == "https":
            ca = cluster.get("certificate-authority-data")
            self.tls = ssl.create_default_context(cadata=base64.b64decode(ca).decode() if ca else None)
            self.tls.check_hostname = False
            if "client-certificate-data" in user:
                self._load_certificate(user)
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        self.local = threading.local()

    def _load_certificate(self, user):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for member in ("client-certificate-data", "client-key-data"):
                names.append(os.path.join(folder, member))
                with open(names[-1], "wb") as f:
                    f.write(base64.b64decode(user[member]))
            self.tls.load_cert_chain(*names)

    def connect(self, timeout=30):
        if self.tls:
            return http.client.HTTPSConnection(self.server.hostname, self.server.port, timeout=timeout,
                                               context=self.tls)
        return http.client.HTTPConnection(self.server.hostname, self.server.port, timeout=timeout)

    def raw(self, method, path, body=None, content_type="application/json"):
        """(status, headers, bytes). A kept connection that turns out to be closed is opened again."""
        headers = dict(self.headers)
        if body is not None:
            headers["Content-Type"] = content_type
            if not isinstance(body, (bytes, str)):
                body = json.dumps(body)
        for fresh in (False, True):
            conn = getattr(self.local, "conn", None)
            if conn is None or fresh:
                conn = self.local.conn = self.connect()
            try:
                conn.request(method, path, body, headers)
                answer = conn.getresponse()
                return answer.status, answer.headers, answer.read()
            except (http.client.HTTPException, OSError):
                conn.close()
                self.local.conn = None
                if fresh:
                    raise

    def call(self, method, path, body=None, content_type="application/json"):
        status, _, text = self.raw(method, path, body, content_type)
        try:
            answer = json.loads(text) if text else {}
        except ValueError:
            answer = {"message": text.decode(errors="replace")}
        if status >= 300:
            raise ApiError(status, answer)
        return answer

    def get(self, plural, name, ns=None, sub=None):
        return self.call("GET", path_of(plural, name, ns, sub))

    def find(self, plural, name, ns=None):
        """As get, but None when there is none."""
        try:
            return self.get(plural, name, ns)
        except ApiError as e:
            if e.status != 404:
                raise
            return None

    def list(self, plural, ns=None, selector=None):
        return self.call("GET", path_of(plural, ns=ns, labelSelector=selector))["items"]

    def create(self, plural, obj, ns=None):
        version, kind, _ = RESOURCES[plural]
        obj = {"apiVersion": version, "kind": kind, **obj}
        return self.call("POST", path_of(plural, ns=ns), obj)

    def patch(self, plural, name, patch, ns=None, sub=None, content_type=MERGE):
        return self.call("PATCH", path_of(plural, name, ns, sub), patch, content_type)

    def delete(self, plural, name, ns=None, grace=None, uid=None, propagation=None):
        options = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation:
            options["propagationPolicy"] = propagation
        return self.call("DELETE", path_of(plural, name, ns), options)

    def forget(self, plural, name, ns=None, **words):
        """As delete, but it may be gone already."""
        try:
            self.delete(plural, name, ns, **words)
        except ApiError as e:
            if e.status != 404:
                raise

    def make_namespace(self, name):
        return self.create("namespaces", {"metadata": {"name": name}})
