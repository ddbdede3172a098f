/* Deployment, ReplicaSet and ReplicationController. */

#include "builtin/hooks.h"
#include "builtin/workload.h"

/* ---- Deployment */

static jv rolling_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    if (jv_is_null(FIELD(v, "maxUnavailable")))
        edit_set(&e, S("maxUnavailable"), LSTR("25%"));
    if (jv_is_null(FIELD(v, "maxSurge")))
        edit_set(&e, S("maxSurge"), LSTR("25%"));
    return edit_done(&e);
}

static jv strategy_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("type"), LSTR("RollingUpdate"));
    if (str_eq(jv_str(edit_get(&e, S("type")), S("")), S("RollingUpdate")))
        edit_set(&e, S("rollingUpdate"), rolling_defaults(a, FIELD(v, "rollingUpdate")));
    return edit_done(&e);
}

static void default_int(struct edit *e, str key, int64_t value)
{
    if (jv_is_null(edit_get(e, key)))
        edit_set(e, key, LINT(value));
}

jv deployment_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    default_int(&spec, S("replicas"), 1);
    default_int(&spec, S("revisionHistoryLimit"), 10);
    default_int(&spec, S("progressDeadlineSeconds"), 600);
    edit_set(&spec, S("strategy"), strategy_defaults(c->a, FIELD(FIELD(obj, "spec"), "strategy")));
    edit_set(&spec, S("template"),
             pod_template_defaults(c->a, FIELD(FIELD(obj, "spec"), "template")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

static jv rolling_shown(struct arena *a, jv v)
{
    jv zero = jint(a, 0);

    if (jv_is_null(v))
        return JV_NULL_V;
    return jobj(a,
                { "MaxUnavailable",
                  jv_is_null(FIELD(v, "maxUnavailable")) ? zero : FIELD(v, "maxUnavailable") },
                { "MaxSurge", jv_is_null(FIELD(v, "maxSurge")) ? zero : FIELD(v, "maxSurge") });
}

jv strategy_shown(struct arena *a, jv strategy)
{
    return jobj(a, { "Type", jstr(a, FIELD_STR(strategy, "type")) },
                { "RollingUpdate", rolling_shown(a, FIELD(strategy, "rollingUpdate")) });
}

static void strategy_check(struct problems *ps, const struct path *p, jv strategy)
{
    static const char *const types[] = { "Recreate", "RollingUpdate", NULL };
    jv rolling = FIELD(strategy, "rollingUpdate");
    jv unavailable = FIELD(rolling, "maxUnavailable");
    const struct path *q = AT(p, "rollingUpdate");
    str type = FIELD_STR(strategy, "type");

    if (str_eq(type, S("Recreate"))) {
        if (!jv_is_null(rolling))
            problem_forbidden(ps, q, "may not be specified when strategy `type` is 'Recreate'");
    } else if (str_eq(type, S("RollingUpdate"))) {
        int_or_percent_check(ps, AT(q, "maxUnavailable"), unavailable);
        int_or_percent_check(ps, AT(q, "maxSurge"), FIELD(rolling, "maxSurge"));
        if (!int_or_percent(unavailable) && !int_or_percent(FIELD(rolling, "maxSurge")))
            problem_invalid(ps, AT(q, "maxUnavailable"), unavailable,
                            "may not be 0 when `maxSurge` is 0");
        at_most_100_percent(ps, AT(q, "maxUnavailable"), unavailable);
    } else {
        problem_not_supported(ps, p, strategy_shown(ps->a, strategy), types);
    }
}

static void template_check(struct problems *ps, const struct path *p, jv spec)
{
    jv tmpl = FIELD(spec, "template");

    if (!selector_is_empty(FIELD(spec, "selector")))
        selector_matches_check(ps, p, FIELD(spec, "selector"), tmpl);
    pod_template_check(ps, p, tmpl);
    endless_template_check(ps, p, tmpl, "ReplicaSet");
}

void deployment_validate(struct problems *ps, jv obj)
{
    static const char *const counts[] = { "minReadySeconds", "revisionHistoryLimit",
                                          "progressDeadlineSeconds", NULL };
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    nonnegative_check(ps, AT(p, "replicas"), FIELD(spec, "replicas"));
    selector_check(ps, p, spec, "deployment");
    template_check(ps, AT(p, "template"), spec);
    strategy_check(ps, AT(p, "strategy"), FIELD(spec, "strategy"));
    counts_check(ps, p, spec, counts);
    if (FIELD_INT(spec, "progressDeadlineSeconds") <= FIELD_INT(spec, "minReadySeconds"))
        problem_invalid(ps, AT(p, "progressDeadlineSeconds"),
                        FIELD(spec, "progressDeadlineSeconds"),
                        "must be greater than minReadySeconds");
}

void deployment_validate_update(struct problems *ps, jv obj, jv old)
{
    selector_is_fixed(ps, obj, old);
}

void deployment_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = {
        "observedGeneration",  "replicas",          "updatedReplicas",
        "readyReplicas",       "availableReplicas", "unavailableReplicas",
        "terminatingReplicas", "collisionCount",    NULL
    };
    static const char *const parts[] = { "updatedReplicas", "readyReplicas", "availableReplicas",
                                         NULL };
    jv status = FIELD(obj, "status");

    counts_check(ps, ROOT("status"), status, counts);
    replicas_check(ps, ROOT("status"), status, parts, "readyReplicas");
    collisions_check(ps, ROOT("status"), status, FIELD(old, "status"));
}

/* ---- ReplicaSet */

jv replicaset_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    default_int(&spec, S("replicas"), 1);
    edit_set(&spec, S("template"),
             pod_template_defaults(c->a, FIELD(FIELD(obj, "spec"), "template")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

void replicaset_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    nonnegative_check(ps, AT(p, "replicas"), FIELD(spec, "replicas"));
    nonnegative_check(ps, AT(p, "minReadySeconds"), FIELD(spec, "minReadySeconds"));
    selector_check(ps, p, spec, "deployment"); /* sic: kube-apiserver says so too */
    template_check(ps, AT(p, "template"), spec);
}

void replicaset_validate_update(struct problems *ps, jv obj, jv old)
{
    selector_is_fixed(ps, obj, old);
}

void replicaset_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = { "replicas",
                                          "fullyLabeledReplicas",
                                          "readyReplicas",
                                          "availableReplicas",
                                          "observedGeneration",
                                          "terminatingReplicas",
                                          NULL };
    static const char *const parts[] = { "fullyLabeledReplicas", "readyReplicas",
                                         "availableReplicas", NULL };

    (void)old;
    counts_check(ps, ROOT("status"), FIELD(obj, "status"), counts);
    replicas_check(ps, ROOT("status"), FIELD(obj, "status"), parts, "readyReplicas");
}

/* ---- ReplicationController */

jv replicationcontroller_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    jv labels = meta_labels(FIELD(FIELD(obj, "spec"), "template"));

    default_int(&spec, S("replicas"), 1);
    if (jv_is(FIELD(FIELD(obj, "spec"), "template"), JV_OBJ))
        edit_set(&spec, S("template"),
                 pod_template_defaults(c->a, FIELD(FIELD(obj, "spec"), "template")));
    if (jv_len(labels) && !jv_len(edit_get(&spec, S("selector"))))
        edit_set(&spec, S("selector"), labels);
    if (jv_len(labels) && !jv_len(meta_labels(obj)))
        obj = jv_with(c->a, obj, labels, "metadata", "labels");
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

void replicationcontroller_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv selector = FIELD(spec, "selector");
    const struct path *p = ROOT("spec");

    nonnegative_check(ps, AT(p, "minReadySeconds"), FIELD(spec, "minReadySeconds"));
    if (!jv_len(selector))
        problem_required(ps, AT(p, "selector"), "%s", "");
    nonnegative_check(ps, AT(p, "replicas"), FIELD(spec, "replicas"));
    if (jv_is_null(FIELD(spec, "template"))) {
        problem_required(ps, AT(p, "template"), "%s", "");
        return;
    }
    if (jv_len(selector))
        selector_matches_check(ps, AT(p, "template"), jobj(ps->a, { "matchLabels", selector }),
                               FIELD(spec, "template"));
    pod_template_check(ps, AT(p, "template"), FIELD(spec, "template"));
    endless_template_check(ps, AT(p, "template"), FIELD(spec, "template"), "ReplicationController");
}
