"""Volumes: emptyDir, hostPath, configMap, secret, projected, downwardAPI; subPath, readOnly; where they can be."""

import base64
import os

from harness.tap import has, is_
from world.record import container
from world.scene import STAY, box, ended, matches

from . import scene


def b64(text):
    return base64.b64encode(text.encode()).decode()


def run(s, name, script, volume, mount=None, **more):
    """A pod whose script finds the volume at $V."""
    place = s.place(name, "v")
    s.start(name, box(script, volumeMounts=[{"name": "v", "mountPath": place, **(mount or {})}],
                      env=[{"name": "V", "value": place}]), volumes=[{"name": "v", **volume}], **more)


def files(s, name, volume, mount=None, **more):
    """What the volume shows: path and content."""
    run(s, name, "cd $V && find -L . -type f ! -path '*/..*' | sort | while read -r f; do echo \"$f=$(cat $f)\"; done "
        "| say files-" + name, volume, mount, **more)
    return s.read("files-" + name).split("\n")[:-1]


@scene
def containers_of_a_pod_share_an_empty_dir(s):
    place = s.place("p", "v")
    mounts = {"volumeMounts": [{"name": "v", "mountPath": place}]}
    s.start("p", box(f"cat {place}/x | say got", **mounts), init=[box(f"ls -A {place} | say before; echo hi >{place}/x",
                                                                     "one", **mounts)],
            volumes=[{"name": "v", "emptyDir": {}}])
    is_(s.read("got"), "hi\n", "what the first wrote")
    is_(s.read("before"), "", "it was empty")
    s.wait_phase("p", "Succeeded")


@scene
def an_empty_dir_is_the_pods_own(s):
    run(s, "p", "echo secret >$V/x", {"emptyDir": {}})
    s.wait_phase("p", "Succeeded")
    is_(files(s, "q", {"emptyDir": {}}), [], "another pod's")


@scene(level="namespaces")
def an_empty_dir_in_memory_is_a_tmpfs(s):
    run(s, "p", "stat -f -c %T $V | say type; echo x >$V/x && cat $V/x | say x; df -k --output=size $V | tail -1 | say "
        "size", {"emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}})
    is_(s.read("type").strip(), "tmpfs", "file system")
    is_(s.read("x"), "x\n", "it can be written")
    is_(int(s.read("size")), 8 << 10, "its size")


@scene
def a_host_path_is_the_hosts(s):
    folder = s.machine.make("host", s.ns)
    with open(folder + "/in", "w", encoding="utf-8") as f:
        f.write("from here\n")
    run(s, "p", "cat $V/in | say in; echo back >$V/out", {"hostPath": {"path": folder, "type": "Directory"}})
    s.wait_phase("p", "Succeeded")
    is_(s.read("in"), "from here\n", "the pod reads it")
    with open(folder + "/out", encoding="utf-8") as f:
        is_(f.read(), "back\n", "and writes it")


@scene
def a_host_path_can_be_made(s):
    folder = os.path.join(s.machine.make("host", s.ns), "new")
    run(s, "p", "echo back >$V/out", {"hostPath": {"path": folder + "/dir", "type": "DirectoryOrCreate"}})
    run(s, "q", "echo back >$V", {"hostPath": {"path": folder + ".file", "type": "FileOrCreate"}})
    s.wait_phase("p", "Succeeded")
    s.wait_phase("q", "Succeeded")
    assert os.path.exists(folder + "/dir/out") and os.path.getsize(folder + ".file") == 5


@scene
def a_host_path_of_another_kind_is_refused(s):
    folder = s.machine.make("host", s.ns)
    run(s, "p", "exit 0", {"hostPath": {"path": folder + "/nothing", "type": "Directory"}})
    run(s, "q", "exit 0", {"hostPath": {"path": folder, "type": "File"}})
    told = s.wait_event("FailedMount", name="p")
    has(told["message"], f"hostPath type check failed: {folder}/nothing is not a directory", "message")
    has(s.wait_event("FailedMount", name="q")["message"], f"{folder} is not a file", "message")
    s.wait_waiting("p", "ContainerCreating")
    os.mkdir(folder + "/nothing")
    s.wait_phase("p", "Succeeded", timeout=120)


@scene
def a_config_map_shows_its_keys_as_files(s):
    s.config("c", data={"one": "1\n", "two.txt": "zwei"}, binaryData={"raw": b64("a\0b")})
    is_(files(s, "p", {"configMap": {"name": "c", "items": [{"key": "two.txt", "path": "deep/er/2"}]}}),
        ["./deep/er/2=zwei"], "those that are listed")
    run(s, "q", "cd $V; ls | say ls; cat one two.txt | say cat; wc -c <raw | say raw; ls -lL one | cut -c1-10 | say mode",
        {"configMap": {"name": "c"}})
    is_(s.read("mode").strip(), "-rw-r--r--", "mode")
    is_((s.read("ls").split(), s.read("cat"), s.read("raw").strip()), (["one", "raw", "two.txt"], "1\nzwei", "3"),
        "all of them")


@scene
def modes_of_files_can_be_chosen(s):
    s.config("c", data={"a": "", "b": ""})
    run(s, "p", "cd $V; stat -L -c %a a b | say modes", {"configMap": {
        "name": "c", "defaultMode": 0o440, "items": [{"key": "a", "path": "a"}, {"key": "b", "path": "b", "mode": 0o700}]}})
    is_(s.read("modes").split(), ["440", "700"], "modes")


@scene
def a_missing_config_map_is_waited_for(s):
    run(s, "p", "cat $V/k | say k", {"configMap": {"name": "later"}})
    told = s.wait_event("FailedMount", name="p")
    is_(told["message"], 'MountVolume.SetUp failed for volume "v" : configmap "later" not found', "message")
    s.wait_waiting("p", "ContainerCreating")
    s.config("later", data={"k": "now\n"})
    is_(s.read("k", timeout=120), "now\n", "once it is there")


@scene
def an_optional_one_may_be_missing(s):
    is_(files(s, "p", {"configMap": {"name": "nobody", "optional": True}}), [], "config map")
    is_(files(s, "q", {"secret": {"secretName": "nobody", "optional": True}}), [], "secret")


@scene
def a_secret_shows_what_is_behind_its_letters(s):
    s.config("t", "secrets", data={"word": b64("hush")}, stringData={"plain": "text"})
    is_(files(s, "p", {"secret": {"secretName": "t"}}), ["./plain=text", "./word=hush"], "files")


@scene
def a_missing_secret_is_named(s):
    run(s, "p", "exit 0", {"secret": {"secretName": "later"}})
    has(s.wait_event("FailedMount", name="p")["message"], 'secret "later" not found', "message")


@scene
def a_missing_key_is_named(s):
    s.config("c", data={"k": "v"})
    run(s, "p", "exit 0", {"configMap": {"name": "c", "items": [{"key": "other", "path": "x"}]}})
    matches(s.wait_event("FailedMount", name="p")["message"], "references non-existent config key: other", "message")


@scene
def the_downward_api_writes_files(s):
    place = s.place("p", "v")
    s.start("p", box("cd $V; for f in a/name cpu labels; do echo \"$f=$(cat $f)\"; done | say files",
                     resources={"limits": {"cpu": "250m"}}, env=[{"name": "V", "value": place}],
                     volumeMounts=[{"name": "v", "mountPath": place}]),
            labels={"one": "1", "two": "2"}, volumes=[{"name": "v", "downwardAPI": {"items": [
                {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                {"path": "a/name", "fieldRef": {"fieldPath": "metadata.name"}},
                {"path": "cpu", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu",
                                                     "divisor": "1m"}}]}}])
    is_(s.read("files").split(), ["a/name=p", "cpu=250", 'labels=one="1"', 'two="2"'], "files")


@scene
def a_projected_volume_gathers_all(s):
    s.config("c", data={"one": "1"})
    s.config("t", "secrets", stringData={"two": "2"})
    is_(files(s, "p", {"projected": {"sources": [
        {"configMap": {"name": "c"}}, {"secret": {"name": "t", "items": [{"key": "two", "path": "in/two"}]}},
        {"downwardAPI": {"items": [{"path": "ns", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        {"configMap": {"name": "nobody", "optional": True}}]}}), ["./in/two=2", f"./ns={s.ns}", "./one=1"], "files")


@scene(slow=True)
def files_follow_their_config_map(s):
    s.config("c", data={"k": "old"})
    run(s, "p", "cat $V/k | say first; until [ \"$(cat $V/k)\" = new ]; do sleep 0.5; done; echo yes | say followed",
        {"configMap": {"name": "c"}})
    is_(s.read("first"), "old", "at first")
    s.kube.patch("configmaps", "c", {"data": {"k": "new"}}, s.ns)
    s.read("followed", timeout=150)


@scene(slow=True)
def files_follow_the_pods_labels(s):
    run(s, "p", "until grep -q 'b=\"2\"' $V/l; do sleep 0.5; done; echo yes | say followed",
        {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}, labels={"a": "1"})
    s.wait_ready("p")
    s.kube.patch("pods", "p", {"metadata": {"labels": {"b": "2"}}}, s.ns)
    s.read("followed", timeout=150)


@scene
def a_sub_path_is_a_part_of_the_volume(s):
    place = s.place("p", "v")
    s.start("p", box(f"echo x >{place}/in; find {place}-whole/ | sort | say found", volumeMounts=[
        {"name": "v", "mountPath": place, "subPath": "a/b"}, {"name": "v", "mountPath": place + "-whole"}]),
            volumes=[{"name": "v", "emptyDir": {}}])
    is_([f.replace(place + "-whole/", "/") for f in s.read("found").split()], ["/", "/a", "/a/b", "/a/b/in"], "what is where")


@scene
def a_sub_path_can_be_one_file(s):
    s.config("c", data={"k": "v\n", "other": ""})
    place = s.place("p", "file")
    s.start("p", box(f"cat {place} | say out", volumeMounts=[{"name": "v", "mountPath": place, "subPath": "k"}]),
            volumes=[{"name": "v", "configMap": {"name": "c"}}])
    is_(s.read("out"), "v\n", "the file")


@scene
def a_sub_path_can_be_made_of_variables(s):
    place = s.place("p", "v")
    s.start("p", box(f"echo x >{place}/in; find {place}-whole/ -type f | say found", env=[
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}], volumeMounts=[
            {"name": "v", "mountPath": place, "subPathExpr": "of-$(NAME)"}, {"name": "v", "mountPath": place + "-whole"}]),
            volumes=[{"name": "v", "emptyDir": {}}])
    is_(s.read("found").strip(), f"{place}-whole/of-p/in", "where it is")


@scene(level="namespaces")
def read_only_is_meant(s):
    run(s, "p", "touch $V/x 2>&1 | say said; mount | grep $V | say mounts", {"emptyDir": {}}, {"readOnly": True})
    has(s.read("said"), "Read-only file system", "what the kernel says")
    s.wait_phase("p", "Succeeded")


@scene(level="namespaces")
def a_mount_path_need_not_exist(s):
    s.start("p", box("echo x >/e2e-nowhere/deep/er/x && cat /e2e-nowhere/deep/er/x | say out",
                     volumeMounts=[{"name": "v", "mountPath": "/e2e-nowhere/deep/er"}]),
            volumes=[{"name": "v", "emptyDir": {}}])
    is_(s.read("out"), "x\n", "it is there")
    assert not os.path.exists("/e2e-nowhere"), "and not on the machine"


@scene(level="namespaces")
def a_mount_can_cover_what_is_there(s):
    s.config("c", data={"conf": "mine\n"})
    s.start("p", box("ls /usr/local | say dir; cat /etc/passwd | say file",
                     volumeMounts=[{"name": "e", "mountPath": "/usr/local"},
                                   {"name": "v", "mountPath": "/etc/passwd", "subPath": "conf"}]),
            volumes=[{"name": "v", "configMap": {"name": "c"}}, {"name": "e", "emptyDir": {}}])
    is_((s.read("dir"), s.read("file")), ("", "mine\n"), "covered")
    with open("/etc/passwd", encoding="utf-8") as f:
        assert "mine" not in f.read()


def refused(s, path):
    s.start("p", box("exit 0", volumeMounts=[{"name": "v", "mountPath": path}]), volumes=[{"name": "v", "emptyDir": {}}])
    told = ended(s.wait_phase("p", "Failed"))
    is_(told["reason"], "VolumeMountUnsupported", "reason")
    has(told["message"], path, "the path is named")
    has(told["message"], "--isolation", "the flag is named")
    is_([c for c in s.history("p") if "running" in container(c.obj, "main").get("state", {})], [], "it never ran")


@scene(level="shared")
def what_was_made_for_a_mount_goes_with_the_pod(s):
    place = s.place("p", "v")
    run(s, "p", "echo x >$V/x; echo up | say up; " + STAY, {"emptyDir": {}})
    s.read("up")
    assert os.path.lexists(place)
    s.delete("p")
    s.wait_gone("p")
    s.until(lambda: not os.path.lexists(place), "the link goes")


@scene(level="shared")
def two_volumes_at_one_place_are_refused(s):
    place = s.place("both", "v")
    mounts = {"volumeMounts": [{"name": "v", "mountPath": place}]}
    s.start("p", box(STAY, **mounts), volumes=[{"name": "v", "emptyDir": {}}])
    s.wait_ready("p")
    s.start("q", box("exit 0", **mounts), volumes=[{"name": "v", "emptyDir": {}}])
    told = ended(s.wait_phase("q", "Failed"))
    has(told["message"], place, "the path is named")


@scene(level="namespaces")
def mounts_lie_within_mounts(s):
    s.start("p", box("echo in >/e2e-a/b/x; echo out >/e2e-a/x; cat /e2e-a/x /e2e-a/b/x | say both; ls /e2e-b | say b",
                     volumeMounts=[{"name": "b", "mountPath": "/e2e-a/b"}, {"name": "a", "mountPath": "/e2e-a"},
                                   {"name": "b", "mountPath": "/e2e-b"}]),
            volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}])
    is_((s.read("both"), s.read("b")), ("out\nin\n", "x\n"), "each in its own")


@scene(level="shared", user="user")
def a_mount_that_cannot_be_made_is_refused(s):
    refused(s, "/e2e-nowhere/data")


@scene(level="shared")
def a_mount_over_what_is_there_is_refused(s):
    refused(s, "/usr/lib")


@scene(level="shared")
def two_pods_can_have_one_volume_at_one_place(s):
    folder = s.machine.make("host", s.ns)
    place = s.place("both", "v")
    for name in ("p", "q"):
        s.start(name, box(f"echo x >{place}/{name}; echo up | say {name}; await end-{name}; ls {place} | say ls-{name}",
                          volumeMounts=[{"name": "v", "mountPath": place}]),
                volumes=[{"name": "v", "hostPath": {"path": folder}}])
        s.read(name)
    s.open("end-p")
    s.wait_phase("p", "Succeeded")
    s.delete("p")
    s.wait_gone("p")
    s.open("end-q")
    is_(s.read("ls-q").split(), ["p", "q"], "it stays for the second")
