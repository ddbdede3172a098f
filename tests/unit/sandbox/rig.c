#include "rig.h"

#include "base/mem.h"
#include "sandbox/probe.h"
#include "sys/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { PATIENCE_MS = 60 * 1000, ORDINARY = 12345 };

static void on_event(void *ctx, const struct runtime_event *ev)
{
    struct rig_pod *p = ctx;
    struct rig *r = p->rig;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        r->ev = mem_resize(r->ev, r->cap * sizeof(*r->ev));
    }
    struct rig_event *e = &r->ev[r->n++];
    *e = (struct rig_event){ .pod = p,
                             .what = ev->what,
                             .pid = ev->pid,
                             .code = ev->code,
                             .signo = ev->signo,
                             .oom = ev->oom,
                             .id = ev->id };
    snprintf(e->container, sizeof(e->container), "%" PRI_STR, STR_ARG(ev->container));
    snprintf(e->why, sizeof(e->why), "%" PRI_STR, STR_ARG(ev->why));
    snprintf(e->out, sizeof(e->out), "%" PRI_STR, STR_ARG(ev->out));
    if (jv_exists(ev->state)) {
        struct arena *a = arena_new();
        e->state = jdoc_of(a, jv_copy(a, ev->state));
    }
    p->hello |= ev->what == RUNTIME_HELLO;
    p->gone |= ev->what == RUNTIME_GONE;
    p->started += ev->what == RUNTIME_STARTED;
    p->exited += ev->what == RUNTIME_EXITED || ev->what == RUNTIME_FAILED;
}

__attribute__((noreturn)) static void skip(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    exit(0);
}

void rig_main(int argc, char **argv, struct rig *r)
{
    struct err e = { 0 };
    const char *level = argc > 1 ? argv[1] : "shared";

    if (strcmp(level, "warden") == 0)
        exit(warden_main(argc - 1, argv + 1));
    if (argc > 2 && strcmp(argv[2], "user") == 0 && geteuid() == 0 &&
        (setresgid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
         setresuid(ORDINARY, ORDINARY, ORDINARY) < 0))
        skip("root may not become an ordinary user here");
    prctl(PR_SET_DUMPABLE, 1); /* or /proc/self is root's */
    if (argc > 2 && strcmp(argv[2], "root") == 0 && geteuid() != 0)
        skip("not root");
    if (strcmp(level, "namespaces") == 0 && !warden_can_isolate(NULL, &e))
        skip(e.msg);
    *r = (struct rig){ .level = level };
    snprintf(r->dir, sizeof(r->dir), "%.30s/muster-warden.XXXXXX",
             getenv("RIG_TMP") ? getenv("RIG_TMP") : "/tmp");
    if (!mkdtemp(r->dir)) {
        printf("Bail out! mkdtemp\n");
        exit(1);
    }
    snprintf(r->pods, sizeof(r->pods), "%s/pods", r->dir);
    mkdir(r->pods, 0755);
    chdir("/");
    rig_node_returns(r);
}

void rig_node_dies(struct rig *r)
{
    warden_runtime_free(TAKE(r->rt));
    loop_free(TAKE(r->loop));
}

void rig_node_returns(struct rig *r)
{
    r->loop = loop_new();
    r->rt = warden_runtime_new(
        r->loop, &(struct warden_opts){ .pods = r->pods, .exe = getenv("WARDEN_EXE") });
}

void rig_done(struct rig *r)
{
    char cmd[128];

    rig_node_dies(r);
    for (size_t i = 0; i < r->n; i++)
        jdoc_unref(r->ev[i].state);
    free(r->ev);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", r->dir);
    if (system(cmd) != 0)
        printf("# %s failed\n", cmd);
}

static jv members(struct arena *a, jv v, const char *extra)
{
    if (!extra)
        return v;
    struct jdoc *d = J(extra);
    struct jbuild b = jb_from(a, v);
    JV_EACH (it, jdoc_root(d))
        jb_set(&b, arena_str(a, it.key), jv_copy(a, it.value));
    jdoc_unref(d);
    return jb_done(&b);
}

static struct rig_pod *pod_new(struct rig *r, int n)
{
    struct rig_pod *p = mem_new(sizeof(*p));

    p->rig = r;
    snprintf(p->uid, sizeof(p->uid), "pod-%d-%d", (int)getpid(), n);
    return p;
}

struct rig_pod *rig_pod(struct rig *r, int n, const char *extra)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rig_pod *p = pod_new(r, n);
    jv v = jobj(a, { "uid", jstr(a, str_of(p->uid)) }, { "isolation", jstr(a, str_of(r->level)) },
                { "hostname", jstrz(a, "some-pod") });

    p->p = r->rt->ops->spawn(r->rt, str_of(p->uid), members(a, v, extra),
                             &(struct runtime_sink){ on_event, p });
    return p;
}

struct rig_pod *rig_adopt(struct rig *r, int n)
{
    struct rig_pod *p = pod_new(r, n);

    p->p = r->rt->ops->adopt(r->rt, str_of(p->uid), &(struct runtime_sink){ on_event, p });
    return p;
}

void rig_start(struct rig_pod *p, const char *script, const char *extra)
{
    AUTO(arena) struct arena *a = arena_new();
    str log = arena_printf(a, "%s/logs/%s/0.log", p->rig->dir, p->uid);
    jv argv = jarr(a, jstrz(a, "sh"), jstrz(a, "-c"), jstr(a, str_of(script)));
    jv v = jobj(a, { "name", jstrz(a, "main") }, { "argv", argv }, { "log", jstr(a, log) },
                { "cwd", jstrz(a, "/") });

    p->rig->rt->ops->start(p->p, members(a, v, extra));
}

void rig_turn(struct rig *r)
{
    uv_run(loop_uv(r->loop), UV_RUN_NOWAIT);
    usleep(300);
}

int64_t rig_patience(void)
{
    return boot_now_ms() + PATIENCE_MS;
}

bool rig_wait(struct rig *r, const bool *flag)
{
    int64_t end = rig_patience();

    while (!*flag && boot_now_ms() < end)
        rig_turn(r);
    return *flag;
}

bool rig_wait_n(struct rig *r, const int *count, int n)
{
    int64_t end = rig_patience();

    while (*count < n && boot_now_ms() < end)
        rig_turn(r);
    return *count >= n;
}

bool rig_wait_log(struct rig_pod *p, const char *text)
{
    for (int64_t end = rig_patience(); boot_now_ms() < end; rig_turn(p->rig)) {
        AUTO(arena) struct arena *a = arena_new();
        if (str_contains(rig_log(a, p), str_of(text)))
            return true;
    }
    return false;
}

bool rig_wait_processes(struct rig *r, const char *text, int n)
{
    for (int64_t end = rig_patience(); boot_now_ms() < end; rig_turn(r))
        if (rig_processes(text) >= n)
            return true;
    return false;
}

void rig_forget(const struct rig_pod *p)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", p->rig->pods, p->uid);
    tree_remove(AT_FDCWD, path, NULL);
}

void rig_end(struct rig_pod *p, int64_t grace_ms)
{
    struct rig *r = p->rig;

    r->rt->ops->end(p->p, grace_ms);
    if (!rig_wait(r, &p->gone))
        printf("Bail out! %s does not end\n", p->uid), exit(1);
    r->rt->ops->drop(p->p);
    rig_forget(p);
}

const struct rig_event *rig_last(const struct rig_pod *p, enum runtime_what what)
{
    static const struct rig_event none = { .code = -99 };

    for (size_t i = p->rig->n; i > 0; i--)
        if (p->rig->ev[i - 1].pod == p && p->rig->ev[i - 1].what == what)
            return &p->rig->ev[i - 1];
    return &none;
}

str rig_read(struct arena *a, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct buf b = { 0 };

    for (ssize_t n; fd >= 0 && (n = read(fd, buf_room(&b, 65536), 65536)) > 0;)
        b.n += (size_t)n;
    if (fd >= 0)
        close(fd);
    str s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

/* Without times, streams and tags. */
str rig_log(struct arena *a, const struct rig_pod *p)
{
    str rest = rig_read(a, arena_printf(a, "%s/logs/%s/0.log", p->rig->dir, p->uid).p);
    struct buf b = { 0 };

    while (rest.n) {
        str line = str_cut(&rest, '\n');
        str_cut(&line, ' ');
        str_cut(&line, ' ');
        str tag = str_cut(&line, ' ');
        buf_add(&b, line);
        if (str_eqz(tag, "F"))
            buf_addc(&b, '\n');
    }
    str s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

int rig_processes(const char *text)
{
    AUTO(arena) struct arena *a = arena_new();
    DIR *d = opendir("/proc");
    int n = 0;

    for (struct dirent *at; (at = readdir(d));) {
        if (at->d_name[0] < '0' || at->d_name[0] > '9' || atoi(at->d_name) == getpid())
            continue;
        str cmd = rig_read(a, arena_printf(a, "/proc/%s/cmdline", at->d_name).p);
        n += memmem(cmd.p, cmd.n, text, strlen(text)) != NULL;
    }
    closedir(d);
    return n;
}

bool rig_processes_are(const char *text, int n)
{
    for (int64_t end = rig_patience(); boot_now_ms() < end; usleep(5000))
        if (rig_processes(text) == n)
            return true;
    printf("# %d processes have '%s'\n", rig_processes(text), text);
    return false;
}
