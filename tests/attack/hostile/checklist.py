#!/usr/bin/python3
"""Runs inside a pod and tries what container escape checklists try. Prints one line a check, `ok NAME` or
`not ok NAME: why`, and `end` last; t2000_escape.py reads them. What it must not reach comes in environment
variables that begin with ATTACK_. Nothing here changes the machine even where it is let: files are opened for
writing and not written, and calls get arguments that are refused only after the right to make them was looked at."""

import ctypes
import errno
import fcntl
import glob
import os
import platform
import re
import signal
import socket
import stat
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = platform.machine()
NUMBERS = {"x86_64": {"init_module": 175, "delete_module": 176, "kexec_load": 246, "reboot": 169, "bpf": 321,
                      "perf_event_open": 298, "add_key": 248, "keyctl": 250, "open_by_handle_at": 304,
                      "pivot_root": 155, "syslog": 103, "userfaultfd": 323, "iopl": 172, "fsopen": 430,
                      "open_tree": 428, "move_mount": 429, "mount_setattr": 442},
           "aarch64": {"init_module": 105, "delete_module": 106, "kexec_load": 104, "reboot": 142, "bpf": 280,
                       "perf_event_open": 241, "add_key": 217, "keyctl": 219, "open_by_handle_at": 265,
                       "pivot_root": 41, "syslog": 116, "userfaultfd": 282, "fsopen": 430,
                       "open_tree": 428, "move_mount": 429, "mount_setattr": 442}}.get(MACHINE, {})
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
NEWNS, NEWUSER, NEWNET, NEWPID = 0x20000, 0x10000000, 0x40000000, 0x20000000
MS_REMOUNT, MS_BIND = 32, 4096
# What container engines leave to root in a container.
USUAL_CAPABILITIES = sum(1 << n for n in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31))
USUAL_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "fuse"}
PROVED = []


class Bad(Exception):
    """The pod could do what it should not."""


def words(name):
    """Written backwards, so that they are not found in environments where they were not to be."""
    return [w[::-1] for w in os.environ.get("ATTACK_" + name, "").split(":") if w]


HIDDEN = words("HIDDEN")


def call(name, *args):
    """0, or the error's number."""
    ctypes.set_errno(0)
    if name in NUMBERS:
        code = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *args)
    else:
        code = getattr(LIBC, name)(*args)
    return 0 if code >= 0 else ctypes.get_errno()


def told(code):
    return "it worked" if not code else errno.errorcode.get(code, str(code))


def must_refuse(what, code):
    if code not in REFUSED:
        raise Bad(f"{what}: {told(code)}")


def opens_to_write(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False


def read(path, size=4096):
    try:
        with open(path, "rb") as f:
            return f.read(size)
    except OSError:
        return b""


def in_a_child(test, *args):
    """Runs what changes this process in another; its exception comes back."""
    out, into = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            test(*args)
            os.write(into, b"fine")
        except Bad as e:
            os.write(into, b"bad:" + str(e).encode())
        except BaseException as e:  # pylint: disable=broad-except
            os.write(into, b"fine, " + repr(e).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as f:
        said = f.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    if said.startswith("bad:"):
        raise Bad(said[4:])
    # A filter that kills is a refusal as well.
    if not said and not os.WIFSIGNALED(status):
        raise Bad("the attempt ended without a word")


def check(test):
    PROVED.append(test)
    return test


def check_apart(test):
    """Of pods with mounts of their own: elsewhere it would be this machine's that are tried."""
    return check(test) if "namespaces" in words("LEVEL") else test


# ---- files and mounts

def can_see(path):
    """Whether anything of a hidden place can be read."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return bool(os.listdir(path))
        return bool(read(path, 1))
    except OSError:
        return False


@check
def hidden_paths_are_out_of_sight():
    for path in HIDDEN:
        if can_see(path):
            raise Bad(path)


@check
def hidden_paths_are_out_of_sight_through_proc():
    for root in glob.glob("/proc/[0-9]*/root") + glob.glob("/proc/[0-9]*/cwd") + glob.glob("/proc/[0-9]*/task/*/root"):
        for path in HIDDEN:
            if can_see(root + path):
                raise Bad(root + path)


@check
def descriptors_of_others_lead_nowhere():
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        if link.startswith(f"/proc/{os.getpid()}/"):
            continue
        try:
            to = os.readlink(link)
        except OSError:
            continue
        if any(to.startswith(path) for path in HIDDEN):
            raise Bad(f"{link} -> {to}")
        try:
            if os.path.isdir(link) and any(can_see(link + "/" + path) for path in [""] + HIDDEN if path):
                raise Bad(link)
        except OSError:
            pass


@check
def mountinfo_names_nothing_that_can_be_entered():
    text = read("/proc/self/mountinfo", 1 << 20).decode(errors="replace")
    for path in HIDDEN:
        if path in text and can_see(path):
            raise Bad(path)
    for name in set(re.findall(r"(?:upperdir|workdir|lowerdir)=([^,: ]+)", text)):
        if can_see(name) and any(name.startswith(h) for h in HIDDEN):
            raise Bad(name)


@check_apart
def mounts_of_the_host_cannot_be_changed():
    tmp = os.environ.get("TMPDIR", "/tmp")
    for what, args in {"mount proc": (b"proc", tmp.encode(), b"proc", 0, None),
                       "mount sysfs": (b"sysfs", tmp.encode(), b"sysfs", 0, None),
                       "mount cgroup": (b"x", tmp.encode(), b"cgroup", 0, b"memory"),
                       "mount cgroup2": (b"x", tmp.encode(), b"cgroup2", 0, None),
                       "remount /": (b"", b"/", b"", MS_REMOUNT | MS_BIND, None),
                       "bind": (b"/", tmp.encode(), b"", MS_BIND, None)}.items():
        must_refuse(what, call("mount", *args))


@check_apart
def no_mount_can_be_taken_away():
    for line in read("/proc/self/mountinfo", 1 << 20).decode(errors="replace").splitlines():
        at = line.split()[4]
        # MNT_EXPIRE only marks it, the first time
        if at != "/" and call("umount2", at.encode(), 4) in (0, errno.EAGAIN, errno.EBUSY):
            raise Bad(at)


@check_apart
def the_new_mount_calls_are_refused():
    for what, args in (("fsopen", (b"proc", 0)), ("open_tree", (-100, b"/", 1))):
        if what in NUMBERS:
            must_refuse(what, call(what, *args))


@check
def a_chroot_does_not_break_out():
    def test():
        os.chdir("/")
        inside = os.path.join(os.environ.get("TMPDIR", "/tmp"), "attack-chroot")
        os.makedirs(inside, exist_ok=True)
        os.chroot(inside)
        for _ in range(64):
            os.chdir("..")
        os.chroot(".")
        for path in HIDDEN:
            if can_see(path):
                raise Bad(path)
    in_a_child(test)


@check
def handles_open_nothing():
    handle = struct.pack("<II", 8, 1) + struct.pack("<II", 2, 0)
    fd = os.open("/", os.O_RDONLY)
    try:
        must_refuse("open_by_handle_at", call("open_by_handle_at", fd, handle, os.O_RDONLY))
    finally:
        os.close(fd)


# ---- /proc and /sys

@check
def kernel_settings_cannot_be_written():
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/sysrq",
                 "/proc/sys/kernel/panic", "/proc/sys/kernel/hotplug", "/proc/sys/vm/overcommit_memory",
                 "/proc/sys/vm/drop_caches", "/proc/sys/fs/file-max", "/proc/sys/fs/binfmt_misc/register",
                 "/proc/sysrq-trigger", "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/yama/ptrace_scope"):
        if opens_to_write(path):
            raise Bad(path)


@check
def kernel_memory_and_logs_cannot_be_read():
    for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats",
                 "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg"):
        if os.path.exists(path) and not path.startswith("/dev") and read(path, 16):
            raise Bad(path)
        if path.startswith("/dev"):
            try:
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                raise Bad(path)
            except OSError:
                pass
    for path in ("/proc/acpi", "/proc/scsi", "/sys/firmware"):
        if os.path.isdir(path):
            try:
                found = os.listdir(path)
            except OSError:
                continue
            if found:
                raise Bad(f"{path}: {found[:3]}")


@check
def interrupts_and_buses_cannot_be_written():
    for path in glob.glob("/proc/irq/*/smp_affinity") + ["/proc/irq/default_smp_affinity"] + glob.glob("/proc/bus/pci/*/*"):
        if opens_to_write(path):
            raise Bad(path)


@check
def sysfs_cannot_be_written():
    for path in ["/sys/kernel/uevent_helper", "/sys/power/state", "/sys/power/disk", "/sys/kernel/mm/ksm/run",
                 "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum", "/sys/kernel/profiling",
                 "/sys/block/loop0/uevent"] + glob.glob("/sys/module/*/parameters/*")[:200] + glob.glob("/sys/class/net/*/mtu"):
        if opens_to_write(path):
            raise Bad(path)


@check
def control_groups_cannot_be_written():
    for at, folders, files in os.walk("/sys/fs/cgroup"):
        for name in files:
            if name in ("release_agent", "notify_on_release", "cgroup.procs", "tasks", "devices.allow", "memory.max",
                        "pids.max", "cgroup.subtree_control", "cgroup.kill", "memory.limit_in_bytes", "cpu.max"):
                if opens_to_write(os.path.join(at, name)):
                    raise Bad(os.path.join(at, name))
        folders[:] = folders[:40]
        if at.count("/") > 7:
            folders[:] = []


@check
def no_control_group_can_be_made():
    for at in glob.glob("/sys/fs/cgroup") + glob.glob("/sys/fs/cgroup/*/"):
        try:
            os.mkdir(os.path.join(at, "attack"))
        except OSError:
            continue
        try:
            os.rmdir(os.path.join(at, "attack"))
        except OSError:
            pass
        raise Bad(at)


@check
def environments_of_others_cannot_be_read():
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        if path.split("/")[2] == str(os.getpid()):
            continue
        text = read(path, 1 << 20).decode(errors="replace")
        for word in words("WORDS"):
            if word in text:
                raise Bad(path)


@check
def processes_of_others_are_not_there():
    names = {p.split("/")[2]: read(p).replace(b"\0", b" ").decode(errors="replace") for p in glob.glob("/proc/[0-9]*/cmdline")}
    for pid, text in names.items():
        if any(w in text for w in words("OTHERS")):
            raise Bad(f"{pid}: {text[:200]}")


@check
def process_one_is_closed():
    if os.getpid() == 1:
        return
    for name in ("root", "cwd", "exe", "fd", "environ", "mem", "maps", "ns/mnt"):
        path = "/proc/1/" + name
        if name in ("fd",):
            for link in glob.glob(path + "/*"):
                try:
                    raise Bad(f"{link} -> {os.readlink(link)}")
                except OSError:
                    pass
            continue
        if name in ("environ", "maps"):
            if read(path, 8):
                raise Bad(path)
            continue
        if name == "mem":
            try:
                os.close(os.open(path, os.O_RDONLY))
            except OSError:
                continue
            raise Bad(path)
        try:
            os.readlink(path)
        except OSError:
            continue
        raise Bad(path)


# ---- devices

@check
def dev_has_the_usual_nodes_only():
    for at, folders, files in os.walk("/dev"):
        folders[:] = [f for f in folders if f not in ("pts", "shm", "mqueue")]
        for name in files:
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and name not in USUAL_DEVICES and not name.startswith("nvidia")):
                raise Bad(path)


@check
def device_nodes_that_are_made_cannot_be_opened():
    where = [os.environ.get("TMPDIR", "/tmp"), "/dev", "/dev/shm", "/var/tmp", "/", os.environ.get("HOME", "/")]
    for kind, major, minor in ((stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 1, 11), (stat.S_IFBLK, 7, 0), (stat.S_IFBLK, 8, 0),
                               (stat.S_IFBLK, 252, 0), (stat.S_IFBLK, 259, 0), (stat.S_IFCHR, 10, 237)):
        for folder in where:
            path = os.path.join(folder, f"attack-{major}-{minor}")
            try:
                os.mknod(path, kind | 0o600, os.makedev(major, minor))
            except OSError:
                continue
            try:
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                raise Bad(f"{path} opens")
            except OSError as e:
                if e.errno not in (errno.EPERM, errno.EACCES):
                    raise Bad(f"{path}: the kernel was asked for the device: {e}") from e
            finally:
                os.unlink(path)


# ---- namespaces and capabilities

def capabilities(name):
    return int(re.search(rf"^{name}:\s*([0-9a-f]+)", read("/proc/self/status").decode(), re.M)[1], 16)


@check
def capabilities_are_the_usual_ones():
    for name in ("CapEff", "CapPrm", "CapBnd", "CapInh"):
        more = capabilities(name) & ~USUAL_CAPABILITIES
        if more:
            raise Bad(f"{name} has {more:#x} beyond the usual set")


@check
def no_capability_is_ambient():
    if capabilities("CapAmb"):
        raise Bad(hex(capabilities("CapAmb")))


@check
def a_seccomp_filter_is_in_place():
    found = re.search(r"^Seccomp:\s*(\d)", read("/proc/self/status").decode(), re.M)
    if not found or found[1] != "2":
        raise Bad("Seccomp: " + (found[1] if found else "unknown"))


@check
def namespaces_of_others_cannot_be_joined():
    mine = {name: os.readlink("/proc/self/ns/" + name) for name in os.listdir("/proc/self/ns")}
    for path in glob.glob("/proc/[0-9]*/ns/*"):
        try:
            if os.readlink(path) == mine.get(os.path.basename(path)):
                continue
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            continue

        def test(fd=fd, path=path):
            if not call("setns", fd, 0):
                raise Bad(path)
        try:
            in_a_child(test)
        finally:
            os.close(fd)


@check
def a_user_namespace_reveals_nothing():
    def test():
        if call("unshare", NEWUSER | NEWNS):
            return
        for line in read("/proc/self/mountinfo", 1 << 20).decode(errors="replace").splitlines()[::-1]:
            call("umount2", line.split()[4].encode(), 2)
        for path in HIDDEN:
            if can_see(path):
                raise Bad(f"{path} after umount in a user namespace")
        tmp = os.environ.get("TMPDIR", "/tmp").encode()
        if not call("mount", b"proc", tmp, b"proc", 0, None) and opens_to_write(tmp.decode() + "/sys/kernel/core_pattern"):
            raise Bad("a fresh proc, writable")
        if not call("mount", b"sysfs", tmp, b"sysfs", 0, None) and opens_to_write(tmp.decode() + "/kernel/uevent_helper"):
            raise Bad("a fresh sysfs, writable")
    in_a_child(test)


@check
def new_namespaces_are_refused():
    def test(flag, name):
        if not call("unshare", flag):
            raise Bad(name)
    for flag, name in ((NEWUSER, "user"), (NEWNS, "mount"), (NEWNET, "network"), (NEWPID, "process")):
        in_a_child(test, flag, name)


@check_apart
def privileged_calls_are_refused():
    must_refuse("init_module", call("init_module", None, 0, b""))
    must_refuse("delete_module", call("delete_module", b"attack_none", 0))
    must_refuse("kexec_load", call("kexec_load", 0, 0, None, 1 << 30))
    must_refuse("reboot", call("reboot", 0, 0, 0, None))  # EINVAL: only the magic number is missing
    must_refuse("acct", call("acct", b"/attack/none"))
    must_refuse("swapon", call("swapon", b"/attack/none", 0))
    timex = ctypes.create_string_buffer(512)
    struct.pack_into("I", timex, 0, 0)
    LIBC.adjtimex(timex)  # as it is
    struct.pack_into("I", timex, 0, 8)
    must_refuse("adjtimex", call("adjtimex", timex))
    must_refuse("bpf", call("bpf", 5, ctypes.create_string_buffer(128), 128))
    if "iopl" in NUMBERS:
        must_refuse("iopl", call("iopl", 3))


@check
def the_kernel_log_cannot_be_read():
    must_refuse("syslog", call("syslog", 3, ctypes.create_string_buffer(4096), 4096))


@check
def perf_events_are_refused():
    attr = ctypes.create_string_buffer(128)
    struct.pack_into("II", attr, 0, 1, 128)
    must_refuse("perf_event_open", call("perf_event_open", attr, 0, -1, -1, 0))


# ---- keyrings, ptrace

@check
def keyrings_of_the_host_cannot_be_read():
    for ring in (-3, -4, -5):  # session, user, user session
        for name in words("KEYS"):
            ctypes.set_errno(0)
            found = LIBC.syscall(ctypes.c_long(NUMBERS["keyctl"]), 10, ring, b"user", name.encode(), 0)
            if found <= 0:
                continue
            text = ctypes.create_string_buffer(256)
            if LIBC.syscall(ctypes.c_long(NUMBERS["keyctl"]), 11, found, text, 256) > 0:
                raise Bad(f"{name} is {text.value!r}")


@check
def others_cannot_be_traced():
    pids = [1] if os.getpid() != 1 else []
    pids += [int(w) for w in words("PIDS") if os.path.exists("/proc/" + w)]
    for pid in pids:
        if pid == os.getpid():
            continue
        if not call("ptrace", 0x4206, pid, None, None):  # PTRACE_SEIZE: it goes on as if nothing were
            call("ptrace", 17, pid, None, None)
            raise Bad(f"ptrace of {pid}")
        part = ctypes.create_string_buffer(8)
        one = struct.pack("PL", ctypes.addressof(part), 8)
        there = struct.pack("PL", 4096, 8)
        if call("process_vm_readv", pid, one, 1, there, 1, 0) not in (*REFUSED, errno.ESRCH):
            raise Bad(f"memory of {pid}")


@check
def others_cannot_be_signalled():
    for word in words("PIDS"):
        if os.path.exists("/proc/" + word) and not any(o in read(f"/proc/{word}/cmdline").decode(errors="replace")
                                                       for o in words("OTHERS")):
            continue  # this number is a process of ours
        try:
            os.kill(int(word), 0)
        except OSError:
            continue
        raise Bad(word)


# ---- sockets

@check
def abstract_sockets_of_the_host_are_out_of_reach():
    for name in words("ABSTRACT"):
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect("\0" + name)
            except OSError:
                continue
            raise Bad("@" + name)
    for line in read("/proc/net/unix", 1 << 20).decode(errors="replace").splitlines():
        if any(name in line for name in words("ABSTRACT")):
            raise Bad("/proc/net/unix lists it")


@check
def no_socket_of_an_engine_or_of_muster_answers():
    found = ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
             "/run/podman/podman.sock", "/run/systemd/private", "/run/dbus/system_bus_socket"]
    # At level shared those of muster are reached by who is its user, and would be disturbed.
    for top in ("/run", "/tmp", "/var/tmp", "/dev/shm", *HIDDEN) if "namespaces" in words("LEVEL") else ():
        for at, folders, files in os.walk(top):
            if at.count("/") > top.count("/") + 4:
                folders[:] = []
            for name in files:
                try:
                    if stat.S_ISSOCK(os.lstat(os.path.join(at, name)).st_mode):
                        found.append(os.path.join(at, name))
                except OSError:
                    pass
    for path in found:
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.settimeout(2)
                try:
                    s.connect(path)
                except OSError:
                    continue
                raise Bad(path)


@check
def the_loopback_of_the_host_is_out_of_reach():
    gateways = {"127.0.0.1", "10.42.0.1", "10.0.2.2", "10.96.0.1", "169.254.1.1"}
    for line in read("/proc/net/route").decode().splitlines()[1:]:
        parts = line.split()
        if len(parts) > 2 and parts[2] != "00000000":
            gateways.add(socket.inet_ntoa(struct.pack("<I", int(parts[2], 16))))
    for port in words("PORTS"):
        for host in gateways:
            with socket.socket() as s:
                s.settimeout(0.5)
                try:
                    s.connect((host, int(port)))
                    s.sendall(b"hello\n")
                    said = s.recv(64)
                except OSError:
                    continue
                if said:
                    raise Bad(f"{host}:{port} said {said!r}")


@check
def no_packet_with_the_address_of_another_arrives():
    """Sent here, looked for by the pod that would get it."""
    if not words("VICTIM"):
        return
    victim, forged = words("VICTIM")[0], "10.42.99.99"
    try:
        send_forged(victim, forged)
    except OSError:
        pass
    # What bears our own address is let through: by it the other knows that all were sent.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"honest", (victim, 27999))


def send_forged(victim, forged):
    data = b"forged"
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
        udp = struct.pack(">HHHH", 4000, 27999, 8 + len(data), 0) + data
        for source in (forged, "10.42.0.1", "10.96.0.1", "127.0.0.1"):
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(source),
                             socket.inet_aton(victim))
            for _ in range(3):
                try:
                    s.sendto(ip + udp, (victim, 0))
                except OSError:
                    pass


# ---- what the process was given

@check
def descriptors_are_three():
    found = sorted(int(n) for n in START_FDS)
    if [n for n in found if n > 2]:
        raise Bad(str({n: START_FDS[str(n)] for n in found}))


@check
def the_environment_of_the_server_is_not_handed_on():
    for name, value in os.environ.items():
        if name == "E2E_LEAK" or "of the server alone" in value:
            raise Bad(name)


@check
def temporary_files_are_the_pods_own():
    tmp = os.environ.get("TMPDIR", "/tmp")
    mode = stat.S_IMODE(os.stat(tmp).st_mode)
    if mode & 0o002 and not mode & 0o1000:
        raise Bad(f"{tmp} is {mode:o}, without the sticky bit")


@check
def terminals_of_others_cannot_be_fed():
    """TIOCSTI into a terminal of somebody else."""
    for path in glob.glob("/dev/pts/[0-9]*") + ["/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1"]:
        try:
            fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            fcntl.ioctl(fd, 0x5412, b"")
        except (OSError, ValueError):
            continue
        else:
            raise Bad(path)
        finally:
            os.close(fd)


def secrets_of_others(found):
    for path in words("FILES"):
        text = read(path, 65536).decode(errors="replace")
        if text:
            found.append(path)


@check
def files_of_other_pods_cannot_be_read():
    found = []
    secrets_of_others(found)
    if found:
        raise Bad(" ".join(found[:4]))


@check_apart
def nothing_of_the_system_can_be_changed_for_good():
    """Left here on purpose; whether it is on the machine is looked at outside."""
    for folder in ("/etc", "/usr", "/usr/bin", "/var/lib", "/opt", "/root", "/boot", "/lib", "/etc/cron.d"):
        try:
            with open(f"{folder}/attack-litter-{words('MARK')[0]}", "w", encoding="utf-8") as f:
                f.write("x")
        except OSError:
            pass


def main():
    for test in PROVED:
        name = test.__name__.replace("_", " ")
        signal.alarm(30)
        try:
            test()
            print(f"ok {name}", flush=True)
        except Bad as e:
            print(f"not ok {name}: {e}".replace("\n", " ")[:500], flush=True)
        except Exception as e:  # pylint: disable=broad-except
            print(f"not ok {name}: the check itself failed: {e!r}".replace("\n", " ")[:500], flush=True)
    print("end", flush=True)


START_FDS = {}
for _n in os.listdir("/proc/self/fd"):
    try:
        START_FDS[_n] = os.readlink("/proc/self/fd/" + _n)
    except OSError:
        pass  # the one that listed
if __name__ == "__main__":
    sys.exit(main())
