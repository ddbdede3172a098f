/* topologySpreadConstraints that forbid. As in kube-scheduler, a node counts if it has the keys of
 * all of them and the constraint's policies include it, and a selector that selects everything
 * counts no pods. */

#include "kube/selector.h"
#include "sched/internal.h"

/* A constraint, as it is for one pod. */
struct rule {
    const struct candidate *c;
    jv spec;
    str key;
    struct selector selector;
};

static bool forbids(jv constraint)
{
    return str_eqz(FIELD_STR(constraint, "whenUnsatisfiable"), "DoNotSchedule");
}

static bool has_all_keys(const struct sched_pod *pod, const struct sched_node *n)
{
    str value;

    JV_EACH (it, pod->spread)
        if (forbids(it.value) && !label_value(n, FIELD_STR(it.value, "topologyKey"), &value))
            return false;
    return true;
}

static bool counts(const struct rule *r, const struct sched_node *n)
{
    const struct sched_pod *pod = r->c->pod;

    return has_all_keys(pod, n) &&
           (str_eqz(FIELD_STR(r->spec, "nodeAffinityPolicy"), "Ignore") ||
            node_is_wanted(pod, n)) &&
           (!str_eqz(FIELD_STR(r->spec, "nodeTaintsPolicy"), "Honor") ||
            !jv_exists(untolerated_taint(pod->tolerations, n->taints)));
}

static int64_t matching(const struct rule *r, const struct place *p)
{
    int64_t n = 0;

    for (const struct seat *seat = p->seats; r->selector.n && seat; seat = seat->next)
        n += str_eq(seat->pod->ns, r->c->pod->ns) &&
             selector_matches(&r->selector, seat->pod->labels);
    return n;
}

/* Pods in the domain of that name. */
static int64_t in_domain(const struct rule *r, str domain)
{
    int64_t n = 0;
    str value;

    for (size_t i = 0; i < r->c->l->n; i++) {
        const struct place *p = &r->c->l->places[i];
        if (label_value(p->node, r->key, &value) && str_eq(value, domain) && counts(r, p->node))
            n += matching(r, p);
    }
    return n;
}

/* Whether no place before i is in its domain. */
static bool is_first_of_domain(const struct rule *r, size_t i, str domain)
{
    str value;

    for (size_t k = 0; k < i; k++) {
        const struct sched_node *n = r->c->l->places[k].node;
        if (label_value(n, r->key, &value) && str_eq(value, domain) && counts(r, n))
            return false;
    }
    return true;
}

static int64_t in_emptiest(const struct rule *r)
{
    int64_t least = INT64_MAX, domains = 0;
    str value;

    for (size_t i = 0; i < r->c->l->n; i++) {
        const struct sched_node *node = r->c->l->places[i].node;
        if (!label_value(node, r->key, &value) || !counts(r, node) ||
            !is_first_of_domain(r, i, value))
            continue;
        int64_t n = in_domain(r, value);
        least = n < least ? n : least;
        domains++;
    }
    return domains < jv_int(FIELD(r->spec, "minDomains"), 1) ? 0 : least;
}

void filter_spread(const struct candidate *c, const struct place *p, struct refusal *why)
{
    JV_EACH (it, c->pod->spread) {
        struct rule r = { .c = c, .spec = it.value, .key = FIELD_STR(it.value, "topologyKey") };
        str value, bad;
        if (!forbids(it.value))
            continue;
        if (!label_value(p->node, r.key, &value)) {
            refuse(why,
                   S("node(s) didn't match pod topology spread constraints (missing required "
                     "label)"),
                   true);
            return;
        }
        if (selector_from_object(c->l->a, FIELD(it.value, "labelSelector"), &r.selector, &bad) < 0)
            continue;
        int64_t n = in_domain(&r, value) + selector_matches(&r.selector, c->pod->labels);
        if (n - in_emptiest(&r) > jv_int(FIELD(it.value, "maxSkew"), 1)) {
            refuse(why, S("node(s) didn't match pod topology spread constraints"), false);
            return;
        }
    }
}
