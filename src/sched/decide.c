/* The pass over all that wait. */

#include "sched/internal.h"

static int compare(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

static int compare_waiting(const void *x, const void *y)
{
    const struct sched_waiting *v = *(const struct sched_waiting *const *)x;
    const struct sched_waiting *w = *(const struct sched_waiting *const *)y;
    int d = compare(w->pod->priority, v->pod->priority);

    d = d ? d : compare(v->pod->created_ms, w->pod->created_ms);
    d = d ? d : (v->seq > w->seq) - (v->seq < w->seq);
    d = d ? d : str_cmp(v->pod->ns, w->pod->ns);
    return d ? d : str_cmp(v->pod->name, w->pod->name);
}

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

static struct place *find_place(const struct candidate *c, str *why)
{
    struct place **fit = c->l->fit;
    struct refusal *refusals = c->l->refusals;
    struct tally t = { .a = c->l->a };
    size_t n = 0;

    for (size_t i = 0; i < c->l->n; i++)
        if (filter_place(c, &c->l->places[i], &refusals[i]))
            fit[n++] = &c->l->places[i];
    if (n)
        return score_best(c, fit, n);
    for (size_t i = 0; i < c->l->n; i++)
        for (size_t k = 0; k < refusals[i].n; k++)
            tally_add(&t, refusals[i].at[k], 1);
    *why = full_text(c, with_gpus_elsewhere(c, tally_text(&t, c->l->n)), refusals);
    return NULL;
}

static void decide_one(struct ledger *l, struct sched_verdict *v)
{
    const struct sched_waiting *w = v->of;
    struct candidate c = { l, w, w->pod, ledger_need(l, &w->pod->need) };

    if (!l->n) {
        v->why = S(SCHED_NO_NODES);
    } else if (w->refused.n) {
        str first = arena_printf(l->a, "0/%zu nodes are available: %" PRI_STR ".", l->n,
                                 STR_ARG(w->refused));
        v->why = full_text(&c, first, NULL);
    } else {
        struct place *p = find_place(&c, &v->why);
        if (!p)
            return;
        v->node = p->node;
        ledger_take(l, p, w->pod, c.need);
    }
}

struct sched_verdict *sched_decide(struct arena *a, const struct sched_input *in)
{
    struct sched_verdict *out = ARENA_ARRAY(a, struct sched_verdict, in->n_waiting + 1);
    const struct sched_waiting **order =
        ARENA_ARRAY(a, const struct sched_waiting *, in->n_waiting + 1);
    struct ledger l;

    for (size_t i = 0; i < in->n_waiting; i++)
        order[i] = &in->waiting[i];
    qsort(order, in->n_waiting, sizeof(const struct sched_waiting *), compare_waiting);
    ledger_open(&l, a, in);
    for (size_t i = 0; i < in->n_waiting; i++) {
        out[i].of = order[i];
        decide_one(&l, &out[i]);
    }
    return out;
}
