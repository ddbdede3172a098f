/* ResourceQuotas: what the pods of a namespace, and those that PodGroups wait for, may ask for
 * together. Counted from the pods here, as a quota's status lags behind them. */

#include "binder/groups.h"

struct quota {
    struct held h;
    struct sched_amounts hard; /* under the names of the quota, as pods have them; lives with h */
};

/* What pods ask for of it, as pods say that: "requests.cpu" is cpu; empty: not theirs. */
static str resource_of(str name)
{
    static const char *const plain[] = { "cpu", "memory", "ephemeral-storage", "pods" };

    if (str_eqz(name, "count/pods"))
        return S("pods");
    if (str_starts(name, S("requests.")))
        return str_sub(name, S("requests.").n, name.n);
    for (size_t i = 0; i < COUNT(plain); i++)
        if (str_eqz(name, plain[i]))
            return name;
    return STR_NONE;
}

static jv quota_slim(struct arena *a, jv obj)
{
    jv meta = jobj(a, { "name", jv_at(obj, "metadata", "name") },
                   { "namespace", jv_at(obj, "metadata", "namespace") },
                   { "uid", jv_at(obj, "metadata", "uid") });
    jv spec = jv_get(obj, S("spec"));

    /* which pods a scope is about may change with their life */
    if (jv_len(jv_get(spec, S("scopes"))) || jv_exists(jv_get(spec, S("scopeSelector"))))
        return JV_ABSENT;
    return jobj(a, { "metadata", meta }, { "hard", jv_get(spec, S("hard")) });
}

static int64_t amount_in(const struct sched_amounts *of, str name)
{
    for (size_t i = 0; i < of->n; i++)
        if (str_eq(of->at[i].name, name))
            return of->at[i].n;
    return 0;
}

/* Pods are an amount of a node as the others are. */
static int64_t hard_of(struct arena *a, str name, jv value)
{
    jv list = jv_with_key(a, JV_EMPTY_OBJ, name, value);
    jv status = jobj(a, { "allocatable", list });
    struct sched_node like = sched_node_read(a, jobj(a, { "status", status }));

    return amount_in(&like.has, name);
}

static void quota_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct quota *q = (struct quota *)h;
    jv hard = jv_get(h->obj, S("hard"));
    struct sched_amount *at = ARENA_ARRAY(h->a, struct sched_amount, jv_len(hard) + 1);

    (void)obj;
    (void)is_new;
    q->hard = (struct sched_amounts){ at, 0 };
    JV_EACH (it, hard) {
        str name = resource_of(it.key);
        if (!name.n)
            continue;
        at[q->hard.n++] = (struct sched_amount){ it.key, hard_of(h->a, name, it.value) };
    }
    s->b->groups_due = true;
    binder_work(s->b);
}

static void quota_gone(struct shelf *s, struct held *h)
{
    (void)h;
    s->b->groups_due = true;
    binder_work(s->b);
}

static const struct kube_resource quotas = { "", "v1", "resourcequotas", "ResourceQuota", false };
const struct shelf_ops quota_shelf = { &quotas, sizeof(struct quota), quota_slim, quota_changed,
                                       quota_gone };

/* ---- what is left */

static void take(struct sched_amount *left, size_t n, const struct sched_amounts *need,
                 int64_t pods)
{
    for (size_t i = 0; i < n; i++) {
        str name = resource_of(left[i].name);
        int64_t amount = str_eqz(name, "pods") ? pods : amount_in(need, name);
        if (__builtin_sub_overflow(left[i].n, amount, &left[i].n))
            left[i].n = INT64_MIN;
    }
}

/* Pods of groups that are not in are what these ask for. */
static bool counts(const struct pod *p)
{
    return !p->ended && !p->done && (!p->of || group_of(p->of)->let_in);
}

static struct sched_quota quota_left(struct binder *b, struct arena *a, const struct quota *q)
{
    struct sched_amount *left = ARENA_ARRAY(a, struct sched_amount, q->hard.n + 1);
    str ns = meta_namespace(q->h.obj);

    memcpy(left, q->hard.at, q->hard.n * sizeof(*left));
    MAP_EACH (slot, &b->pods.items) {
        const struct pod *p = slot->value;
        if (str_eq(p->p.ns, ns) && counts(p))
            take(left, q->hard.n, &p->p.need, 1);
    }
    GROUP_EACH (slot, form, b) {
        const struct group *g = slot->value;
        int64_t missing = group_min(g) - group_pods_total(&g->pods);
        if (str_eq(g->g.g.ns, ns) && g->let_in && !phase_is_over(g->phase))
            take(left, q->hard.n, &g->unmade, missing > 0 ? missing : 0);
    }
    return (
        struct sched_quota){ .ns = ns, .name = meta_name(q->h.obj), .left = { left, q->hard.n } };
}

void quotas_collect(struct binder *b, struct arena *a, struct sched_input *in)
{
    struct sched_quota *all = ARENA_ARRAY(a, struct sched_quota, b->quotas.items.n + 1);

    in->quotas = all;
    MAP_EACH (slot, &b->quotas.items)
        all[in->n_quotas++] = quota_left(b, a, slot->value);
}
