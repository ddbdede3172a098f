/* topologySpreadConstraints that forbid. */

#include "kube/selector.h"
#include "sched/internal.h"

static int64_t matching(const struct place *p, const struct selector *s, str ns)
{
    int64_t n = 0;

    for (const struct seat *seat = p->seats; seat; seat = seat->next)
        n += str_eq(seat->pod->ns, ns) && selector_matches(s, seat->pod->labels);
    return n;
}

/* Pods in the domain of that name. */
static int64_t in_domain(const struct candidate *c, const struct selector *s, str key, str domain)
{
    int64_t n = 0;
    str value;

    for (size_t i = 0; i < c->l->n; i++) {
        const struct place *p = &c->l->places[i];
        if (node_is_wanted(c->pod, p->node) && label_value(p->node, key, &value) &&
            str_eq(value, domain))
            n += matching(p, s, c->pod->ns);
    }
    return n;
}

static int64_t in_emptiest(const struct candidate *c, const struct selector *s, str key)
{
    int64_t least = INT64_MAX;
    str value;

    for (size_t i = 0; i < c->l->n; i++) {
        const struct place *p = &c->l->places[i];
        if (!node_is_wanted(c->pod, p->node) || !label_value(p->node, key, &value))
            continue;
        int64_t n = in_domain(c, s, key, value);
        least = n < least ? n : least;
    }
    return least;
}

void filter_spread(const struct candidate *c, const struct place *p, struct refusal *why)
{
    JV_EACH (it, c->pod->spread) {
        str key = FIELD_STR(it.value, "topologyKey"), value, bad;
        struct selector s;
        if (!str_eqz(FIELD_STR(it.value, "whenUnsatisfiable"), "DoNotSchedule"))
            continue;
        if (!label_value(p->node, key, &value)) {
            refuse(why,
                   S("node(s) didn't match pod topology spread constraints (missing required "
                     "label)"),
                   true);
            return;
        }
        if (selector_from_object(c->l->a, FIELD(it.value, "labelSelector"), &s, &bad) < 0)
            continue;
        int64_t n = in_domain(c, &s, key, value) + selector_matches(&s, c->pod->labels);
        if (n - in_emptiest(c, &s, key) > jv_int(FIELD(it.value, "maxSkew"), 1)) {
            refuse(why, S("node(s) didn't match pod topology spread constraints"), false);
            return;
        }
    }
}
