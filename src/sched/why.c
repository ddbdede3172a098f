/* Finds why a unit waits: first what no scheduler could change, then what is missing in sum, then
 * what sched_decide says of its pods alone. */

#include "sched/why_internal.h"

/* ---- shapes, and the nodes that they may use */

/* More shapes than WHY_SHAPES are counted with the last: its nodes are then no reason. */
static void find_shapes(struct why_view *v)
{
    for (size_t i = 0; i < v->unit->n_pods; i++) {
        size_t k = 0;
        while (k < v->n_shapes && !waiting_same_shape(v->shapes[k].of, v->unit->pods[i]))
            k++;
        if (k == v->n_shapes && k < WHY_SHAPES)
            v->shapes[v->n_shapes++].of = v->unit->pods[i];
        v->shapes[k < WHY_SHAPES ? k : WHY_SHAPES - 1].n++;
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

static void find_usable(struct why_view *v, struct why_shape *s)
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

/* ---- everything else */

/* Whether its pods would get nodes, were no others waiting; else what is said of the first that
 * does not. empty: with nothing on the nodes. */
static bool fits_alone(const struct why_view *v, const struct why_unit *u, bool empty, str *said)
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
        all[i].unchanged = false;
        pods[i] = *all[i].pod;
        pods[i].gang = u->n_pods > 1 ? &together : NULL; /* so that all ways are tried */
        pods[i].member = arena_printf(v->w->a, "%zu", i);
        all[i].pod = &pods[i];
    }
    const struct sched_verdict *verdicts = sched_decide(v->w->a, &in).pods;
    for (size_t i = 0; i < u->n_pods; i++)
        if (!verdicts[i].node) {
            *said = verdicts[i].why;
            return false;
        }
    return true;
}

/* Each of its pods fits on an empty node: only together they do not. */
static bool each_fits(const struct why_view *v)
{
    str said;

    for (size_t i = 0; i < v->n_shapes; i++) {
        struct why_unit one = { .pods = &v->shapes[i].of, .n_pods = 1 };
        if (!fits_alone(v, &one, true, &said))
            return false;
    }
    return true;
}

static void look_at_placing(struct why_view *v, struct why *out)
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

static void find_nodes(struct why_view *v)
{
    v->usable = ARENA_ARRAY(v->w->a, bool, v->w->n + 1);
    v->lasting = true;
    for (size_t i = 0; i < v->n_shapes; i++)
        find_usable(v, &v->shapes[i]);
}

/* The first shape that no node is for; NULL: there is none. */
static const struct why_shape *shape_without_node(const struct why_view *v)
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

static void tell_nodes(const struct why_view *v, struct why *out)
{
    const struct why_shape *s = shape_without_node(v);

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
    struct why_view v = { .w = w, .unit = unit };

    find_shapes(&v);
    find_nodes(&v);
    why_lacks_find(&v);
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
