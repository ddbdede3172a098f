/* Where a pod may run: node and pod affinity, tolerations, topology spread. */

#include "builtin/pod.h"

#include "base/limits.h"

static bool op_is(str op, const char *a, const char *b)
{
    return str_eqz(op, a) || str_eqz(op, b);
}

static void node_expression_check(struct problems *ps, const struct path *p, jv expr,
                                  bool check_values)
{
    str op = FIELD_STR(expr, "operator");
    jv values = FIELD(expr, "values");

    if (op_is(op, "In", "NotIn")) {
        if (!jv_len(values))
            problem_required(ps, AT(p, "values"),
                             "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (op_is(op, "Exists", "DoesNotExist")) {
        if (jv_len(values))
            problem_forbidden(ps, AT(p, "values"),
                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (op_is(op, "Gt", "Lt")) {
        if (jv_len(values) != 1)
            problem_required(ps, AT(p, "values"),
                             "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        problem_invalid(ps, AT(p, "operator"), shown(ps->a, FIELD(expr, "operator")),
                        "not a valid selector operator");
    }
    label_key_check(ps, AT(p, "key"), FIELD_STR(expr, "key"));
    if (check_values)
        JV_EACH (it, values)
            name_check(ps, ATI(AT(p, "values"), it.i - 1), jv_str(it.value, S("")),
                       name_label_value);
}

static void node_field_check(struct problems *ps, const struct path *p, jv expr)
{
    str op = FIELD_STR(expr, "operator");

    if (!op_is(op, "In", "NotIn"))
        problem_invalid(ps, AT(p, "operator"), shown(ps->a, FIELD(expr, "operator")),
                        "not a valid selector operator");
    else if (jv_len(FIELD(expr, "values")) != 1)
        problem_required(ps, AT(p, "values"),
                         "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                         "selector");
    if (!str_eq(FIELD_STR(expr, "key"), S("metadata.name"))) {
        problem_invalid(ps, AT(p, "key"), shown(ps->a, FIELD(expr, "key")),
                        "not a valid field selector key");
        return;
    }
    JV_EACH (it, FIELD(expr, "values"))
        name_check(ps, ATI(AT(p, "values"), it.i - 1), jv_str(it.value, S("")),
                   name_dns1123_subdomain);
}

static void node_term_check(struct problems *ps, const struct path *p, jv term, bool check_values)
{
    JV_EACH (it, FIELD(term, "matchExpressions"))
        node_expression_check(ps, ATI(AT(p, "matchExpressions"), it.i - 1), it.value, check_values);
    JV_EACH (it, FIELD(term, "matchFields"))
        node_field_check(ps, ATI(AT(p, "matchFields"), it.i - 1), it.value);
}

void node_selector_check(struct problems *ps, const struct path *p, jv selector)
{
    jv terms = FIELD(selector, "nodeSelectorTerms");
    const struct path *q = AT(p, "nodeSelectorTerms");

    if (!jv_len(terms))
        problem_required(ps, q, "must have at least one node selector term");
    JV_EACH (it, terms)
        node_term_check(ps, EACH_AT(q, it), it.value, true);
}

static void weight_check(struct problems *ps, const struct path *p, jv v)
{
    int64_t weight = FIELD_INT(v, "weight");

    if (weight <= 0 || weight > 100)
        problem_invalid(ps, AT(p, "weight"), LINT(weight), "must be in the range 1-100");
}

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void node_affinity_check(struct problems *ps, const struct path *p, jv v)
{
    if (!jv_is_null(FIELD(v, REQUIRED)))
        node_selector_check(ps, AT(p, REQUIRED), FIELD(v, REQUIRED));
    JV_EACH (it, FIELD(v, PREFERRED)) {
        const struct path *q = ATI(AT(p, PREFERRED), it.i - 1);
        weight_check(ps, q, it.value);
        node_term_check(ps, AT(q, "preference"), FIELD(it.value, "preference"), false);
    }
}

static void label_keys_check(struct problems *ps, const struct path *p, jv keys, jv selector)
{
    if (!jv_len(keys))
        return;
    if (jv_is_null(selector)) {
        problem_forbidden(ps, p, "must not be specified when labelSelector is not set");
        return;
    }
    JV_EACH (it, keys)
        label_key_check(ps, EACH_AT(p, it), jv_str(it.value, S("")));
}

enum { LOOK_AHEAD = 512 }; /* more than any pod has */

/* A key that the selector names once may stand among the keys: it was merged from there. */
static void selected_twice_check(struct problems *ps, const struct path *p, jv keys, jv selector)
{
    jv exprs = FIELD(selector, "matchExpressions");

    JV_EACH (k, keys) {
        str key = jv_str(k.value, S(""));
        size_t times = jv_exists(jv_get(FIELD(selector, "matchLabels"), key));
        if (k.i > LOOK_AHEAD)
            break;
        JV_EACH (it, exprs)
            if (str_eq(FIELD_STR(it.value, "key"), key) && times++)
                problem_invalid(ps, ATI(p, k.i - 1), k.value,
                                "exists in both matchLabelKeys and labelSelector");
    }
}

static void both_label_keys_check(struct problems *ps, const struct path *p, jv v)
{
    jv match = FIELD(v, "matchLabelKeys");
    jv mismatch = FIELD(v, "mismatchLabelKeys");

    label_keys_check(ps, AT(p, "matchLabelKeys"), match, FIELD(v, "labelSelector"));
    label_keys_check(ps, AT(p, "mismatchLabelKeys"), mismatch, FIELD(v, "labelSelector"));
    selected_twice_check(ps, p, match, FIELD(v, "labelSelector"));
    JV_EACH (it, match)
        if (it.i <= LOOK_AHEAD && str_list_has(mismatch, jv_str(it.value, S(""))))
            problem_invalid(ps, ATI(AT(p, "matchLabelKeys"), it.i - 1), it.value,
                            "exists in both matchLabelKeys and mismatchLabelKeys");
}

static void pod_term_check(struct problems *ps, const struct path *p, jv term)
{
    str key = FIELD_STR(term, "topologyKey");

    label_selector_check(ps, AT(p, "labelSelector"), FIELD(term, "labelSelector"));
    label_selector_check(ps, AT(p, "namespaceSelector"), FIELD(term, "namespaceSelector"));
    JV_EACH (it, FIELD(term, "namespaces"))
        name_check(ps, AT(p, "namespace"), jv_str(it.value, S("")), name_dns1123_label);
    both_label_keys_check(ps, p, term);
    if (!key.n)
        problem_required(ps, AT(p, "topologyKey"), "can not be empty");
    label_key_check(ps, AT(p, "topologyKey"), key);
}

static void pod_affinity_check(struct problems *ps, const struct path *p, jv v)
{
    JV_EACH (it, FIELD(v, REQUIRED))
        pod_term_check(ps, ATI(AT(p, REQUIRED), it.i - 1), it.value);
    JV_EACH (it, FIELD(v, PREFERRED)) {
        const struct path *q = ATI(AT(p, PREFERRED), it.i - 1);
        weight_check(ps, q, it.value);
        pod_term_check(ps, AT(q, "podAffinityTerm"), FIELD(it.value, "podAffinityTerm"));
    }
}

static size_t selector_size(jv selector)
{
    size_t n = jv_len(FIELD(selector, "matchLabels"));

    JV_EACH (it, FIELD(selector, "matchExpressions"))
        n += 1 + jv_len(FIELD(it.value, "values"));
    return n;
}

static size_t term_size(jv term)
{
    return 1 + jv_len(FIELD(term, "namespaces")) + selector_size(FIELD(term, "labelSelector")) +
           selector_size(FIELD(term, "namespaceSelector"));
}

/* The scheduler compares each term with each pod that has a node. */
static size_t pod_affinity_size(jv v)
{
    size_t n = 0;

    JV_EACH (it, FIELD(v, REQUIRED))
        n += term_size(it.value);
    JV_EACH (it, FIELD(v, PREFERRED))
        n += term_size(FIELD(it.value, "podAffinityTerm"));
    return n;
}

void affinity_check(struct problems *ps, const struct path *p, jv affinity)
{
    size_t n = pod_affinity_size(FIELD(affinity, "podAffinity")) +
               pod_affinity_size(FIELD(affinity, "podAntiAffinity"));

    if (!jv_len(affinity))
        return;
    if (n > LIMIT_AFFINITY) {
        too_many(ps, p, n, LIMIT_AFFINITY);
        return;
    }
    node_affinity_check(ps, AT(p, "nodeAffinity"), FIELD(affinity, "nodeAffinity"));
    pod_affinity_check(ps, AT(p, "podAffinity"), FIELD(affinity, "podAffinity"));
    pod_affinity_check(ps, AT(p, "podAntiAffinity"), FIELD(affinity, "podAntiAffinity"));
}

void taint_effect_check(struct problems *ps, const struct path *p, jv effect, bool allow_empty)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };

    if (jv_str(effect, S("")).n)
        enum_check(ps, p, effect, effects);
    else if (!allow_empty)
        problem_required(ps, p, "%s", "");
}

void tolerations_check(struct problems *ps, const struct path *p, jv tolerations)
{
    static const char *const operators[] = { "Equal", "Exists", NULL };

    JV_EACH (it, tolerations) {
        const struct path *q = EACH_AT(p, it);
        str op = FIELD_STR(it.value, "operator");
        str value = FIELD_STR(it.value, "value");
        if (FIELD_STR(it.value, "key").n)
            label_key_check(ps, AT(q, "key"), FIELD_STR(it.value, "key"));
        else if (!str_eq(op, S("Exists")))
            problem_invalid(ps, AT(q, "operator"), jstr(ps->a, op),
                            "operator must be Exists when `key` is empty, which means \"match all "
                            "values and all keys\"");
        if (!jv_is_null(FIELD(it.value, "tolerationSeconds")) &&
            !str_eq(FIELD_STR(it.value, "effect"), S("NoExecute")))
            problem_invalid(ps, AT(q, "effect"), shown(ps->a, FIELD(it.value, "effect")),
                            "effect must be 'NoExecute' when `tolerationSeconds` is set");
        if (!op.n || str_eq(op, S("Equal"))) {
            struct name_errors e = name_label_value(value);
            if (e.n)
                problem_invalid(ps, AT(q, "operator"), jstr(ps->a, value), "%" PRI_STR,
                                STR_ARG(name_join(ps->a, &e, ";")));
        } else if (str_eq(op, S("Exists"))) {
            if (value.n)
                problem_invalid(ps, AT(q, "operator"), jstr(ps->a, value),
                                "value must be empty when `operator` is 'Exists'");
        } else {
            problem_not_supported(ps, AT(q, "operator"), jstr(ps->a, op), operators);
        }
        taint_effect_check(ps, AT(q, "effect"), FIELD(it.value, "effect"), true);
    }
}

static bool repeated_later(jv list, size_t i)
{
    jv v = jv_index(list, i);

    for (size_t j = i + 1; j < jv_len(list) && j < i + LOOK_AHEAD; j++) {
        jv other = jv_index(list, j);
        if (str_eq(FIELD_STR(v, "topologyKey"), FIELD_STR(other, "topologyKey")) &&
            str_eq(FIELD_STR(v, "whenUnsatisfiable"), FIELD_STR(other, "whenUnsatisfiable")))
            return true;
    }
    return false;
}

static void min_domains_check(struct problems *ps, const struct path *p, jv v)
{
    jv min = FIELD(v, "minDomains");

    if (jv_is_null(min))
        return;
    positive_check(ps, p, min);
    if (!str_eq(FIELD_STR(v, "whenUnsatisfiable"), S("DoNotSchedule")))
        problem_invalid(ps, p, min,
                        "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %" PRI_STR,
                        STR_ARG(FIELD_STR(v, "whenUnsatisfiable")));
}

void spread_check(struct problems *ps, const struct path *p, jv constraints)
{
    static const char *const actions[] = { "DoNotSchedule", "ScheduleAnyway", NULL };
    static const char *const policies[] = { "Honor", "Ignore", NULL };

    JV_EACH (it, constraints) {
        const struct path *q = EACH_AT(p, it);
        positive_check(ps, AT(q, "maxSkew"), FIELD(it.value, "maxSkew"));
        if (!FIELD_STR(it.value, "topologyKey").n)
            problem_required(ps, AT(q, "topologyKey"), "can not be empty");
        enum_check(ps, AT(q, "whenUnsatisfiable"), FIELD(it.value, "whenUnsatisfiable"), actions);
        if (repeated_later(constraints, it.i - 1)) {
            str text = arena_printf(ps->a, "{%" PRI_STR ", %" PRI_STR "}",
                                    STR_ARG(FIELD_STR(it.value, "topologyKey")),
                                    STR_ARG(FIELD_STR(it.value, "whenUnsatisfiable")));
            problem_duplicate(ps, AT(q, "{topologyKey, whenUnsatisfiable}"), jstr(ps->a, text));
        }
        min_domains_check(ps, AT(q, "minDomains"), it.value);
        enum_optional(ps, AT(q, "nodeAffinityPolicy"), FIELD(it.value, "nodeAffinityPolicy"),
                      policies);
        enum_optional(ps, AT(q, "nodeTaintsPolicy"), FIELD(it.value, "nodeTaintsPolicy"), policies);
        both_label_keys_check(ps, q, it.value);
        label_selector_check(ps, AT(q, "labelSelector"), FIELD(it.value, "labelSelector"));
    }
}

/* ---- merging label keys */

static jv with_expressions(struct arena *a, jv v, jv labels, const char *keys, const char *op)
{
    jv exprs = jv_at(v, "labelSelector", "matchExpressions");
    struct jbuild b = jb_from(a, jv_is(exprs, JV_ARR) ? exprs : JV_EMPTY_ARR);
    bool any = false;

    JV_EACH (it, jv_get(v, str_of(keys))) {
        jv value = jv_get(labels, jv_str(it.value, S("")));
        if (!jv_exists(value) || it.i > LOOK_AHEAD)
            continue;
        any = true;
        jb_push(&b, jobj(a, { "key", it.value }, { "operator", jstr(a, str_of(op)) },
                         { "values", jarr(a, value) }));
    }
    return any ? jv_with(a, v, jb_done(&b), "labelSelector", "matchExpressions") : v;
}

static jv with_label_keys(struct arena *a, jv v, jv labels)
{
    if (jv_is_null(FIELD(v, "labelSelector")))
        return v;
    v = with_expressions(a, v, labels, "matchLabelKeys", "In");
    return with_expressions(a, v, labels, "mismatchLabelKeys", "NotIn");
}

static jv terms_with_label_keys(struct arena *a, jv terms, jv labels, const char *within)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, terms) {
        jv term = within ? jv_get(it.value, str_of(within)) : it.value;
        term = with_label_keys(a, term, labels);
        jb_push(&b, within ? jv_with_key(a, it.value, str_of(within), term) : term);
    }
    return jb_done(&b);
}

void add_label_keys(struct edit *spec, jv labels)
{
    static const char *const sides[] = { "podAffinity", "podAntiAffinity" };
    struct arena *a = spec->a;
    jv affinity = edit_get(spec, S("affinity"));
    jv spread = edit_get(spec, S("topologySpreadConstraints"));

    if (jv_len(spread))
        edit_set(spec, S("topologySpreadConstraints"),
                 terms_with_label_keys(a, spread, labels, NULL));
    for (size_t i = 0; i < COUNT(sides); i++) {
        jv side = jv_get(affinity, str_of(sides[i]));
        if (jv_len(FIELD(side, REQUIRED)))
            side = jv_with(a, side, terms_with_label_keys(a, FIELD(side, REQUIRED), labels, NULL),
                           REQUIRED);
        if (jv_len(FIELD(side, PREFERRED)))
            side =
                jv_with(a, side,
                        terms_with_label_keys(a, FIELD(side, PREFERRED), labels, "podAffinityTerm"),
                        PREFERRED);
        if (jv_len(side))
            affinity = jv_with_key(a, affinity, str_of(sides[i]), side);
    }
    if (jv_len(affinity))
        edit_set(spec, S("affinity"), affinity);
}
