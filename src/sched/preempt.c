/* Whom a pod could send away, as kube-scheduler tells it; and what comes of it (evict.c). */

#include "sched/internal.h"

void tally_add(struct tally *t, str reason, size_t n)
{
    enum { FEW = 8 };

    for (size_t i = 0; i < t->n; i++)
        if (str_eq(t->at[i].reason, reason)) {
            t->at[i].n += n;
            return;
        }
    if (t->n % FEW == 0) {
        void *more = arena_zalloc(t->a, (t->n + FEW) * sizeof(*t->at));
        if (t->n)
            memcpy(more, t->at, t->n * sizeof(*t->at));
        t->at = more;
    }
    t->at[t->n].reason = reason;
    t->at[t->n++].n = n;
}

static int compare_texts(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* Sorted as texts, so "10 x" comes before "2 y". */
str tally_text(const struct tally *t, size_t n_nodes)
{
    str *parts = ARENA_ARRAY(t->a, str, t->n + 1);
    str all = arena_printf(t->a, "0/%zu nodes are available:", n_nodes);

    for (size_t i = 0; i < t->n; i++)
        parts[i] = arena_printf(t->a, "%zu %" PRI_STR, t->at[i].n, STR_ARG(t->at[i].reason));
    qsort(parts, t->n, sizeof(*parts), compare_texts);
    for (size_t i = 0; i < t->n; i++)
        all = arena_printf(t->a, "%" PRI_STR "%s %" PRI_STR, STR_ARG(all), i ? "," : "",
                           STR_ARG(parts[i]));
    return arena_cat(t->a, all, S("."));
}

/* The place as it would be without all that matters less than the pod. */
static struct place without_lesser(const struct candidate *c, const struct place *p)
{
    struct ledger scratch = *c->l;
    struct place left = *p;

    left.seats = NULL;
    left.n_pods = 0;
    left.used = ARENA_ARRAY(c->l->a, int64_t, c->l->n_resources);
    for (const struct seat *s = p->seats; s; s = s->next)
        if (s->pod->priority >= c->pod->priority)
            ledger_take(&scratch, &left, s->pod, s->need);
    return left;
}

/* Other pods' rules are looked up through the ledger, so there the place stands as it would be. */
static bool fits_without_lesser(const struct candidate *c, const struct place *p,
                                struct refusal *why)
{
    struct ledger l = *c->l;
    struct candidate then = *c;

    l.places = ARENA_ARRAY(l.a, struct place, l.n);
    memcpy(l.places, c->l->places, l.n * sizeof(*l.places));
    size_t i = (size_t)(p - c->l->places);
    l.places[i] = without_lesser(c, p);
    then.l = &l;
    return filter_place(&then, &l.places[i], why);
}

str preempt_text(const struct candidate *c, const struct refusal *first)
{
    struct tally t = { .a = c->l->a };
    struct refusal then;

    if (c->pod->never_preempts)
        return S("preemption: not eligible due to preemptionPolicy=Never.");
    for (size_t i = 0; i < c->l->n; i++) {
        const struct place *p = &c->l->places[i];
        if (!first || first[i].for_good) {
            tally_add(&t, S("Preemption is not helpful for scheduling"), 1);
        } else if (p->least_priority >= c->pod->priority) {
            tally_add(&t, S("No preemption victims found for incoming pod"), 1);
        } else if (fits_without_lesser(c, p, &then)) {
            return c->l->preempts ? S("preemption: it would help.")
                                  : S("preemption: it would help, but is not enabled.");
        } else {
            for (size_t k = 0; k < then.n; k++)
                tally_add(&t, then.at[k], 1);
        }
    }
    return arena_cat(c->l->a, S("preemption: "), tally_text(&t, c->l->n));
}

str preempt_retell(struct arena *a, str why, enum evicts evicts, size_t n_victims)
{
    static const char *const texts[] = {
        [EVICTS_NOBODY] = "nobody is sent away for it.",
        [EVICTS_LATER] = "it would help; others come first.",
        [EVICTS_BEFORE] = "pods that matter less are being deleted.",
    };
    str begin = S("preemption: "), would = S("preemption: it would help.");
    size_t at = why.n;

    while (at && !str_starts((str){ why.p + at, why.n - at }, begin))
        at--;
    if (!at || (evicts < EVICTS_BEFORE && !str_ends(why, would)))
        return why;
    str first = { why.p, at + begin.n };
    if (evicts != EVICTS_NOW)
        return arena_cat(a, first, str_of(texts[evicts]));
    return arena_printf(a, "%" PRI_STR "%zu pod%s that matter%s less %s sent away.", STR_ARG(first),
                        n_victims, n_victims == 1 ? "" : "s", n_victims == 1 ? "s" : "",
                        n_victims == 1 ? "is" : "are");
}
