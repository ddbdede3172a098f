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

static int compare_amounts(const void *x, const void *y)
{
    return compare(*(const int64_t *)x, *(const int64_t *)y);
}

/* The least that `need` of them ask for. */
static double least_sum(const struct ledger *l, const struct sized *of, size_t n, size_t need,
                        size_t resource)
{
    int64_t *asked = ARENA_ARRAY(l->a, int64_t, n);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        asked[i] = of[i].need[resource];
    if (need < n)
        qsort(asked, n, sizeof(*asked), compare_amounts);
    for (size_t i = 0; i < need; i++)
        sum += (double)asked[i];
    return sum;
}

/* Of some resource there is not enough for as many of them, wherever they go. */
static bool exceeds_sum(const struct ledger *l, const struct sized *of, size_t n, size_t need)
{
    const double *free = sums_of(l, true);

    for (size_t k = 0; k < l->n_resources; k++)
        if (least_sum(l, of, n, need, k) > free[k])
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

static bool try_place(struct ledger *l, const struct sched_waiting *w, struct place *p,
                      struct step *t)
{
    struct ghost *g = kept_find(l, w->pod);
    struct candidate c = { .l = l,
                           .w = w,
                           .pod = w->pod,
                           .need = ledger_need(l, &w->pod->need),
                           .owed = g && g->place == p };
    struct refusal why;

    if (g)
        kept_give(l, g);
    stake_look(&c);
    if (filter_place(&c, p, &why)) {
        *t = (struct step){ .ghost = g, .of = w, .beyond = c.beyond };
        step_take(l, t, p, w->pod, c.need);
        return true;
    }
    if (g)
        kept_take(l, g);
    return false;
}

/* Members from i on, of which some may be left out; n have a place. */
static bool search_from(struct search *s, size_t i, size_t n)
{
    size_t need = (size_t)s->u->need;

    if (n == need)
        return true;
    if (s->u->n_distinct - i < need - n)
        return false;
    for (size_t k = 0; k < s->l->n && s->left; k++) {
        s->left--;
        if (!try_place(s->l, s->u->at[i], &s->l->places[k], &s->steps[n]))
            continue;
        if (search_from(s, i + 1, n + 1))
            return true;
        step_undo(s->l, &s->steps[n]);
    }
    return s->left && search_from(s, i + 1, n);
}

/* Those for whom something is kept come first, as others may go where that was. */
static void put_owed_first(const struct ledger *l, const struct sched_waiting **at, size_t n)
{
    size_t n_owed = 0;

    for (size_t i = 0; i < n && l->n_ghosts; i++) {
        const struct sched_waiting *w = at[i];
        if (!kept_find(l, w->pod))
            continue;
        memmove(&at[n_owed + 1], &at[n_owed], (i - n_owed) * sizeof(*at));
        at[n_owed++] = w;
    }
}

static bool search_all(struct ledger *l, const struct unit *u, struct step *steps)
{
    size_t steps_max = l->search_left < SEARCH_STEPS ? l->search_left : SEARCH_STEPS;
    struct search s = { l, u, steps, steps_max };
    bool found = search_from(&s, 0, 0);

    l->search_left -= steps_max - s.left;
    return found;
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
    if (n < need || (l->n_ghosts == 0 && exceeds_sum(l, of, n, need)))
        return false;
    const struct sched_waiting **at = ARENA_ARRAY(l->a, const struct sched_waiting *, n + 1);
    for (size_t i = 0; i < n; i++)
        at[i] = of[n - 1 - i].w;
    least.at = at + (n - need);
    least.n_distinct = need;
    put_owed_first(l, least.at, need);
    l->tight = true;
    bool found = try_in_turn(l, &least, steps, &not_told);
    l->tight = false;
    if (found || l->n > SEARCH_NODES || n > SEARCH_MEMBERS)
        return found;
    if (search_all(l, &least, steps))
        return true;
    least.at = at;
    least.n_distinct = n;
    put_owed_first(l, at, n);
    return n > need && search_all(l, &least, steps);
}

/* Those of the steps before the others. */
static void put_first(const struct unit *u, const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < u->n_distinct; k++)
            if (u->at[k] == steps[i].of) {
                u->at[k] = u->at[i];
                u->at[i] = steps[i].of;
            }
}

bool fits_empty(struct ledger *empty, const struct unit *u)
{
    size_t n = (size_t)u->need;
    struct step *steps = ARENA_ARRAY(empty->a, struct step, n + 1);
    struct sched_verdict no = { 0 };

    if (!place_together(empty, u, steps, &no))
        return false;
    if (n < u->n_distinct)
        put_first(u, steps, n);
    while (n)
        step_undo(empty, &steps[--n]);
    return true;
}
