/* What ResourceQuotas leave for groups that are let in: pods that exist are counted by the quota
 * itself, those that a group may still make are counted here. */

#include "sched/internal.h"
#include "sched/why.h"

static int compare_limits(const void *x, const void *y)
{
    const struct limit *l = x, *m = y;
    int d = str_cmp(l->of->ns, m->of->ns);

    d = d ? d : str_cmp(l->of->name, m->of->name);
    return d ? d : str_cmp(l->name, m->name);
}

/* Names of a quota that are about what pods ask for. Limits are no less than requests. */
static bool resource_named(const struct ledger *l, str name, size_t *k)
{
    static const char *const prefixes[] = { "requests.", "limits." };

    if (str_eqz(name, "pods") || str_eqz(name, "count/pods")) {
        *k = l->n_resources;
        return true;
    }
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        str prefix = str_of(prefixes[i]);
        if (str_starts(name, prefix)) {
            name = (str){ name.p + prefix.n, name.n - prefix.n };
            break;
        }
    }
    for (*k = 0; *k < l->n_resources; ++*k)
        if (str_eq(l->resources[*k], name))
            return true;
    return false;
}

static int64_t to_come(const struct stake *h, size_t k)
{
    return h->asks[k] > h->exist[k] ? h->asks[k] - h->exist[k] : 0;
}

/* The limits of a namespace follow each other. */
static struct limit *limits_of(const struct ledger *l, str ns)
{
    size_t lo = 0;

    for (size_t hi = l->stakes->n_limits; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(l->stakes->limits[mid].of->ns, ns) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return &l->stakes->limits[lo];
}

#define EACH_LIMIT(it, ledger, name_space)                                            \
    for (struct limit *it = limits_of(ledger, name_space), *end = all_limits(ledger); \
         it < end && str_eq(it->of->ns, name_space); it++)

static struct limit *all_limits(const struct ledger *l)
{
    return l->stakes->limits + l->stakes->n_limits;
}

void quota_take(struct ledger *l, const struct stake *h)
{
    EACH_LIMIT(limit, l, h->of->ns)
    limit->left -= to_come(h, limit->resource);
}

str quota_exceeded(const struct ledger *l, const struct stake *h)
{
    EACH_LIMIT(limit, l, h->of->ns)
    {
        int64_t need = to_come(h, limit->resource);
        str what = stake_resource(l, limit->resource);
        if (need > 0 && need > limit->left)
            return arena_printf(
                l->a,
                "exceeded quota: %" PRI_STR ", requested: %" PRI_STR "=%" PRI_STR
                ", left: %" PRI_STR "=%" PRI_STR,
                STR_ARG(limit->of->name), STR_ARG(limit->name),
                STR_ARG(amount_text(l->a, what, need)), STR_ARG(limit->name),
                STR_ARG(amount_text(l->a, what, limit->left > 0 ? limit->left : 0)));
    }
    return STR_NONE;
}

static void count_existing(struct ledger *l, const struct sched_pod *pod)
{
    struct stake *h = stake_find(l, pod->gang);
    const int64_t *need = h ? ledger_need(l, &pod->need) : NULL;

    for (size_t k = 0; h && k <= l->n_resources; k++)
        h->exist[k] = amount_sum(h->exist[k], k < l->n_resources ? need[k] : 1);
}

void quota_open(struct ledger *l, const struct sched_input *in)
{
    struct stakes *s = l->stakes;
    size_t cap = 0;

    if (!s)
        return;
    for (size_t i = 0; i < in->n_quotas; i++)
        cap += in->quotas[i].left.n;
    s->limits = ARENA_ARRAY(l->a, struct limit, cap + 1);
    for (size_t i = 0; i < in->n_quotas; i++)
        for (size_t k = 0; k < in->quotas[i].left.n; k++) {
            const struct sched_amount *left = &in->quotas[i].left.at[k];
            struct limit limit = { &in->quotas[i], left->name, 0, left->n };
            if (resource_named(l, left->name, &limit.resource))
                s->limits[s->n_limits++] = limit;
        }
    if (!s->n_limits)
        return;
    qsort(s->limits, s->n_limits, sizeof(*s->limits), compare_limits);
    for (size_t i = 0; i < in->n_bound; i++)
        count_existing(l, in->bound[i]);
    for (size_t i = 0; i < in->n_waiting; i++)
        count_existing(l, in->waiting[i].pod);
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].kept)
            quota_take(l, &s->at[i]);
}
