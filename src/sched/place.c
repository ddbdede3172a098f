/* The node of one pod: the best of those that will do, else why none does. */

#include "sched/internal.h"

static str full_text(const struct candidate *c, str first, const struct refusal *of)
{
    return arena_printf(c->l->a, "%" PRI_STR " no new claims to deallocate, %" PRI_STR,
                        STR_ARG(first), STR_ARG(preempt_text(c, of)));
}

/* What other runs of the machine use is not free, though no pod that we see has it. */
static str with_gpus_elsewhere(const struct candidate *c, str why)
{
    for (size_t i = 0; i < c->l->n; i++) {
        str said = c->l->places[i].node->gpus_elsewhere;
        for (size_t k = 0; said.n && k < c->pod->need.n; k++)
            if (str_eqz(c->pod->need.at[k].name, "nvidia.com/gpu"))
                return arena_printf(c->l->a, "%" PRI_STR " %" PRI_STR ".", STR_ARG(why),
                                    STR_ARG(said));
    }
    return why;
}

static bool never_fits(const struct ledger *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->refusals[i].for_good)
            return false;
    return true;
}

static bool is_barred(const struct ledger *l)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->refusals[i].n; k++)
            if (l->refusals[i].at[k].p == l->barred_text.p)
                return true;
    return false;
}

/* Of many nodes it is enough to compare some that will do. */
enum { ENOUGH = 100 };

static bool has_room(const struct candidate *c, const struct place *p)
{
    for (size_t i = 0; i < c->l->n_resources; i++)
        if (c->need[i] > 0 && c->need[i] > p->has[i] - p->used[i])
            return false;
    return p->n_pods < p->max_pods;
}

/* Begins after the last node that was looked at, so that all get their turn. */
static size_t find_fits(struct ledger *l, const struct candidate *c)
{
    size_t n = 0, enough = l->tight || l->n <= ENOUGH ? l->n : ENOUGH, from = l->next;

    if (enough == l->n)
        from = 0;
    for (size_t k = 0; k < l->n && n < enough; k++) {
        size_t i = (from + k) % l->n;
        if (!has_room(c, &l->places[i]))
            continue;
        if (filter_place(c, &l->places[i], &l->refusals[i]))
            l->fit[n++] = &l->places[i];
        l->next = i + 1;
    }
    return n;
}

static struct place *find_place(struct ledger *l, const struct candidate *c,
                                struct sched_verdict *v)
{
    struct tally t = { .a = l->a };
    size_t n = find_fits(l, c);

    if (n)
        return score_best(c, l->fit, n);
    for (size_t i = 0; i < l->n; i++) {
        filter_place(c, &l->places[i], &l->refusals[i]);
        for (size_t k = 0; k < l->refusals[i].n; k++)
            tally_add(&t, l->refusals[i].at[k], 1);
    }
    v->why = full_text(c, with_gpus_elsewhere(c, tally_text(&t, l->n)), l->refusals);
    v->never = never_fits(l);
    if (l->barred_text.n && is_barred(l))
        v->behind = l->barred_for;
    if (c->held.n)
        v->behind = c->held_for;
    return NULL;
}

/* Where a member that is gone was, its replacement goes first. */
static struct place *find_own(struct candidate *c, const struct ghost *g)
{
    struct refusal why;

    c->owed = true;
    bool fits = filter_place(c, g->place, &why);
    c->owed = false;
    return fits ? g->place : NULL;
}

bool place_pod(struct ledger *l, struct sched_verdict *v, struct step *t)
{
    const struct sched_waiting *w = v->of;
    struct candidate c = { .l = l, .w = w, .pod = w->pod, .need = ledger_need(l, &w->pod->need) };
    struct place *p = NULL;

    if (!l->n) {
        v->why = S(SCHED_NO_NODES);
        return false;
    }
    if (w->refused.n) {
        str first = arena_printf(l->a, "0/%zu nodes are available: %" PRI_STR ".", l->n,
                                 STR_ARG(w->refused));
        v->why = full_text(&c, first, NULL);
        return false;
    }
    struct ghost *g = kept_find(l, w->pod);
    if (g) {
        kept_give(l, g);
        stake_look(&c);
        p = find_own(&c, g);
    } else {
        stake_look(&c);
    }
    p = p ? p : find_place(l, &c, v);
    if (!p) {
        if (g)
            kept_take(l, g);
        return false;
    }
    *t = (struct step){ .ghost = g, .of = w, .beyond = c.beyond };
    step_take(l, t, p, w->pod, c.need);
    return true;
}
