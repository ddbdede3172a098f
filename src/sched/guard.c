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

/* By resource: of what it asks for, that of which there is too little; all of it if it is not the
 * sum that is too little. NULL: it asks for nothing. */
static bool *lacks_of(struct ledger *l, const struct unit *u, const bool *usable)
{
    bool *lacks = ARENA_ARRAY(l->a, bool, l->n_resources), any = false, asks = false;
    size_t n = u->need > 0 ? (size_t)u->need : 1;

    for (size_t k = 0; k < l->n_resources; k++) {
        double need = 0, free = 0;
        for (size_t i = 0; i < n && i < u->n_distinct; i++)
            need += (double)ledger_need(l, &u->at[i]->pod->need)[k];
        for (size_t i = 0; i < l->n; i++)
            if (usable[i])
                free += (double)(l->places[i].has[k] - l->places[i].used[k]);
        lacks[k] = need > 0 && need > free;
        any = any || lacks[k];
        asks = asks || need > 0;
    }
    for (size_t k = 0; k < l->n_resources && !any; k++)
        for (size_t i = 0; i < n && i < u->n_distinct; i++)
            lacks[k] = lacks[k] || ledger_need(l, &u->at[i]->pod->need)[k] > 0;
    return asks ? lacks : NULL;
}

static void keep_for(struct ledger *l, const struct unit *u)
{
    bool *usable = ARENA_ARRAY(l->a, bool, l->n + 1);
    struct ledger empty;

    ledger_empty(&empty, l);
    for (size_t i = 0; i < l->n; i++)
        usable[i] = could_use(&empty, i, u);
    const bool *lacks = lacks_of(l, u, usable);
    l->barred_for = unit_text(l->a, u);
    l->barred_text = arena_printf(l->a, "node(s) were kept for %" PRI_STR, STR_ARG(l->barred_for));
    for (size_t i = 0; i < l->n; i++)
        if (usable[i])
            l->places[i].barred = lacks;
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
