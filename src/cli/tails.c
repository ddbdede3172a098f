/* See tails.h. A connection that breaks is made again, and what came before is passed over. */

#include "cli/tails.h"

#include "cli/podlog.h"
#include "loop/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LINE_MOST = 1 << 20,
    KEPT_LINES = 20,
    KEPT_BYTES = 2000,
    AGAIN_MS = 250,
    TRIES = 120,
    TRIES_REFUSED = 4
};

/* The last lines of one replica. */
struct kept {
    char *key;
    struct buf lines[KEPT_LINES];
    size_t next;
};

/* The runs of one container of one pod: one is read at a time. */
struct tail {
    struct tails *t;
    const struct run_job *j;
    char *key; /* uid/container */
    struct arena *a;
    str replica;
    str container; /* empty: the main one */
    struct podlog_opts o;
    int64_t run;    /* that is read, or was read last; -1: none yet */
    int64_t latest; /* that has begun; -1: none */
    bool open;
    struct kube_call *call;
    struct loop_timer *again;
    int tries;
    uint64_t got;  /* bytes of this run */
    uint64_t skip; /* of those to come, as they came before */
    struct buf part;
};

struct tails {
    struct tails_opts o;
    struct map tails;
    struct map kept;
    size_t open;
    uint64_t bytes;
};

struct tails *tails_new(const struct tails_opts *o)
{
    struct tails *t = mem_new(sizeof(*t));

    t->o = *o;
    return t;
}

/* ---- lines */

static str kept_key(struct arena *a, const struct run_job *j, str replica)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(j->uid), STR_ARG(replica));
}

static void keep(struct tail *x, str line)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = kept_key(a, x->j, x->replica);
    struct kept *k = map_get(&x->t->kept, key);

    if (!k) {
        k = mem_new(sizeof(*k));
        k->key = mem_or_abort(strdup(key.p));
        map_put(&x->t->kept, str_of(k->key), k);
    }
    struct buf *b = &k->lines[k->next++ % KEPT_LINES];
    buf_clear(b);
    buf_add(b, str_clip(line, KEPT_BYTES));
}

str tails_last(const struct tails *t, struct arena *a, const struct run_job *j, str replica)
{
    const struct kept *k = map_get(&t->kept, kept_key(a, j, replica));
    AUTO(buf) struct buf b = { 0 };

    if (!k)
        return STR_NONE;
    for (size_t i = k->next > KEPT_LINES ? k->next - KEPT_LINES : 0; i < k->next; i++) {
        str line = buf_str(&k->lines[i % KEPT_LINES]);
        buf_add_utf8(&b, line);
        buf_addc(&b, '\n');
    }
    return arena_str(a, buf_str(&b));
}

static void tell_line(struct tail *x)
{
    str line = buf_str(&x->part);

    keep(x, line);
    x->t->o.on_line(x->t->o.ctx, x->j, x->replica, x->container, line);
    buf_clear(&x->part);
}

static void on_bytes(void *ctx, str bytes)
{
    struct tail *x = ctx;
    size_t known = x->skip < bytes.n ? (size_t)x->skip : bytes.n;

    x->skip -= known;
    bytes = str_sub(bytes, known, bytes.n);
    x->got += bytes.n;
    x->t->bytes += bytes.n;
    x->tries = bytes.n ? 0 : x->tries;
    while (bytes.n) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
        buf_add(&x->part, str_sub(bytes, 0, n));
        bytes = str_sub(bytes, n + (end != NULL), bytes.n);
        if (end || x->part.n > LINE_MOST)
            tell_line(x);
    }
}

/* ---- runs */

static void read_next_run(struct tail *x);

static void ask(void *arg);

static void end_run(struct tail *x)
{
    if (x->part.n)
        tell_line(x);
    x->open = false;
    x->t->open--;
    read_next_run(x);
    if (!x->t->open)
        x->t->o.on_end(x->t->o.ctx);
}

static void on_done(void *ctx, const struct kube_answer *ans)
{
    struct tail *x = ctx;
    bool broken = ans->err.code == ERR_UNAVAILABLE || ans->err.code == ERR_TIMEOUT ||
                  ans->err.code == ERR_TOO_MANY_REQUESTS;
    bool refused = ans->err.code == ERR_BAD_REQUEST; /* "is waiting to start": we are early */

    x->call = NULL;
    if ((broken && x->tries++ < TRIES) || (refused && x->tries++ < TRIES_REFUSED)) {
        x->skip = x->got;
        x->again = loop_timer_start(x->t->o.s->loop, AGAIN_MS, 0, ask, x);
        return;
    }
    if (ans->err.code)
        x->t->o.on_trouble(x->t->o.ctx, x->j, x->replica,
                           ans->message.n ? ans->message : str_of(ans->err.msg));
    end_run(x);
}

/* A server of ours takes attempt and uid; others give the run they have. */
static void ask(void *arg)
{
    struct tail *x = arg;
    AUTO(arena) struct arena *a = arena_new();
    struct podlog_opts o = x->o;

    loop_timer_stop(TAKE(x->again));
    o.previous = x->run + 1 == x->latest;
    str path = arena_printf(a, "%" PRI_STR "&uid=%" PRI_STR "&attempt=%" PRId64,
                            STR_ARG(podlog_path(a, &o)),
                            STR_ARG(str_cut(&(str){ x->key, strlen(x->key) }, '/')), x->run);
    struct kube_get get = { .path = path, .accept = "*/*", .on_bytes = on_bytes };
    x->call = kube_get(x->t->o.s->api, &get, on_done, x);
}

static void read_next_run(struct tail *x)
{
    if (x->open || x->run >= x->latest)
        return;
    x->run++;
    x->open = true;
    x->t->open++;
    x->tries = 0;
    x->got = x->skip = 0;
    ask(x);
}

/* ---- which */

static struct tail *tail_of(struct tails *t, struct run_job *j, jv pod, str container)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(meta_uid(pod)), STR_ARG(container));
    struct tail *x = map_get(&t->tails, key);

    if (x)
        return x;
    x = mem_new(sizeof(*x));
    x->t = t;
    x->j = j;
    x->key = mem_or_abort(strdup(key.p));
    x->a = arena_new();
    x->replica = arena_str(x->a, run_pod_replica(a, j, pod));
    x->container = str_eq(container, j->container) ? STR_NONE : arena_str(x->a, container);
    x->run = x->latest = -1;
    x->o = (struct podlog_opts){ .ns = arena_str(x->a, meta_namespace(pod)),
                                 .pod = arena_str(x->a, meta_name(pod)),
                                 .container = arena_str(x->a, container),
                                 .follow = true,
                                 .tail = -1 };
    map_put(&t->tails, str_of(x->key), x);
    return x;
}

static void see_container(struct tails *t, struct run_job *j, jv pod, jv status)
{
    str name = jv_str(jv_at(status, "name"), STR_NONE);
    jv state = jv_at(status, "state");
    int64_t restarts = jv_int(jv_at(status, "restartCount"), 0);
    bool begun = !jv_is_null(jv_at(state, "running")) || !jv_is_null(jv_at(state, "terminated"));
    bool failed = jv_int(jv_at(state, "terminated", "exitCode"), 0) != 0 ||
                  jv_int(jv_at(status, "lastState", "terminated", "exitCode"), 0) != 0;

    if (!str_eq(name, j->container) && !failed)
        return; /* of those beside it only what went wrong */
    struct tail *x = tail_of(t, j, pod, name);
    int64_t latest = begun || !jv_is_null(jv_at(status, "lastState", "terminated")) ? restarts : -1;
    if (latest > x->latest)
        x->latest = latest;
    read_next_run(x);
}

void tails_see(struct tails *t, struct run_job *j, jv pod)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "status", lists[i]))
            see_container(t, j, pod, it.value);
}

bool tails_are_open(const struct tails *t)
{
    return t->open != 0;
}

uint64_t tails_bytes(const struct tails *t)
{
    return t->bytes;
}

void tails_free(struct tails *t)
{
    if (!t)
        return;
    MAP_EACH (slot, &t->tails) {
        struct tail *x = slot->value;
        if (x->call)
            kube_cancel(t->o.s->api, x->call);
        loop_timer_stop(x->again);
        buf_done(&x->part);
        arena_free(x->a);
        free(x->key);
        free(x);
    }
    MAP_EACH (slot, &t->kept) {
        struct kept *k = slot->value;
        for (size_t i = 0; i < KEPT_LINES; i++)
            buf_done(&k->lines[i]);
        free(k->key);
        free(k);
    }
    map_done(&t->tails);
    map_done(&t->kept);
    free(t);
}
