/* One pass over one job: what is seen, what the planner makes of it, and what follows. */

#include "ctl/internal.h"

#include "kube/meta.h"
#include "loop/log.h"

#include <inttypes.h>

enum {
    ECHOES_FREE = 3,
    ECHO_BASE_MS = 100,
    STALE_MS = 200, /* how long the watch has to tell what a conflict was about */
};

bool kind_is_ready(const struct kind *k)
{
    const struct ctl *c = k->c;

    if (!informer_is_listed(k->inf))
        return false;
    for (size_t i = 0; i < c->n_stores; i++)
        if (!store_is_ready(&c->stores[i]))
            return false;
    return true;
}

/* ---- observe */

static int cmp_services(const void *x, const void *y)
{
    const struct seen_service *a = x, *b = y;
    int by = str_cmp(a->role, b->role);

    if (by == 0)
        by = (a->index > b->index) - (a->index < b->index);
    return by ? by : str_cmp(a->name, b->name);
}

static void observe_services(struct arena *a, const struct ctl *c, const struct ctl_job *j,
                             struct observed *seen)
{
    const struct orphans *o = orphans_of(c, j);
    size_t n = 0, n_orphans = o ? o->items.n : 0;
    struct seen_service *s = ARENA_ARRAY(a, struct seen_service, j->services.n + n_orphans);
    str owner = arena_str(a, ctl_job_uid(j));
    uint32_t now_s = queue_s();

    for (size_t i = 0; i < j->services.n; i++)
        s[n++] = item_service(a, j->services.at[i], owner, now_s);
    for (size_t i = 0; i < n_orphans; i++)
        s[n++] = item_service(a, o->items.at[i], S(""), now_s);
    if (n_orphans)
        qsort(s, n, sizeof(*s), cmp_services);
    seen->services = s;
    seen->n_services = n;
}

static const struct kube_resource *res_of(struct ctl *c, const struct item *it)
{
    for (size_t i = 0; i < c->n_stores; i++)
        if (map_get(&c->stores[i].items, item_key(it)) == it)
            return c->stores[i].res;
    return NULL;
}

/* Of each resource what has that name and is not the job's. */
static size_t add_foreign(struct arena *a, struct ctl *c, const struct ctl_job *j, str key,
                          bool needed_only, struct seen_object *to)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_stores; i++) {
        const struct store *s = &c->stores[i];
        if (s->what != ITEM_OTHER || (needed_only && !s->needed))
            continue;
        const struct item *it = map_get(&s->items, key);
        if (it && it->job != j)
            to[n++] = (struct seen_object){ s->res, item_other(a, it, queue_s()) };
    }
    return n;
}

/* What the job owns, and what has its name whoever owns it. Of PodGroups also what has one of the
 * names that its next group could have. */
static void observe_others(struct arena *a, struct ctl *c, const struct ctl_job *j,
                           struct observed *seen)
{
    enum { NEXT = 4 };
    int64_t generation = jv_int(jv_get(meta_of(seen->job), S("generation")), 0);
    struct seen_object *o =
        ARENA_ARRAY(a, struct seen_object, j->others.n + c->n_stores * (NEXT + 1));
    uint32_t now_s = queue_s();
    size_t n = 0;

    for (size_t i = 0; i < j->others.n; i++)
        o[n++] = (struct seen_object){ res_of(c, j->others.at[i]),
                                       item_other(a, j->others.at[i], now_s) };
    n += add_foreign(a, c, j, str_of(j->key), false, o + n);
    for (int64_t i = 0; i < NEXT; i++)
        n += add_foreign(a, c, j, arena_printf(a, "%s-%" PRId64, j->key, generation + i), true,
                         o + n);
    seen->others = o;
    seen->n_others = n;
}

static void observe_needed(struct arena *a, const struct ctl *c, struct observed *seen)
{
    for (size_t i = 0; i < c->n_stores; i++) {
        const struct store *s = &c->stores[i];
        seen->lacks_needed |= s->needed && s->needed->verbs && !informer_is_served(s->inf);
        if (s->what != ITEM_CLASS)
            continue;
        struct seen_class *classes = ARENA_ARRAY(a, struct seen_class, s->items.n + 1);
        MAP_EACH (slot, &s->items) {
            const struct item *it = slot->value;
            classes[seen->n_classes++] =
                (struct seen_class){ arena_str(a, item_name(it)),
                                     jv_int(jv_get(item_json(a, it), S("value")), 0) };
        }
        seen->classes = classes;
    }
}

static struct observed *observe(struct arena *a, struct ctl *c, const struct ctl_job *j)
{
    struct observed *seen = ARENA_NEW(a, struct observed);
    struct seen_pod *pods = ARENA_ARRAY(a, struct seen_pod, j->pods.n);
    str owner = arena_str(a, ctl_job_uid(j));
    uint32_t now_s = queue_s();

    seen->settings = c->o.settings;
    seen->now_ms = c->wall_ms();
    seen->job = json_parse(a, arena_str(a, (str){ j->text, j->n_text }), NULL, NULL);
    for (size_t i = 0; i < j->pods.n; i++)
        pods[i] = item_pod(a, j->pods.at[i], owner, now_s);
    seen->pods = pods;
    seen->n_pods = j->pods.n;
    observe_services(a, c, j, seen);
    observe_others(a, c, j, seen);
    observe_needed(a, c, seen);
    seen->short_since_ms = j->short_since_ms;
    seen->status_written_ms = j->status_written_ms;
    return seen;
}

/* ---- a job that a write of ours found to be newer, and no watch has told yet */

static void on_read(void *ctx, const struct kube_answer *ans)
{
    struct ctl_job *j = ctx;
    struct ctl *c = j->kind->c;

    j->read = NULL;
    c->n_reading--;
    job_advance(c, j, JOB_ON_READ);
    if (ans->err.code == ERR_OK && str_eq(meta_uid(ans->obj), ctl_job_uid(j)))
        ctl_job_put(j->kind, ans->obj, false); /* of another of that name the watch tells */
    if (ans->err.code == ERR_OK || ans->err.code == ERR_NOT_FOUND)
        queue_after(&c->queue, &j->q, queue_backoff_ms(j->q.failures++, 5, 1000));
    else
        queue_retry(&c->queue, &j->q);
    ctl_settle(c);
}

void pass_read(struct ctl *c, struct ctl_job *j)
{
    struct kube_request r = {
        .verb = KUBE_GET, .res = j->kind->planner->res, .ns = ctl_job_ns(j), .name = ctl_job_name(j)
    };

    if (j->read)
        return;
    c->n_reading++;
    j->read = kube_send(c->api, &r, on_read, j);
}

/* ---- */

static void tell_notes(struct ctl *c, struct ctl_job *j, jv job, const struct plan *p)
{
    struct event_about about = { job, j->kind->planner->res, j->kind->planner->controller };

    for (size_t i = 0; i < p->n_notes; i++)
        note_tell(c, j, &about, &p->notes[i]);
}

void note_tell(struct ctl *c, struct ctl_job *j, const struct event_about *about,
               const struct plan_note *note)
{
    const struct planner *pl = j->kind->planner;

    if (note->kind == NOTE_COUNT)
        stats_job(&c->stats, pl->framework, meta_namespace(about->job), note->counter, note->n);
    else
        events_tell(c->events, about, &ctl_job_facts(c, j)->budget, note);
}

void pass_over(struct ctl *c, struct ctl_job *j, const struct plan *p, struct outcome o)
{
    bool dirty = job_is_dirty(j->state);

    job_advance(c, j, JOB_ON_OVER);
    if (j->state == JOB_NONE) {
        ctl_job_release(c, j);
        return;
    }
    bool stale = j->state == JOB_STALE;
    if (o.failed)
        queue_retry(&c->queue, &j->q);
    else if (!stale)
        queue_succeed(&j->q);
    int64_t hold = holds_next_ms(c, j, &o);
    if (hold)
        queue_after(&c->queue, &j->q, hold - queue_us() / 1000);
    if (stale)
        queue_after(&c->queue, &j->q, STALE_MS);
    if (o.doubtful)
        queue_after(&c->queue, &j->q, (int64_t)(ITEM_DOUBT_S + 1) * 1000);
    if (p)
        queue_wake(&c->queue, &j->q, p->wake_ms);
    j->echoes = o.n_sent && !dirty ? j->echoes + 1 : 0;
    bool sent = o.n_sent && !o.failed && !stale;
    if (o.waits && !dirty && !o.failed)
        job_advance(c, j, JOB_ON_DEFER);
    else if (dirty || (sent && j->echoes <= ECHOES_FREE))
        ctl_job_touch(c, j); /* is there anything left to do? */
    else if (sent)
        queue_after(&c->queue, &j->q,
                    queue_backoff_ms(j->echoes, ECHO_BASE_MS, c->o.limits.backoff_max_ms));
}

static void settle_quiet(struct ctl *c, struct ctl_job *j, struct arena *a, jv job,
                         const struct plan *p)
{
    if (p->n_steps || (!p->finished && !p->ignored))
        return;
    job_advance(c, j, JOB_ON_SETTLED);
    if (!p->finished)
        return;
    ctl_job_slim(c, j, j->kind->planner->slim(a, job));
    for (size_t i = 0; i < p->n_notes; i++) /* what it goes on telling for a while was told */
        if (p->notes[i].once.n)
            event_first_time(&ctl_job_facts(c, j)->budget, p->notes[i].once);
}

void pass_run(struct ctl *c, struct ctl_job *j)
{
    struct kind_stats *ks = &c->stats.kinds[j->kind - c->kinds];
    struct err e = { 0 };

    job_advance(c, j, JOB_ON_LOOK);
    if (j->state == JOB_READING)
        return;
    AUTO(arena) struct arena *a = arena_new();
    struct observed *seen = observe(a, c, j);
    struct plan *p = plan_new(a);
    ks->passes++;
    if (j->kind->planner->plan(seen, p, &e) < 0) {
        ks->errors++;
        if (j->q.failures == 0)
            log_warn("cannot plan", KVZ("job", j->key), KVZ("error", e.msg));
        pass_over(c, j, NULL, (struct outcome){ .failed = true });
        return;
    }
    j->short_since_ms = !p->gang_short ? 0 : j->short_since_ms ? j->short_since_ms : seen->now_ms;
    tell_notes(c, j, seen->job, p);
    settle_quiet(c, j, a, seen->job, p);
    if (p->n_steps == 0)
        pass_over(c, j, p, (struct outcome){ 0 });
    else
        apply_start(c, j, TAKE(a), p, seen->job);
    j->touched_us = 0;
}
