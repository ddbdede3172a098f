/* Control groups found in a tree that looks like a machine's. */

#include "node/groups.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/muster-groups-XXXXXX";

static void put(const char *path, const char *text)
{
    char at[512];

    for (const char *p = path; (p = strchr(p + 1, '/'));) {
        snprintf(at, sizeof(at), "%s%.*s", root, (int)(p - path), path);
        mkdir(at, 0755);
    }
    snprintf(at, sizeof(at), "%s%s", root, path);
    FILE *f = fopen(at, "we");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        exit(1);
}

static const char *found(struct arena *a)
{
    return arena_z(a, json_text(a, groups_find(a, root, S("muster-x"))));
}

static bool ends(const char *text, const char *with)
{
    return str_contains(str_of(text), str_of(with));
}

static void nothing_is_mounted(void)
{
    AUTO(arena) struct arena *a = arena_new();

    ok(!jv_exists(groups_find(a, root, S("muster-x"))), "a machine without: none");
}

static void v1_by_controller(void)
{
    AUTO(arena) struct arena *a = arena_new();

    put("/proc/self/mounts", "cgroup /cg/cpu cgroup rw,cpuacct,cpu 0 0\n"
                             "cgroup /cg/memory cgroup rw,memory 0 0\n"
                             "cgroup /cg/pids cgroup rw,pids 0 0\n"
                             "cgroup2 /cg/unified cgroup2 rw 0 0\n");
    put("/proc/self/cgroup", "3:memory:/of/somebody\n2:cpu,cpuacct:/\n1:pids:/user\n0::/\n");
    put("/cg/cpu/cgroup.procs", "");
    put("/cg/pids/user/cgroup.procs", "");
    put("/cg/memory/of/somebody/cgroup.procs", "");
    put("/cg/unified/cgroup.procs", "");
    put("/cg/unified/cgroup.subtree_control", "");
    const char *text = found(a);
    ok(ends(text, "/cg/cpu/muster-x\""), "v1: cpu, in the root where we are: %s", text);
    ok(ends(text, "/cg/pids/user/muster-x\""), "pids, in our own group");
    jv groups = groups_find(a, root, S("muster-x"));
    ok(groups_keep(groups, "cpu") && groups_keep(groups, "pids") && !groups_keep(groups, "memory"),
       "memory, which another keeps accounts of, is not kept by groups");
    ok(!groups_keep(JV_ABSENT, "cpu"), "nor is anything without groups");
    ok(!ends(text, "memory"), "memory that somebody accounts for is left alone");
    ok(!ends(text, "unified"), "v2 without controllers is not used");
    jv pod = groups_of_pod(a, groups_find(a, root, S("muster-x")), S("uid"));
    ok(ends(arena_z(a, json_text(a, pod)), "/cg/cpu/muster-x/uid\""), "a pod's is below");
    groups_remove(groups_find(a, root, S("muster-x")));
    ok(access(arena_printf(a, "%s/cg/cpu/muster-x", root).p, F_OK) < 0, "and removed at the end");
}

static void v2_outwards(void)
{
    AUTO(arena) struct arena *a = arena_new();

    put("/proc/self/mounts", "cgroup2 /cg2 cgroup2 rw 0 0\n");
    put("/proc/self/cgroup", "0::/user.slice/app.scope\n");
    put("/cg2/user.slice/app.scope/cgroup.procs", "1\n");
    put("/cg2/user.slice/cgroup.procs", "");
    /* What the kernel would have made in the new group. */
    put("/cg2/user.slice/muster-x/cgroup.controllers", "cpu memory pids\n");
    const char *text = found(a);
    ok(ends(text, "{\"v2\":") && ends(text, "/cg2/user.slice/muster-x\""),
       "v2: the nearest group above that passes controllers on: %s", text);
    ok(access(arena_printf(a, "%s/cg2/user.slice/app.scope/muster-x", root).p, F_OK) < 0,
       "what was tried in vain is removed");
}

int main(void)
{
    char command[128];

    if (!mkdtemp(root))
        return 1;
    nothing_is_mounted();
    v1_by_controller();
    v2_outwards();
    snprintf(command, sizeof(command), "rm -rf %s", root);
    if (system(command) != 0)
        return 1;
    return tap_done();
}
