/* Homes and the system's files: read as they are, never changed; what containers change is theirs,
 * on disk or in memory, and gone with them (N2). */

#include "rig.h"
#include "sandbox/probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64];
static bool with_mount; /* something is mounted at home/mounted */

static void put(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", home, name);
    FILE *f = fopen(path, "we");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static str get(struct arena *a, const char *name)
{
    return rig_read(a, arena_printf(a, "%s/%s", home, name).p);
}

/* Not in /tmp, of which pods have their own; for root in a system directory. */
static void make_home(void)
{
    char path[128];

    snprintf(home, sizeof(home), "%s/muster-home.XXXXXX", geteuid() ? "/var/tmp" : "/run");
    if (!mkdtemp(home)) {
        printf("Bail out! mkdtemp %s\n", home);
        exit(1);
    }
    snprintf(path, sizeof(path), "%s/sub", home);
    mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/mounted", home);
    mkdir(path, 0755);
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        with_mount = mount("none", path, "tmpfs", 0, NULL) == 0;
    put("file", "mine\n");
    put("sub/inner", "inner\n");
    put("mounted/file", "there\n");
}

static void remove_home(void)
{
    AUTO(arena) struct arena *a = arena_new();

    if (with_mount)
        umount(arena_printf(a, "%s/mounted", home).p);
    if (system(arena_printf(a, "rm -rf %s", home).p) != 0)
        printf("# %s is not removed\n", home);
}

/* In this pod's directory there is nothing by the name. */
static bool is_gone(struct arena *a, const struct rig_pod *p, const char *name)
{
    return access(arena_printf(a, "%s/%s/%s", p->rig->pods, p->uid, name).p, F_OK) < 0;
}

static const char *over(struct arena *a, const char *where)
{
    return arena_printf(a, "{'over': {%s, 'homes': ['%s', '/no/such/home']}}", where, home).p;
}

static void homes_are_read_and_not_changed(struct rig *r, int n, const char *where)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, n, over(a, where));
    const char *cd = arena_printf(a, "{'cwd': '%s'}", home).p;

    rig_start(p,
              "cat file sub/inner mounted/file; echo more >> file; echo own > new; rm -r sub;"
              "mkdir sub; echo x > mounted/file; cat file new mounted/file; ls sub | wc -l;"
              "stat -c %a .",
              cd);
    ok(rig_wait_n(r, &p->exited, 1), "a container in a home, %s", where);
    is_str(rig_log(a, p), S("mine\ninner\nthere\nmine\nmore\nown\nx\n0\n700\n"),
           "it reads and changes files");
    is_str(get(a, "file"), S("mine\n"), "which stay as they are");
    is_str(get(a, "sub/inner"), S("inner\n"), "those that it removed, too");
    is_str(get(a, "mounted/file"), S("there\n"), "and those below another mount");
    is_str(get(a, "new"), S(""), "nothing is added");
    rig_start(p, "cat file; ls new 2>/dev/null || echo none",
              arena_printf(a, "{'cwd': '%s', 'attempt': 1}", home).p);
    rig_wait_n(r, &p->exited, 2);
    ok(str_ends(rig_log(a, p), S("700\nmine\nnone\n")), "the next run begins anew");
    r->rt->ops->end(p->p, 0);
    ok(rig_wait(r, &p->gone), "it ends");
    ok(is_gone(a, p, "over"), "what it changed is gone with it");
    r->rt->ops->drop(p->p);
    rig_forget(p);
    ok(is_gone(a, p, ""), "all of it");
    free(p);
}

static void volumes_in_homes_are_kept(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 11, over(a, "'disk': true"));

    rig_start(p, "echo kept > sub/result; echo lost > result; mkdir -p deep/er && ls -d deep/er",
              arena_printf(a, "{'cwd': '%s', 'mounts': [{'from': '%s/sub', 'to': '%s/sub'}]}", home,
                           home, home)
                  .p);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("deep/er\n"), "a volume in a home");
    is_str(get(a, "sub/result"), S("kept\n"), "keeps what is written there");
    is_str(get(a, "result"), S(""), "and nothing else is");
    rig_end(p, 0);
    unlink(arena_printf(a, "%s/sub/result", home).p);
    free(p);
}

static void memory_for_changes_is_limited(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 12, over(a, "'disk': false, 'bytes': 4194304"));

    rig_start(
        p,
        "head -c 1000000 /dev/zero > a && echo fits; head -c 8000000 /dev/zero > b 2>/dev/null || echo full",
        arena_printf(a, "{'cwd': '%s'}", home).p);
    rig_wait_n(r, &p->exited, 1);
    ok(str_starts(rig_log(a, p), S("fits\n")) && str_ends(rig_log(a, p), S("full\n")),
       "what does not fit is not written");
    rig_end(p, 0);
    free(p);
}

/* Of an image's table: elsewhere, and named in the environment alone. */
static void packages_are_the_containers_own(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 15, "{'over': {'disk': true, 'homes': ['/no/such/home']}}");

    rig_start(p,
              "cat $VIRTUAL_ENV/inner && echo own > $VIRTUAL_ENV/inner && cat $VIRTUAL_ENV/inner",
              arena_printf(a, "{'env': ['VIRTUAL_ENV=%s/sub']}", home).p);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("inner\nown\n"), "a virtual environment is changed");
    is_str(get(a, "sub/inner"), S("inner\n"), "for the container only");
    rig_end(p, 0);
    free(p);
}

/* The pods' directory beside the home's: with secrets of all of them, and overlays in a circle. */
static void pods_are_hidden(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    char pods[sizeof(r->pods)];

    memcpy(pods, r->pods, sizeof(pods));
    snprintf(r->pods, sizeof(r->pods), "%s/data/pods", home);
    mkdir(arena_printf(a, "%s/data", home).p, 0700);
    mkdir(r->pods, 0700);
    rig_node_dies(r);
    rig_node_returns(r);
    struct rig_pod *p = rig_pod(r, 13, over(a, "'disk': true"));
    rig_start(p, arena_printf(a, "ls -A %s; find %s > /dev/null && echo whole", r->pods, home).p,
              NULL);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("whole\n"), "a home that all of this is in can be read whole");
    rig_end(p, 0);
    free(p);
    rig_node_dies(r);
    memcpy(r->pods, pods, sizeof(pods));
    rig_node_returns(r);
}

static void the_system_is_not_changed(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 14, "{'over': {'disk': true, 'homes': ['/root', '/home']}}");
    const char *mark = arena_printf(a, ".muster-%d", (int)getpid()).p;

    rig_start(
        p,
        arena_printf(a, "for d in / /usr /etc /root /home; do echo x > $d/%s; done; cat /root/%s",
                     mark, mark)
            .p,
        NULL);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("x\n"), "root writes where it likes");
    ok(access(arena_printf(a, "/%s", mark).p, F_OK) < 0 &&
           access(arena_printf(a, "/usr/%s", mark).p, F_OK) < 0 &&
           access(arena_printf(a, "/root/%s", mark).p, F_OK) < 0 &&
           access(arena_printf(a, "/home/%s", mark).p, F_OK) < 0,
       "and nothing of it is on this machine");
    rig_end(p, 0);
    free(p);
}

/* Whoever we are, and whether there are overlays or not. */
static void var_tmp_is_the_containers_own(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 16, "{'over': {'disk': true, 'homes': ['/no/such/home']}}");
    const char *mark = arena_printf(a, "/var/tmp/.muster-%d", (int)getpid()).p;

    rig_start(p, arena_printf(a, "echo x > %s; cat %s", mark, mark).p, NULL);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("x\n"), "/var/tmp can be written to");
    ok(access(mark, F_OK) < 0, "and is not this machine's");
    rig_end(p, 0);
    unlink(mark);
    free(p);
}

/* What the machine allows, as the node asks: 0: nothing, 1: in memory, 2: on disk. */
static int ground_is(const struct rig *r)
{
    const char *const homes[] = { home, "/no/such/home", NULL };
    struct warden_ground g = { .pods = r->pods, .homes = homes };
    struct warden_ground none = { .pods = "/proc/sys/none", .homes = homes };
    struct err e = { 0 };

    ok(warden_can_isolate(&g, &e), "what this machine allows is tried");
    ok(warden_can_isolate(&none, &e) && none.disk.msg[0], "a place where nothing can be made: %s",
       none.disk.msg);
    is_str(str_of(none.over.msg), str_of(g.disk.msg[0] ? g.over.msg : ""),
           "leaves memory for what is changed");
    if (g.disk.msg[0])
        printf("# not on disk: %s\n", g.disk.msg);
    if (g.over.msg[0])
        printf("# not at all: %s\n", g.over.msg);
    return g.over.msg[0] ? 0 : g.disk.msg[0] ? 1 : 2;
}

int main(int argc, char **argv)
{
    struct rig r;
    int ground;

    rig_main(argc, argv, &r);
    if (strcmp(r.level, "namespaces") != 0) {
        ok(true, "files are this machine's # SKIP level shared");
        rig_done(&r);
        return tap_done();
    }
    make_home();
    rig_node_dies(&r); /* wardens are to see what is mounted here */
    rig_node_returns(&r);
    ground = ground_is(&r);
    if (ground > 0) {
        homes_are_read_and_not_changed(&r, 2, "'disk': false");
        memory_for_changes_is_limited(&r);
    }
    if (ground > 1) {
        homes_are_read_and_not_changed(&r, 1, "'disk': true");
        volumes_in_homes_are_kept(&r);
        packages_are_the_containers_own(&r);
        pods_are_hidden(&r);
    }
    if (ground > 1 || geteuid() != 0)
        var_tmp_is_the_containers_own(&r);
    if (ground > 1 && geteuid() == 0)
        the_system_is_not_changed(&r);
    remove_home();
    rig_done(&r);
    return tap_done();
}
