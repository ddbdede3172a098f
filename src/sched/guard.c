/* Nobody waits for ever because later ones always fit: once a unit has been the first of those that
 * do not fit for long enough, what it lacks is kept for it. */

#include "sched/internal.h"

static str unit_uid(const struct unit *u)
{
    return u->gang ? u->gang->uid : u->at[0]->pod->uid;
}

static str unit_text(struct arena *a, const struct unit *u)
{
    const struct sched_pod *p = u->at[0]->pod;

    if (u->gang)
        return arena_printf(a, "%" PRI_STR " %" PRI_STR "/%" PRI_STR, STR_ARG(u->gang->kind),
                            STR_ARG(u->gang->ns), STR_ARG(u->gang->name));
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

/* How much of each resource others may still take where it could be. Of what it asks for that is
 * what it would leave; nothing at all if there is enough in sum of everything, as then it is where
 * others are that keeps it out. */
static int64_t *spare_of(struct ledger *l, const int64_t *need, const bool *usable)
{
    int64_t *spare = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    bool lacks = false;

    for (size_t k = 0; k < l->n_resources; k++) {
        for (size_t i = 0; i < l->n; i++)
            if (usable[i])
                spare[k] = amount_sum(spare[k], l->places[i].has[k] - l->places[i].used[k]);
        lacks = lacks || need[k] > spare[k];
        spare[k] = need[k] > 0 ? spare[k] - need[k] : INT64_MAX;
    }
    for (size_t k = 0; k < l->n_resources && !lacks; k++)
        if (need[k] > 0)
            spare[k] = 0;
    return spare;
}

static void keep_for(struct ledger *l, const struct unit *u)
{
    int64_t *need = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    bool *usable = ARENA_ARRAY(l->a, bool, l->n + 1);
    struct ledger empty;

    l->barred_for = unit_text(l->a, u);
    l->barred_text = arena_printf(l->a, "node(s) were kept for %" PRI_STR, STR_ARG(l->barred_for));
    if (!sum_needs(l, u, need))
        return;
    ledger_empty(&empty, l);
    for (size_t i = 0; i < l->n; i++)
        usable[i] = could_use(&empty, i, u);
    l->spare = spare_of(l, need, usable);
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
    if (u && g->now_ms - g->since_ms >= g->patience_ms)
        keep_for(l, u);
}
