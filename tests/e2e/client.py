"""What programs do with Debian's python3-kubernetes: each case is a function, named as a claim.

Usage: client.py KUBECONFIG NAMESPACE; prints one line a case, "ok NAME" or "not ok NAME", and the
trace of what went wrong on stderr."""

import concurrent.futures
import sys
import threading
import traceback

import yaml
from kubernetes import client, config, utils, watch
from kubernetes.client.rest import ApiException

TAB = {"group": "example.com", "version": "v1", "plural": "crontabs"}


def config_map(name, labels=None, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data or None)


def pod(name, **labels):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        spec=client.V1PodSpec(
            restart_policy="Never",
            containers=[client.V1Container(name="main", image="example.com/i",
                                           resources=client.V1ResourceRequirements(requests={"cpu": 1, "memory": "1Gi"}))]))


def refused(status, reason, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ApiException as e:
        assert e.status == status, (e.status, e.body)
        assert f'"reason":"{reason}"' in e.body, e.body
        return e
    raise AssertionError("was not refused")


class Cases:
    def __init__(self, ns, crd):
        self.ns = ns
        self.core = client.CoreV1Api()
        self.apps = client.AppsV1Api()
        self.custom = client.CustomObjectsApi()
        self.crd = crd

    def objects_are_created_read_replaced_and_deleted(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("crud", a="1"))
        assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo
        read = self.core.read_namespaced_config_map("crud", self.ns)
        assert read.data == {"a": "1"}
        read.data["b"] = "2"
        assert self.core.replace_namespaced_config_map("crud", self.ns, read).data == {"a": "1", "b": "2"}
        refused(409, "Conflict", self.core.replace_namespaced_config_map, "crud", self.ns, read)
        gone = self.core.delete_namespaced_config_map("crud", self.ns)
        assert gone.status == "Success"
        refused(404, "NotFound", self.core.read_namespaced_config_map, "crud", self.ns)

    def pods_come_back_with_defaults_in_their_models(self):
        made = self.core.create_namespaced_pod(self.ns, pod("model", app="m"))
        assert made.spec.dns_policy == "ClusterFirst" and made.status.phase == "Pending"
        assert made.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}
        assert made.spec.containers[0].image_pull_policy == "Always"
        listed = self.core.list_namespaced_pod(self.ns, label_selector="app=m,app notin (x)")
        assert [p.metadata.name for p in listed.items] == ["model"]
        self.core.delete_namespaced_pod("model", self.ns, grace_period_seconds=0)

    def invalid_objects_are_refused_with_causes(self):
        bad = pod("bad")
        bad.spec.restart_policy = "Sometimes"
        bad.spec.containers[0].image = ""
        e = refused(422, "Invalid", self.core.create_namespaced_pod, self.ns, bad)
        status = yaml.safe_load(e.body)
        fields = {c["field"] for c in status["details"]["causes"]}
        assert {"spec.restartPolicy", "spec.containers[0].image"} <= fields, fields

    def patches_of_all_types_are_taken(self):
        self.core.create_namespaced_config_map(self.ns, config_map("patched", a="1"))
        self.core.patch_namespaced_config_map("patched", self.ns, {"data": {"b": "2"}})  # strategic by default
        self.core.patch_namespaced_config_map("patched", self.ns, [{"op": "replace", "path": "/data/a", "value": "9"}])
        api = client.ApiClient()
        api.default_headers["Content-Type"] = "application/merge-patch+json"
        api.call_api("/api/v1/namespaces/{ns}/configmaps/patched", "PATCH", {"ns": self.ns},
                     header_params={"Content-Type": "application/merge-patch+json"},
                     body={"data": {"b": None, "c": "3"}}, auth_settings=["BearerToken"])
        got = self.core.read_namespaced_config_map("patched", self.ns).data
        assert got == {"a": "9", "c": "3"}, got

    def strategic_patches_merge_lists_by_key(self):
        dep = yaml.safe_load("""{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}},
            template: {metadata: {labels: {a: b}}, spec: {containers: [{name: one, image: i}]}}}}""")
        self.apps.create_namespaced_deployment(self.ns, dep)
        self.apps.patch_namespaced_deployment("d", self.ns, {"spec": {"template": {"spec": {"containers": [
            {"name": "two", "image": "i"}, {"name": "one", "env": [{"name": "X", "value": "y"}]}]}}}})
        got = {c.name: c for c in self.apps.read_namespaced_deployment("d", self.ns).spec.template.spec.containers}
        assert set(got) == {"one", "two"} and got["one"].image == "i" and got["one"].env[0].value == "y"
        self.apps.patch_namespaced_deployment_scale("d", self.ns, {"spec": {"replicas": 4}})
        assert self.apps.read_namespaced_deployment_scale("d", self.ns).spec.replicas == 4
        self.apps.patch_namespaced_deployment_status("d", self.ns, {"status": {"replicas": 4, "readyReplicas": 3}})
        assert self.apps.read_namespaced_deployment_status("d", self.ns).status.ready_replicas == 3

    def pages_follow_each_other_and_stay_consistent(self):
        for i in range(7):
            self.core.create_namespaced_config_map(self.ns, config_map(f"page-{i}", {"page": "y"}))
        names, token, revisions = [], None, set()
        while True:
            page = self.core.list_namespaced_config_map(self.ns, label_selector="page=y", limit=3, _continue=token)
            names += [c.metadata.name for c in page.items]
            revisions.add(page.metadata.resource_version)
            token = page.metadata._continue
            if not token:
                break
            if len(names) == 3:  # what happens meanwhile is not in the later pages
                self.core.create_namespaced_config_map(self.ns, config_map("page-9", {"page": "y"}))
                self.core.delete_namespaced_config_map("page-5", self.ns)
        assert names == [f"page-{i}" for i in range(7)], names
        assert len(revisions) == 1

    def collections_are_deleted_by_selector(self):
        for i in range(3):
            self.core.create_namespaced_config_map(self.ns, config_map(f"coll-{i}", {"coll": "y"}))
        self.core.delete_collection_namespaced_config_map(self.ns, label_selector="coll=y", field_selector="metadata.name!=coll-1")
        left = self.core.list_namespaced_config_map(self.ns, label_selector="coll=y").items
        assert [c.metadata.name for c in left] == ["coll-1"]

    def a_watch_sees_what_happens_in_order(self):
        rv = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        self.core.create_namespaced_config_map(self.ns, config_map("watched"))
        self.core.patch_namespaced_config_map("watched", self.ns, {"data": {"a": "b"}})
        self.core.delete_namespaced_config_map("watched", self.ns)
        seen = [e["type"] for e in watch.Watch().stream(self.core.list_namespaced_config_map, self.ns,
                                                         resource_version=rv, timeout_seconds=1)]
        assert seen == ["ADDED", "MODIFIED", "DELETED"], seen

    def a_watch_without_revision_begins_with_what_is_there_and_goes_on(self):
        self.core.create_namespaced_config_map(self.ns, config_map("live", {"live": "y"}))
        w, seen, first = watch.Watch(), [], threading.Event()

        def follow():
            for e in w.stream(self.core.list_namespaced_config_map, self.ns, label_selector="live=y", timeout_seconds=120):
                seen.append(e["type"])
                first.set()
                if len(seen) == 3:
                    w.stop()

        t = threading.Thread(target=follow)
        t.start()
        assert first.wait(120)
        self.core.patch_namespaced_config_map("live", self.ns, {"data": {"x": "1"}})
        self.core.patch_namespaced_config_map("live", self.ns, {"metadata": {"labels": {"live": None}}})
        t.join(120)
        assert seen == ["ADDED", "MODIFIED", "DELETED"], seen

    def an_old_revision_is_an_api_exception_410_or_still_served(self):
        try:
            for _ in watch.Watch().stream(self.core.list_namespaced_config_map, self.ns, resource_version="1", timeout_seconds=1):
                break
        except ApiException as e:
            assert e.status == 410, e

    def custom_objects_live_as_dictionaries(self):
        client.ApiextensionsV1Api().create_custom_resource_definition(self.crd)
        for e in watch.Watch().stream(client.ApiextensionsV1Api().list_custom_resource_definition,
                                      field_selector="metadata.name=crontabs.example.com", timeout_seconds=120):
            if any(c.type == "Established" and c.status == "True" for c in e["object"].status.conditions or []):
                break
        tab = {"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": {"name": "t"}, "spec": {"schedule": "* * * * *", "limit": 3}}
        made = self.custom.create_namespaced_custom_object(namespace=self.ns, body=tab, **TAB)
        assert made["spec"]["replicas"] == 1 and made["spec"]["limit"] == 3
        refused(409, "AlreadyExists", self.custom.create_namespaced_custom_object, namespace=self.ns, body=tab, **TAB)
        listed = self.custom.list_namespaced_custom_object(namespace=self.ns, **TAB)
        assert listed["kind"] == "CronTabList" and len(listed["items"]) == 1
        made["spec"]["limit"] = "10%"
        replaced = self.custom.replace_namespaced_custom_object(namespace=self.ns, name="t", body=made, **TAB)
        assert replaced["spec"]["limit"] == "10%"

    def a_whole_object_can_be_sent_as_a_merge_patch(self):
        # As kubeflow's update_job does: with status, with times in offset form, locked by resourceVersion.
        live = self.custom.get_namespaced_custom_object(namespace=self.ns, name="t", **TAB)
        live["metadata"]["creationTimestamp"] = live["metadata"]["creationTimestamp"].replace("Z", "+00:00")
        live["spec"]["schedule"] = "1 * * * *"
        live["status"] = {"phase": "Forged"}
        got = self.custom.patch_namespaced_custom_object(namespace=self.ns, name="t", body=live, **TAB)
        assert got["spec"]["schedule"] == "1 * * * *" and "status" not in got, got
        assert got["metadata"]["creationTimestamp"].endswith("Z"), got
        live["spec"]["schedule"] = "2 * * * *"
        refused(409, "Conflict", self.custom.patch_namespaced_custom_object, namespace=self.ns, name="t", body=live, **TAB)
        del live["metadata"]["resourceVersion"]
        got = self.custom.patch_namespaced_custom_object(namespace=self.ns, name="t", body=live, **TAB)
        assert got["spec"]["schedule"] == "2 * * * *"

    def custom_status_and_scale_have_their_own_paths(self):
        self.custom.patch_namespaced_custom_object_status(namespace=self.ns, name="t", body={"status": {"phase": "Ready"}}, **TAB)
        got = self.custom.get_namespaced_custom_object_status(namespace=self.ns, name="t", **TAB)
        assert got["status"]["phase"] == "Ready"
        self.custom.patch_namespaced_custom_object_scale(namespace=self.ns, name="t", body={"spec": {"replicas": 3}}, **TAB)
        assert self.custom.get_namespaced_custom_object(namespace=self.ns, name="t", **TAB)["spec"]["replicas"] == 3

    def custom_objects_are_deleted_without_a_body_and_at_once(self):
        api = client.ApiClient()
        api.call_api("/apis/example.com/v1/namespaces/{ns}/crontabs/t", "DELETE", {"ns": self.ns},
                     header_params={"Accept": "application/json", "Content-Type": "application/json"}, auth_settings=["BearerToken"])
        assert self.custom.list_namespaced_custom_object(namespace=self.ns, **TAB)["items"] == []

    def owned_pods_go_with_their_custom_owner(self):
        tab = {"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": {"name": "owner"}, "spec": {"schedule": "* * * * *"}}
        owner = self.custom.create_namespaced_custom_object(namespace=self.ns, body=tab, **TAB)
        child = pod("owned", owned="y")
        child.metadata.owner_references = [client.V1OwnerReference(api_version="example.com/v1", kind="CronTab", name="owner",
                                                                   uid=owner["metadata"]["uid"], controller=True, block_owner_deletion=True)]
        self.core.create_namespaced_pod(self.ns, child)
        rv = self.core.list_namespaced_pod(self.ns).metadata.resource_version
        self.custom.delete_namespaced_custom_object(namespace=self.ns, name="owner", **TAB)
        for e in watch.Watch().stream(self.core.list_namespaced_pod, self.ns, resource_version=rv, label_selector="owned=y", timeout_seconds=120):
            if e["type"] == "DELETED":
                return
        raise AssertionError("the pod is still there")

    def events_are_listed_with_what_they_are_about(self):
        self.core.create_namespaced_event(self.ns, client.CoreV1Event(
            metadata=client.V1ObjectMeta(name="e1"), reason="Testing", message="hello", type="Normal",
            involved_object=client.V1ObjectReference(kind="Pod", name="x", namespace=self.ns)))
        got = self.core.list_namespaced_event(self.ns).items
        assert [(e.involved_object.name, e.message) for e in got] == [("x", "hello")] and got[0].metadata.creation_timestamp

    def claims_of_several_access_modes_are_created_and_listed(self):
        self.core.create_namespaced_persistent_volume_claim(self.ns, client.V1PersistentVolumeClaim(
            metadata=client.V1ObjectMeta(name="claim"),
            spec=client.V1PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce", "ReadOnlyMany"],
                                                    resources=client.V1ResourceRequirements(requests={"storage": "1Gi"}))))
        got = self.core.list_namespaced_persistent_volume_claim(self.ns).items
        assert got[0].spec.access_modes == ["ReadWriteOnce", "ReadOnlyMany"] and got[0].status.phase == "Pending"

    def many_threads_share_the_server(self):
        def one(i):
            api = client.CoreV1Api(client.ApiClient())
            api.create_namespaced_config_map(self.ns, config_map(f"thread-{i}", {"thread": "y"}))
            return len(api.list_namespaced_config_map(self.ns, label_selector="thread=y").items)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(one, range(40)))
        assert len(self.core.list_namespaced_config_map(self.ns, label_selector="thread=y").items) == 40

    def asynchronous_requests_answer(self):
        t = self.core.list_namespaced_pod(self.ns, async_req=True)
        assert t.get(120).kind == "PodList"

    def a_log_without_a_node_is_a_clear_refusal(self):
        self.core.create_namespaced_pod(self.ns, pod("silent"))
        try:
            self.core.read_namespaced_pod_log("silent", self.ns, container="main")
        except ApiException as e:
            assert e.status in (400, 501) and "message" in e.body, e
            return
        raise AssertionError("there can be no log")

    def yaml_files_are_created_whole(self):
        utils.create_from_dict(client.ApiClient(), yaml.safe_load(
            "{apiVersion: v1, kind: Service, metadata: {name: from-dict}, spec: {ports: [{port: 80}]}}"), namespace=self.ns)
        assert self.core.read_namespaced_service("from-dict", self.ns).spec.cluster_ip

    def versions_and_groups_are_known(self):
        assert client.VersionApi().get_code().major == "1"
        groups = {g.name for g in client.ApisApi().get_api_versions().groups}
        assert {"apps", "batch", "apiextensions.k8s.io", "rbac.authorization.k8s.io"} <= groups
        assert client.CoreV1Api().get_api_resources().group_version == "v1"

    def access_reviews_answer(self):
        review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(verb="create", resource="pods", namespace=self.ns)))
        assert client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed


def main():
    config.load_kube_config(sys.argv[1])
    with open(sys.argv[3]) as f:
        cases = Cases(sys.argv[2], yaml.safe_load(f))
    for name in (n for n in vars(Cases) if not n.startswith("_")):
        try:
            getattr(cases, name)()
            print("ok", name, flush=True)
        except Exception:  # whatever went wrong is this case's failure
            print("not ok", name, flush=True)
            traceback.print_exc()


main()
