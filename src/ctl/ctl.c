/* Puts the parts together: an informer for each resource, what each tells, and when passes run. */

#include "ctl/internal.h"

#include "base/mem.h"

#include <malloc.h>

enum { PASS_BUDGET_US = 2000, STOP_EVENTS_MS = 5000, TRIM_AFTER = 500 };

static const struct ctl_limits usual = {
    .in_flight = 256,
    .passes = 16,
    .page = 500,
    .backoff_max_ms = 60000,
    .relist_max_ms = 30000,
};

/* ---- what informers tell */

static void changed(struct ctl *c);

static void job_told(void *ctx, jv obj)
{
    ctl_job_put(ctx, obj, true);
}

static void on_job_gone(void *ctx, jv obj)
{
    ctl_job_gone(ctx, obj);
}

static void on_jobs_listed(void *ctx, unsigned n, uint64_t rev)
{
    ctl_job_sweep(ctx, n, rev);
}

static void jobs_changed(void *ctx)
{
    struct kind *k = ctx;

    changed(k->c);
}

static const struct informer_ops job_ops = { job_told, on_job_gone, on_jobs_listed, jobs_changed };

static void item_told(void *ctx, jv obj)
{
    item_put(ctx, obj, PUT_WATCH);
}

static void on_item_gone(void *ctx, jv obj)
{
    item_gone(ctx, obj);
}

static void on_items_listed(void *ctx, unsigned n, uint64_t rev)
{
    item_sweep(ctx, n, rev);
}

static void items_changed(void *ctx)
{
    struct store *s = ctx;
    bool served = informer_is_listed(s->inf) && informer_is_served(s->inf);

    if (s->needed && served != s->was_served)
        for (size_t i = 0; i < s->c->n_kinds; i++)
            ctl_jobs_touch_all(&s->c->kinds[i]);
    s->was_served = served;
    changed(s->c);
}

static const struct informer_ops item_ops = { item_told, on_item_gone, on_items_listed,
                                              items_changed };

/* ---- passes */

/* A deferred call cannot be taken back: this outlives the ctl. */
struct tick {
    struct ctl *c;
};

static void passes_run(void *arg);

/* More plans than requests that can be sent at once would only wait, and take memory. */
static bool may_pass(const struct ctl *c)
{
    return c->leads && !c->stopping && c->queue.n_ready &&
           c->sender.n_runs < c->o.limits.in_flight / (c->sender.first ? 2 : 1);
}

static void passes_defer(struct ctl *c)
{
    if (c->tick || !may_pass(c))
        return;
    c->tick = mem_new(sizeof(*c->tick));
    c->tick->c = c;
    loop_defer(c->loop, passes_run, c->tick);
}

static void on_ready(void *ctx)
{
    passes_defer(ctx);
}

/* Those whose kind is not ready wait aside: they are touched when it is. */
static void passes_run(void *arg)
{
    struct tick *t = arg;
    struct ctl *c = t->c;
    int64_t until_us = queue_us() + PASS_BUDGET_US;

    free(t);
    if (!c)
        return;
    c->tick = NULL;
    for (unsigned i = 0; i < c->o.limits.passes && may_pass(c); i++) {
        struct queue_entry *e = queue_take(&c->queue);
        if (!e)
            break;
        struct ctl_job *j = (struct ctl_job *)e;
        if (job_is_at_rest(j->state) && kind_is_ready(j->kind))
            pass_run(c, j);
        if (queue_us() > until_us)
            break;
    }
    passes_defer(c);
    sender_kick(c);
}

static void changed(struct ctl *c)
{
    for (size_t i = 0; i < c->n_kinds; i++) {
        struct kind *k = &c->kinds[i];
        if (k->ready || !kind_is_ready(k))
            continue;
        k->ready = true;
        ctl_jobs_touch_all(k);
    }
}

static void on_event_answer(void *ctx)
{
    struct ctl *c = ctx;

    c->worked++;
    sender_kick(c);
    ctl_settle(c);
}

/* ---- */

static void add_store(struct ctl *c, const struct kube_resource *res, enum item_what what)
{
    if (store_of(c, res))
        return;
    c->stores[c->n_stores++] = (struct store){ .c = c, .res = res, .what = what };
}

static void add_needed(struct ctl *c, const struct planner_needed *needed)
{
    add_store(c, needed->res, needed->verbs ? ITEM_OTHER : ITEM_CLASS);
    store_of(c, needed->res)->needed = needed;
}

static str selector(struct arena *a, const struct ctl *c)
{
    AUTO(buf) struct buf b = { 0 };

    buf_printf(&b, "%s in (", LABEL_OPERATOR);
    for (size_t i = 0; i < c->n_kinds; i++)
        buf_printf(&b, "%s%s", i ? "," : "", c->kinds[i].planner->controller);
    buf_add(&b, S(")"));
    return arena_str(a, buf_str(&b));
}

static void add_informers(struct ctl *c)
{
    AUTO(arena) struct arena *a = arena_new();
    struct informer_opts o = {
        .loop = c->loop,
        .api = c->api,
        .turns = &c->turns,
        .ns = c->o.ns,
        .page = c->o.limits.page,
        .retry_max_ms = c->o.limits.relist_max_ms,
    };

    for (size_t i = 0; i < c->n_kinds; i++) {
        o.res = c->kinds[i].planner->res;
        o.ops = &job_ops;
        o.ctx = &c->kinds[i];
        c->kinds[i].inf = informer_new(&o);
    }
    str labels = selector(a, c);
    for (size_t i = 0; i < c->n_stores; i++) {
        struct store *s = &c->stores[i];
        o.res = s->res;
        o.ns = s->res->cluster_wide ? S("") : c->o.ns;
        o.labels = s->needed ? S("") : labels;
        o.install = s->needed ? s->needed->install : NULL;
        o.metadata = s->what == ITEM_SERVICE;
        o.ops = &item_ops;
        o.ctx = s;
        s->inf = informer_new(&o);
    }
}

struct ctl *ctl_new(struct loop *l, struct kube_api *api, const struct ctl_opts *o)
{
    struct ctl *c = mem_new(sizeof(*c));
    size_t n_stores = 2;

    c->loop = l;
    c->api = api;
    c->o = *o;
    c->leads = !o->standby;
    c->wall_ms = o->wall_ms ? o->wall_ms : wall_now_ms;
    struct ctl_limits *m = &c->o.limits;
    m->in_flight = m->in_flight ? m->in_flight : usual.in_flight;
    m->passes = m->passes ? m->passes : usual.passes;
    m->page = m->page ? m->page : usual.page;
    m->backoff_max_ms = m->backoff_max_ms ? m->backoff_max_ms : usual.backoff_max_ms;
    m->relist_max_ms = m->relist_max_ms ? m->relist_max_ms : usual.relist_max_ms;
    c->n_kinds = o->n;
    c->kinds = mem_array(o->n ? o->n : 1, sizeof(*c->kinds));
    c->stats.kinds = mem_array(o->n ? o->n : 1, sizeof(*c->stats.kinds));
    for (size_t i = 0; i < o->n; i++) {
        c->kinds[i] = (struct kind){ .c = c, .planner = o->planners[i] };
        for (size_t k = 0; o->planners[i]->owned && o->planners[i]->owned[k].res; k++)
            n_stores++;
    }
    for (const struct planner_needed *x = o->needed; x && x->res; x++)
        n_stores++;
    c->stores = mem_array(n_stores, sizeof(*c->stores));
    add_store(c, &kube_pods, ITEM_POD);
    add_store(c, &kube_services, ITEM_SERVICE);
    for (size_t i = 0; i < o->n; i++)
        for (size_t k = 0; o->planners[i]->owned && o->planners[i]->owned[k].res; k++)
            add_store(c, o->planners[i]->owned[k].res, ITEM_OTHER);
    for (const struct planner_needed *x = o->needed; x && x->res; x++)
        add_needed(c, x);
    queue_init(&c->queue, l, c->wall_ms, m->backoff_max_ms, on_ready, c);
    c->events = events_new(l, api, c->wall_ms, on_event_answer, c);
    add_informers(c);
    return c;
}

void ctl_start(struct ctl *c)
{
    for (size_t i = 0; i < c->n_stores; i++) /* first: no job is looked at before */
        informer_start(c->stores[i].inf);
    for (size_t i = 0; i < c->n_kinds; i++)
        informer_start(c->kinds[i].inf);
}

void ctl_lead(struct ctl *c, bool lead)
{
    if (c->leads == lead)
        return;
    c->leads = lead;
    for (size_t i = 0; i < c->n_kinds && lead; i++)
        ctl_jobs_touch_all(&c->kinds[i]);
    passes_defer(c);
}

bool ctl_may_write(const struct ctl *c)
{
    return c->leads && (!c->o.may_write || c->o.may_write(c->o.ctx));
}

/* ---- stopping */

static void stopped(void *arg)
{
    struct ctl *c = arg;

    loop_timer_stop(c->stop_timer);
    c->stop_timer = NULL;
    void (*done)(void *) = c->on_stopped;
    c->on_stopped = NULL;
    if (done)
        done(c->stopped_arg);
}

void ctl_settle(struct ctl *c)
{
    passes_defer(c);
    if (c->worked >= TRIM_AFTER && ctl_is_idle(c)) {
        c->worked = 0;
        malloc_trim(0);
    }
    if (!c->on_stopped || c->sender.n_runs || c->stop_now)
        return;
    if (events_pending(c->events) && queue_us() < c->stop_by_us)
        return;
    c->stop_now = true;
    loop_timer_stop(c->stop_timer);
    c->stop_timer = loop_timer_start(c->loop, 0, 0, stopped, c);
}

static void on_stop_time(void *arg)
{
    struct ctl *c = arg;

    c->stop_by_us = 0;
    ctl_settle(c);
}

void ctl_stop(struct ctl *c, void (*done)(void *arg), void *arg)
{
    c->stopping = true;
    c->on_stopped = done;
    c->stopped_arg = arg;
    for (size_t i = 0; i < c->n_stores; i++)
        informer_stop(c->stores[i].inf);
    for (size_t i = 0; i < c->n_kinds; i++)
        informer_stop(c->kinds[i].inf);
    guards_free(c);
    c->stop_by_us = queue_us() + (int64_t)STOP_EVENTS_MS * 1000;
    c->stop_timer = loop_timer_start(c->loop, STOP_EVENTS_MS, 0, on_stop_time, c);
    sender_kick(c);
    ctl_settle(c);
}

void ctl_free(struct ctl *c)
{
    if (!c)
        return;
    c->stopping = true;
    if (c->tick)
        c->tick->c = NULL;
    loop_timer_stop(c->stop_timer);
    defer_stop(c);
    guards_free(c);
    runs_free(c);
    events_free(c->events);
    for (size_t i = 0; i < c->n_stores; i++)
        informer_free(c->stores[i].inf);
    for (size_t i = 0; i < c->n_kinds; i++)
        informer_free(c->kinds[i].inf);
    cache_free(c);
    ctl_jobs_free(c);
    map_done(&c->waiters);
    queue_done(&c->queue);
    assert(c->slab.bytes == 0);
    stats_done(&c->stats);
    free(c->kinds);
    free(c->stores);
    free(c);
}

/* ---- how it is */

bool ctl_is_synced(const struct ctl *c)
{
    for (size_t i = 0; i < c->n_kinds; i++)
        if (!informer_is_synced(c->kinds[i].inf))
            return false;
    for (size_t i = 0; i < c->n_stores; i++) {
        const struct store *s = &c->stores[i];
        if (!informer_is_synced(s->inf) && !store_may_lack(s))
            return false;
    }
    return true;
}

bool ctl_is_idle(const struct ctl *c)
{
    return !c->queue.n_ready && !c->sender.n_runs && !c->deferred && !c->n_reading &&
           !events_pending(c->events);
}

str ctl_trouble(const struct ctl *c)
{
    str t = S("");

    for (size_t i = 0; i < c->n_stores && !t.n; i++)
        if (!store_may_lack(&c->stores[i]))
            t = informer_trouble(c->stores[i].inf);
    for (size_t i = 0; i < c->n_kinds && !t.n; i++)
        t = informer_trouble(c->kinds[i].inf);
    return t;
}
