/* What a container may do to the machine: nothing that its engine would not let it. Each case asks
 * a real container at the level, and as the user, that the test is run with. */

#include "rig.h"

#include "sandbox/caps.h"

#include <sys/stat.h>
#include <unistd.h>

static bool isolated(const struct rig *r)
{
    return strcmp(r->level, "namespaces") == 0;
}

/* What the script printed, as container number n with these members of its start. */
static str printed(struct rig *r, struct arena *a, int n, const char *box, const char *start,
                   const char *script)
{
    struct rig_pod *p = rig_pod(r, n, box);

    rig_start(p, script, start);
    rig_wait_n(r, &p->exited, 1);
    const struct rig_event *failed = rig_last(p, RUNTIME_FAILED);
    str out = failed->code == -99 ? rig_log(a, p) : arena_str(a, str_of(failed->why));
    rig_end(p, 0);
    free(p);
    return out;
}

static void the_kernel_is_out_of_reach(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char script[] =
        "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/domainname /proc/sysrq-trigger "
        "/proc/irq/default_smp_affinity /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run "
        "$(find /sys/fs/cgroup -name release_agent -o -name cgroup.procs 2>/dev/null | head -3); do "
        "if (: >>$f) 2>/dev/null; then echo writable: $f; fi; done; "
        "for f in /proc/kcore /proc/keys /proc/timer_list /proc/sched_debug /proc/latency_stats; do "
        "test $(head -c 9 $f 2>/dev/null | wc -c) = 0 || echo readable: $f; done; "
        "for d in /sys/firmware /proc/scsi /proc/acpi /proc/asound /sys/kernel/debug; do "
        "test -z \"$(ls $d 2>/dev/null)\" || echo seen: $d; done; "
        "cat /proc/self/mountinfo | awk '{print $5, $6}' | grep -E '^/(sys|proc/sys) ' | grep -c ro,";

    is_str(printed(r, a, 1, NULL, NULL, script), S("2\n"),
           "neither /proc, /sys nor control groups can be changed, nor the rest be seen");
}

static void devices_are_the_usual_ones(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(printed(r, a, 2, NULL, NULL, "cd /dev; ls | xargs"),
           S("fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero\n"),
           "/dev has the usual entries alone");
    is_str(printed(r, a, 3, "{'dev': ['loop-control', 'no-such-device']}", NULL,
                   "test -e /dev/loop-control && ls /dev | wc -l"),
           access("/dev/loop-control", F_OK) == 0 ? S("15\n") : S(""),
           "and those that the pod was given");
    str out = printed(r, a, 4, NULL, NULL,
                      "mknod /tmp/mem c 1 1 2>&1; mknod /dev/mem c 1 1 2>&1; "
                      "head -c 1 /tmp/mem >/tmp/got; head -c 1 /dev/mem >>/tmp/got; "
                      "test -s /tmp/got && echo read; echo over");
    ok(str_contains(out, S("over\n")) && !str_contains(out, S("read\n")),
       "a device that it makes itself opens nothing");
    if (geteuid() == 0)
        is_str(printed(r, a, 5, NULL, "{'privileged': true}",
                       "ls /dev/kmsg >/dev/null && test -w /proc/sys/kernel/core_pattern && "
                       "echo all"),
               S("all\n"), "a privileged one has all of it");
}

/* CapEff and CapBnd, as of a program that was started by the container's shell. */
#define CAPS "grep -E 'CapEff|CapBnd' /proc/self/status | cut -f2 | xargs"

static void capabilities_are_cut(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    uint64_t usual = warden_caps_default();
    uint64_t none = 0;
    /* CAP_WAKE_ALARM, which does no harm, keeps others from tracing it */
    str both = arena_printf(a, "%016llx %016llx\n", (unsigned long long)usual | 1ULL << 35,
                            (unsigned long long)usual);

    if (isolated(r)) /* at level shared process 1 is the machine's */
        is_str(printed(r, a, 90, NULL, NULL,
                       "grep -E 'CapPrm|CapBnd' /proc/1/status | cut -f2 | xargs"),
               both, "its init has no more than its programs may have");
    if (isolated(r))
        is_str(printed(r, a, 91, NULL, NULL, "ls /proc/1/root/ 2>/dev/null | wc -l"), S("0\n"),
               "and is closed to them");
    bool root = geteuid() == 0;
    char start[128];

#define IS(n, box, start, eff, bnd, what)                                  \
    is_str(printed(r, a, n, box, start, CAPS),                             \
           arena_printf(a, "%016llx %016llx\n", (unsigned long long)(eff), \
                        (unsigned long long)(bnd)),                        \
           what)
    IS(10, NULL, NULL, root ? usual : none, usual, "the usual ones by default");
    IS(11, NULL, "{'caps': 0}", none, none, "all dropped");
    snprintf(start, sizeof(start), "{'caps': %llu, 'ambient': %llu}",
             (unsigned long long)(usual | warden_caps_named(S("NET_ADMIN"))),
             (unsigned long long)warden_caps_named(S("CAP_NET_ADMIN")));
    IS(12, NULL, start,
       root ? usual | warden_caps_named(S("NET_ADMIN")) : warden_caps_named(S("NET_ADMIN")),
       usual | warden_caps_named(S("NET_ADMIN")), "one added");
    if (root)
        IS(13, NULL, "{'uid': 1234, 'gid': 1234}", none, usual, "none for another user");
#undef IS
}

static void the_filter_holds(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char script[] =
        "python3 -c \""
        "import ctypes, os, socket, sys\n"
        "l = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*n): ctypes.set_errno(0); return (l.syscall(*n), ctypes.get_errno())[1]\n"
        "print(call(321, 0, 0, 0), call(250, 0, 0, 0), call(272, 0x10000000), call(425, 1, 0),\n"
        "      call(56, 0x10000000 | 17, 0, 0, 0, 0), call(435, 0, 0), call(165, 0, 0, 0, 0, 0),\n"
        "      call(135, 0x40000))\n"
        "try: socket.socket(38, socket.SOCK_SEQPACKET)\n"
        "except OSError as e: print(e.errno)\n"
        "\"; grep Seccomp: /proc/self/status | cut -f2";

    /* bpf keyctl unshare(NEWUSER) io_uring_setup clone(NEWUSER) clone3 mount personality; AF_ALG */
    is_str(printed(r, a, 20, NULL, NULL, script), S("1 1 1 1 1 38 1 38\n97\n2\n"),
           "what reaches beyond a container is refused");
    is_str(printed(r, a, 21, NULL, "{'unconfined': true}",
                   "grep Seccomp: /proc/self/status | cut -f2"),
           S("0\n"), "unconfined there is none");
    is_str(printed(r, a, 22, NULL, "{'caps': 0, 'no_new_privs': true}",
                   "grep -E 'Seccomp:|NoNewPrivs' /proc/self/status | cut -f2 | xargs"),
           S("1 2\n"), "without any capabilities there is, and no_new_privs where asked");
    is_str(printed(r, a, 23, NULL, NULL, "grep NoNewPrivs /proc/self/status | cut -f2"),
           isolated(r) ? S("0\n") : S("1\n"), "not asked: at level shared all the same");
}

static void a_root_can_be_read_only(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    char start[512];
    const char *dir = arena_printf(a, "%s/volume", r->dir).p;

    mkdir(dir, 0777);
    chmod(dir, 0777);
    snprintf(
        start, sizeof(start),
        "{'read_only': true, 'cwd': '/not/here/work', 'mounts': [{'from': '%s', 'to': '/made/by/us'}]}",
        dir);
    is_str(printed(r, a, 30, NULL, start,
                   "pwd; for f in /x /tmp/x /usr/x /etc/x /opt/x /srv/x; do "
                   "if (: >$f) 2>/dev/null; then echo writable: $f; fi; done; "
                   ": >/made/by/us/x && : >/dev/shm/x && echo volumes"),
           S("/not/here/work\nvolumes\n"), "and volumes are as they are");
}

static void sysctls_are_of_the_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(printed(r, a, 40,
                   "{'sysctls': ['net/ipv4/ip_local_port_range=20000 20100', "
                   "'net/ipv4/ip_unprivileged_port_start=7']}",
                   NULL,
                   "cat /proc/sys/net/ipv4/ip_unprivileged_port_start; "
                   "xargs </proc/sys/net/ipv4/ip_local_port_range; ls /sys/class/net"),
           S("7\n20000 20100\nlo\n"), "and /sys shows the pod's own network");
    ok(!str_contains(rig_read(a, "/proc/sys/net/ipv4/ip_local_port_range"), S("20100")),
       "the machine's stay");
}

int main(int argc, char **argv)
{
    struct rig r;

    rig_main(argc, argv, &r);
    if (isolated(&r) || geteuid() == 0) /* else it has none, and may not even drop them */
        capabilities_are_cut(&r);
    the_filter_holds(&r);
    if (isolated(&r)) {
        the_kernel_is_out_of_reach(&r);
        devices_are_the_usual_ones(&r);
        a_root_can_be_read_only(&r);
        sysctls_are_of_the_pod(&r);
    }
    rig_done(&r);
    return tap_done();
}
