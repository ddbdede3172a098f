/* Creates that failed and wait before they are tried again, each for itself, so that one name that
 * somebody else has holds up nothing but itself. Who waits for a name is told when it becomes free:
 * by the cache, if the holder is in it, else by a watch on that one object. */

#include "ctl/internal.h"

#include "base/mem.h"
#include "kube/meta.h"

enum { GUARDS_MAX = 64, GUARD_MS = 5 * 60 * 1000 };

struct guard {
    struct guard *next;
    struct ctl *c;
    const struct kube_resource *res;
    struct kube_call *call;
    struct loop_timer *ended; /* its memory goes when nobody is in it */
    uint16_t n_ns;
    char key[]; /* "ns/name" */
};

static str hold_key(struct arena *a, const struct kube_resource *res, str ns, str name)
{
    return arena_printf(a, "%s.%s/%" PRI_STR "/%" PRI_STR, res->plural, res->group, STR_ARG(ns),
                        STR_ARG(name));
}

struct hold *hold_find(const struct ctl_job *j, const struct kube_resource *res, str name)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!j->facts || !j->facts->holds.n)
        return NULL;
    return map_get(&j->facts->holds, hold_key(a, res, ctl_job_ns(j), name));
}

struct hold *hold_add(struct ctl *c, struct ctl_job *j, const struct kube_resource *res, str name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct facts *f = ctl_job_facts(c, j);
    str key = hold_key(a, res, ctl_job_ns(j), name);
    struct hold *h = map_get(&f->holds, key);

    if (h)
        return h;
    h = mem_new(sizeof(*h) + key.n + 1);
    memcpy(h->key, key.p, key.n);
    h->job = j;
    map_put(&f->holds, str_of(h->key), h);
    return h;
}

void hold_wait(struct ctl *c, struct hold *h)
{
    if (h->waits)
        return;
    h->waits = true;
    h->next_waiter = map_put(&c->waiters, str_of(h->key), h);
}

static void stop_waiting(struct ctl *c, struct hold *h)
{
    if (!h->waits)
        return;
    h->waits = false;
    struct hold *first = map_get(&c->waiters, str_of(h->key));
    if (first == h) {
        map_remove(&c->waiters, str_of(h->key));
        if (h->next_waiter)
            map_put(&c->waiters, str_of(h->next_waiter->key), h->next_waiter);
        return;
    }
    while (first && first->next_waiter != h)
        first = first->next_waiter;
    if (first)
        first->next_waiter = h->next_waiter;
}

static void hold_free(struct ctl *c, struct hold *h)
{
    stop_waiting(c, h);
    map_remove(&h->job->facts->holds, str_of(h->key));
    free(h);
}

void hold_drop(struct ctl *c, struct ctl_job *j, const struct kube_resource *res, str name)
{
    struct hold *h = hold_find(j, res, name);

    if (h)
        hold_free(c, h);
}

/* With its own name, or that of all of its resource: what is later. */
static int64_t until_ms(const struct ctl_job *j, const struct hold *h)
{
    str all = str_of(h->key);

    while (all.n && all.p[all.n - 1] != '/')
        all.n--;
    const struct hold *of_all = map_get(&j->facts->holds, all);
    return of_all && of_all->until_ms > h->until_ms ? of_all->until_ms : h->until_ms;
}

int64_t holds_next_ms(struct ctl *c, struct ctl_job *j, const struct outcome *o)
{
    int64_t next = o->held_until_ms ? o->held_until_ms : INT64_MAX, now = queue_us() / 1000;

    if (!j->facts)
        return 0;
    MAP_EACH (s, &j->facts->holds) {
        struct hold *h = s->value;
        int64_t until = until_ms(j, h);
        if (h->until_ms <= now && !o->held)
            hold_free(c, h);
        else if (until > now && until < next) /* one that is over waits for nothing */
            next = until;
    }
    return next < INT64_MAX ? next : 0;
}

void holds_free(struct ctl *c, struct ctl_job *j)
{
    if (!j->facts)
        return;
    MAP_EACH (s, &j->facts->holds)
        hold_free(c, s->value);
    map_done(&j->facts->holds);
}

void name_freed(struct ctl *c, const struct kube_resource *res, str ns, str name)
{
    if (!c->waiters.n)
        return;
    AUTO(arena) struct arena *a = arena_new();
    for (struct hold *h = map_get(&c->waiters, hold_key(a, res, ns, name)); h; h = h->next_waiter) {
        h->until_ms = 0;
        h->failures = 0;
        ctl_job_touch(c, h->job);
    }
}

/* ---- watches on one object */

static void guard_free(struct ctl *c, struct guard *g)
{
    struct guard **p = &c->guards;

    while (*p != g)
        p = &(*p)->next;
    *p = g->next;
    c->n_guards--;
    if (g->call)
        kube_cancel(c->api, g->call);
    loop_timer_stop(g->ended);
    free(g);
}

/* The object is gone, or nobody watches it any more: what we know of it is not to be relied on. */
static void guard_over(void *arg)
{
    struct guard *g = arg;
    struct ctl *c = g->c;
    AUTO(arena) struct arena *a = arena_new();
    str ns = arena_str(a, (str){ g->key, g->n_ns });
    str name = arena_str(a, str_of(g->key + g->n_ns + 1));
    const struct kube_resource *res = g->res;
    struct store *s = store_of(c, res);
    struct item *it = s ? item_find(s, ns, name) : NULL;

    guard_free(c, g);
    if (it && it->guarded)
        item_drop(s, it);
    else
        name_freed(c, res, ns, name);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct guard *g = ctx;

    (void)obj;
    if (type == KUBE_DELETED && !g->ended)
        g->ended = loop_timer_start(g->c->loop, 0, 0, guard_over, g);
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct guard *g = ctx;
    int64_t pause = retry_after_ms > 1000 ? retry_after_ms : 1000;

    g->call = NULL;
    if (!g->ended) /* looks again by trying to create it */
        g->ended = loop_timer_start(g->c->loop, e ? pause : 0, 0, guard_over, g);
}

void guard_start(struct ctl *c, const struct kube_resource *res, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    str ns = meta_namespace(obj), name = meta_name(obj);
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name));

    for (struct guard *g = c->guards; g; g = g->next)
        if (g->res == res && str_eqz(key, g->key))
            return;
    if (c->n_guards >= GUARDS_MAX)
        return; /* tried again after a while, as ever */
    struct guard *g = mem_new(sizeof(*g) + key.n + 1);
    memcpy(g->key, key.p, key.n);
    g->n_ns = (uint16_t)ns.n;
    g->c = c;
    g->res = res;
    g->next = c->guards;
    c->guards = g;
    c->n_guards++;
    struct kube_request r = {
        .verb = KUBE_WATCH,
        .res = res,
        .ns = ns,
        .fields = arena_printf(a, "metadata.name=%" PRI_STR, STR_ARG(name)),
        .version = meta_resource_version(obj),
        .timeout_ms = GUARD_MS,
    };
    struct kube_watcher w = { .on_event = on_event, .on_end = on_end, .ctx = g };
    g->call = kube_watch(c->api, &r, &w);
}

void guards_free(struct ctl *c)
{
    while (c->guards)
        guard_free(c, c->guards);
}
