/* See fake.h. Events are told from a deferred call, never from within one. */

#include "fake.h"

#include "base/mem.h"
#include "node/warden_record.h"

#include <signal.h>
#include <stdio.h>

struct container {
    struct container *next;
    struct jdoc *told;
    int64_t attempt, started_ms, finished_ms, starts;
    int code, signo;
    bool oom, runs, failed, lost;
    char name[64];
};

struct runtime_pod {
    struct runtime_pod *next;
    struct fake *f;
    struct runtime_sink sink;
    struct jdoc *sandbox;
    struct container *containers;
    bool attached, alive, idle;
    char uid[64];
};

struct event {
    struct event *next;
    struct runtime_pod *p;
    struct runtime_event ev;
    char container[64];
};

struct fake {
    struct runtime rt;
    struct loop *loop;
    struct runtime_pod *pods;
    struct event *first, *last;
    bool deferred;
    int exec_code;
};

bool fake_twice;

static struct runtime_pod *pod_of(const struct fake *f, str uid)
{
    for (struct runtime_pod *p = f->pods; p; p = p->next)
        if (str_eqz(uid, p->uid))
            return p;
    return NULL;
}

static struct container *container_of(const struct runtime_pod *p, str name)
{
    for (struct container *c = p ? p->containers : NULL; c; c = c->next)
        if (str_eqz(name, c->name))
            return c;
    return NULL;
}

static jv state_of(struct arena *a, const struct runtime_pod *p)
{
    struct jbuild b = jb_obj(a);

    for (struct container *c = p->containers; c; c = c->next)
        jb_set(&b, str_of(c->name),
               jobj(a, { "attempt", jint(a, c->attempt) }, { "started_ms", jint(a, c->started_ms) },
                    { "finished_ms", c->runs ? JV_ABSENT : jint(a, c->finished_ms) },
                    { "code", jint(a, c->code) }, { "signal", jint(a, c->signo) },
                    { "oom", jbool(c->oom) }, { "lost", c->lost ? JV_TRUE : JV_ABSENT }));
    return jobj(a, { "ip", jv_at(jdoc_root(p->sandbox), "net", "ip") },
                { "containers", jb_done(&b) }, { "idle", p->idle ? JV_TRUE : JV_ABSENT });
}

static void tell_all(void *arg)
{
    struct fake *f = arg;

    f->deferred = false;
    while (f->first) {
        AUTO(arena) struct arena *a = arena_new();
        struct event *x = f->first;
        f->first = x->next;
        if (!f->first)
            f->last = NULL;
        x->ev.container = str_of(x->container);
        x->ev.state = state_of(a, x->p);
        if (x->p->attached)
            x->p->sink.on_event(x->p->sink.ctx, &x->ev);
        free(x);
    }
}

static void tell(struct runtime_pod *p, struct runtime_event ev, const char *container)
{
    struct fake *f = p->f;
    struct event *x = mem_new(sizeof(*x));

    x->p = p;
    x->ev = ev;
    if (container)
        memcpy(x->container, container, strlen(container));
    *(f->last ? &f->last->next : &f->first) = x;
    f->last = x;
    if (!f->deferred)
        loop_defer(f->loop, tell_all, f);
    f->deferred = true;
}

static void end_container(struct container *c, struct runtime_pod *p, int code, int signo, bool oom)
{
    if (!c->runs)
        return;
    c->runs = false;
    c->code = code;
    c->signo = signo;
    c->oom = oom;
    c->finished_ms = wall_now_ms();
    tell(p,
         (struct runtime_event){ .what = RUNTIME_EXITED,
                                 .at_ms = c->finished_ms,
                                 .code = code,
                                 .signo = signo,
                                 .oom = oom },
         c->name);
}

/* ---- the runtime */

static struct runtime_pod *spawn(struct runtime *rt, str uid, jv sandbox,
                                 const struct runtime_sink *sink)
{
    struct fake *f = (struct fake *)rt;
    struct runtime_pod *p = pod_of(f, uid);
    struct arena *a = arena_new();

    if (!p) {
        p = mem_new(sizeof(*p));
        memcpy(p->uid, uid.p, uid.n);
        p->f = f;
        p->next = f->pods;
        f->pods = p;
    }
    jdoc_unref(p->sandbox);
    p->sandbox = jdoc_of(a, jv_copy(a, sandbox));
    p->sink = *sink;
    p->attached = p->alive = true;
    tell(p, (struct runtime_event){ .what = RUNTIME_HELLO }, NULL);
    return p;
}

static struct runtime_pod *adopt(struct runtime *rt, str uid, const struct runtime_sink *sink)
{
    struct runtime_pod *p = pod_of((struct fake *)rt, uid);

    if (!p)
        return NULL;
    p->sink = *sink;
    p->attached = true;
    tell(p, (struct runtime_event){ .what = p->alive ? RUNTIME_HELLO : RUNTIME_GONE }, NULL);
    return p;
}

static void start(struct runtime_pod *p, jv told)
{
    str name = jv_str(jv_at(told, "name"), S(""));
    jv argv = jv_at(told, "argv");
    str what = jv_str(jv_index(argv, jv_len(argv) - 1), S(""));
    struct container *c = container_of(p, name);
    struct arena *a = arena_new();
    int64_t code = 0;

    if (!c) {
        c = mem_new(sizeof(*c));
        memcpy(c->name, name.p, name.n);
        c->next = p->containers;
        p->containers = c;
    }
    fake_twice |= c->runs || !p->alive;
    jdoc_unref(c->told);
    c->told = jdoc_of(a, jv_copy(a, told));
    c->attempt = jv_int(jv_at(told, "attempt"), 0);
    c->starts++;
    c->started_ms = wall_now_ms();
    if (str_eq(what, S("fail"))) {
        tell(p, (struct runtime_event){ .what = RUNTIME_FAILED, .why = S("exec format error") },
             c->name);
        return;
    }
    c->runs = true;
    tell(p, (struct runtime_event){ .what = RUNTIME_STARTED, .at_ms = c->started_ms, .pid = 7 },
         c->name);
    if (str_starts(what, S("exit ")) && str_to_int(str_sub(what, 5, what.n), &code))
        end_container(c, p, (int)code, 0, false);
}

static void signal_one(struct runtime_pod *p, str name, int signo)
{
    struct container *c = container_of(p, name);
    jv argv = c ? jv_at(jdoc_root(c->told), "argv") : JV_ABSENT;
    bool stubborn = str_eq(jv_str(jv_index(argv, jv_len(argv) - 1), S("")), S("stubborn"));

    if (c && (signo == SIGKILL || !stubborn))
        end_container(c, p, -1, signo, false);
}

static void exec(struct runtime_pod *p, uint64_t id, str name, jv argv, int64_t timeout_ms)
{
    (void)name;
    (void)argv;
    (void)timeout_ms;
    tell(p,
         (struct runtime_event){
             .what = RUNTIME_EXEC_EXITED, .id = id, .code = p->f->exec_code, .out = S("said") },
         NULL);
}

static void end(struct runtime_pod *p, int64_t grace_ms)
{
    (void)grace_ms;
    for (struct container *c = p->containers; c; c = c->next)
        end_container(c, p, -1, SIGKILL, false);
    p->alive = false;
    tell(p, (struct runtime_event){ .what = RUNTIME_GONE }, NULL);
}

static void drop(struct runtime_pod *p)
{
    p->attached = false;
}

static jv list(struct runtime *rt, struct arena *a)
{
    struct jbuild b = jb_arr(a);

    for (struct runtime_pod *p = ((struct fake *)rt)->pods; p; p = p->next)
        jb_push(&b, jstr(a, arena_str(a, str_of(p->uid))));
    return jb_done(&b);
}

static void pod_done(struct runtime_pod *p)
{
    for (struct container *c = p->containers, *next; c; c = next) {
        next = c->next;
        jdoc_unref(c->told);
        free(c);
    }
    jdoc_unref(p->sandbox);
    free(p);
}

static void forget(struct runtime *rt, str uid)
{
    struct fake *f = (struct fake *)rt;

    for (struct runtime_pod **at = &f->pods; *at; at = &(*at)->next)
        if (str_eqz(uid, (*at)->uid)) {
            struct runtime_pod *p = *at;
            *at = p->next;
            for (struct event *x = f->first; x; x = x->next)
                if (x->p == p)
                    abort(); /* forgotten while events are under way */
            pod_done(p);
            return;
        }
}

static const struct runtime_ops ops = {
    .spawn = spawn,
    .adopt = adopt,
    .start = start,
    .signal = signal_one,
    .exec = exec,
    .end = end,
    .drop = drop,
    .list = list,
    .forget = forget,
};

/* ---- for tests */

struct fake *fake_new(struct loop *l)
{
    struct fake *f = mem_new(sizeof(*f));

    f->rt.ops = &ops;
    f->loop = l;
    return f;
}

void fake_free(struct fake *f)
{
    for (struct runtime_pod *p = f->pods, *next; p; p = next) {
        next = p->next;
        pod_done(p);
    }
    for (struct event *x = f->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    free(f);
}

struct runtime *fake_runtime(struct fake *f)
{
    return &f->rt;
}

bool fake_runs(const struct fake *f, str uid, str name)
{
    struct container *c = container_of(pod_of(f, uid), name);

    return c && c->runs;
}

size_t fake_count(const struct fake *f)
{
    size_t n = 0;

    for (struct runtime_pod *p = f->pods; p; p = p->next)
        n++;
    return n;
}

jv fake_told(const struct fake *f, str uid, str name)
{
    struct container *c = container_of(pod_of(f, uid), name);

    return c ? jdoc_root(c->told) : JV_ABSENT;
}

jv fake_sandbox(const struct fake *f, str uid)
{
    struct runtime_pod *p = pod_of(f, uid);

    return p ? jdoc_root(p->sandbox) : JV_ABSENT;
}

void fake_keep(const struct fake *f, const char *data, str uid)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    str path = arena_printf(a, "%s/pods/%" PRI_STR "/sandbox", data, STR_ARG(uid));
    FILE *file = fopen(path.p, "we");

    warden_record_add(&b, "", fake_sandbox(f, uid));
    fwrite(b.p, 1, b.n, file);
    fclose(file);
}

int64_t fake_starts(const struct fake *f, str uid, str name)
{
    struct container *c = container_of(pod_of(f, uid), name);

    return c ? c->starts : 0;
}

void fake_exit(struct fake *f, str uid, str name, int code, int signo, bool oom)
{
    struct runtime_pod *p = pod_of(f, uid);
    struct container *c = container_of(p, name);

    if (c)
        end_container(c, p, code, signo, oom);
}

void fake_kill(struct fake *f, str uid)
{
    struct runtime_pod *p = pod_of(f, uid);

    if (!p)
        return;
    for (struct container *c = p->containers; c; c = c->next)
        if (c->runs) { /* nobody was left to see it */
            c->runs = false;
            c->lost = true;
            c->code = -1;
            c->signo = SIGKILL;
            c->finished_ms = wall_now_ms();
        }
    p->alive = false;
    tell(p, (struct runtime_event){ .what = RUNTIME_GONE }, NULL);
}

void fake_clear(struct fake *f, str uid)
{
    struct runtime_pod *p = pod_of(f, uid);

    if (!p)
        return;
    p->idle = true;
    p->alive = false;
    tell(p, (struct runtime_event){ .what = RUNTIME_GONE }, NULL);
}

void fake_exec_code(struct fake *f, int code)
{
    f->exec_code = code;
}
