#!/usr/bin/python3
"""What accounts with few rights try: the token of a plain pod, one right alone that should not be another, one
request with two readings. As root and as an ordinary user. Usage: t1100_rights.py [root|user] [part of a claim]..."""

import json
import sys
import threading

from harness.kube import ApiError
from harness.tap import claim, is_
from hostile.door import Door
from hostile.raw import connect
from world.cast import on_each

ATTACKS = []
APPLY = [("Content-Type", "application/apply-patch+yaml")]


def attack(test):
    ATTACKS.append(test)
    return test


def rule(verbs, resources, groups=("",), **more):
    return {"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs), **more}


@attack
def the_token_of_a_pod_opens_nothing(d):
    """What kube-apiserver lets every service account do is discovery and questions about itself."""
    pod = {"metadata": {"name": "evil"}, "spec": {"containers": [{"name": "c", "image": "x", "command": ["true"]}]}}
    body = json.dumps(pod)
    role = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}, "metadata": {"name": "evil"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "evil"}, "spec": {"tfReplicaSpecs": {"Worker": {"template": {
        "spec": {"containers": [{"name": "tensorflow", "image": "x", "command": ["true"]}]}}}}}}
    ns = "/api/v1/namespaces/default"
    bad = []
    for method, path, text in (
            ("GET", "/api/v1/secrets", None), ("GET", ns + "/secrets", None), ("GET", "/api/v1/namespaces/closed/secrets/s", None),
            ("GET", ns + "/pods", None), ("GET", ns + "/configmaps/attack", None), ("GET", "/api/v1/nodes", None), ("GET", "/metrics", None),
            ("GET", "/api/v1/namespaces", None), ("GET", "/api/v1/watch/secrets", None), ("POST", ns + "/pods", body), ("PUT", ns + "/pods/evil", body),
            ("POST", ns + "/serviceaccounts/default/token", "{}"), ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", "{}"),
            ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", json.dumps(role)),
            ("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", json.dumps(role)),
            ("POST", "/apis/kubeflow.org/v1/namespaces/default/tfjobs", json.dumps(job)), ("DELETE", ns + "/configmaps/attack", None),
            ("DELETE", ns + "/configmaps", None), ("DELETE", ns + "/pods", None), ("GET", ns + "/pods/x/log", None),
            ("GET", ns + "/pods/x/exec?command=id&stdout=1", None), ("POST", ns + "/pods/x/exec?command=id&stdout=1", None),
            ("GET", ns + "/pods/x/portforward", None), ("GET", ns + "/pods/x/attach", None), ("POST", ns + "/pods/x/eviction", "{}"),
            ("POST", ns + "/pods/x/binding", "{}"), ("PATCH", ns + "/pods/x/status", "{}"), ("PUT", "/api/v1/nodes/x/status", "{}"),
            ("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "{}"), ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", "{}"),
            ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "{}"), ("GET", "/apis/coordination.k8s.io/v1/leases", None),
            ("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/x", "{}"), ("GET", "/api/v1/nodes/x/proxy/", None),
            ("GET", ns + "/services/kubernetes/proxy/", None), ("GET", ns + "/pods/x/proxy/", None), ("GET", ns + "/events", None)):
        code = d.ask(method, path, body=text)[0]
        if code not in (403, 404) or (code == 404 and "proxy" not in path):
            bad.append((method, path, code))
    is_(bad, [], "not 403")
    is_(d.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body="{}")[0], 201, "who it is")


@attack
def a_pods_token_impersonates_nobody(d):
    for headers in ([("Impersonate-User", "muster-admin")], [("Impersonate-User", "x"), ("Impersonate-Group", "system:masters")],
                    [("Impersonate-Group", "system:masters")], [("impersonate-user", "system:admin"), ("Impersonate-Uid", "1")],
                    [("Impersonate-Extra-Scopes", "all")], [("Impersonate-User", "")], [("Impersonate-User", "system:serviceaccount:kube-system:default")]):
        code = d.ask("GET", "/api/v1/secrets", headers=headers)[0]
        assert code in (400, 401, 403) or code == 500 and "Impersonate-User" not in dict(headers), (headers, code)  # as kube-apiserver


@attack
def the_right_to_impersonate_users_is_not_one_to_be_an_administrator(d):
    token = d.account("only-users", [rule(["impersonate"], ["users"])], cluster=True)
    bad = []
    for more in ([("Impersonate-Group", "system:masters")], [("Impersonate-Uid", "1")], [("Impersonate-Extra-Scopes", "all")],
                 [("impersonate-group", "x"), ("Impersonate-Group", "system:masters")]):
        code = d.ask("GET", "/api/v1/secrets", token, headers=[("Impersonate-User", "somebody"), *more])[0]
        if code != 403:
            bad.append((more, code))
    code = d.ask("GET", "/api/v1/secrets", token, headers=[("Impersonate-User", "system:serviceaccount:closed:default")])[0]
    if code != 403:
        bad.append(("service account", code))
    is_(bad, [], "not 403")
    code, _, body = d.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", token, body="{}", headers=[("Impersonate-User", "somebody")])
    is_((code, json.loads(body)["status"]["userInfo"]["username"]), (201, "somebody"), "what it may do")


@attack
def one_named_user_or_group_may_be_impersonated_and_no_other(d):
    token = d.account("one-user", [rule(["impersonate"], ["users"], resourceNames=["alice"]), rule(["impersonate"], ["groups"], resourceNames=["staff"])],
                      cluster=True)
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    got = [d.ask("POST", reviews, token, body="{}", headers=headers)[0] for headers in (
        [("Impersonate-User", "alice")], [("Impersonate-User", "bob")], [("Impersonate-User", "alice"), ("Impersonate-Group", "staff")],
        [("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters")],
        [("Impersonate-User", "alice"), ("Impersonate-Group", "staff"), ("Impersonate-Group", "system:masters")])]
    is_(got, [201, 403, 201, 403, 403], "alice, bob, staff, masters, both")


@attack
def the_right_to_patch_is_not_one_to_create(d):
    token = d.account("patcher", [rule(["patch", "get"], ["configmaps"])])
    where = "/api/v1/namespaces/open/configmaps/"
    applied = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}, "data": {"a": "b"}})
    is_(d.ask("PATCH", where + "made?fieldManager=x", token, body=applied, headers=APPLY)[0], 403, "one that is not there")
    is_(d.kube.find("configmaps", "made", "open"), None, "it")
    d.kube.create("configmaps", {"metadata": {"name": "made"}}, "open")
    is_(d.ask("PATCH", where + "made?fieldManager=x", token, body=applied, headers=APPLY)[0], 200, "one that is")


@attack
def the_right_to_update_is_not_one_to_create(d):
    token = d.account("updater", [rule(["update", "get"], ["configmaps"])])
    body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "put"}})
    assert d.ask("PUT", "/api/v1/namespaces/open/configmaps/put", token, body=body)[0] in (403, 404), "PUT"
    is_(d.kube.find("configmaps", "put", "open"), None, "it")


def first_words(d, path, token):
    """Status and first bytes of the answer; a watch has no end."""
    with connect(d.port) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode())
        got = b""
        s.settimeout(5)
        try:
            while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < 40:
                part = s.recv(4096)
                if not part:
                    break
                got += part
        except OSError:
            pass
    return int(got.split(b" ")[1]) if got else 0, got.split(b"\r\n\r\n", 1)[-1]


WATCHES = ["watch=1", "watch=true", "watch=yes", "w%61tch=1", "watch=TRUE", "watch=%31", "watch=t", "watch", "watch=", "watch=0&watch=1",
           "watch=1&watch=0", "watch=false&w%61tch=true", "x=1;watch=1", "watch=01", "watch=on", "WATCH=1", "watch=1%00", "limit=1&watch=1", "a&watch=1"]


@attack
def the_right_to_list_is_not_one_to_watch(d):
    token = d.account("lister", [rule(["list"], ["secrets"])])
    bad = []
    for query in WATCHES:
        code, body = first_words(d, f"/api/v1/namespaces/open/secrets?{query}&timeoutSeconds=1", token)
        if code == 200 and b'"type":"' in body and b'"kind":"SecretList"' not in body:
            bad.append((query, code, body[:60]))
    code, body = first_words(d, "/api/v1/watch/namespaces/open/secrets?timeoutSeconds=1", token)
    if code != 403:
        bad.append(("/watch/", code))
    is_(bad, [], "served as a watch")


@attack
def the_right_to_watch_is_not_one_to_list_or_get(d):
    token = d.account("watcher", [rule(["watch"], ["secrets"])])
    bad = []
    for query in ["", "?pretty=1"] + ["?" + w for w in WATCHES]:
        code, body = first_words(d, f"/api/v1/namespaces/open/secrets{query}&timeoutSeconds=1", token)
        if code == 200 and b"List" in body:
            bad.append((query, code, body[:60]))
        code, body = first_words(d, f"/api/v1/namespaces/open/secrets/s{query}&timeoutSeconds=1", token)
        if code == 200 and b'"type":"ADDED"' not in body:
            bad.append(("s" + query, code, body[:60]))
    is_(bad, [], "served as list or get")


@attack
def the_right_to_delete_one_is_not_one_to_delete_all(d):
    token = d.account("deleter", [rule(["delete"], ["configmaps"])])
    d.kube.create("configmaps", {"metadata": {"name": "kept"}}, "open")
    for query in ("", "?labelSelector=", "?fieldSelector=metadata.name%3Dkept"):
        is_(d.ask("DELETE", "/api/v1/namespaces/open/configmaps" + query, token)[0], 403, query)
    assert d.kube.find("configmaps", "kept", "open")


@attack
def nobody_hands_on_more_than_they_have(d):
    token = d.account("granter", [rule(["create", "update", "patch", "get"], ["roles", "rolebindings"], ["rbac.authorization.k8s.io"]),
                                  rule(["create"], ["serviceaccounts"])])
    base = "/apis/rbac.authorization.k8s.io/v1/namespaces/open"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "more"}, "rules": [rule(["get"], ["secrets"])]}
    bind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "more"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "granter", "namespace": "open"}]}
    is_(d.ask("POST", base + "/roles", token, body=json.dumps(role))[0], 403, "a role")
    is_(d.ask("POST", base + "/rolebindings", token, body=json.dumps(bind))[0], 403, "a binding")
    for name, body in (("roles", role), ("rolebindings", bind)):
        is_(d.ask("PATCH", f"{base}/{name}/more?fieldManager=x&force=true", token, body=json.dumps(body), headers=APPLY)[0], 403, "by apply")
    mine = {**role, "metadata": {"name": "granter"}, "rules": [rule(["*"], ["*"], ["*"])]}
    for kind, text in (("merge-patch+json", {"rules": mine["rules"]}), ("json-patch+json", [{"op": "replace", "path": "/rules", "value": mine["rules"]}]),
                       ("strategic-merge-patch+json", {"rules": mine["rules"]})):
        is_(d.ask("PATCH", base + "/roles/granter", token, body=json.dumps(text), headers=[("Content-Type", "application/" + kind)])[0], 403, kind)
    is_(d.ask("PUT", base + "/roles/granter", token, body=json.dumps(mine))[0], 403, "its own")


@attack
def the_body_of_a_deletion_wins_over_its_query(d):
    for name, query, body, gone in (("a", "?dryRun=All", '{"kind":"DeleteOptions","apiVersion":"v1"}', True), ("b", "", '{"dryRun":["All"]}', False),
                                    ("c", "?dryRun=All", None, False)):
        d.kube.create("configmaps", {"metadata": {"name": "del-" + name}}, "open")
        code = d.ask("DELETE", f"/api/v1/namespaces/open/configmaps/del-{name}{query}", d.admin, body=body)[0]
        is_((code, d.kube.find("configmaps", "del-" + name, "open") is None), (200, gone), f"{query} {body}")
    d.kube.create("pods", {"metadata": {"name": "del-pod"}, "spec": {"containers": [{"name": "c", "image": "x", "command": ["sleep", "100"]}]}}, "open")
    d.machine.until(lambda: d.kube.get("pods", "del-pod", "open")["spec"].get("nodeName"), "it has a node")
    _, _, said = d.ask("DELETE", "/api/v1/namespaces/open/pods/del-pod?gracePeriodSeconds=7", d.admin, body='{"gracePeriodSeconds":3}')
    is_(json.loads(said)["metadata"].get("deletionGracePeriodSeconds"), 3, "seconds of grace")


@attack
def a_nul_in_the_environment_is_refused(d):
    for env in ({"name": "A", "value": "b\u0000c"}, {"name": "A\u0000B", "value": "c"}):
        try:
            d.kube.create("pods", {"metadata": {"generateName": "nul-"}, "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "x", "command": ["true"], "env": [env]}]}}, "open")
        except ApiError as e:
            assert e.status in (400, 422), e
        else:
            raise AssertionError(f"taken: {env}")


@attack
def a_pod_cannot_be_put_where_its_maker_has_no_rights(d):
    """nodeName, a binding, another's account: create pods is all it has."""
    token = d.account("maker", [rule(["create"], ["pods"])])
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x", "command": ["true"]}]}}
    is_(d.ask("POST", "/api/v1/namespaces/closed/pods", token, body=json.dumps(pod))[0], 403, "in another namespace")
    other = {**pod, "metadata": {"name": "p", "namespace": "closed"}}
    assert d.ask("POST", "/api/v1/namespaces/open/pods", token, body=json.dumps(other))[0] in (400, 403), "namespace in the body"
    is_(d.ask("POST", "/api/v1/namespaces/open/pods/p/binding", token, body="{}")[0], 403, "a binding")
    is_(d.ask("PATCH", "/api/v1/namespaces/open/pods/p?fieldManager=x", token, body=json.dumps(pod), headers=APPLY)[0], 403, "by apply")


@attack
def a_job_gains_nothing_by_the_binding_of_another(d):
    """An MPIJob wants a RoleBinding of a name that somebody took: nothing of it may start."""
    group = "rbac.authorization.k8s.io"
    d.kube.call("POST", f"/apis/{group}/v1/namespaces/open/rolebindings", {
        "apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": {"name": "taken-launcher"}, "subjects": [],
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"}})
    template = {"spec": {"containers": [{"name": "mpi", "image": "x", "command": ["sleep", "60"]}]}}
    d.kube.create("mpijobs", {"metadata": {"name": "taken"}, "spec": {"mpiReplicaSpecs": {
        "Launcher": {"replicas": 1, "template": template}, "Worker": {"replicas": 1, "template": template}}}}, "open")
    try:
        # Its controller has seen it when it says something about it; or has, long since, started pods.
        for _ in range(60):
            said = [e for e in d.kube.list("events", "open") if e["involvedObject"].get("name") == "taken"]
            pods = [p["metadata"]["name"] for p in d.kube.list("pods", "open") if p["metadata"]["name"].startswith("taken-")]
            job = d.kube.get("mpijobs", "taken", "open").get("status", {})
            if pods or any("taken-launcher" in str(e.get("message")) for e in said) or "taken-launcher" in str(job):
                break
            threading.Event().wait(0.1)
        is_(pods, [], f"pods; {[e.get('message') for e in said]}")
    finally:
        d.kube.forget("mpijobs", "taken", "open", propagation="Background")


def rights(tap, _, user, parts):
    d = Door(user)
    for test in ATTACKS:
        if not parts or any(p in test.__name__ for p in parts):
            d.revive()
            tap.run(f"{claim(test)} (as {user})", test, d)
    tap.run(f"it lives, and stops as it should (as {user})", lambda: (d.lives(), is_(d.machine.stop(), 0, "exit code")))
    d.machine.remove()


if __name__ == "__main__":
    on_each(rights, ["shared", *sys.argv[1:]])
