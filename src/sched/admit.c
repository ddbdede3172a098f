/* Which groups are let in: their pods may be made, and what they ask for is kept for them. */

#include "sched/why_internal.h"

static bool asks_for_anything(const struct ledger *l, const struct stake *h)
{
    for (size_t k = 0; k <= l->n_resources; k++)
        if (h->asks[k] > 0)
            return true;
    return false;
}

/* ---- why not; each says so in v. The first that does decides. */

struct entry {
    struct ledger *l;
    struct stake *h;
    struct sched_group_verdict *v;
};

static void is_refused(const struct entry *e)
{
    e->v->why = e->h->of->refused;
}

static void queue_is_closed(const struct entry *e)
{
    if (e->h->line && e->h->line->of->closed)
        e->v->why = arena_printf(e->l->a, "queue \"%" PRI_STR "\" is closed",
                                 STR_ARG(e->h->line->of->name));
}

static str there_is(const struct ledger *l, size_t k)
{
    return arena_printf(l->a, "%s %" PRI_STR, l->n == 1 ? "this machine has" : "these nodes have",
                        STR_ARG(amount_text(l->a, stake_resource(l, k), stake_has(l, k))));
}

static void exceeds_nodes(const struct entry *e)
{
    const struct ledger *l = e->l;

    for (size_t k = 0; k <= l->n_resources && !e->v->never; k++) {
        if (e->h->asks[k] <= stake_has(l, k))
            continue;
        e->v->never = true;
        e->v->why = arena_printf(l->a, "needs %" PRI_STR ", %" PRI_STR,
                                 STR_ARG(resource_text(l->a, stake_resource(l, k), e->h->asks[k])),
                                 STR_ARG(there_is(l, k)));
    }
}

static str queue_lacks(const struct entry *e, size_t k)
{
    return arena_printf(e->l->a, "queue resource quota insufficient: insufficient %" PRI_STR,
                        STR_ARG(stake_resource(e->l, k)));
}

static void exceeds_queue(const struct entry *e)
{
    const struct line *line = e->h->line;

    for (size_t k = 0; line && k <= e->l->n_resources && !e->v->never; k++)
        if (e->h->asks[k] > line->cap[k]) {
            e->v->never = true;
            e->v->why = queue_lacks(e, k);
        }
}

/* Who waits longest, or the first of a queue where nobody passes another. */
static void is_behind(const struct entry *e)
{
    const struct line *line = e->h->line;
    const struct sched_gang *g = e->h->of, *first = NULL;
    struct ledger *l = e->l;

    if (line && line->kept_for && line->kept_for != g)
        first = line->kept_for;
    else if (line && line->of->strict && line->first && line->first != g)
        first = line->first;
    if (first) {
        e->v->behind = gang_text(l->a, first);
        e->v->why = arena_printf(l->a, "waits in queue \"%" PRI_STR "\" behind %" PRI_STR,
                                 STR_ARG(line->of->name), STR_ARG(e->v->behind));
    } else if (l->stakes->kept_ns.n && str_eq(l->stakes->kept_ns, g->ns)) {
        e->v->behind = l->barred_for;
        e->v->why = arena_printf(
            l->a, "what the quotas of namespace \"%" PRI_STR "\" leave is kept for %" PRI_STR,
            STR_ARG(g->ns), STR_ARG(l->barred_for));
    }
}

/* What these have is not free yet, and may be meant for another. */
static void has_old_pods(const struct entry *e)
{
    if (e->h->ends)
        e->v->why = S("waits until those of its pods have ended that are being deleted");
}

static void fills_queue(const struct entry *e)
{
    const struct line *line = e->h->line;

    for (size_t k = 0; line && k <= e->l->n_resources && !e->v->why.n; k++)
        if (e->h->asks[k] > 0 && e->h->asks[k] - e->h->use[k] > line->cap[k] - line->used[k])
            e->v->why = queue_lacks(e, k);
}

static void exceeds_quota(const struct entry *e)
{
    e->v->why = quota_exceeded(e->l, e->h);
}

/* Who has it, as the pass began. */
static str held_by(struct ledger *l, size_t k)
{
    struct stakes *s = l->stakes;
    AUTO(buf) struct buf b = { 0 };
    size_t n;

    if (s->held_by[k].p)
        return s->held_by[k];
    if (!s->world)
        s->world = why_world_new(l->a, s->in->nodes, s->in->n_nodes, s->in->bound, s->in->n_bound);
    struct why_resource *r = world_resource(s->world, stake_resource(l, k));
    const struct why_holder *all = world_holders(s->world, r, NULL, &n);
    why_say_holders(l->a, &b, r->name, all, n);
    s->held_by[k] = arena_printf(l->a, "%" PRI_STR, STR_ARG(buf_str(&b)));
    return s->held_by[k];
}

static str kept_text(struct ledger *l, size_t k, int64_t kept)
{
    if (kept <= 0)
        return S("");
    const struct stake *most = stake_largest(l, k);
    int64_t n = stake_left(most, k);
    return arena_printf(l->a, ", %" PRI_STR " of that kept for %" PRI_STR "%s",
                        STR_ARG(amount_text(l->a, stake_resource(l, k), kept)),
                        STR_ARG(n ? gang_text(l->a, most->of) : l->barred_for),
                        n && n < kept ? " and others" : "");
}

static void lacks_room(const struct entry *e)
{
    struct ledger *l = e->l;

    for (size_t k = 0; k <= l->n_resources && !e->v->why.n; k++) {
        int64_t more = e->h->asks[k] - e->h->use[k], room = stake_room(l, k);
        if (e->h->asks[k] <= 0 || more <= room)
            continue;
        str what = stake_resource(l, k);
        int64_t free = l->stakes->free[k];
        if (more <= free - l->stakes->held[k])
            e->v->behind = l->barred_for;
        e->v->why = arena_printf(
            l->a, "needs %" PRI_STR ", %" PRI_STR ", %" PRI_STR " free%" PRI_STR "%" PRI_STR,
            STR_ARG(resource_text(l->a, what, e->h->asks[k])), STR_ARG(there_is(l, k)),
            STR_ARG(amount_text(l->a, what, free)),
            STR_ARG(kept_text(l, k, free - (room > 0 ? room : 0))), STR_ARG(held_by(l, k)));
    }
}

static bool is_free_to_enter(struct ledger *l, struct stake *h, struct sched_group_verdict *v)
{
    static void (*const whys[])(const struct entry *e) = {
        is_refused, queue_is_closed, exceeds_nodes, exceeds_queue, has_old_pods,
        is_behind,  fills_queue,     exceeds_quota, lacks_room,
    };
    const struct entry e = { l, h, v };
    size_t n = asks_for_anything(l, h) ? COUNT(whys) : 2;

    for (size_t i = 0; i < n && !v->why.n; i++)
        whys[i](&e);
    return !v->why.n;
}

bool group_fits(struct ledger *l, struct stake *h)
{
    struct sched_group_verdict v = { .of = h->of };

    return is_free_to_enter(l, h, &v);
}

bool group_admit(struct ledger *l, struct stake *h, struct sched_group_verdict *v)
{
    if (!is_free_to_enter(l, h, v)) {
        if (h->line && !h->line->first && !v->never && !h->of->refused.n)
            h->line->first = h->of;
        return false;
    }
    for (size_t k = 0; l->spare && k < l->n_resources; k++)
        if (l->spare[k] < INT64_MAX)
            l->spare[k] -= h->asks[k];
    quota_take(l, h);
    stake_keep(l, h);
    v->let_in = true;
    return true;
}
