/* What remains of a pod when anything dies: nothing (N1, N2), and the truth about it. */

#include "rig.h"

#include "sandbox/state.h"
#include "sys/msgsock.h"
#include "sys/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A tree that does all it can to be left behind; %s marks its processes. */
static const char leavers[] =
    "(setsid sh -c 'setsid sleep 600%s & sleep 601%s' >/dev/null 2>&1 &) ;"
    "(env -i setsid sleep 602%s >/dev/null 2>&1 &) ;"
    "(sh -c 'trap \"\" TERM HUP INT; (setsid sleep 603%s &) ; sleep 604%s' &) ; sleep 605%s";

/* A fraction of a second that no other process on the machine has: this test runs beside others. */
static str mark_of(struct arena *a, int n)
{
    return arena_printf(a, ".%07d%02d", (int)getpid(), n);
}

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
    str last = arena_printf(a, "605%s", mark);

    rig_start(p, leaving(a, mark), NULL);
    rig_wait_n(r, &p->started, 1);
    rig_processes_are(last.p, 2); /* the shell, and what it comes to last */
    ok(rig_wait_processes(r, mark, 7), "%d processes run", rig_processes(mark));
    return p;
}

static void pod_done(struct rig_pod *p)
{
    p->rig->rt->ops->drop(p->p);
    rig_forget(p);
    free(p);
}

static void n1_all_die_with_the_pod(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = mark_of(a, 1);
    struct rig_pod *p = with_leavers(r, a, 1, mark.p);

    rig_end(p, 0);
    is_int(rig_processes(mark.p), 0, "N1: none is left once the pod is gone");
    is_int(rig_processes(p->uid), 0, "nor its warden");
    free(p);
}

static void whether_anything_ran_is_told(struct rig *r)
{
    for (int over = 0; over < 2; over++) {
        struct rig_pod *p = rig_pod(r, 60 + over, NULL);
        rig_start(p, over ? "exit 3" : "sleep 1000", NULL);
        rig_wait_n(r, over ? &p->exited : &p->started, 1);
        r->rt->ops->end(p->p, 0);
        ok(rig_wait(r, &p->gone), "it ends");
        jv state = jdoc_root(rig_last(p, RUNTIME_GONE)->state);
        is_int(jv_bool(jv_at(state, "idle"), false), over,
               over ? "nothing ran any more" : "something ran");
        pod_done(p);
    }
}

static void n1_all_die_with_the_container(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = mark_of(a, 2);
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
        str mark = mark_of(a, 30 + which);
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
    str mark = mark_of(a, 5);
    struct rig_pod *p = rig_pod(r, 5, NULL);

    /* Without a subreaper only what kept its environment is found: the documented limit. */
    rig_start(p, arena_printf(a, "(setsid sleep 600%s &); sleep 601%s", mark.p, mark.p).p, NULL);
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
    ok(keeper_of(dead, &inner) > 0 && inner > 0 && kill(inner, SIGKILL) == 0, "the node is away");
    ok(rig_processes_are(dead->uid, 0), "of the third the warden dies meanwhile");
    if (system(arena_printf(a, "touch %s/vol/go", r->dir).p) != 0)
        return;
    const char *state = arena_printf(a, "%s/%s/state", r->pods, p->uid).p;
    for (int64_t end = rig_patience();
         boot_now_ms() < end && record_get_int(rig_read(a, state), "container.code", 0) != 42;)
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
    rig_end(q, 600 * 1000);
    is_int(rig_last(q, RUNTIME_EXITED)->signo, SIGTERM, "an adopted pod is ended like any other");
    pod_done(dead);
    free(p);
    free(q);
}

/* Its node died between asking for it and its start; the next node may have asked for another. */
static void who_was_asked_for_by_the_dead_does_not_begin(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    str dir = arena_printf(a, "%s/orphan", r->dir);
    const char *exe = getenv("WARDEN_EXE") ? getenv("WARDEN_EXE") : "/proc/self/exe";
    int pair[2], status = -1;

    mkdir(dir.p, 0700);
    FILE *f = fopen(arena_cat(a, dir, S("/sandbox")).p, "we");
    if (!f || fprintf(f, "uid%corphan%cisolation%c%s%c", 0, 0, 0, r->level, 0) < 0 ||
        fclose(f) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        abort();
    close(pair[0]);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(exe, "muster", "warden", dir.p, arena_printf(a, "%d", pair[1]).p, NULL);
        _exit(9);
    }
    close(pair[1]);
    waitpid(pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a keeper without a node leaves");
    ok(access(arena_cat(a, dir, S("/state")).p, F_OK) < 0 &&
           access(arena_cat(a, dir, S("/ctl")).p, F_OK) < 0,
       "and nothing has begun");
}

/* A keeper that listens on ctl, and says that to each who comes. */
__attribute__((noreturn)) static void strange_keeper(int listener, const char *const *words)
{
    AUTO(buf) struct buf hello = { 0 };

    record_put(&hello, { "event", .text = "hello" }, { "version", .number = WARDEN_VERSION });
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        struct msgsock node;
        msgsock_init(&node, fd);
        if (words[0] && msgsock_say(&node, buf_str(&hello), NULL, 0) < 0)
            break;
        if (write(fd, words[1], strlen(words[1])) < 0)
            break;
    }
    _exit(1);
}

static void a_stranger_is_ended(struct rig *r, int n, const char *const *words, const char *why)
{
    AUTO(arena) struct arena *a = arena_new();
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    str dir = arena_printf(a, "%s/pod-%d-%d", r->pods, (int)getpid(), n);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 0;

    snprintf(at.sun_path, sizeof(at.sun_path), "%s/ctl", dir.p);
    if (mkdir(dir.p, 0700) < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0)
        abort();
    fflush(stdout);
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        if (listen(listener, 1) < 0 || write(ready[1], "", 1) < 0)
            _exit(2);
        strange_keeper(listener, words);
    }
    close(listener);
    if (read(ready[0], &(char){ 0 }, 1) != 1)
        abort();
    close(ready[0]);
    close(ready[1]);
    close(open(arena_cat(a, dir, S("/sandbox.json")).p, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    struct rig_pod *p = rig_adopt(r, n);
    for (int64_t end = rig_patience(); waitpid(pid, &status, WNOHANG) == 0 && boot_now_ms() < end;)
        rig_turn(r);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
       "a keeper that is not understood is ended");
    ok(rig_wait(r, &p->gone) && p->hello == (words[0] != NULL), "and its pod gone");
    ok(strstr(rig_last(p, RUNTIME_GONE)->why, why), "%s", rig_last(p, RUNTIME_GONE)->why);
    pod_done(p);
}

static void strangers_are_ended(struct rig *r)
{
    static const char *const old[] = { NULL, "{\"hello\": {\"version\": 1}}\n" };
    static const char *const mad[] = { "hello", "this is no message" };

    a_stranger_is_ended(r, 11, old, "another version");
    a_stranger_is_ended(r, 21, mad, "cannot be understood");
}

/* Without namespaces, pods of one user reach each other's files. */
static void a_pod_does_not_take_the_place_of_the_node(struct rig *r)
{
    static const char connect[] =
        "python3 -c 'import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
        "s.connect(sys.argv[1])\nprint(\"refused\" if not s.recv(99) else \"heard\", flush=True)\n"
        "import time; time.sleep(600)' %s/%s/ctl";
    AUTO(arena) struct arena *a = arena_new();

    if (strcmp(r->level, "shared") != 0)
        return;
    struct rig_pod *p = rig_pod(r, 12, NULL);
    struct rig_pod *q = rig_pod(r, 13, NULL);
    rig_start(p, "echo ready; exec sleep 600", NULL);
    rig_wait_log(p, "ready");
    rig_start(q, arena_printf(a, connect, r->pods, p->uid).p, NULL);
    ok(rig_wait_log(q, "refused"), "a pod that connects to another's warden is refused");
    rig_end(p, 0);
    ok(p->gone, "and the node can end it still");
    rig_end(q, 0);
    free(p);
    free(q);
}

static void grace_is_given(struct rig *r)
{
    struct rig_pod *p = rig_pod(r, 9, NULL);
    struct rig_pod *q = rig_pod(r, 10, NULL);

    rig_start(p, "trap 'sleep 0.2; exit 5' TERM; echo ready; while :; do sleep 0.01; done", NULL);
    rig_start(q, "trap '' TERM; echo ready; while :; do sleep 0.01; done", NULL);
    rig_wait_log(p, "ready");
    rig_wait_log(q, "ready");
    rig_end(p, 600 * 1000);
    jv c = jv_at(jdoc_root(rig_last(p, RUNTIME_GONE)->state), "containers", "main");
    is_int(jv_int(jv_at(c, "code"), -1), 5, "one that cleans up has its time, and no more");
    int64_t at = boot_now_ms();
    rig_end(q, 700);
    at = boot_now_ms() - at;
    c = jv_at(jdoc_root(rig_last(q, RUNTIME_GONE)->state), "containers", "main");
    is_int(jv_int(jv_at(c, "signal"), -1), SIGKILL, "one that will not go is killed");
    ok(at >= 690, "after its grace: %d ms", (int)at);
    free(p);
    free(q);
}

/* ---- N2 */

static bool own_mounts;

/* In a place of our own where others' mounts do not show, but what a pod lets out would. */
static void see_own_mounts(void)
{
    own_mounts = unshare(CLONE_NEWNS) == 0 &&
                 mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                 mount("none", "/", NULL, MS_REC | MS_SHARED, NULL) == 0;
}

/* All of them, or those that name this test's directory. */
static str mounts_here(struct arena *a, const struct rig *r)
{
    str rest = rig_read(a, "/proc/self/mountinfo");
    struct buf b = { 0 };

    while (rest.n) {
        str line = str_cut(&rest, '\n');
        if (own_mounts || str_contains(line, str_of(r->dir)))
            buf_printf(&b, "%" PRI_STR "\n", STR_ARG(line));
    }
    str s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

/* The namespaces of a pod that runs, held: a number that is not held is soon another's. */
struct held {
    int fd[512];
    char name[512][64];
    int n;
};

static void hold_namespaces(struct held *h, const struct rig_pod *p)
{
    static const char *const kinds[] = { "mnt", "pid", "uts", "ipc", "net", "user" };
    pid_t inner = 0;

    keeper_of(p, &inner);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && h->n < 512; i++) {
        char theirs[64] = "";
        char ours[64] = "";
        char path[64];
        snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
        if (readlink(path, ours, sizeof(ours) - 1) < 0)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)inner, kinds[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
            strcmp(ours, theirs) != 0) {
            snprintf(h->name[h->n], sizeof(h->name[0]), "%s", theirs);
            h->fd[h->n++] = fd;
        } else if (fd >= 0) {
            close(fd);
        }
    }
}

/* Whether a link there (what a process is in, or has open) is one of them. */
static bool is_any_in(const struct held *h, const char *dir)
{
    DIR *d = opendir(dir);
    bool is = false;

    for (struct dirent *at; d && (at = readdir(d));) {
        char to[64] = "";
        ssize_t n = readlinkat(dirfd(d), at->d_name, to, sizeof(to) - 1);
        for (int i = 0; n > 0 && i < h->n; i++)
            is |= strcmp(to, h->name[i]) == 0;
    }
    if (d)
        closedir(d);
    return is;
}

static int users_of(const struct held *h)
{
    DIR *d = opendir("/proc");
    int n = 0;

    for (struct dirent *at; (at = readdir(d));) {
        char dir[300];
        if (at->d_name[0] < '0' || at->d_name[0] > '9' || atoi(at->d_name) == getpid())
            continue;
        snprintf(dir, sizeof(dir), "/proc/%s/ns", at->d_name);
        bool uses = is_any_in(h, dir);
        snprintf(dir, sizeof(dir), "/proc/%s/fd", at->d_name);
        n += uses || is_any_in(h, dir);
    }
    closedir(d);
    return n;
}

static void let_go(struct held *h)
{
    while (h->n > 0)
        close(h->fd[--h->n]);
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

static void n2_no_namespace(struct rig *r, struct held *h, int used)
{
    if (strcmp(r->level, "namespaces") != 0) {
        is_int(h->n, 0, "N2: no namespace is made at all");
        return;
    }
    ok(h->n >= 50 * 4 && used >= 50, "N2: %d were in %d namespaces", used, h->n);
    int users = users_of(h);
    for (int64_t end = rig_patience(); users > 0 && boot_now_ms() < end; users = users_of(h))
        usleep(5000);
    is_int(users, 0, "N2: and nobody is in one of them, or holds it");
}

static void n2_nothing_is_left_behind(struct rig *r)
{
    AUTO(arena) struct arena *a = arena_new();
    enum { PODS = 50 };
    str mounts = mounts_here(a, r);
    str mark = mark_of(a, 99);
    str file = arena_printf(a, "/tmp/muster-left.%d", (int)getpid());
    str script = arena_printf(a, "(setsid sleep 999%s &) ; echo x > %s; exit 0", mark.p, file.p);
    int files = open_files();
    struct rig_pod *p[PODS];
    static struct held held;

    for (int i = 0; i < PODS; i++) {
        p[i] = rig_pod(r, 100 + i, NULL);
        rig_start(p[i], script.p, NULL);
    }
    int ran = 0;
    for (int i = 0; i < PODS; i++) {
        ran += rig_wait_n(r, &p[i]->exited, 1) && rig_last(p[i], RUNTIME_EXITED)->code == 0;
        hold_namespaces(&held, p[i]);
    }
    is_int(ran, PODS, "fifty pods have run");
    int used = users_of(&held);
    for (int i = 0; i < PODS; i++) {
        rig_end(p[i], 0);
        free(p[i]);
    }
    n2_no_namespace(r, &held, used);
    let_go(&held);
    ok(rig_processes_are(r->dir, 0), "N2: no warden");
    is_int(rig_processes(mark.p), 0, "N2: no process");
    is_str(mounts_here(a, r), mounts, "N2: no mount");
    is_int(open_files(), files, "N2: no descriptor");
    AUTO(arena) struct arena *b = arena_new();
    is_int((int64_t)jv_len(r->rt->ops->list(r->rt, b)), 0, "N2: no directory");
    if (strcmp(r->level, "namespaces") == 0)
        ok(access(file.p, F_OK) < 0, "N2: no file outside");
    unlink(file.p);
}

int main(int argc, char **argv)
{
    struct rig r;
    char vol[128];

    if (argc > 1 && strcmp(argv[1], "warden") != 0)
        see_own_mounts();
    rig_main(argc, argv, &r);
    snprintf(vol, sizeof(vol), "%s/vol", r.dir);
    mkdir(vol, 0755);
    n1_all_die_with_the_pod(&r);
    n1_all_die_with_the_container(&r);
    whether_anything_ran_is_told(&r);
    a_killed_warden_takes_all_along(&r);
    both_killed_at_once(&r);
    a_node_that_returns_adopts(&r);
    who_was_asked_for_by_the_dead_does_not_begin(&r);
    strangers_are_ended(&r);
    a_pod_does_not_take_the_place_of_the_node(&r);
    grace_is_given(&r);
    n2_nothing_is_left_behind(&r);
    rig_done(&r);
    return tap_done();
}
