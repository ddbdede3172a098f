/* Which groups are let in: their pods may be made, and what they ask for is kept for them. */

#include "sched/internal.h"

/* In sum over the nodes. */
static int64_t sum_free(const struct ledger *l, str name)
{
    int64_t sum = 0;
    size_t k = 0;

    while (k < l->n_resources && !str_eq(l->resources[k], name))
        k++;
    for (size_t i = 0; i < l->n && k < l->n_resources; i++)
        sum = amount_sum(sum, l->places[i].has[k] - l->places[i].used[k]);
    return sum;
}

bool group_admit(struct ledger *l, const struct sched_gang *g, struct sched_group_verdict *v)
{
    v->why = g->refused;
    for (size_t i = 0; i < g->asks.n && !v->why.n; i++)
        if (g->asks.at[i].n > sum_free(l, g->asks.at[i].name))
            v->why = arena_printf(l->a, "Insufficient %" PRI_STR, STR_ARG(g->asks.at[i].name));
    return !v->why.n;
}
