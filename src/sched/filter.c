/* Whether a node will do for a pod: kube-scheduler's filters in their order. The first that says no
 * ends it, and its words are what people see. */

#include "sched/internal.h"

void refuse(struct refusal *why, str reason, bool for_good)
{
    if (why->n < REFUSALS_MAX)
        why->at[why->n++] = reason;
    why->for_good = why->for_good || for_good;
}

/* ---- taints */

static bool tolerates(jv toleration, jv taint)
{
    str effect = FIELD_STR(toleration, "effect"), key = FIELD_STR(toleration, "key");
    str op = FIELD_STR(toleration, "operator");

    if (effect.n && !str_eq(effect, FIELD_STR(taint, "effect")))
        return false;
    if (key.n && !str_eq(key, FIELD_STR(taint, "key")))
        return false;
    if (str_eqz(op, "Exists"))
        return true;
    return (!op.n || str_eqz(op, "Equal")) && key.n &&
           str_eq(FIELD_STR(toleration, "value"), FIELD_STR(taint, "value"));
}

bool taint_is_tolerated(jv tolerations, jv taint)
{
    JV_EACH (it, tolerations)
        if (tolerates(it.value, taint))
            return true;
    return false;
}

jv untolerated_taint(jv tolerations, jv taints)
{
    JV_EACH (it, taints) {
        str effect = FIELD_STR(it.value, "effect");
        if ((str_eqz(effect, "NoSchedule") || str_eqz(effect, "NoExecute")) &&
            !taint_is_tolerated(tolerations, it.value))
            return it.value;
    }
    return JV_ABSENT;
}

static void refuse_taint(const struct candidate *c, struct refusal *why, str key, str value)
{
    refuse(why,
           arena_printf(c->l->a, "node(s) had untolerated taint {%" PRI_STR ": %" PRI_STR "}",
                        STR_ARG(key), STR_ARG(value)),
           true);
}

/* What a cluster's controllers would write on such a node. */
static jv implied_taint(struct arena *a, const char *key)
{
    return jobj(a, { "key", jstr(a, str_of(key)) }, { "effect", jstrz(a, "NoSchedule") });
}

static void filter_unschedulable(const struct candidate *c, const struct place *p,
                                 struct refusal *why)
{
    if (p->node->unschedulable &&
        !taint_is_tolerated(c->pod->tolerations,
                            implied_taint(c->l->a, "node.kubernetes.io/unschedulable")))
        refuse(why, S("node(s) were unschedulable"), true);
}

static void filter_taints(const struct candidate *c, const struct place *p, struct refusal *why)
{
    static const char not_ready[] = "node.kubernetes.io/not-ready";

    jv taint = untolerated_taint(c->pod->tolerations, p->node->taints);

    if (jv_exists(taint)) {
        refuse_taint(c, why, FIELD_STR(taint, "key"), FIELD_STR(taint, "value"));
        return;
    }
    if (p->node->not_ready &&
        !taint_is_tolerated(c->pod->tolerations, implied_taint(c->l->a, not_ready)))
        refuse_taint(c, why, str_of(not_ready), STR_NONE);
}

/* ---- the rest */

static void filter_selector(const struct candidate *c, const struct place *p, struct refusal *why)
{
    if (!node_is_wanted(c->pod, p->node))
        refuse(why, S("node(s) didn't match Pod's node affinity/selector"), true);
}

static bool is_any(str ip)
{
    return !ip.n || str_eqz(ip, "0.0.0.0") || str_eqz(ip, "::");
}

static bool ports_clash(const struct sched_port *x, const struct sched_port *y)
{
    return x->port == y->port && str_eq(x->protocol, y->protocol) &&
           (is_any(x->ip) || is_any(y->ip) || str_eq(x->ip, y->ip));
}

static bool has_port(const struct sched_pod *pod, const struct sched_port *port)
{
    for (size_t i = 0; i < pod->n_ports; i++)
        if (ports_clash(&pod->ports[i], port))
            return true;
    return false;
}

static void filter_ports(const struct candidate *c, const struct place *p, struct refusal *why)
{
    for (size_t i = 0; i < c->pod->n_ports; i++)
        for (const struct seat *s = p->seats; s; s = s->next)
            if (has_port(s->pod, &c->pod->ports[i])) {
                refuse(why, S("node(s) didn't have free ports for the requested pod ports"), false);
                return;
            }
}

static void filter_resources(const struct candidate *c, const struct place *p, struct refusal *why)
{
    const struct ledger *l = c->l;

    if (p->n_pods + 1 > p->max_pods)
        refuse(why, S("Too many pods"), p->max_pods < 1);
    for (size_t i = 0; i < l->n_resources; i++)
        if (c->need[i] > 0 && c->need[i] > p->has[i] - p->used[i])
            refuse(why, l->lacking[i], c->need[i] > p->has[i]);
}

static void filter_volumes(const struct candidate *c, const struct place *p, struct refusal *why)
{
    for (size_t i = 0; i < c->w->n_volumes; i++)
        if (!node_terms_match(c->w->volumes[i], p->node)) {
            refuse(why, S("node(s) had volume node affinity conflict"), true);
            return;
        }
}

/* Last, so that nothing else is wrong with a node of which this is said. */
static void filter_kept(const struct candidate *c, const struct place *p, struct refusal *why)
{
    const struct ledger *l = c->l;

    if (c->owed || l->is_open)
        return;
    if (c->held.n)
        refuse(why, c->held, false);
    if (p->barred && l->n_kept_pods && p->max_pods - p->n_pods <= l->n_kept_pods)
        refuse(why, l->barred_text, false);
    const int64_t *asks = l->n_kept_pods ? c->need : c->beyond;
    for (size_t i = 0; p->barred && i < l->n_resources && !why->n; i++)
        if (asks[i] > 0 && asks[i] > l->spare[i])
            refuse(why, l->barred_text, false);
}

bool filter_place(const struct candidate *c, const struct place *p, struct refusal *why)
{
    static void (*const filters[])(const struct candidate *c, const struct place *p,
                                   struct refusal *why) = {
        filter_unschedulable, filter_taints, filter_selector, filter_ports, filter_resources,
        filter_volumes,       filter_spread, filter_affinity, filter_kept,
    };

    *why = (struct refusal){ 0 };
    for (size_t i = 0; i < COUNT(filters) && !why->n; i++)
        filters[i](c, p, why);
    return !why->n;
}
