/* What is kept for groups that were let in: as much as they ask for, or as their pods have if that
 * is more. It is kept in sum, not on certain nodes, so on several nodes a group may have to wait
 * until what others have ends where it can be. */

#include "sched/internal.h"

static int compare_stakes(const void *x, const void *y)
{
    const struct stake *g = x, *h = y;

    return str_cmp(g->of->uid, h->of->uid);
}

struct stake *stake_find(const struct ledger *l, const struct sched_gang *g)
{
    if (!l->stakes || !g || !g->is_group)
        return NULL;
    const struct stake key = { .of = g };
    return bsearch(&key, l->stakes->at, l->stakes->n, sizeof(*l->stakes->at), compare_stakes);
}

str gang_text(struct arena *a, const struct sched_gang *g)
{
    return arena_printf(a, "%" PRI_STR " %" PRI_STR "/%" PRI_STR, STR_ARG(g->kind), STR_ARG(g->ns),
                        STR_ARG(g->name));
}

str stake_resource(const struct ledger *l, size_t k)
{
    return k < l->n_resources ? l->resources[k] : S("pods");
}

bool place_counts(const struct place *p)
{
    return !p->node->unschedulable && !p->node->not_ready;
}

/* ---- what there is */

static int64_t has_of(const struct ledger *l, const struct place *p, size_t k)
{
    return k < l->n_resources ? p->has[k] : p->max_pods;
}

static int64_t free_of(const struct ledger *l, const struct place *p, size_t k)
{
    int64_t n = has_of(l, p, k) - (k < l->n_resources ? p->used[k] : p->n_pods);

    return n > 0 ? n : 0;
}

void stake_lift(struct ledger *l, const struct place *p)
{
    if (!l->stakes || !place_counts(p))
        return;
    l->stakes->open = NULL;
    for (size_t k = 0; k <= l->n_resources; k++)
        l->stakes->free[k] -= free_of(l, p, k);
}

void stake_settle(struct ledger *l, const struct place *p)
{
    for (size_t k = 0; l->stakes && place_counts(p) && k <= l->n_resources; k++)
        l->stakes->free[k] = amount_sum(l->stakes->free[k], free_of(l, p, k));
}

int64_t stake_has(const struct ledger *l, size_t k)
{
    return l->stakes->has[k];
}

/* ---- what is kept */

int64_t stake_left(const struct stake *h, size_t k)
{
    return h->kept && h->asks[k] > h->use[k] ? h->asks[k] - h->use[k] : 0;
}

static int64_t occupied(const struct stake *h, size_t k)
{
    return h->use[k] + stake_left(h, k);
}

/* sign: as it is counted from now on, or no longer. */
static void count(struct ledger *l, const struct stake *h, int64_t sign)
{
    for (size_t k = 0; k <= l->n_resources; k++) {
        l->stakes->held[k] += sign * stake_left(h, k);
        l->stakes->largest[k] = NULL;
        if (h->line)
            h->line->used[k] += sign * occupied(h, k);
    }
}

void stake_keep(struct ledger *l, struct stake *h)
{
    count(l, h, -1);
    h->kept = true;
    count(l, h, 1);
}

void stake_drop(struct ledger *l, struct stake *h)
{
    count(l, h, -1);
    h->kept = false;
    count(l, h, 1);
}

void stake_seat(struct ledger *l, const struct sched_gang *g, const int64_t *need, int64_t sign)
{
    struct stake *h = stake_find(l, g);

    if (!h)
        return;
    count(l, h, -1);
    for (size_t k = 0; k <= l->n_resources; k++)
        h->use[k] += sign * (k < l->n_resources ? need[k] : 1);
    count(l, h, 1);
}

const struct stake *stake_largest(const struct ledger *l, size_t k)
{
    const struct stake *most = l->stakes->largest[k];

    if (most)
        return most; /* each of thousands that wait asks */
    most = l->stakes->at;
    for (size_t i = 1; i < l->stakes->n; i++)
        if (stake_left(&l->stakes->at[i], k) > stake_left(most, k))
            most = &l->stakes->at[i];
    l->stakes->largest[k] = most;
    return most;
}

static void held_by(struct candidate *c, size_t k)
{
    const struct stake *most = stake_largest(c->l, k);

    c->held_for = gang_text(c->l->a, most->of);
    c->held = arena_printf(c->l->a, "node(s) were kept for %" PRI_STR, STR_ARG(c->held_for));
}

static void held_by_line(struct candidate *c, const struct stake *h, size_t k)
{
    const struct sched_gang *first = h->line->kept_for;

    if (first && first != h->of)
        c->held_for = gang_text(c->l->a, first);
    c->held = arena_printf(c->l->a, "queue resource quota insufficient: insufficient %" PRI_STR,
                           STR_ARG(stake_resource(c->l, k)));
}

/* What its group has kept, it may take; what is beyond, only of what is kept for nobody. */
void stake_look(struct candidate *c)
{
    const struct ledger *l = c->l;
    const struct stake *h = stake_find(l, c->pod->gang);

    c->beyond = c->need;
    if (!l->stakes)
        return;
    int64_t *beyond = ARENA_ARRAY(l->a, int64_t, l->n_resources + 1);
    for (size_t k = 0; k <= l->n_resources; k++) {
        int64_t need = k < l->n_resources ? c->need[k] : 1, own = h ? stake_left(h, k) : 0;
        beyond[k] = need > own ? need - own : 0;
        if (!beyond[k] || c->held.n)
            continue;
        if (h && h->line &&
            (beyond[k] > h->line->cap[k] - h->line->used[k] ||
             (h->line->kept_for && h->line->kept_for != h->of && h->line->cap[k] < INT64_MAX)))
            held_by_line(c, h, k);
        else if (l->stakes->held[k] && beyond[k] > l->stakes->free[k] - l->stakes->held[k])
            held_by(c, k);
    }
    c->beyond = beyond;
}

/* Of barred places a group gets what others do. */
int64_t stake_room(struct ledger *l, size_t k)
{
    struct stakes *s = l->stakes;
    int64_t room = s->free[k] - s->held[k];

    if (k == l->n_resources)
        return room - s->kept_pods;
    if (!l->spare || l->spare[k] == INT64_MAX)
        return room;
    if (!s->open) {
        s->open = ARENA_ARRAY(l->a, int64_t, l->n_resources);
        for (size_t i = 0; i < l->n; i++)
            for (size_t r = 0; r < l->n_resources; r++)
                if (place_counts(&l->places[i]) && !l->places[i].barred)
                    s->open[r] = amount_sum(s->open[r], free_of(l, &l->places[i], r));
    }
    int64_t open = s->open[k] + (l->spare[k] > 0 ? l->spare[k] : 0);
    return open < room ? open : room;
}

/* ---- at the beginning */

static struct line *line_of(struct ledger *l, const struct sched_queue *q)
{
    struct stakes *s = l->stakes;
    size_t i = 0;

    while (i < s->n_lines && s->lines[i].of != q && !str_eq(s->lines[i].of->name, q->name))
        i++;
    struct line *line = &s->lines[i];
    if (i < s->n_lines)
        return line;
    s->n_lines++;
    *line = (struct line){ .of = q };
    line->cap = ARENA_ARRAY(l->a, int64_t, l->n_resources + 1);
    line->used = ARENA_ARRAY(l->a, int64_t, l->n_resources + 1);
    line->wants = ARENA_ARRAY(l->a, double, l->n_resources + 1);
    for (size_t k = 0; k <= l->n_resources; k++) {
        line->cap[k] = INT64_MAX;
        for (size_t c = 0; c < q->capability.n; c++)
            if (str_eq(q->capability.at[c].name, stake_resource(l, k)))
                line->cap[k] = q->capability.at[c].n;
    }
    return line;
}

/* What its succeeded members had is no longer kept. */
static int64_t *asks_of(const struct ledger *l, const struct sched_gang *g)
{
    int64_t *asks = ARENA_ARRAY(l->a, int64_t, l->n_resources + 1);
    const int64_t *all = ledger_need(l, &g->asks), *done = ledger_need(l, &g->done);
    int64_t kept = g->min - g->unkept;

    for (size_t k = 0; k < l->n_resources; k++)
        asks[k] = all[k] > done[k] ? all[k] - done[k] : 0;
    for (size_t k = 0; k < l->n_resources; k++)
        if (all[k] > 0)
            asks[l->n_resources] = kept > g->n_done ? kept - g->n_done : 0;
    return asks;
}

void stake_open(struct ledger *l, const struct sched_input *in)
{
    size_t n = l->n_resources + 1;

    if (!in->n_groups)
        return;
    l->stakes = ARENA_NEW(l->a, struct stakes);
    l->stakes->in = in;
    l->stakes->held_by = ARENA_ARRAY(l->a, str, n);
    l->stakes->at = ARENA_ARRAY(l->a, struct stake, in->n_groups);
    l->stakes->lines = ARENA_ARRAY(l->a, struct line, in->n_groups);
    l->stakes->has = ARENA_ARRAY(l->a, int64_t, n);
    l->stakes->free = ARENA_ARRAY(l->a, int64_t, n);
    l->stakes->held = ARENA_ARRAY(l->a, int64_t, n);
    l->stakes->largest = ARENA_ARRAY(l->a, const struct stake *, n);
    for (size_t i = 0; i < in->n_groups; i++) {
        const struct sched_gang *g = in->groups[i];
        struct stake *h = &l->stakes->at[l->stakes->n++];
        *h = (struct stake){ .of = g, .asks = asks_of(l, g) };
        h->line = g->queue ? line_of(l, g->queue) : NULL;
        h->use = ARENA_ARRAY(l->a, int64_t, n);
        h->exist = ARENA_ARRAY(l->a, int64_t, n);
    }
    qsort(l->stakes->at, l->stakes->n, sizeof(*l->stakes->at), compare_stakes);
}

/* More than there is cannot be kept, and sums of what anybody may write would overflow. */
static void limit_asks(const struct ledger *l, struct stake *h)
{
    for (size_t k = 0; k <= l->n_resources; k++)
        if (h->asks[k] > stake_has(l, k))
            h->asks[k] = stake_has(l, k);
}

void stake_start(struct ledger *l, const struct sched_gang *const *voids, size_t n)
{
    if (!l->stakes)
        return;
    memset(l->stakes->free, 0, (l->n_resources + 1) * sizeof(*l->stakes->free));
    for (size_t i = 0; i < l->n; i++) {
        stake_settle(l, &l->places[i]);
        for (size_t k = 0; place_counts(&l->places[i]) && k <= l->n_resources; k++)
            l->stakes->has[k] = amount_sum(l->stakes->has[k], has_of(l, &l->places[i], k));
    }
    for (size_t i = 0; i < n; i++) {
        struct stake *h = stake_find(l, voids[i]);
        if (h)
            h->is_void = true;
    }
    for (size_t i = 0; i < l->stakes->n; i++) {
        struct stake *h = &l->stakes->at[i];
        if (!h->of->let_in || h->of->stopped || h->is_void)
            continue;
        limit_asks(l, h);
        stake_keep(l, h);
    }
}
