/* Nobody waits for ever because later ones always fit: once a unit has been the first of those that
 * do not fit for long enough, what it lacks is kept for it. */

#include "sched/internal.h"

static str unit_uid(const struct unit *u)
{
    return u->gang ? u->gang->uid : u->at[0]->pod->uid;
}

static str unit_text(struct arena *a, const struct unit *u)
{
    if (u->gang)
        return gang_text(a, u->gang);
    const struct sched_pod *p = u->at[0]->pod;
    return arena_printf(a, "pod %" PRI_STR "/%" PRI_STR, STR_ARG(p->ns), STR_ARG(p->name));
}

/* Whether some pod of it could be there if nothing else was. */
static bool could_use(const struct ledger *empty, size_t place, const struct unit *u)
{
    for (size_t i = 0; i < u->n_distinct; i++) {
        const struct sched_pod *pod = u->at[i]->pod;
        struct candidate c = {
            .l = empty, .w = u->at[i], .pod = pod, .need = ledger_need(empty, &pod->need)
        };
        struct refusal why;
        if (filter_place(&c, &empty->places[place], &why))
            return true;
    }
    return false;
}

/* By resource: what it asks for, of those that start together. False: nothing. */
static bool sum_needs(const struct ledger *l, const struct unit *u, int64_t *need)
{
    size_t n = u->need > 0 ? (size_t)u->need : 1;
    bool asks = false;

    for (size_t i = 0; i < n && i < u->n_distinct; i++) {
        const int64_t *one = ledger_need(l, &u->at[i]->pod->need);
        for (size_t k = 0; k < l->n_resources; k++) {
            need[k] = amount_sum(need[k], one[k]);
            asks = asks || one[k] > 0;
        }
    }
    return asks;
}

static struct stake *stake_of(const struct ledger *l, const struct unit *u)
{
    return stake_find(l, u->gang ? u->gang : u->at[0]->pod->gang);
}

/* How much of each resource others may still take where it could be. Of what it asks for that is
 * what it would leave; nothing at all if there is enough in sum of everything, as then it is where
 * others are that keeps it out. */
static int64_t *spare_of(struct ledger *l, const struct unit *u, const int64_t *need,
                         const bool *usable)
{
    const struct stake *own = stake_of(l, u);
    int64_t *spare = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    bool lacks = false;

    for (size_t k = 0; k < l->n_resources; k++) {
        for (size_t i = 0; i < l->n; i++)
            if (usable[i])
                spare[k] = amount_sum(spare[k], l->places[i].has[k] - l->places[i].used[k]);
        if (l->stakes)
            spare[k] -= l->stakes->held[k] - (own ? stake_left(own, k) : 0);
        lacks = lacks || need[k] > spare[k];
        spare[k] = need[k] > 0 ? spare[k] - need[k] : INT64_MAX;
    }
    for (size_t k = 0; k < l->n_resources && !lacks; k++)
        if (need[k] > 0)
            spare[k] = 0;
    return spare;
}

/* Nobody after it gets what its queue has left, or what a quota leaves it. */
static void keep_line(struct ledger *l, const struct unit *u)
{
    const struct stake *h = stake_of(l, u);

    if (h && h->line)
        h->line->kept_for = h->of;
    if (h && u->enters && l->stakes->n_limits)
        l->stakes->kept_ns = h->of->ns;
}

/* Its own queue or namespace has used up what it may have: no room helps it. */
static bool waits_for_its_own(const struct ledger *l, const struct stake *h)
{
    for (size_t k = 0; h->line && k <= l->n_resources; k++)
        if (h->asks[k] > 0 && h->asks[k] - h->use[k] > h->line->cap[k] - h->line->used[k])
            return true;
    return quota_exceeded(l, h).n > 0;
}

/* What it asks for; false: it is not room that it waits for. */
static bool group_lacks(struct ledger *l, const struct unit *u, int64_t *need)
{
    const struct stake *h = stake_of(l, u);
    bool lacks = false;

    for (size_t k = 0; k <= l->n_resources; k++) {
        int64_t more = h->asks[k] > h->use[k] ? h->asks[k] - h->use[k] : 0;
        lacks = lacks || more > stake_room(l, k);
        if (k < l->n_resources)
            need[k] = more;
    }
    return lacks && !waits_for_its_own(l, h);
}

/* But for what is kept for its group anyway. */
static int64_t pods_to_keep(const struct ledger *l, const struct unit *u)
{
    const struct stake *own = stake_of(l, u);
    int64_t left = own ? stake_left(own, l->n_resources) : 0, n = u->need > 0 ? u->need : 1;

    return n > left ? n - left : 0;
}

void guard_keep(struct ledger *l, const struct unit *u, bool all)
{
    int64_t *need = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    bool *usable = ARENA_ARRAY(l->a, bool, l->n + 1);
    struct ledger empty;

    l->barred_for = unit_text(l->a, u);
    l->barred_text = arena_printf(l->a, "node(s) were kept for %" PRI_STR, STR_ARG(l->barred_for));
    keep_line(l, u);
    if (u->enters ? !group_lacks(l, u, need) && !all : !sum_needs(l, u, need))
        return;
    ledger_empty(&empty, l);
    for (size_t i = 0; i < l->n; i++)
        usable[i] = u->enters ? place_counts(&l->places[i]) : could_use(&empty, i, u);
    l->spare = spare_of(l, u, need, usable);
    for (size_t k = 0; k < l->n_resources && all; k++)
        l->spare[k] = need[k] > 0 ? 0 : INT64_MAX;
    if (l->stakes)
        l->stakes->kept_pods = pods_to_keep(l, u);
    l->n_kept_pods = !all ? 0 : u->need > 0 ? u->need : 1;
    for (size_t i = 0; i < l->n; i++)
        l->places[i].barred = usable[i];
}

void guard_first(struct sched_guard *g, struct ledger *l, const struct unit *u)
{
    char uid[sizeof(g->first)] = "";

    if (u && unit_uid(u).n < sizeof(uid))
        memcpy(uid, unit_uid(u).p, unit_uid(u).n);
    g->released = false;
    if (strcmp(uid, g->first) != 0) {
        g->released = *g->first && g->now_ms - g->since_ms >= g->patience_ms;
        memcpy(g->first, uid, sizeof(uid));
        g->since_ms = g->now_ms;
    }
    if (u && g->now_ms - g->since_ms >= g->patience_ms && !l->barred_for.n)
        guard_keep(l, u, false);
}
