/* Of which resources there is too little, in sum or on one node, and who holds them. */

#include "sched/why_internal.h"

struct sums {
    int64_t need, has, free;          /* over all */
    int64_t one, most_has, most_free; /* of the pod that wants most, and the best node */
    bool one_never, one_lacks;
};

static void sum_shape(const struct why_world *w, const struct why_shape *s,
                      const struct why_resource *r, struct sums *out)
{
    int64_t one = why_need_of(s->of->pod, r->name), most_has = 0, most_free = 0;

    for (int64_t i = 0; i < s->n; i++)
        out->need = amount_sum(out->need, one);
    for (size_t i = 0; i < w->n; i++) {
        int64_t left = r->has[i] - r->used[i];
        if (!s->usable[i])
            continue;
        most_has = r->has[i] > most_has ? r->has[i] : most_has;
        most_free = left > most_free ? left : most_free;
    }
    bool never = one > most_has, lacks = one > most_free;
    if ((never && !out->one_never) || (lacks && !out->one_lacks)) {
        out->one = one;
        out->most_has = most_has;
        out->most_free = most_free;
    }
    out->one_never = out->one_never || never;
    out->one_lacks = out->one_lacks || lacks;
}

static struct sums sums_of(const struct why_view *v, const struct why_resource *r)
{
    struct sums s = { 0 };

    for (size_t i = 0; i < v->n_shapes; i++)
        if (v->shapes[i].n_usable && why_need_of(v->shapes[i].of->pod, r->name) > 0)
            sum_shape(v->w, &v->shapes[i], r, &s);
    for (size_t i = 0; i < v->w->n; i++) {
        int64_t left = r->has[i] - r->used[i];
        if (!v->usable[i])
            continue;
        s.has = amount_sum(s.has, r->has[i]);
        s.free = amount_sum(s.free, left > 0 ? left : 0);
    }
    return s;
}

static void add_lack(struct why_view *v, struct why_lack lack)
{
    for (size_t i = 0; i < v->n_lacks; i++)
        if (str_eq(v->lacks[i].resource, lack.resource))
            return;
    if (v->n_lacks < v->cap_lacks)
        v->lacks[v->n_lacks++] = lack;
}

static void look_at_resource(struct why_view *v, str name)
{
    struct why_resource *r = world_resource(v->w, name);
    struct sums s = sums_of(v, r);
    struct why_lack lack = { .resource = name };

    if ((s.one_never && v->n_usable > 1) || (s.one_lacks && s.need <= s.free)) {
        lack.scope = WHY_PER_NODE;
        lack.need = s.one;
        lack.has = s.most_has;
        lack.free = s.most_free;
    } else if (s.need > s.free) {
        lack.need = s.need;
        lack.has = s.has;
        lack.free = s.free;
    } else {
        return;
    }
    lack.never = lack.need > lack.has;
    if (v->w->partial && !lack.never)
        return;
    lack.holders = world_holders(v->w, r, v->usable, &lack.n_holders);
    add_lack(v, lack);
}

static size_t count_needs(const struct why_view *v)
{
    size_t n = 1;

    for (size_t i = 0; i < v->n_shapes; i++)
        n += v->shapes[i].of->pod->need.n;
    return n;
}

/* First what never fits; then accelerators and the like before what every machine has. */
static int rank(const struct why_lack *l)
{
    bool is_plain = str_eqz(l->resource, "cpu") || str_eqz(l->resource, "memory") ||
                    str_eqz(l->resource, "ephemeral-storage") || str_eqz(l->resource, "pods");

    return (l->never ? 0 : 2) + is_plain;
}

static int by_rank(const void *x, const void *y)
{
    const struct why_lack *l = x, *m = y;
    int d = rank(l) - rank(m);

    return d ? d : str_cmp(l->resource, m->resource);
}

void why_lacks_find(struct why_view *v)
{
    v->cap_lacks = count_needs(v);
    v->lacks = ARENA_ARRAY(v->w->a, struct why_lack, v->cap_lacks);
    for (size_t i = 0; v->n_usable && i < v->n_shapes; i++) {
        const struct sched_amounts *need = &v->shapes[i].of->pod->need;
        for (size_t k = 0; k < need->n; k++)
            if (need->at[k].n > 0 && !world_is_full(v->w, need->at[k].name))
                look_at_resource(v, need->at[k].name);
    }
    if (v->n_usable && !world_is_full(v->w, S("pods")))
        look_at_resource(v, S("pods"));
    qsort(v->lacks, v->n_lacks, sizeof(*v->lacks), by_rank);
}
