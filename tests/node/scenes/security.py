"""As whom and where a process runs, and what it cannot touch."""

import os

from harness.tap import has, is_
from world.scene import STAY, box, ended, is_end, matches

from . import scene


@scene
def a_working_directory_is_obeyed(s):
    s.start("p", box("pwd | say pwd", workingDir="/usr"))
    is_(s.read("pwd"), "/usr\n", "pwd")


@scene(level="namespaces")
def a_working_directory_can_be_a_volume(s):
    s.start("p", box("pwd | say pwd", workingDir="/e2e-work/dir", volumeMounts=[{"name": "w", "mountPath": "/e2e-work"}]),
            volumes=[{"name": "w", "emptyDir": {}}])
    pod = s.wait_end("p")
    is_((s.read("pwd"), ended(pod)["exitCode"]), ("/e2e-work/dir\n", 0), "pwd")


@scene(user="root")
def run_as_user_is_obeyed(s):
    s.start("p", box("id -u | say uid; id -g | say gid; id -G | say groups", securityContext={
        "runAsUser": 12345, "runAsGroup": 23456}), securityContext={"supplementalGroups": [777], "runAsUser": 1})
    is_((s.read("uid").strip(), s.read("gid").strip()), ("12345", "23456"), "user and group")
    has(s.read("groups").split(), "777", "further groups")


@scene(user="root")
def run_as_user_of_the_pod_is_obeyed(s):
    s.start("p", box("id -u | say uid"), securityContext={"runAsUser": 12345})
    is_(s.read("uid").strip(), "12345", "user")


@scene(level="namespaces")
def tmp_is_the_pods_own(s):
    muster = s.machine.muster  # a pod's remote shell, shown where it lies
    s.start("p", f"find /tmp -type f | say ls; (true >>{muster}) 2>/dev/null; echo $? | say code; echo x >/tmp/e2e-{s.ns}; "
            "echo up | say up; " + STAY)
    s.read("up")
    is_(s.read("ls"), muster + "\n", "it begins empty")
    assert s.read("code") != "0\n", "muster cannot be changed"
    assert not os.path.exists(f"/tmp/e2e-{s.ns}"), "the machine's has nothing of it"
    s.start("q", "find /tmp -type f | say ls-q")
    is_(s.read("ls-q"), muster + "\n", "nor another pod's")


@scene
def tmp_can_be_written(s):
    s.start("p", "f=$(mktemp) && echo x >$f && cat $f | say x; rm $f")
    is_(s.read("x"), "x\n", "mktemp works")


@scene(level="namespaces")
def a_pod_sees_its_own_processes_only(s):
    s.start("p", "ls /proc | grep -c '^[0-9]' | say count; cat /proc/1/cmdline | tr '\\0' ' ' | say one")
    assert int(s.read("count")) < 20, "few of them"


@scene(level="namespaces")
def a_pod_cannot_read_the_servers_secrets(s):
    s.start("p", f"cat {s.machine.data}/token 2>&1 | say said; ls {s.machine.data}/pki 2>&1 | say pki")
    for name in ("said", "pki"):
        matches(s.read(name), "No such file|Permission denied", "the data directory")


@scene
def files_the_server_holds_are_not_handed_on(s):
    s.start("p", "ls -l /proc/self/fd | say fds")
    fds = s.read("fds")
    assert "muster.db" not in fds and len(fds.splitlines()) <= 6, fds


@scene
def signals_are_as_a_fresh_process_has_them(s):
    s.start("p", "grep -E '^Sig(Blk|Ign)' /proc/self/status | say sig")
    _, blocked, _, ignored = s.read("sig").split()
    is_((int(blocked, 16), int(ignored, 16) & ~0x180000000), (0, 0), "none blocked or ignored, but for two of glibc's own")


@scene
def stdin_is_empty_and_output_no_terminal(s):
    s.start("p", "cat; test -t 1 && exit 3; test -t 0 && exit 4; exit 0")
    is_end(s.wait_end("p"), 0, "Completed")


@scene(user="user")
def another_user_is_refused_to_who_is_not_root(s):
    s.start("p", box("id -u >$G/uid", securityContext={"runAsUser": 4321}))
    said = s.wait(lambda: ended(s.get("p")).get("message") or
                  [e["message"] for e in s.machine.told[s.ns] if "4321" in e.get("message", "")],
                  "it is said that it cannot be")
    matches(str(said), "4321", "who it would be")


@scene(user="root")
def root_is_refused_where_it_is_not_wanted(s):
    s.start("p", box("exit 0", securityContext={"runAsNonRoot": True}))
    matches(s.wait_waiting("p", "CreateContainerConfigError"), "container has runAsNonRoot and image will run as root",
            "message")


@scene(level="namespaces")
def what_a_pod_writes_beside_its_volumes_stays_with_it(s):
    name = f"/e2e-litter-{s.ns}"
    s.start("p", f"echo x >{name}; mkdir -p /var/cache/e2e-{s.ns}; ls -d {name} /var/cache/e2e-{s.ns} 2>/dev/null | "
            "say ls")
    s.read("ls")
    assert not os.path.exists(name) and not os.path.exists(f"/var/cache/e2e-{s.ns}"), "nothing on the machine"


@scene(level="namespaces", user="root")
def the_root_of_a_pod_can_be_written(s):
    s.start("p", "echo x >/e2e-root && cat /e2e-root | say x; echo y >/usr/e2e-root && cat /usr/e2e-root | say y")
    is_((s.read("x"), s.read("y")), ("x\n", "y\n"), "inside")
    assert not os.path.exists("/e2e-root") and not os.path.exists("/usr/e2e-root"), "not outside"
