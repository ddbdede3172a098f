/* One pod at a time: start, end, signals, files, limits. */

#include "rig.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool isolated(const struct rig *r)
{
    return strcmp(r->level, "namespaces") == 0;
}

static void a_container_starts_and_exits(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 1, NULL);

    rig_start(p, "echo out; echo err >&2; printf 'no end'; sleep 0.1; exit 3", "{'env': ['A=b']}");
    ok(rig_wait_n(r, &p->exited, 1), "it exits");
    ok(p->hello && p->started == 1, "after hello and started");
    int64_t holder = jv_int(jv_at(jdoc_root(rig_last(p, RUNTIME_HELLO)->state), "pid"), 0);
    str comm = rig_read(a, arena_printf(a, "/proc/%d/comm", (int)holder).p);
    is_str(comm, S("muster-pod\n"), "hello has the pid of who holds the pod");
    const struct rig_event *e = rig_last(p, RUNTIME_EXITED);
    ok(e->code == 3 && e->signo == 0 && !e->oom, "its code is told");
    ok(rig_last(p, RUNTIME_STARTED)->pid > 1, "its pid on this machine is told");
    str log = rig_log(a, p);
    ok(str_contains(log, S("out\n")) && str_contains(log, S("err\n")) && str_ends(log, S("no end")),
       "what it printed is in its log, to the byte");
    rig_start(p, "exit 4", "{'attempt': 1}");
    ok(rig_wait_n(r, &p->exited, 2), "started again it exits again");
    is_int(rig_last(p, RUNTIME_EXITED)->code, 4, "with its new code");
    rig_start(p, "exit 5", "{'attempt': 1}");
    rig_end(p, 0);
    is_int(p->exited, 2, "the same attempt does not run twice");
    is_int(jv_int(jv_at(jdoc_root(rig_last(p, RUNTIME_GONE)->state), "containers", "main", "code"),
                  -1),
           4, "GONE has the last state");
    free(p);
}

static void signals_reach_it(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 2, NULL);

    rig_start(p, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done", NULL);
    ok(rig_wait_n(r, &p->started, 1), "it runs");
    rig_wait_log(p, "ready");
    r->rt->ops->signal(p->p, S("main"), SIGTERM);
    ok(rig_wait_n(r, &p->exited, 1), "SIGTERM ends it");
    is_int(rig_last(p, RUNTIME_EXITED)->code, 7, "in its own way");
    rig_start(p, "sleep 1000", "{'attempt': 1}");
    rig_wait_n(r, &p->started, 2);
    r->rt->ops->signal(p->p, S("main"), SIGKILL);
    rig_wait_n(r, &p->exited, 2);
    ok(rig_last(p, RUNTIME_EXITED)->signo == SIGKILL && rig_last(p, RUNTIME_EXITED)->code == -1,
       "a signal that ended it is told");
    rig_end(p, 0);
    free(p);
}

static void what_cannot_start_fails(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 3, NULL);

    rig_start(p, "", "{'argv': ['no-such-program']}");
    rig_wait_n(r, &p->exited, 1);
    is_str(str_of(rig_last(p, RUNTIME_FAILED)->why),
           S("exec: \"no-such-program\": executable file not found in $PATH"), "no such program");
    rig_start(p, "", "{'argv': [], 'attempt': 1}");
    rig_wait_n(r, &p->exited, 2);
    ok(strstr(rig_last(p, RUNTIME_FAILED)->why, "argv"), "no command: the field is named");
    rig_start(p, "", "{'argv': ['/no/where/sh', '-c', 'exit 6'], 'attempt': 2}");
    rig_wait_n(r, &p->exited, 3);
    is_int(rig_last(p, RUNTIME_EXITED)->code, 6, "a path of an image is found by its last part");
    rig_end(p, 0);
    ok(jv_exists(jv_at(jdoc_root(rig_last(p, RUNTIME_GONE)->state), "containers")),
       "and the pod ends well");
    free(p);
    p = rig_pod(r, 4, "{'mounts': [{'from': 'x', 'to': '/y'}]}");
    ok(rig_wait(r, &p->gone), "a sandbox that is wrong is gone at once");
    ok(strstr(rig_last(p, RUNTIME_FAILED)->why, "mounts.from"), "and says why: %s",
       rig_last(p, RUNTIME_FAILED)->why);
    r->rt->ops->drop(p->p);
    rig_forget(p);
    free(p);
}

static void mounts_are_there(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str vol = arena_printf(a, "%s/vol", r->dir);
    str opts = arena_printf(a,
                            "{'mounts': [{'from': '%s', 'to': '/muster-test/data'},"
                            "{'from': '%s', 'to': '/usr/share/muster-test/ro', 'ro': true},"
                            "{'from': '%s', 'subpath': 'deep/er', 'to': '/muster-test/sub'}],"
                            "'cwd': '/opt/muster-test/work', 'termination_log': '%s/term',"
                            "'termination_path': '/dev/termination-log'}",
                            vol.p, vol.p, vol.p, r->dir);

    mkdir(vol.p, 0755);
    chmod(vol.p, 0777);
    struct rig_pod *p = rig_pod(r, 5, NULL);
    rig_start(p,
              "pwd; echo x > /muster-test/data/file; cat /usr/share/muster-test/ro/file;"
              "touch /usr/share/muster-test/ro/no 2>/dev/null || echo read-only;"
              "touch /muster-test/sub/in-sub; touch /tmp/private; echo bye > /dev/termination-log;"
              "hostname; stat -f -c %T /dev/shm;"
              "ls -d /sub /opt/work /usr/share/ro 2>/dev/null | wc -l",
              opts.p);
    ok(rig_wait_n(r, &p->exited, 1), "it runs with mounts");
    str log = rig_log(a, p);
    ok(str_starts(log, S("/opt/muster-test/work\nx\nread-only\nsome-pod\ntmpfs\n0\n")),
       "paths that this machine does not have are there, and nowhere else");
    if (rig_last(p, RUNTIME_FAILED)->why[0])
        printf("# %s\n", rig_last(p, RUNTIME_FAILED)->why);
    is_str(rig_read(a, arena_cat(a, vol, S("/file")).p), S("x\n"),
           "what is written is in the volume");
    ok(access(arena_cat(a, vol, S("/deep/er/in-sub")).p, F_OK) == 0, "subPath is made");
    is_str(rig_read(a, arena_printf(a, "%s/term", r->dir).p), S("bye\n"), "a termination message");
    ok(access("/muster-test", F_OK) < 0 && access("/usr/share/muster-test", F_OK) < 0 &&
           access("/opt/muster-test", F_OK) < 0 && access("/tmp/private", F_OK) < 0,
       "and nothing of it is on this machine");
    rig_end(p, 0);
    free(p);
}

static const char *with_subpath(struct arena *a, str vol, const char *subpath, str to, int attempt)
{
    return arena_printf(a,
                        "{'mounts': [{'from': '%s', 'subpath': '%s', 'to': '%s'}], 'attempt': %d}",
                        vol.p, subpath, to.p, attempt)
        .p;
}

/* A volume's files are its pods' to write: also a link that leads elsewhere, where the node may do
 * more than they. */
static void subpaths_stay_in_the_volume(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str vol = arena_printf(a, "%s/links", r->dir), other = arena_printf(a, "%s/other", r->dir);
    str in = arena_printf(a, "%s/in/sub", r->dir);
    struct rig_pod *p = rig_pod(r, 20, NULL);

    bool made = mkdir(vol.p, 0777) == 0 && mkdir(other.p, 0777) == 0 &&
                symlink(other.p, arena_cat(a, vol, S("/out")).p) == 0 &&
                symlink(arena_cat(a, vol, S("/real")).p, arena_cat(a, vol, S("/back")).p) == 0 &&
                mkdir(arena_cat(a, vol, S("/real")).p, 0777) == 0;
    ok(made, "a volume with links out of it, and back");
    static const char *const out[] = { "out/sub", "out" };
    for (int i = 0; i < (int)COUNT(out); i++) {
        rig_start(p, "true", with_subpath(a, vol, out[i], in, i));
        rig_wait_n(r, &p->exited, i + 1);
        const char *why = rig_last(p, RUNTIME_FAILED)->why;
        ok(strstr(why, arena_printf(a, "subPath %s leads out of the volume", out[i]).p),
           "is refused: %s", why);
    }
    ok(access(arena_cat(a, other, S("/sub")).p, F_OK) < 0, "and nothing is made there");
    rig_start(p, arena_printf(a, "echo x > %s/file", in.p).p,
              with_subpath(a, vol, "back/sub", in, 2));
    rig_wait_n(r, &p->exited, 3);
    is_str(rig_read(a, arena_cat(a, vol, S("/real/sub/file")).p), S("x\n"),
           "a link within the volume is followed");
    rig_end(p, 0);
    free(p);
}

/* Pods without namespaces beside this one have links at their mount paths, which go when they end.
 */
static void links_of_others_are_not_seen(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    char in[] = "/var/tmp/muster-links-XXXXXX";
    str vol = arena_printf(a, "%s/vol", r->dir);
    struct stat s;

    if (!mkdtemp(in))
        return;
    str link = arena_printf(a, "%s/data", in), theirs = arena_printf(a, "%s/volumes/pvc-1", in);
    str opts = arena_printf(a,
                            "{'mounts': [{'from': '%s', 'to': '%s'},"
                            "{'from': '%s', 'to': '%s/deeper/data'}]}",
                            vol.p, link.p, vol.p, in);
    chmod(in, 0755);
    mkdir(vol.p, 0755);
    chmod(vol.p, 0777);
    bool made = mkdir(arena_printf(a, "%s/volumes", in).p, 0777) == 0 &&
                mkdir(theirs.p, 0777) == 0 && symlink(theirs.p, link.p) == 0 &&
                symlink("/no/pods/x/volumes/y", arena_printf(a, "%s/deeper", in).p) == 0;
    ok(made, "links, one of them to a volume that is gone");
    struct rig_pod *p = rig_pod(r, 19, NULL);
    str script = arena_printf(a,
                              "cd %s; test -L data -o -L deeper || echo no links;"
                              "echo y > data/mine; cat deeper/data/mine",
                              in);
    rig_start(p, script.p, opts.p);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("no links\ny\n"), "a mount path is not another pod's link");
    if (rig_last(p, RUNTIME_FAILED)->why[0])
        printf("# %s\n", rig_last(p, RUNTIME_FAILED)->why);
    is_str(rig_read(a, arena_cat(a, vol, S("/mine")).p), S("y\n"), "and leads to the volume");
    ok(access(arena_cat(a, theirs, S("/mine")).p, F_OK) < 0, "not to theirs");
    ok(lstat(link.p, &s) == 0 && S_ISLNK(s.st_mode), "which keep their links");
    rig_end(p, 0);
    if (system(arena_printf(a, "rm -r %s", in).p) != 0)
        printf("# %s is left\n", in);
    free(p);
}

static void an_image_has_its_own_files(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str cmd = arena_printf(a,
                           "mkdir -p %s/image/etc && ln -s usr/bin usr/lib usr/lib64 %s/image/ && "
                           "mkdir %s/image/usr && echo mine > %s/image/etc/name",
                           r->dir, r->dir, r->dir, r->dir);

    if (system(cmd.p) != 0)
        return;
    struct rig_pod *p = rig_pod(r, 6, NULL);
    /* Its programs come from this machine, mounted: it has none of its own. */
    str start = arena_printf(
        a,
        "{'rootfs': '%s/image', 'cwd': '/new', 'mounts': [{'from': '/usr', 'to': '/usr', 'ro': true}]}",
        r->dir);
    rig_start(p, "cat /etc/name; pwd; echo changed > /etc/name; cat /etc/name", start.p);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_log(a, p), S("mine\n/new\nchanged\n"), "an image's root");
    is_str(rig_read(a, arena_printf(a, "%s/image/etc/name", r->dir).p), S("mine\n"),
           "is changed for the container only");
    if (rig_last(p, RUNTIME_FAILED)->why[0])
        printf("# %s\n", rig_last(p, RUNTIME_FAILED)->why);
    rig_end(p, 0);
    free(p);
}

static void links_stand_for_mounts(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str vol = arena_printf(a, "%s/vol", r->dir);
    str good = arena_printf(a, "{'mounts': [{'from': '%s', 'to': '%s/in/data'}]}", vol.p, r->dir);
    str bad = arena_printf(a, "{'mounts': [{'from': '%s', 'to': '/etc'}], 'attempt': 1}", vol.p);
    str in = arena_printf(a, "%s/in", r->dir);

    mkdir(vol.p, 0755);
    struct rig_pod *p = rig_pod(r, 7, NULL);
    rig_start(p, arena_printf(a, "echo x > %s/data/file; echo $TMPDIR", in.p).p, good.p);
    rig_wait_n(r, &p->exited, 1);
    is_str(rig_read(a, arena_cat(a, vol, S("/file")).p), S("x\n"), "a mount path is a link");
    rig_start(p, "true", bad.p);
    rig_wait_n(r, &p->exited, 2);
    const char *why = rig_last(p, RUNTIME_FAILED)->why;
    ok(strstr(why, "VolumeMountUnsupported: /etc") && strstr(why, "--isolation"),
       "one that is taken is refused: %s", why);
    rig_end(p, 0);
    ok(access(in.p, F_OK) < 0, "what was made is removed");
    free(p);
}

static void links_are_shared(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str vol = arena_printf(a, "%s/vol", r->dir), in = arena_printf(a, "%s/in", r->dir);
    str link = arena_cat(a, in, S("/a/data"));
    str at = arena_printf(a, "{'mounts': [{'from': '%s', 'to': '%s'}]}", vol.p, link.p);
    struct rig_pod *p = rig_pod(r, 17, NULL), *q = rig_pod(r, 18, NULL);

    rig_start(p, "true", at.p);
    rig_wait_n(r, &p->exited, 1);
    rig_start(q, "true", at.p);
    rig_wait_n(r, &q->exited, 1);
    rig_end(p, 0);
    ok(access(link.p, F_OK) == 0, "a link that two pods use outlives the first");
    rig_end(q, 0);
    ok(access(in.p, F_OK) < 0, "and goes with the last, directories too");
    free(p);
    free(q);
}

static void memory_is_limited(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 8, NULL);

    rig_start(p, "head -c 400000000 /dev/zero | tail -c 300000000 | (sleep 10; wc -c)",
              "{'limits': {'memory_bytes': 60000000}}");
    ok(rig_wait_n(r, &p->exited, 1), "too much memory ends it");
    ok(rig_last(p, RUNTIME_EXITED)->oom && rig_last(p, RUNTIME_EXITED)->signo == SIGKILL,
       "as out of memory");
    rig_end(p, 0);
    free(p);
}

/* Root of a user namespace may have no others in it. */
static bool may_become(uid_t uid)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        _exit(setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void it_runs_as_asked(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 9, NULL);
    bool other = geteuid() == 0 && may_become(1234);

    rig_start(p,
              "umask; grep -c NoNewPrivs:.1 /proc/self/status; ls /proc/self/fd | wc -l;"
              "ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads; id -u; id -g; id -G",
              other ? "{'uid': 1234, 'gid': 2345, 'groups': [3456], 'no_new_privs': true}"
                    : "{'no_new_privs': true}");
    rig_wait_n(r, &p->exited, 1);
    str log = rig_log(a, p);
    ok(str_starts(log, S("0022\n1\n4\nleads\n")), "mask, descriptors, group");
    if (other)
        ok(str_ends(log, S("\n1234\n2345\n2345 3456\n")), "user and groups");
    else
        ok(str_contains(log, arena_printf(a, "\n%d\n", (int)geteuid())), "our own user # no other");
    rig_end(p, 0);
    free(p);
}

int main(int argc, char **argv)
{
    struct rig r;

    rig_main(argc, argv, &r);
    a_container_starts_and_exits(&r);
    signals_reach_it(&r);
    what_cannot_start_fails(&r);
    if (isolated(&r)) {
        mounts_are_there(&r);
        links_of_others_are_not_seen(&r);
        an_image_has_its_own_files(&r);
    } else {
        links_stand_for_mounts(&r);
        links_are_shared(&r);
    }
    subpaths_stay_in_the_volume(&r);
    it_runs_as_asked(&r);
    memory_is_limited(&r);
    rig_done(&r);
    return tap_done();
}
