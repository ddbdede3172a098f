/* What holds credentials is seen by no container: by no path, and not when it comes later (R3). */

#include "rig.h"
#include "sandbox/registry.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64]; /* all of it is below */
static int pods = 100;

static void put(const char *name, const char *text)
{
    AUTO(arena) struct arena *a = arena_new();
    FILE *f = fopen(arena_printf(a, "%s/%s", place, name).p, "we");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void make_dir(const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    mkdir(arena_printf(a, "%s/%s", place, name).p, 0700);
}

/* Not in /tmp, of which pods have their own; for root neither in the system nor in a home. */
static void make_place(void)
{
    AUTO(arena) struct arena *a = arena_new();

    snprintf(place, sizeof(place), "%s/muster-hide.XXXXXX", geteuid() ? "/var/tmp" : "/run");
    if (!mkdtemp(place)) {
        printf("Bail out! mkdtemp %s\n", place);
        exit(1);
    }
    make_dir("data");
    make_dir("data/pki");
    make_dir("data/own");
    make_dir("registry");
    make_dir("alias");
    make_dir("part");
    put("data/token", "secret\n");
    put("data/pki/ca.key", "secret\n");
    put("data/own/file", "mine\n");
    put("config", "secret\n");
    put("plain", "plain\n");
    if (symlink("data/pki", arena_printf(a, "%s/link", place).p) < 0)
        printf("# no link\n");
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        (mount(place, arena_printf(a, "%s/alias", place).p, NULL, MS_BIND, NULL) < 0 ||
         mount(arena_printf(a, "%s/data/pki", place).p, arena_printf(a, "%s/part", place).p, NULL,
               MS_BIND, NULL) < 0))
        printf("# no bind mounts\n");
}

static void remove_place(void)
{
    AUTO(arena) struct arena *a = arena_new();

    umount(arena_printf(a, "%s/alias", place).p);
    umount(arena_printf(a, "%s/part", place).p);
    if (system(arena_printf(a, "rm -rf %s", place).p) != 0)
        printf("# %s is not removed\n", place);
}

/* A pod that hides them; more: other members of sandbox.json. */
static struct rig_pod *pod(struct rig *r, const char *more)
{
    AUTO(arena) struct arena *a = arena_new();

    return rig_pod(r, pods++,
                   arena_printf(a,
                                "{'hide': ['%s/data', '%s/config', '/no/such'], 'registry': "
                                "'%s/registry' %s}",
                                place, place, place, more)
                       .p);
}

/* sh -c of the script; what it printed. */
static str said(struct arena *a, struct rig *r, const char *more, const char *extra,
                const char *script)
{
    struct rig_pod *p = pod(r, more);
    size_t before = r->n;

    rig_start(p, script, extra);
    rig_wait_n(r, &p->exited, 1);
    str log = rig_log(a, p);
    for (size_t i = before; i < r->n; i++)
        if (r->ev[i].what == RUNTIME_FAILED)
            log = arena_printf(a, "failed: %s", r->ev[i].why);
    rig_end(p, 0);
    free(p);
    return log;
}

static void nothing_is_read(struct rig *r, const char *how, const char *more, const char *extra)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *script =
        arena_printf(
            a,
            "exec 2>/dev/null; cd %s; cat data/token data/pki/ca.key config link/ca.key; ls registry;"
            "cat alias/data/token alias/config part/ca.key; ls data;"
            "cat /proc/*/root%s/data/token; cat /there/data/token /there/config;"
            "cat /there%s/data/token /there%s/config /there/proc/*/root%s/data/token;"
            "cat plain",
            place, place, place, place, place)
            .p;

    is_str(said(a, r, more, extra, script), S("plain\n"),
           arena_printf(a, "nothing is read %s", how).p);
}

static void by_any_path(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *over = arena_printf(a, ", 'over': {'disk': false, 'homes': ['%s']}", place).p;

    nothing_is_read(r, "by paths", "", NULL);
    nothing_is_read(r, "through an overlay", over, NULL);
    nothing_is_read(
        r, "through a hostPath above", "",
        arena_printf(a, "{'mounts': [{'from': '%s', 'to': '/there', 'host': true}]}", place).p);
    nothing_is_read(r, "through a hostPath of /", "",
                    "{'mounts': [{'from': '/', 'to': '/there', 'host': true}]}");
}

static void own_mounts_are_shown(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *own =
        arena_printf(a, "{'mounts': [{'from': '%s/data/own', 'to': '%s/data/here'}]}", place, place)
            .p;

    is_str(
        said(a, r, "", own, arena_printf(a, "cat %s/data/here/file; ls %s/data", place, place).p),
        S("mine\nhere\n"), "a pod's own volume is seen, though it lies there");
}

static void refused(struct rig *r, const char *from, const char *more, const char *why)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *extra =
        arena_printf(a, "{'mounts': [{'from': '%s', 'to': '/there', 'host': true}]}", from).p;
    str log = said(a, r, more, extra, "echo seen");

    ok(str_starts(log, S("failed: ")) && str_contains(log, str_of(why)) &&
           str_contains(log, str_of(from)),
       "hostPath %s is refused: %" PRI_STR, from, STR_ARG(log));
}

static void host_paths_do_not_lead_there(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *roots = arena_printf(a, ", 'host_roots': ['%s/alias', '/no/such']", place).p;

    refused(r, arena_printf(a, "%s/data", place).p, "", "credentials");
    refused(r, arena_printf(a, "%s/data/own", place).p, "", "credentials");
    refused(r, arena_printf(a, "%s/link", place).p, "", "credentials");
    refused(r, arena_printf(a, "%s/config", place).p, "", "credentials");
    refused(r, arena_printf(a, "%s/registry", place).p, "", "credentials");
    refused(r, "/proc/self", "", "/proc");
    refused(r, place, roots, "--host-path-roots");
    const char *allowed =
        arena_printf(a, "{'mounts': [{'from': '%s/alias', 'to': '/there', 'host': true}]}", place)
            .p;
    is_str(said(a, r, roots, allowed, "test -d /there && echo shown"), S("shown\n"),
           "one below --host-path-roots is not");
    if (geteuid() == 0)
        refused(r, arena_printf(a, "%s/part", place).p, "", "credentials");
}

/* The pod says when it is there, and looks when it is told. */
static void those_that_come_later(struct rig *r, const char *how, const char *more)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    const char *registry = arena_printf(a, "%s/registry", place).p;
    const char *later = arena_printf(a, "%s/later", place).p;
    const char *extra =
        arena_printf(a, "{'mounts': [{'from': '%s', 'to': '/there', 'host': true}]}", place).p;
    struct rig_pod *p = pod(r, more);

    put("go", "");
    rig_start(
        p,
        arena_printf(
            a,
            "exec 2>/dev/null; cd %s; ls later; echo up; until grep -qs now /there/go; do sleep 0.01; "
            "done; cat later/token /there/later/token alias/later/token;"
            "ls later /there/later | grep token; cat new /there/new; echo over",
            place)
            .p,
        extra);
    ok(rig_wait_log(p, "up"), "a pod runs, %s", how);
    for (int i = 0; i < 2; i++) { /* removed and made again, it is another directory */
        rmdir(later);
        make_dir("later");
        ok(registry_add(registry, later, &e) == 0, "a server adds its directory %s", e.msg);
    }
    put("new", "");
    ok(registry_add(registry, arena_printf(a, "%s/new", place).p, &e) == 0, "and a file");
    ok(registry_add(registry, later, &e) == 0, "and the directory again");
    put("later/token", "secret\n");
    put("new", "secret\n");
    put("go", "now\n");
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("up\nover\n"), "it sees nothing of them");
    rig_end(p, 0);
    free(p);
    is_str(said(a, r, more, NULL,
                arena_printf(a, "cat %s/later/token 2>/dev/null; echo over", place).p),
           S("over\n"), "nor does the next pod");
    if (system(arena_printf(a, "rm -rf %s %s/new", later, place).p) != 0)
        printf("# not removed\n");
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig r;

    rig_main(argc, argv, &r);
    if (strcmp(r.level, "namespaces") != 0) {
        ok(true, "files are this machine's # SKIP level shared");
        rig_done(&r);
        return tap_done();
    }
    make_place();
    rig_node_dies(&r); /* wardens are to see what is mounted here */
    rig_node_returns(&r);
    by_any_path(&r);
    own_mounts_are_shown(&r);
    host_paths_do_not_lead_there(&r);
    those_that_come_later(&r, "with this machine's files", "");
    those_that_come_later(&r, "with an overlay",
                          arena_printf(a, ", 'over': {'disk': false, 'homes': ['%s']}", place).p);
    remove_place();
    rig_done(&r);
    return tap_done();
}
