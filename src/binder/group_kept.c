/* What PodGroups that are in have yet to use of what they asked for. */

#include "binder/groups.h"

static struct sched_amount *amount_at(const struct sched_amounts *of, size_t i)
{
    return (struct sched_amount *)(uintptr_t)&of->at[i]; /* a pass's own */
}

static struct sched_amounts copy_of(struct arena *a, const struct sched_amounts *of)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, of->n + 1);

    if (of->n)
        memcpy(at, of->at, of->n * sizeof(*at));
    return (struct sched_amounts){ at, of->n };
}

void group_sums_open(struct arena *a, struct group *g)
{
    struct sched_amounts none = { 0 };
    bool is_kept = g->let_in && !phase_is_over(g->phase);

    g->left = copy_of(a, is_kept ? &g->g.g.asks : &none);
    g->unmade = copy_of(a, is_kept ? &g->g.g.asks : &none);
    g->done = copy_of(a, &g->asks);
    for (size_t i = 0; i < g->done.n; i++)
        amount_at(&g->done, i)->n = 0;
}

/* Not below nothing. */
static void take(struct sched_amounts *from, const struct sched_amounts *need)
{
    for (size_t i = 0; i < from->n; i++)
        for (size_t k = 0; k < need->n; k++)
            if (str_eq(from->at[i].name, need->at[k].name)) {
                int64_t left = from->at[i].n - need->at[k].n;
                amount_at(from, i)->n = left > 0 ? left : 0;
            }
}

void group_sums_add(struct group *g, const struct pod *p)
{
    if (p->done || p->state == POD_BOUND || p->node)
        take(&g->left, &p->p.need);
    take(&g->unmade, &p->p.need);
    for (size_t i = 0; p->done && i < g->done.n; i++)
        for (size_t k = 0; k < p->p.need.n; k++)
            if (str_eq(g->done.at[i].name, p->p.need.at[k].name))
                amount_at(&g->done, i)->n += p->p.need.at[k].n;
}

/* ---- as pods */

enum { KEPT_NODES = 64 };

size_t groups_kept_max(const struct binder *b, const struct sched_input *in)
{
    size_t n = in->n_nodes < KEPT_NODES ? in->n_nodes : KEPT_NODES;

    return n * groups_number(b);
}

/* Nobody has said on which nodes, so it is spread. */
static size_t spread(struct arena *a, const struct group *g, const struct sched_input *in,
                     const struct sched_pod **out)
{
    int64_t n = (int64_t)(in->n_nodes < KEPT_NODES ? in->n_nodes : KEPT_NODES);

    for (int64_t i = 0; i < n; i++) {
        struct sched_pod *p = ARENA_NEW(a, struct sched_pod);
        struct sched_amount *need = ARENA_ARRAY(a, struct sched_amount, g->left.n + 1);
        for (size_t k = 0; k < g->left.n; k++) {
            int64_t sum = g->left.at[k].n;
            need[k] = (struct sched_amount){ g->left.at[k].name, sum / n + (i < sum % n) };
        }
        *p = (struct sched_pod){ .ns = g->g.g.ns,
                                 .name = g->g.g.name,
                                 .owner_kind = g->g.g.kind,
                                 .owner_name = g->g.g.name,
                                 .node = in->nodes[i]->name,
                                 .need = { need, g->left.n } };
        out[i] = p;
    }
    return (size_t)n;
}

bool group_has_left(const struct group *g)
{
    for (size_t i = 0; i < g->left.n; i++)
        if (g->left.at[i].n > 0)
            return true;
    return false;
}

size_t groups_kept(const struct binder *b, struct arena *a, const struct sched_input *in,
                   const struct sched_gang *but, const struct sched_pod **out)
{
    size_t n = 0;

    GROUP_EACH (slot, form, b) {
        const struct group *g = slot->value;
        if (g->let_in && !g->is_void && &g->g.g != but && group_has_left(g))
            n += spread(a, g, in, &out[n]);
    }
    return n;
}
