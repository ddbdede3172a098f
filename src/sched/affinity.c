/* Labels that attract or keep away: of nodes, and of pods already there. */

#include "kube/selector.h"
#include "sched/internal.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

/* ---- nodes */

bool label_value(const struct sched_node *n, str key, str *value)
{
    jv v = jv_get(n->labels, key);

    *value = jv_str(v, STR_NONE);
    return jv_exists(v);
}

static bool is_greater(str x, str y, bool less)
{
    int64_t n, m;

    if (!str_to_int(x, &n) || !str_to_int(y, &m))
        return false;
    return less ? n < m : n > m;
}

static bool expression_matches(jv expr, bool there, str value)
{
    str op = FIELD_STR(expr, "operator");
    jv values = FIELD(expr, "values");
    str first = jv_str(jv_index(values, 0), S(""));

    if (str_eqz(op, "In"))
        return there && str_list_has(values, value);
    if (str_eqz(op, "NotIn"))
        return !there || !str_list_has(values, value);
    if (str_eqz(op, "Exists"))
        return there;
    if (str_eqz(op, "DoesNotExist"))
        return !there;
    return there && is_greater(value, first, str_eqz(op, "Lt"));
}

bool node_term_matches(jv term, const struct sched_node *n)
{
    jv labels = FIELD(term, "matchExpressions"), fields = FIELD(term, "matchFields");
    str value;

    if (!jv_len(labels) && !jv_len(fields))
        return false; /* nothing said is nothing meant */
    JV_EACH (it, labels) {
        bool there = label_value(n, FIELD_STR(it.value, "key"), &value);
        if (!expression_matches(it.value, there, value))
            return false;
    }
    JV_EACH (it, fields)
        if (!expression_matches(it.value, true, n->name))
            return false;
    return true;
}

bool node_terms_match(jv node_selector, const struct sched_node *n)
{
    JV_EACH (it, FIELD(node_selector, "nodeSelectorTerms"))
        if (node_term_matches(it.value, n))
            return true;
    return false;
}

bool node_is_wanted(const struct sched_pod *pod, const struct sched_node *n)
{
    jv required = FIELD(FIELD(pod->affinity, "nodeAffinity"), REQUIRED);
    str value;

    JV_EACH (it, pod->selector)
        if (!label_value(n, it.key, &value) || !str_eq(value, jv_str(it.value, S(""))))
            return false;
    return jv_is_null(required) || node_terms_match(required, n);
}

/* ---- pods */

static jv affinity_terms(const struct sched_pod *pod)
{
    return FIELD(FIELD(pod->affinity, "podAffinity"), REQUIRED);
}

static jv anti_terms(const struct sched_pod *pod)
{
    return FIELD(FIELD(pod->affinity, "podAntiAffinity"), REQUIRED);
}

bool pod_keeps_away(const struct sched_pod *pod)
{
    return jv_len(anti_terms(pod)) > 0;
}

static bool labels_match(struct arena *a, jv selector, jv labels)
{
    struct selector s;
    str why;

    return selector_from_object(a, selector, &s, &why) == 0 && selector_matches(&s, labels);
}

static bool namespace_is_meant(const struct ledger *l, jv term, const struct sched_pod *whose,
                               str ns)
{
    jv selector = FIELD(term, "namespaceSelector"), names = FIELD(term, "namespaces");

    if (!jv_len(names) && jv_is_null(selector))
        return str_eq(ns, whose->ns);
    return str_list_has(names, ns) ||
           (!jv_is_null(selector) && labels_match(l->a, selector, jv_get(l->namespaces, ns)));
}

static bool term_means(const struct ledger *l, jv term, const struct sched_pod *whose,
                       const struct sched_pod *other)
{
    return namespace_is_meant(l, term, whose, other->ns) &&
           labels_match(l->a, FIELD(term, "labelSelector"), other->labels);
}

/* Both nodes are in the same zone, rack, ... */
static bool are_together(jv term, const struct sched_node *x, const struct sched_node *y)
{
    str key = FIELD_STR(term, "topologyKey"), xv, yv;

    return label_value(x, key, &xv) && label_value(y, key, &yv) && str_eq(xv, yv);
}

/* A pod that the term means, near node n. */
static bool has_match(const struct candidate *c, jv term, const struct sched_node *n)
{
    for (size_t i = 0; i < c->l->n; i++) {
        const struct place *p = &c->l->places[i];
        if (!are_together(term, n, p->node))
            continue;
        for (const struct seat *s = p->seats; s; s = s->next)
            if (term_means(c->l, term, c->pod, s->pod))
                return true;
    }
    return false;
}

/* As kube-scheduler: a pod is company only if all terms mean it. */
static bool all_terms_mean(const struct candidate *c, const struct sched_pod *other)
{
    JV_EACH (it, affinity_terms(c->pod))
        if (!term_means(c->l, it.value, c->pod, other))
            return false;
    return true;
}

/* Whether a node has a pod that is company, found out once for all terms. */
struct company {
    const struct candidate *c;
    enum { NOT_LOOKED, NO, YES } * at; /* by place */
};

static bool is_there(struct company *m, size_t i)
{
    if (m->at[i] == NOT_LOOKED) {
        m->at[i] = NO;
        for (const struct seat *s = m->c->l->places[i].seats; s && m->at[i] == NO; s = s->next)
            m->at[i] = all_terms_mean(m->c, s->pod) ? YES : NO;
    }
    return m->at[i] == YES;
}

static bool has_company(struct company *m, jv term, const struct sched_node *n)
{
    for (size_t i = 0; i < m->c->l->n; i++)
        if (are_together(term, n, m->c->l->places[i].node) && is_there(m, i))
            return true;
    return false;
}

/* The first of pods that want each other has nobody to be with yet, wherever it goes. */
static bool is_first_of_its_kind(struct company *m)
{
    const struct ledger *l = m->c->l;
    str value;

    if (!all_terms_mean(m->c, m->c->pod))
        return false;
    for (size_t i = 0; i < l->n; i++)
        JV_EACH (it, affinity_terms(m->c->pod))
            if (label_value(l->places[i].node, FIELD_STR(it.value, "topologyKey"), &value) &&
                is_there(m, i))
                return false;
    return true;
}

static bool has_its_company(const struct candidate *c, const struct sched_node *n)
{
    jv terms = affinity_terms(c->pod);
    bool all = true;
    str value;

    if (!jv_len(terms))
        return true;
    struct company m = { c, arena_zalloc(c->l->a, (c->l->n + 1) * sizeof(*m.at)) };
    JV_EACH (it, terms) {
        if (!label_value(n, FIELD_STR(it.value, "topologyKey"), &value))
            return false;
        all = all && has_company(&m, it.value, n);
    }
    return all || is_first_of_its_kind(&m);
}

static bool is_kept_away(const struct candidate *c, const struct sched_node *n)
{
    for (size_t i = 0; c->l->has_anti && i < c->l->n; i++)
        for (const struct seat *s = c->l->places[i].seats; s; s = s->next)
            JV_EACH (it, anti_terms(s->pod))
                if (are_together(it.value, n, c->l->places[i].node) &&
                    term_means(c->l, it.value, s->pod, c->pod))
                    return true;
    return false;
}

void filter_affinity(const struct candidate *c, const struct place *p, struct refusal *why)
{
    if (!has_its_company(c, p->node)) {
        refuse(why, S("node(s) didn't match pod affinity rules"), true);
        return;
    }
    JV_EACH (it, anti_terms(c->pod))
        if (has_match(c, it.value, p->node)) {
            refuse(why, S("node(s) didn't match pod anti-affinity rules"), false);
            return;
        }
    if (is_kept_away(c, p->node))
        refuse(why, S("node(s) didn't satisfy existing pods anti-affinity rules"), false);
}
