/* What remains of a pod when anything dies: nothing (N1, N2), and the truth about it. */

#include "rig.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree that does all it can to be left behind; %s marks its processes. */
static const char leavers[] =
    "(setsid sh -c 'setsid sleep 600.%s & sleep 601.%s' >/dev/null 2>&1 &) ;"
    "(env -i setsid sleep 602.%s >/dev/null 2>&1 &) ;"
    "(sh -c 'trap \"\" TERM HUP INT; (setsid sleep 603.%s &) ; sleep 604.%s' &) ; sleep 605.%s";

static const char *leaving(struct arena *a, const char *mark)
{
    struct buf b = { 0 };

    for (str rest = str_of(leavers); rest.n;) {
        const char *at = memmem(rest.p, rest.n, "%s", 2);
        str part = at ? str_sub(rest, 0, (size_t)(at - rest.p)) : rest;
        buf_add(&b, part);
        rest = str_sub(rest, part.n + (at ? 2 : 0), rest.n);
        if (at)
            buf_add(&b, str_of(mark));
    }
    const char *z = arena_z(a, buf_str(&b));
    buf_done(&b);
    return z;
}

static struct rig_pod *with_leavers(struct rig *r, struct arena *a, int n, const char *mark)
{
    struct rig_pod *p = rig_pod(r, n, NULL);
    str last = arena_printf(a, "605.%s", mark);

    rig_start(p, leaving(a, mark), NULL);
    rig_wait_n(r, &p->started, 1);
    for (int i = 0; i < 400 && rig_processes(mark) < 7; i++)
        usleep(5000);
    ok(rig_processes(last.p) > 0 && rig_processes(mark) >= 7, "%d processes run",
       rig_processes(mark));
    return p;
}

static void pod_done(struct rig_pod *p)
{
    p->rig->rt->ops->drop(p->p);
    p->rig->rt->ops->forget(p->rig->rt, str_of(p->uid));
    free(p);
}

static void n1_all_die_with_the_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = arena_printf(a, "%d1", (int)getpid());
    struct rig_pod *p = with_leavers(r, a, 1, mark.p);

    rig_end(p, 0);
    is_int(rig_processes(mark.p), 0, "N1: none is left once the pod is gone");
    is_int(rig_processes(p->uid), 0, "nor its warden");
    free(p);
}

static void n1_all_die_with_the_container(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = arena_printf(a, "%d2", (int)getpid());
    struct rig_pod *p = with_leavers(r, a, 2, mark.p);

    r->rt->ops->signal(p->p, S("main"), SIGKILL);
    rig_wait_n(r, &p->exited, 1);
    is_int(rig_processes(mark.p), 0,
           "N1: a container that ended left nothing for the next attempt");
    rig_end(p, 0);
    free(p);
}

/* Of a pod: the keeper is our child, the one that holds the pod is its child. */
static pid_t keeper_of(const struct rig_pod *p, pid_t *inner)
{
    AUTO(arena) struct arena *a = arena_new();
    DIR *d = opendir("/proc");
    pid_t keeper = 0;

    for (struct dirent *at; (at = readdir(d));) {
        str comm = rig_read(a, arena_printf(a, "/proc/%s/comm", at->d_name).p);
        str cmd = rig_read(a, arena_printf(a, "/proc/%s/cmdline", at->d_name).p);
        if (cmd.n == 0 || !memmem(cmd.p, cmd.n, p->uid, strlen(p->uid)))
            continue;
        if (str_eqz(comm, "muster-keeper\n"))
            keeper = atoi(at->d_name);
        if (str_eqz(comm, "muster-pod\n"))
            *inner = atoi(at->d_name);
    }
    closedir(d);
    return keeper;
}

static void a_killed_warden_takes_all_along(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();

    for (int which = 0; which < 2; which++) {
        str mark = arena_printf(a, "%d3%d", (int)getpid(), which);
        struct rig_pod *p = with_leavers(r, a, 3 + which, mark.p);
        pid_t inner = 0;
        pid_t keeper = keeper_of(p, &inner);
        ok(keeper > 0 && inner > 0, "keeper %d, inside %d", keeper, inner);
        kill(which ? keeper : inner, SIGKILL);
        ok(rig_wait(r, &p->gone), "its death is told");
        const struct rig_event *e = rig_last(p, RUNTIME_GONE);
        ok(strstr(e->why, "killed"), "with the reason: %s", e->why);
        jv c = jv_at(jdoc_root(e->state), "containers", "main");
        ok(jv_int(jv_at(c, "signal"), 0) > 0 && jv_exists(jv_at(c, "finished_ms")),
           "its container is reported as killed");
        ok(rig_processes_are(mark.p, 0), "N1: every process is gone");
        ok(rig_processes_are(p->uid, 0), "and every warden");
        pod_done(p);
    }
}

static void both_killed_at_once(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = arena_printf(a, "%d5", (int)getpid());
    struct rig_pod *p = rig_pod(r, 5, NULL);

    /* Without a subreaper only what kept its environment is found: the documented limit. */
    rig_start(p, arena_printf(a, "(setsid sleep 600.%s &); sleep 601.%s", mark.p, mark.p).p, NULL);
    rig_wait_n(r, &p->started, 1);
    ok(rig_processes_are(mark.p, 3), "it runs");
    pid_t inner = 0;
    pid_t keeper = keeper_of(p, &inner);
    kill(inner, SIGSTOP);
    kill(keeper, SIGKILL);
    kill(inner, SIGKILL);
    ok(rig_wait(r, &p->gone), "keeper and warden killed at once: told");
    ok(rig_processes_are(mark.p, 0), "N1: and nothing is left");
    pod_done(p);
}

static void a_node_that_returns_adopts(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = rig_pod(r, 6, NULL);
    struct rig_pod *q = rig_pod(r, 7, NULL);
    struct rig_pod *dead = rig_pod(r, 8, NULL);

    rig_start(p, "exit 0", NULL);
    rig_wait_n(r, &p->exited, 1);
    rig_start(
        p,
        arena_printf(a, "until [ -e %s/vol/go ]; do sleep 0.01; done; echo late; exit 42", r->dir)
            .p,
        arena_printf(a, "{'attempt': 1, 'mounts': [{'from': '%s/vol', 'to': '%s/vol'}]}", r->dir,
                     r->dir)
            .p);
    rig_start(q, "echo $$; sleep 1000", NULL);
    rig_start(dead, "exit 9", NULL);
    ok(rig_wait_n(r, &p->started, 2) && rig_wait_n(r, &q->started, 1) &&
           rig_wait_n(r, &dead->exited, 1),
       "three pods");
    int64_t pid = rig_last(q, RUNTIME_STARTED)->pid;
    rig_node_dies(r);
    pid_t inner = 0;
    pid_t keeper = keeper_of(dead, &inner);
    kill(inner, SIGKILL);
    for (int i = 0; i < 400 && kill(keeper, 0) == 0; i++)
        usleep(5000);
    if (system(arena_printf(a, "touch %s/vol/go", r->dir).p) != 0)
        return;
    for (int i = 0;
         i < 400 &&
         !str_contains(rig_read(a, arena_printf(a, "%s/%s/state.json", r->pods, p->uid).p),
                       S(":42"));
         i++)
        usleep(5000);
    rig_node_returns(r);
    AUTO(arena) struct arena *b = arena_new();
    is_int((int64_t)jv_len(r->rt->ops->list(r->rt, b)), 3, "it finds three on disk");
    free(p);
    free(q);
    free(dead);
    p = rig_adopt(r, 6);
    q = rig_adopt(r, 7);
    dead = rig_adopt(r, 8);
    ok(rig_wait(r, &p->hello) && rig_wait(r, &q->hello), "those that live say hello");
    jv c = jv_at(jdoc_root(rig_last(p, RUNTIME_HELLO)->state), "containers", "main");
    ok(jv_int(jv_at(c, "code"), -1) == 42 && jv_int(jv_at(c, "attempt"), -1) == 1,
       "an exit while it was away is known");
    ok(str_contains(rig_log(a, p), S("late\n")), "and what was printed meanwhile");
    c = jv_at(jdoc_root(rig_last(q, RUNTIME_HELLO)->state), "containers", "main");
    ok(jv_int(jv_at(c, "pid"), -1) == pid && !jv_exists(jv_at(c, "finished_ms")),
       "the other one runs on, the same process");
    ok(rig_wait(r, &dead->gone), "the third is gone");
    c = jv_at(jdoc_root(rig_last(dead, RUNTIME_GONE)->state), "containers", "main");
    is_int(jv_int(jv_at(c, "code"), -1), 9, "its exit code is kept");
    ok(r->rt->ops->adopt(r->rt, S("never-was"), &(struct runtime_sink){ 0 }) == NULL,
       "of one that never was there is no trace");
    rig_end(p, 0);
    rig_end(q, 5000);
    is_int(rig_last(q, RUNTIME_EXITED)->signo, SIGTERM, "an adopted pod is ended like any other");
    pod_done(dead);
    free(p);
    free(q);
}

static void grace_is_given(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 9, NULL);

    rig_start(p, "trap 'sleep 0.2; exit 5' TERM; while :; do sleep 0.01; done", NULL);
    rig_start(p, "trap '' TERM; while :; do sleep 0.01; done", "{'name': 'stubborn'}");
    rig_wait_n(r, &p->started, 2);
    usleep(100 * 1000);
    int64_t at = boot_now_ms();
    rig_end(p, 700);
    at = boot_now_ms() - at;
    jv c = jv_at(jdoc_root(rig_last(p, RUNTIME_GONE)->state), "containers");
    is_int(jv_int(jv_at(c, "main", "code"), -1), 5, "one that cleans up has its time");
    is_int(jv_int(jv_at(c, "stubborn", "signal"), -1), SIGKILL, "one that will not go is killed");
    ok(at >= 690 && at < 5000, "after its grace: %d ms", (int)at);
    free(p);
}

/* ---- N2 */

static str mounts_here(struct arena *a)
{
    return rig_read(a, "/proc/self/mountinfo");
}

/* Distinct namespaces that processes are in. */
static int namespaces_here(void)
{
    FILE *f = popen("cat /dev/null; readlink /proc/[0-9]*/ns/* 2>/dev/null | sort -u | wc -l", "r");
    int n = 0;

    if (!f || fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        pclose(f);
    return n;
}

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void n2_nothing_is_left_behind(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    enum { PODS = 50 };
    str mounts = mounts_here(a);
    int files = open_files();
    int spaces = namespaces_here();
    struct rig_pod *p[PODS];

    for (int i = 0; i < PODS; i++) {
        p[i] = rig_pod(r, 100 + i, NULL);
        rig_start(p[i], "(setsid sleep 999 &) ; echo x > /tmp/f; exit 0", NULL);
    }
    int ran = 0;
    for (int i = 0; i < PODS; i++)
        ran += rig_wait_n(r, &p[i]->exited, 1) && rig_last(p[i], RUNTIME_EXITED)->code == 0;
    is_int(ran, PODS, "fifty pods have run");
    for (int i = 0; i < PODS; i++) {
        rig_end(p[i], 0);
        free(p[i]);
    }
    ok(rig_processes_are("muster-warden.", 0), "N2: no warden");
    ok(str_eq(mounts_here(a), mounts), "N2: no mount");
    is_int(open_files(), files, "N2: no descriptor");
    int now = namespaces_here();
    ok(now <= spaces + 4, "N2: no namespace (%d before, %d now, others' counted, too)", spaces,
       now);
    AUTO(arena) struct arena *b = arena_new();
    is_int((int64_t)jv_len(r->rt->ops->list(r->rt, b)), 0, "N2: no directory");
    if (strcmp(r->level, "namespaces") == 0)
        ok(access("/tmp/f", F_OK) < 0, "N2: no file outside");
}

int main(int argc, char **argv)
{
    struct rig r;
    char vol[128];

    rig_main(argc, argv, &r);
    snprintf(vol, sizeof(vol), "%s/vol", r.dir);
    mkdir(vol, 0755);
    n1_all_die_with_the_pod(&r);
    n1_all_die_with_the_container(&r);
    a_killed_warden_takes_all_along(&r);
    both_killed_at_once(&r);
    a_node_that_returns_adopts(&r);
    grace_is_given(&r);
    n2_nothing_is_left_behind(&r);
    unlink("/tmp/f");
    rig_done(&r);
    return tap_done();
}
