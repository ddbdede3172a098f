/* Finds why a unit waits: first what no scheduler could change, then what is missing in sum, then
 * what sched_decide says of its pods alone. */

#include "sched/why_internal.h"

/* Pods of a unit that ask for the same: most have one shape, or one for each role. */
struct shape {
    const struct sched_waiting *of;
    int64_t n;
    bool *usable; /* by node */
    size_t n_usable;
    struct tally refusals; /* by the others */
};

enum { SHAPES_MAX = 16 };

struct view {
    struct why_world *w;
    const struct why_unit *unit;
    struct shape shapes[SHAPES_MAX];
    size_t n_shapes;
    bool *usable; /* by any of the shapes */
    size_t n_usable;
    bool lasting; /* nodes that are not usable will not become so by themselves */
    struct why_lack *lacks;
    size_t n_lacks, cap_lacks;
};

/* ---- shapes, and the nodes that they may use */

/* More shapes than SHAPES_MAX are counted with the last: its nodes are then no reason. */
static void find_shapes(struct view *v)
{
    for (size_t i = 0; i < v->unit->n_pods; i++) {
        size_t k = 0;
        while (k < v->n_shapes && !waiting_same_shape(v->shapes[k].of, v->unit->pods[i]))
            k++;
        if (k == v->n_shapes && k < SHAPES_MAX)
            v->shapes[v->n_shapes++].of = v->unit->pods[i];
        v->shapes[k < SHAPES_MAX ? k : SHAPES_MAX - 1].n++;
    }
}

/* With nothing on the nodes, and without what other pods and amounts matter for. */
static struct sched_pod without_needs(struct arena *a, const struct sched_pod *pod)
{
    struct sched_pod p = *pod;
    jv nodes = FIELD(p.affinity, "nodeAffinity");

    p.need = (struct sched_amounts){ 0 };
    p.n_ports = 0;
    p.spread = JV_ABSENT;
    p.affinity = jv_exists(nodes) ? jobj(a, { "nodeAffinity", nodes }) : JV_ABSENT;
    return p;
}

/* Nodes become ready again, and people open them. */
static bool passes(str reason)
{
    return str_eqz(reason, "node(s) were unschedulable") ||
           str_starts(reason, S("node(s) had untolerated taint {node.kubernetes.io/"));
}

static void find_usable(struct view *v, struct shape *s)
{
    struct why_world *w = v->w;
    struct sched_pod bare = without_needs(w->a, s->of->pod);
    struct sched_waiting alone = *s->of;
    struct sched_input in = {
        .nodes = w->nodes, .n_nodes = w->n, .waiting = &alone, .n_waiting = 1
    };
    struct ledger l;
    struct refusal why;

    alone.pod = &bare;
    ledger_open(&l, w->a, &in); /* its places are in the order of w->nodes */
    struct candidate c = {
        .l = &l, .w = &alone, .pod = &bare, .need = ledger_need(&l, &bare.need)
    };
    s->usable = ARENA_ARRAY(w->a, bool, w->n + 1);
    s->refusals.a = w->a;
    for (size_t i = 0; i < w->n; i++) {
        if (filter_place(&c, &l.places[i], &why)) {
            s->usable[i] = true;
            s->n_usable++;
            v->n_usable += !v->usable[i];
            v->usable[i] = true;
            continue;
        }
        v->lasting = v->lasting && !passes(why.at[0]);
        tally_add(&s->refusals, why.at[0], 1);
    }
}

/* ---- amounts */

struct sums {
    int64_t need, has, free;          /* over all */
    int64_t one, most_has, most_free; /* of the pod that wants most, and the best node */
    bool one_never, one_lacks;
};

static void sum_shape(const struct why_world *w, const struct shape *s,
                      const struct why_resource *r, struct sums *out)
{
    int64_t one = why_need_of(s->of->pod, r->name), most_has = 0, most_free = 0;

    for (int64_t i = 0; i < s->n; i++)
        out->need = why_sum(out->need, one);
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

static struct sums sums_of(const struct view *v, const struct why_resource *r)
{
    struct sums s = { 0 };

    for (size_t i = 0; i < v->n_shapes; i++)
        if (v->shapes[i].n_usable && why_need_of(v->shapes[i].of->pod, r->name) > 0)
            sum_shape(v->w, &v->shapes[i], r, &s);
    for (size_t i = 0; i < v->w->n; i++) {
        int64_t left = r->has[i] - r->used[i];
        if (!v->usable[i])
            continue;
        s.has = why_sum(s.has, r->has[i]);
        s.free = why_sum(s.free, left > 0 ? left : 0);
    }
    return s;
}

static void add_lack(struct view *v, struct why_lack lack)
{
    for (size_t i = 0; i < v->n_lacks; i++)
        if (str_eq(v->lacks[i].resource, lack.resource) && v->lacks[i].scope != WHY_LIMIT)
            return;
    if (v->n_lacks < v->cap_lacks)
        v->lacks[v->n_lacks++] = lack;
}

static void look_at_resource(struct view *v, str name)
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

static size_t count_needs(const struct view *v)
{
    size_t n = 1;

    for (size_t i = 0; i < v->n_shapes; i++)
        n += v->shapes[i].of->pod->need.n;
    return n;
}

/* The limits that are no node's, what never fits, what machines are bought for, the rest. */
static int rank(const struct why_lack *l)
{
    bool is_plain = str_eqz(l->resource, "cpu") || str_eqz(l->resource, "memory") ||
                    str_eqz(l->resource, "ephemeral-storage") || str_eqz(l->resource, "pods");

    return (l->never ? 0 : 4) + (l->scope == WHY_LIMIT ? 0 : 2) + is_plain;
}

static int by_rank(const void *x, const void *y)
{
    const struct why_lack *l = x, *m = y;
    int d = rank(l) - rank(m);

    return d ? d : str_cmp(l->resource, m->resource);
}

static void find_lacks(struct view *v)
{
    const struct why_unit *u = v->unit;

    v->cap_lacks = count_needs(v) + u->n_limits;
    v->lacks = ARENA_ARRAY(v->w->a, struct why_lack, v->cap_lacks);
    for (size_t i = 0; i < u->n_limits; i++) {
        const struct why_limit *l = &u->limits[i];
        int64_t need = 0;
        for (size_t k = 0; k < u->n_pods; k++)
            need = why_sum(need, why_need_of(u->pods[k]->pod, l->resource));
        add_lack(v, (struct why_lack){ .resource = l->resource,
                                       .scope = WHY_LIMIT,
                                       .limit = l->what,
                                       .need = need,
                                       .has = l->limit,
                                       .free = l->limit > l->used ? l->limit - l->used : 0,
                                       .never = need > l->limit });
    }
    for (size_t i = 0; v->n_usable && i < v->n_shapes; i++) {
        const struct sched_amounts *need = &v->shapes[i].of->pod->need;
        for (size_t k = 0; k < need->n; k++)
            if (need->at[k].n > 0)
                look_at_resource(v, need->at[k].name);
    }
    if (v->n_usable)
        look_at_resource(v, S("pods"));
    qsort(v->lacks, v->n_lacks, sizeof(*v->lacks), by_rank);
}

/* ---- everything else */

/* Whether its pods would get nodes, were no others waiting; else what is said of the first that
 * does not. empty: with nothing on the nodes. */
static bool fits_alone(const struct view *v, const struct why_unit *u, bool empty, str *said)
{
    struct sched_waiting *all = ARENA_ARRAY(v->w->a, struct sched_waiting, u->n_pods + 1);
    struct sched_input in = { .nodes = v->w->nodes,
                              .n_nodes = v->w->n,
                              .bound = v->w->bound,
                              .n_bound = empty ? 0 : v->w->n_bound,
                              .waiting = all,
                              .n_waiting = u->n_pods };
    struct sched_pod *pods = ARENA_ARRAY(v->w->a, struct sched_pod, u->n_pods + 1);
    const struct sched_gang together = { .uid = S("together"), .min = (int64_t)u->n_pods };

    for (size_t i = 0; i < u->n_pods; i++) {
        all[i] = *u->pods[i];
        pods[i] = *all[i].pod;
        pods[i].gang = u->n_pods > 1 ? &together : NULL; /* so that all ways are tried */
        pods[i].member = arena_printf(v->w->a, "%zu", i);
        all[i].pod = &pods[i];
    }
    const struct sched_verdict *verdicts = sched_decide(v->w->a, &in);
    for (size_t i = 0; i < u->n_pods; i++)
        if (!verdicts[i].node) {
            *said = verdicts[i].why;
            return false;
        }
    return true;
}

/* Each of its pods fits on an empty node: only together they do not. */
static bool each_fits(const struct view *v)
{
    str said;

    for (size_t i = 0; i < v->n_shapes; i++) {
        struct why_unit one = { .pods = &v->shapes[i].of, .n_pods = 1 };
        if (!fits_alone(v, &one, true, &said))
            return false;
    }
    return true;
}

static void look_at_placing(struct view *v, struct why *out)
{
    bool only_room = true;
    str said = STR_NONE;

    if (v->w->partial || fits_alone(v, v->unit, false, &said)) {
        out->cause = v->unit->behind.n ? WHY_BEHIND : WHY_NOTHING;
        return;
    }
    out->n_reasons = why_reasons_read(v->w->a, said, &out->reasons);
    for (size_t i = 0; i < out->n_reasons; i++)
        only_room =
            only_room && (why_reason_is_room(out->reasons[i].text) || out->reasons[i].nodes < 1);
    out->cause = only_room ? WHY_PACKING : WHY_NODES;
    out->never = out->never || (only_room && !fits_alone(v, v->unit, true, &said));
}

static bool refused(const struct why_unit *u, str *why)
{
    for (size_t i = 0; i < u->n_pods; i++)
        if (u->pods[i]->refused.n) {
            *why = u->pods[i]->refused;
            return true;
        }
    return false;
}

static void find_nodes(struct view *v)
{
    v->usable = ARENA_ARRAY(v->w->a, bool, v->w->n + 1);
    v->lasting = true;
    for (size_t i = 0; i < v->n_shapes; i++)
        find_usable(v, &v->shapes[i]);
}

/* The first shape that no node is for; NULL: there is none. */
static const struct shape *shape_without_node(const struct view *v)
{
    for (size_t i = 0; i < v->n_shapes; i++)
        if (!v->shapes[i].n_usable)
            return &v->shapes[i];
    return NULL;
}

/* Empty if node affinity may be the reason, too. */
static str labels_text(struct arena *a, const struct sched_pod *pod)
{
    AUTO(buf) struct buf b = { 0 };

    if (jv_exists(FIELD(pod->affinity, "nodeAffinity")))
        return STR_NONE;
    JV_EACH (it, pod->selector)
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, b.n ? "," : "", STR_ARG(it.key),
                   STR_ARG(jv_str(it.value, STR_NONE)));
    return arena_str(a, buf_str(&b));
}

static void tell_nodes(const struct view *v, struct why *out)
{
    const struct shape *s = shape_without_node(v);

    s = s || !v->n_shapes ? s : &v->shapes[0];
    out->labels = s ? labels_text(v->w->a, s->of->pod) : STR_NONE;
    size_t n = s ? s->refusals.n : 0;
    struct why_reason *reasons = ARENA_ARRAY(v->w->a, struct why_reason, n + 1);
    for (size_t i = 0; i < n; i++)
        reasons[i] = (struct why_reason){ s->refusals.at[i].reason, (int64_t)s->refusals.at[i].n };
    why_reasons_sort(reasons, n);
    out->reasons = reasons;
    out->n_reasons = n;
    out->usable = (int64_t)v->n_usable;
    out->lacks = v->lacks;
    out->n_lacks = v->n_lacks;
}

struct why why_of(struct why_world *w, const struct why_unit *unit)
{
    struct why out = { .behind = unit->behind,
                       .never = unit->never,
                       .pods = (int64_t)unit->n_pods,
                       .min = unit->min > 1 ? unit->min : 1,
                       .nodes = (int64_t)w->n,
                       .partial = w->partial };
    struct view v = { .w = w, .unit = unit };

    find_shapes(&v);
    find_nodes(&v);
    find_lacks(&v);
    tell_nodes(&v, &out);
    if (!w->n) {
        out.cause = WHY_NO_NODES;
    } else if (refused(unit, &out.refused)) {
        out.cause = WHY_REFUSED;
    } else if (out.pods < out.min) {
        out.cause = WHY_MEMBERS;
    } else if (shape_without_node(&v)) {
        out.cause = WHY_NODES;
        out.never = out.never || v.lasting;
    } else if (v.n_lacks) {
        out.cause = WHY_LACKS;
        out.never = out.never || v.lacks[0].never;
    } else {
        look_at_placing(&v, &out);
    }
    out.by_default = unit->by_default && out.never && out.min > 1 && each_fits(&v);
    return out;
}
