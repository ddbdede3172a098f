/* Units that ask for the same fare the same as long as nothing is placed in between: of a thousand
 * that wait, one of each kind is tried. */

#include "sched/internal.h"

static bool same_needs(const struct sched_amounts *x, const struct sched_amounts *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!str_eq(x->at[i].name, y->at[i].name) || x->at[i].n != y->at[i].n)
            return false;
    return true;
}

bool waiting_same_shape(const struct sched_waiting *x, const struct sched_waiting *y)
{
    const struct sched_pod *p = x->pod, *q = y->pod;

    return same_needs(&p->need, &q->need) && jv_equal(p->selector, q->selector) &&
           jv_equal(p->affinity, q->affinity) && jv_equal(p->tolerations, q->tolerations) &&
           !x->n_volumes && !y->n_volumes;
}

/* Something is kept for its group. */
static bool has_own(const struct ledger *l, const struct sched_gang *g)
{
    const struct stake *h = stake_find(l, g);

    for (size_t k = 0; h && k <= l->n_resources; k++)
        if (stake_left(h, k))
            return true;
    return false;
}

static const struct sched_queue *queue_of(const struct unit *u)
{
    const struct sched_gang *g = u->at[0]->pod->gang;

    return g ? g->queue : NULL;
}

/* Whether it is nobody's concern but the nodes' where it goes, and nothing is kept for it. */
static bool is_plain(const struct ledger *l, const struct sched_waiting *w)
{
    const struct sched_pod *p = w->pod;

    return !w->refused.n && !p->n_ports && !jv_exists(p->affinity) && !jv_exists(p->spread) &&
           !l->has_anti && !kept_find(l, p) && !has_own(l, p->gang);
}

static bool is_like(const struct ledger *l, const struct unit *u, const struct unit *v)
{
    if (u->need != v->need || u->n_distinct != v->n_distinct || !u->gang != !v->gang ||
        queue_of(u) != queue_of(v))
        return false;
    for (size_t i = 0; i < u->n_distinct; i++) {
        const struct sched_pod *p = u->at[i]->pod, *q = v->at[i]->pod;
        if (p->priority != q->priority || p->never_preempts != q->never_preempts ||
            !waiting_same_shape(u->at[i], v->at[i]) || !is_plain(l, u->at[i]) ||
            !is_plain(l, v->at[i]))
            return false;
    }
    return true;
}

const struct sched_verdict *failed_like(const struct ledger *l, const struct failures *f,
                                        const struct unit *u)
{
    for (size_t i = 0; i < f->n; i++)
        if (is_like(l, &f->at[i].u, u))
            return &f->at[i].no;
    return NULL;
}

void failures_add(struct failures *f, const struct unit *u, const struct sched_verdict *no)
{
    size_t i = f->n < FAILURES_MAX ? f->n++ : f->next++ % FAILURES_MAX;

    f->at[i].u = *u;
    f->at[i].no = *no;
}
