/* Placing pods that start together: in turn; else the largest first, on the fullest nodes; else, on
 * few nodes, by search. */

#include "sched/internal.h"

/* Members in turn, those that do not fit left out while others are left. */
static bool try_in_turn(struct ledger *l, const struct unit *u, struct step *steps,
                        struct sched_verdict *no)
{
    size_t n = 0, failed = 0, need = (size_t)u->need;

    for (size_t i = 0; i < u->n_distinct && n < need && u->n_distinct - failed >= need; i++) {
        struct sched_verdict v = { .of = u->at[i] };
        if (place_pod(l, &v, &steps[n])) {
            n++;
            continue;
        }
        failed++;
        if (!no->why.n)
            *no = v;
    }
    if (n == need)
        return true;
    while (n)
        step_undo(l, &steps[--n]);
    return false;
}

/* ---- the smallest, the largest of these first */

struct sized {
    const struct sched_waiting *w;
    const int64_t *need;
    double share; /* of the nodes' sum: of the resource of which it asks for most */
};

static int compare_sized(const void *x, const void *y)
{
    const struct sized *s = x, *t = y;

    if (s->share > t->share || s->share < t->share)
        return s->share > t->share ? 1 : -1;
    return waiting_compare(s->w, t->w);
}

static double *sums_of(const struct ledger *l, bool free)
{
    double *sum = ARENA_ARRAY(l->a, double, l->n_resources);

    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n_resources; k++) {
            int64_t n = l->places[i].has[k] - (free ? l->places[i].used[k] : 0);
            sum[k] += n > 0 ? (double)n : 0;
        }
    return sum;
}

/* Without those that a claim keeps from every node. */
static struct sized *sized_of(const struct ledger *l, const struct unit *u, size_t *n)
{
    struct sized *of = ARENA_ARRAY(l->a, struct sized, u->n_distinct);
    const double *has = sums_of(l, false);

    *n = 0;
    for (size_t i = 0; i < u->n_distinct; i++) {
        if (u->at[i]->refused.n)
            continue;
        struct sized *s = &of[(*n)++];
        *s = (struct sized){ u->at[i], ledger_need(l, &u->at[i]->pod->need), 0 };
        for (size_t k = 0; k < l->n_resources; k++)
            if (s->need[k] > 0 && has[k] > 0 && (double)s->need[k] / has[k] > s->share)
                s->share = (double)s->need[k] / has[k];
    }
    qsort(of, *n, sizeof(*of), compare_sized);
    return of;
}

/* Of some resource there is not enough for n of them, wherever they go. */
static bool exceeds_sum(const struct ledger *l, const struct sized *of, size_t n)
{
    const double *free = sums_of(l, true);
    double *need = ARENA_ARRAY(l->a, double, l->n_resources);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l->n_resources; k++)
            need[k] += (double)of[i].need[k];
    for (size_t k = 0; k < l->n_resources; k++)
        if (need[k] > free[k])
            return true;
    return false;
}

/* ---- by search */

enum { SEARCH_NODES = 64, SEARCH_MEMBERS = 32, SEARCH_STEPS = 4096 };

struct search {
    struct ledger *l;
    const struct unit *u;
    struct step *steps;
    size_t left; /* places still to be looked at */
};

static bool search_from(struct search *s, size_t n)
{
    if (n == (size_t)s->u->need)
        return true;
    const struct sched_waiting *w = s->u->at[n];
    struct candidate c = {
        .l = s->l, .w = w, .pod = w->pod, .need = ledger_need(s->l, &w->pod->need)
    };
    for (size_t k = 0; k < s->l->n && s->left; k++) {
        struct refusal why;
        s->left--;
        if (!filter_place(&c, &s->l->places[k], &why))
            continue;
        s->steps[n] = (struct step){ .of = w };
        step_take(s->l, &s->steps[n], &s->l->places[k], w->pod, c.need);
        if (search_from(s, n + 1))
            return true;
        step_undo(s->l, &s->steps[n]);
    }
    return false;
}

bool place_together(struct ledger *l, const struct unit *u, struct step *steps,
                    struct sched_verdict *no)
{
    struct unit least = *u;
    size_t n, need = (size_t)u->need;
    struct sched_verdict not_told = { 0 };

    if (try_in_turn(l, u, steps, no))
        return true;
    struct sized *of = sized_of(l, u, &n);
    if (n < need || (l->n_ghosts == 0 && exceeds_sum(l, of, need)))
        return false;
    least.at = ARENA_ARRAY(l->a, const struct sched_waiting *, need + 1);
    least.n_distinct = need;
    for (size_t i = 0; i < need; i++)
        least.at[i] = of[need - 1 - i].w;
    l->tight = true;
    bool found = try_in_turn(l, &least, steps, &not_told);
    l->tight = false;
    if (found || l->n > SEARCH_NODES || need > SEARCH_MEMBERS)
        return found;
    struct search s = { l, &least, steps, SEARCH_STEPS };
    return search_from(&s, 0);
}

bool fits_empty(struct ledger *empty, const struct unit *u)
{
    size_t n = (size_t)u->need;
    struct step *steps = ARENA_ARRAY(empty->a, struct step, n + 1);
    struct sched_verdict no = { 0 };

    if (!place_together(empty, u, steps, &no))
        return false;
    while (n)
        step_undo(empty, &steps[--n]);
    return true;
}
