/* Quotas at the door: first that everything to be counted is there, then that it fits. */

#include "builtin/quota_check.h"

#include "builtin/check.h"
#include "builtin/pod_amounts.h"

/* ---- pods must say what a quota counts; an old mistake that is kept for these names only */

static bool must_be_said(str name)
{
    static const char *const names[] = {
        "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", NULL
    };

    return one_of(name, names);
}

static bool says(struct arena *a, jv container, str name)
{
    struct amounts requests = amounts_of(a, jv_at(container, "resources", "requests"));
    struct amounts limits = amounts_of(a, jv_at(container, "resources", "limits"));
    struct amounts use = amounts_new(a);

    quota_add_compute(&use, &requests, &limits);
    return amounts_get(&use, name);
}

static void add_silent(struct arena *a, jv list, str name, struct amounts *silent)
{
    JV_EACH (it, list)
        if (!says(a, it.value, name))
            amounts_set_int(silent, FIELD_STR(it.value, "name"), 1); /* a sorted set of names */
}

static str missing_of(struct arena *a, const struct quota_now *q, jv pod)
{
    AUTO(buf) struct buf b = { 0 };

    if (pod_has_own_amounts(pod))
        return STR_NONE;
    for (size_t i = 0; i < q->hard.n; i++) {
        struct amounts silent = amounts_new(a);
        str name = q->hard.at[i].name;
        if (!must_be_said(name))
            continue;
        add_silent(a, jv_at(pod, "spec", "containers"), name, &silent);
        add_silent(a, jv_at(pod, "spec", "initContainers"), name, &silent);
        for (size_t j = 0; j < silent.n; j++) {
            if (j == 0)
                buf_printf(&b, "%s%" PRI_STR " for: ", b.n ? "; " : "", STR_ARG(name));
            buf_printf(&b, "%s%" PRI_STR, j ? "," : "", STR_ARG(silent.at[j].name));
        }
    }
    return b.n ? arena_printf(a, "failed quota: %" PRI_STR ": must specify %" PRI_STR,
                              STR_ARG(q->name), STR_ARG(buf_str(&b)))
               : STR_NONE;
}

/* ---- fitting in */

static bool speaks_of(struct arena *a, const struct quota_now *q, str resource, jv obj)
{
    for (size_t i = 0; i < q->hard.n; i++)
        if (quota_counts(a, resource, q->hard.at[i].name))
            return quota_covers(a, q->spec, resource, obj);
    return false;
}

/* What the write adds; never less than nothing. */
static struct amounts delta_of(struct arena *a, const struct quota_now *q,
                               const struct quota_write *w)
{
    struct amounts use = quota_usage(a, w->resource, w->obj);
    struct amounts delta = amounts_mask(a, &use, &q->hard);

    if (jv_exists(w->old) && quota_covers(a, q->spec, w->resource, w->old)) {
        struct amounts before = quota_usage(a, w->resource, w->old);
        amounts_sub(&delta, &before);
        for (size_t i = 0; i < delta.n; i++)
            if (quantity_sign(&delta.at[i].q) < 0)
                delta.at[i].q = quantity_of(0, QUANTITY_DECIMAL_SI);
    }
    amounts_drop_zeros(&delta);
    return delta;
}

static str exceeded(struct arena *a, const struct quota_now *q, const struct amounts *delta)
{
    struct amounts over = amounts_new(a);

    for (size_t i = 0; i < delta->n; i++) {
        str name = delta->at[i].name;
        const struct quantity *used = amounts_get(&q->used, name);
        struct quantity sum = used ? *used : quantity_of(0, QUANTITY_DECIMAL_SI);
        if (quantity_add(&sum, &delta->at[i].q) < 0 ||
            quantity_cmp(&sum, amounts_get(&q->hard, name)) > 0)
            amounts_set(&over, name, &delta->at[i].q);
    }
    if (!over.n)
        return STR_NONE;
    struct amounts used = amounts_mask(a, &q->used, &over);
    struct amounts hard = amounts_mask(a, &q->hard, &over);
    return arena_printf(a,
                        "exceeded quota: %" PRI_STR ", requested: %" PRI_STR ", used: %" PRI_STR
                        ", limited: %" PRI_STR,
                        STR_ARG(q->name), STR_ARG(amounts_text(a, &over)),
                        STR_ARG(amounts_text(a, &used)), STR_ARG(amounts_text(a, &hard)));
}

str quota_check(struct arena *a, const struct quota_now *quotas, size_t n,
                const struct quota_write *w, struct amounts *delta)
{
    for (size_t i = 0; i < n; i++) {
        delta[i] = amounts_new(a);
        if (!speaks_of(a, &quotas[i], w->resource, w->obj))
            continue;
        str missing = str_eqz(w->resource, "pods") ? missing_of(a, &quotas[i], w->obj) : STR_NONE;
        if (missing.n)
            return missing;
        delta[i] = delta_of(a, &quotas[i], w);
    }
    for (size_t i = 0; i < n; i++) {
        str over = exceeded(a, &quotas[i], &delta[i]);
        if (over.n)
            return over;
    }
    return STR_NONE;
}
