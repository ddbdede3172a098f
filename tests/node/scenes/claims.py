"""Claims for storage: the class local-path, volumes that come with their first user and stay while they are used."""

import os
import stat

from harness.tap import has, is_
from world.record import condition
from world.scene import box

from . import scene

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"


def claim(s, name, modes=("ReadWriteOnce",), size="1Gi", **spec):
    return s.create(CLAIMS, {"metadata": {"name": name}, "spec": {
        "accessModes": list(modes), "resources": {"requests": {"storage": size}}, **spec}})


def use(s, pod, name, script, **mount):
    place = s.place(pod, "d")
    s.start(pod, box(script, env=[{"name": "D", "value": place}],
                     volumeMounts=[{"name": "d", "mountPath": place, **mount}]),
            volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": name}}])


@scene
def there_is_one_class_and_it_is_the_default(s):
    [it] = s.kube.list("storageclasses")
    is_((it["metadata"]["name"], it["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"]),
        ("local-path", "true"), "the class")
    is_((it["provisioner"], it["reclaimPolicy"], it["volumeBindingMode"]),
        ("rancher.io/local-path", "Delete", "WaitForFirstConsumer"), "what it does")
    has(s.kubectl("get", "sc").stdout, "local-path (default)", "kubectl get sc")


@scene
def a_claim_waits_for_its_first_user(s):
    claim(s, "c")
    told = s.wait_event("WaitForFirstConsumer", name="c")
    is_(told["message"], "waiting for first consumer to be created before binding", "message")
    it = s.kube.get(CLAIMS, "c", s.ns)
    is_((it["status"]["phase"], it["spec"]["storageClassName"]), ("Pending", "local-path"), "phase, class")


@scene
def a_claim_is_bound_when_its_first_user_comes(s):
    claim(s, "c", size="2Gi")
    use(s, "p", "c", "echo kept >$D/x")
    s.wait_phase("p", "Succeeded")
    it = s.kube.get(CLAIMS, "c", s.ns)
    is_((it["status"]["phase"], it["status"]["capacity"], it["status"]["accessModes"]),
        ("Bound", {"storage": "2Gi"}, ["ReadWriteOnce"]), "status")
    volume = s.kube.get(VOLUMES, it["spec"]["volumeName"])
    is_((volume["status"]["phase"], volume["spec"]["claimRef"]["name"], volume["spec"]["storageClassName"],
         volume["spec"]["persistentVolumeReclaimPolicy"]), ("Bound", "c", "local-path", "Delete"), "the volume")
    [folder] = [d for d in os.listdir(s.machine.data + "/volumes") if it["metadata"]["uid"] in d]
    mode = stat.S_IMODE(os.stat(os.path.join(s.machine.data, "volumes", folder)).st_mode)
    is_(oct(mode), oct(0o777), "for any user of a pod")
    above = os.stat(s.machine.data).st_mode & os.stat(s.machine.data + "/volumes").st_mode
    is_(above & 0o066, 0, "which others do not find")


@scene(user="root")
def a_claim_can_be_used_by_any_user(s):
    claim(s, "c")
    s.start("p", box("echo mine >$D/x && ls -ln $D/x | awk '{print $3}' | say uid",
                     env=[{"name": "D", "value": s.place("p", "d")}],
                     volumeMounts=[{"name": "d", "mountPath": s.place("p", "d")}]),
            securityContext={"runAsUser": 12345},
            volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}])
    is_(s.read("uid"), "12345\n", "what it wrote is its own")


@scene
def what_is_in_it_outlives_pods(s):
    claim(s, "c")
    use(s, "p", "c", "echo kept >$D/x")
    s.wait_phase("p", "Succeeded")
    s.delete("p")
    s.wait_gone("p")
    use(s, "q", "c", "cat $D/x | say x")
    is_(s.read("x"), "kept\n", "the next pod finds it")


@scene
def two_pods_meet_in_one_claim(s):
    claim(s, "c", modes=["ReadWriteMany"])
    use(s, "p", "c", "echo kept >$D/x; mkfifo $D/go; read -r line <$D/go; echo $line | say line")
    use(s, "q", "c", "until [ -p $D/go ]; do sleep 0.1; done; echo hello >$D/go")
    is_(s.read("line"), "hello\n", "what one told the other")


@scene(level="namespaces")
def a_claim_can_be_mounted_anywhere(s):
    claim(s, "c")
    s.start("p", box("echo x >/data-e2e/sub/x; ls /data-e2e/sub | say x", volumeMounts=[
        {"name": "d", "mountPath": "/data-e2e/sub", "subPath": "part"}]),
            volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}])
    is_(s.read("x"), "x\n", "it is there")
    assert not os.path.exists("/data-e2e"), "but not on the machine"


@scene
def a_claim_in_use_stays_until_its_user_ends(s):
    claim(s, "c")
    use(s, "p", "c", "await go")
    s.wait_ready("p")
    has(s.kube.get(CLAIMS, "c", s.ns)["metadata"]["finalizers"], "kubernetes.io/pvc-protection", "finalizers")
    volume = s.kube.get(CLAIMS, "c", s.ns)["spec"]["volumeName"]
    s.kube.delete(CLAIMS, "c", s.ns)
    assert s.kube.get(CLAIMS, "c", s.ns)["metadata"]["deletionTimestamp"], "it is leaving"
    s.open("go")
    s.wait_phase("p", "Succeeded")
    s.until(lambda: s.kube.find(CLAIMS, "c", s.ns) is None, "the claim goes")
    s.until(lambda: s.kube.find(VOLUMES, volume) is None, "the volume goes")
    s.until(lambda: not os.path.exists(f"{s.machine.data}/volumes/{volume}"), "and its folder")


@scene
def a_class_that_is_not_there_is_taken_for_the_local_one(s):
    claim(s, "c", storageClassName="nfs-client")
    use(s, "p", "c", "echo x >$D/x")
    s.wait_phase("p", "Succeeded")
    is_(s.kube.get(CLAIMS, "c", s.ns)["status"]["phase"], "Bound", "phase")


@scene
def a_claim_that_is_not_there_is_named(s):
    use(s, "p", "later", "exit 0")
    told = s.wait_event("FailedScheduling", name="p")
    has(told["message"], 'persistentvolumeclaim "later" not found', "message")
    s.wait_pod("p", lambda p: condition(p, "PodScheduled").get("reason") == "Unschedulable", "is Unschedulable")
    claim(s, "later")
    s.wait_phase("p", "Succeeded")


@scene(level="namespaces")
def a_claim_can_be_read_only(s):
    claim(s, "c")
    use(s, "p", "c", "touch $D/x 2>&1 | say said", readOnly=True)
    has(s.read("said"), "Read-only", "what the kernel says")
