/* cgroups of real pods, where this machine has a hierarchy that we may write to: limits hold, and
 * no directory is left (N2). The memory controller is left alone unless it is one of v2: elsewhere
 * it may hold the accounts of whoever runs these tests. */

#include "rig.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[3][96]; /* v2, v1 cpu, v1 pids; empty: none */

static void look(void)
{
    static const char *const at[3][2] = { { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" },
                                          { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct" },
                                          { "/sys/fs/cgroup/pids", NULL } };
    static const char *const has[] = { "cgroup.subtree_control", "cpu.shares", "cgroup.procs" };

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2 && at[i][j] && !base[i][0]; j++) {
            char path[192];
            snprintf(path, sizeof(path), "%s/%s", at[i][j], has[i]);
            if (access(path, W_OK) < 0)
                continue;
            snprintf(path, sizeof(path), "%s/muster-test-%d", at[i][j], (int)getpid());
            if (mkdir(path, 0755) == 0)
                snprintf(base[i], sizeof(base[i]), "%.90s", path);
        }
}

/* But for the one that is made ahead, which goes with the nursery. */
static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    bool empty = d != NULL;

    for (struct dirent *at; d && (at = readdir(d));)
        empty &=
            at->d_type != DT_DIR || at->d_name[0] == '.' || strncmp(at->d_name, "spare-", 6) == 0;
    if (d)
        closedir(d);
    return empty;
}

static const char *sandbox(struct arena *a)
{
    struct buf b = { 0 };

    buf_printf(&b, "{'pids': 40, 'cgroup': {");
    if (base[0][0])
        buf_printf(&b, "'v2': '%s/pod'%s", base[0], base[1][0] || base[2][0] ? "," : "");
    if (base[1][0] || base[2][0]) {
        buf_printf(&b, "'v1': {");
        if (base[1][0])
            buf_printf(&b, "'cpu': '%s/pod'%s", base[1], base[2][0] ? "," : "");
        if (base[2][0])
            buf_printf(&b, "'pids': '%s/pod'", base[2]);
        buf_printf(&b, "}");
    }
    buf_printf(&b, "}}");
    const char *z = arena_z(a, buf_str(&b));
    buf_done(&b);
    return z;
}

static void limits_hold(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 1, sandbox(a));

    rig_start(p, "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all",
              "{'limits': {'cpu_milli': 500}}");
    ok(rig_wait_n(r, &p->exited, 1), "a pod with cgroups runs");
    if (rig_last(p, RUNTIME_FAILED)->why[0])
        printf("# %s\n", rig_last(p, RUNTIME_FAILED)->why);
    if (base[2][0])
        ok(!str_contains(rig_log(a, p), S("all\n")), "no more processes than allowed");
    rig_start(p, "t=$(date +%s%N); i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times",
              "{'limits': {'cpu_milli': 200}, 'attempt': 1}");
    ok(rig_wait_n(r, &p->exited, 2), "with a limit on CPU, too");
    rig_start(p, "cat /proc/self/cgroup; sleep 1000", "{'attempt': 2}");
    rig_wait_n(r, &p->started, 3);
    ok(rig_wait_log(p, "/pod/main\n"), "its cgroup is its own");
    rig_end(p, 0);
    bool left = false;
    for (int i = 0; i < 3; i++)
        left |= base[i][0] && !is_empty(base[i]);
    ok(!left, "N2: no cgroup is left");
    free(p);
}

/* The keeper removes what a killed warden leaves. */
static void a_killed_one_leaves_none(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 2, sandbox(a));

    rig_start(p, "(setsid sleep 1000 &) ; sleep 1000", NULL);
    rig_wait_n(r, &p->started, 1);
    FILE *f = popen(arena_printf(a,
                                 "for p in $(pgrep -f %s); do grep -qx muster-pod /proc/$p/comm && "
                                 "echo $p; done",
                                 p->uid)
                        .p,
                    "r");
    int inner = 0;
    if (f && fscanf(f, "%d", &inner) == 1)
        kill(inner, SIGKILL);
    if (f)
        pclose(f);
    ok(inner > 0 && rig_wait(r, &p->gone), "a warden is killed");
    bool left = false;
    for (int i = 0; i < 3; i++)
        left |= base[i][0] && !is_empty(base[i]);
    ok(!left, "N2: its cgroups are gone");
    r->rt->ops->drop(p->p);
    rig_forget(p);
    free(p);
}

static str processes(struct arena *a, str group)
{
    return rig_read(a, arena_printf(a, "%s/%" PRI_STR "/cgroup.procs", base[2], STR_ARG(group)).p);
}

/* The one that the nursery is in. */
static str spare(struct arena *a)
{
    DIR *d = opendir(base[2]);
    str found = STR_NONE;

    for (struct dirent *at; d && (at = readdir(d));) {
        str name = arena_str(a, str_of(at->d_name));
        if (str_starts(name, S("spare-")) && processes(a, name).n)
            found = name;
    }
    if (d)
        closedir(d);
    return found;
}

static str other_spare(struct rig *r, struct arena *a, str than)
{
    int64_t until = rig_patience();
    str name = spare(a);

    while ((!name.n || str_eq(name, than)) && boot_now_ms() < until) {
        rig_turn(r);
        name = spare(a);
    }
    return name;
}

static void a_group_made_ahead_is_used(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *flat = arena_printf(a,
                                    "{'pids': 40, 'cgroup': {'v1': {'pids': '%s/pod'}, "
                                    "'flat': true}}",
                                    base[2])
                           .p;
    str before = other_spare(r, a, STR_NONE);

    ok(before.n > 0, "a group for the next pod is made ahead");
    struct rig_pod *p = rig_pod(r, 3, flat);
    rig_start(p, "grep pids /proc/self/cgroup; sleep 1000", NULL);
    ok(rig_wait_log(p, "/pod\n"), "which is in it, by its own name");
    str next = other_spare(r, a, before);
    ok(next.n > 0 && !str_eq(next, before), "then there is another");
    ok(!str_contains(processes(a, S("pod")), str_trim(processes(a, next))),
       "with the nursery in it, which is in the pod's no more");
    struct rig_pod *q = rig_pod(r, 4, flat); /* whose name is taken */
    rig_start(q, "grep pids /proc/self/cgroup; sleep 1000", NULL);
    ok(rig_wait_log(q, "/pod\n"), "who cannot have it joins a group as ever");
    rig_end(q, 0);
    rig_end(p, 0);
    ok(is_empty(base[2]), "N2: of neither a group is left");
    free(q);
    free(p);
}

int main(int argc, char **argv)
{
    struct rig r;

    rig_main(argc, argv, &r);
    look();
    if (!base[0][0] && !base[1][0] && !base[2][0]) {
        ok(true, "cgroups # SKIP none may be written to");
    } else {
        printf("# v2 %s, v1 cpu %s, v1 pids %s\n", base[0], base[1], base[2]);
        limits_hold(&r);
        a_killed_one_leaves_none(&r);
        if (base[2][0])
            a_group_made_ahead_is_used(&r);
    }
    rig_done(&r);
    for (int i = 0; i < 3; i++)
        if (base[i][0])
            ok(rmdir(base[i]) == 0, "N2: %s can be removed", base[i]);
    return tap_done();
}
