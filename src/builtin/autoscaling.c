/* HorizontalPodAutoscaler, v2 and v1. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/resources.h"

enum { MAX_PERIOD_S = 1800, MAX_WINDOW_S = 3600, CPU_PERCENT = 80, PERIOD_S = 15 };

/* ---- defaults */

static jv policy_of(struct arena *a, const char *type, int64_t value)
{
    return jobj(a, { "type", jstr(a, str_of(type)) }, { "value", jint(a, value) },
                { "periodSeconds", jint(a, PERIOD_S) });
}

static jv scale_up_defaults(struct arena *a, jv rules)
{
    struct edit e = edit(a, rules);

    edit_default(&e, S("selectPolicy"), LSTR("Max"));
    if (jv_is_null(edit_get(&e, S("stabilizationWindowSeconds"))))
        edit_set(&e, S("stabilizationWindowSeconds"), LINT(0));
    if (jv_is_null(edit_get(&e, S("policies"))))
        edit_set(&e, S("policies"), jarr(a, policy_of(a, "Pods", 4), policy_of(a, "Percent", 100)));
    edit_set(&e, S("tolerance"), JV_ABSENT); /* a feature that is off */
    return edit_done(&e);
}

static jv scale_down_defaults(struct arena *a, jv rules)
{
    struct edit e = edit(a, rules);

    edit_default(&e, S("selectPolicy"), LSTR("Max"));
    if (jv_is_null(edit_get(&e, S("policies"))))
        edit_set(&e, S("policies"), jarr(a, policy_of(a, "Percent", 100)));
    edit_set(&e, S("tolerance"), JV_ABSENT);
    return edit_done(&e);
}

static jv cpu_metric(struct arena *a)
{
    jv target =
        jobj(a, { "type", LSTR("Utilization") }, { "averageUtilization", LINT(CPU_PERCENT) });

    return jobj(a, { "type", LSTR("Resource") },
                { "resource", jobj(a, { "name", LSTR("cpu") }, { "target", target }) });
}

static void min_replicas_default(struct edit *spec)
{
    if (jv_is_null(edit_get(spec, S("minReplicas"))))
        edit_set(spec, S("minReplicas"), LINT(1));
}

jv horizontalpodautoscaler_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    jv behavior = FIELD(FIELD(obj, "spec"), "behavior");

    obj = hpa_without_saved(c->a, obj);
    min_replicas_default(&spec);
    if (!jv_len(edit_get(&spec, S("metrics"))))
        edit_set(&spec, S("metrics"), jarr(c->a, cpu_metric(c->a)));
    if (!jv_is_null(behavior))
        edit_set(&spec, S("behavior"),
                 jobj(c->a, { "scaleUp", scale_up_defaults(c->a, FIELD(behavior, "scaleUp")) },
                      { "scaleDown", scale_down_defaults(c->a, FIELD(behavior, "scaleDown")) }));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

/* What v1 keeps in annotations is read and written anew. */
static jv through_v2(struct arena *a, jv obj)
{
    return hpa1_conversion.from_stored(a, hpa1_conversion.to_stored(a, obj));
}

jv horizontalpodautoscaler1_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    min_replicas_default(&spec);
    return through_v2(c->a, jv_with_key(c->a, obj, S("spec"), edit_done(&spec)));
}

/* The status is the server's, also the part that v1 has in annotations. */
jv horizontalpodautoscaler1_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    jv now = hpa1_conversion.to_stored(c->a, obj);
    jv before = jv_exists(old) ? hpa1_conversion.to_stored(c->a, old) : JV_ABSENT;

    now = jv_with_key(c->a, now, S("status"), FIELD(before, "status"));
    return hpa1_conversion.from_stored(c->a, now);
}

/* ---- validation */

/* grouped: the core group will not do, unless for its one kind that scales. */
static void reference_check(struct problems *ps, const struct path *p, jv ref, bool grouped)
{
    str version = FIELD_STR(ref, "apiVersion");
    str rest = version;

    name_required(ps, AT(p, "kind"), FIELD_STR(ref, "kind"), name_path_segment);
    name_required(ps, AT(p, "name"), FIELD_STR(ref, "name"), name_path_segment);
    str_cut(&rest, '/');
    if (rest.p && str_find(rest, '/') >= 0)
        problem_invalid(ps, AT(p, "apiVersion"), FIELD(ref, "apiVersion"),
                        "unexpected GroupVersion string: %" PRI_STR, STR_ARG(version));
    else if (!rest.p && grouped && !str_eq(FIELD_STR(ref, "kind"), S("ReplicationController")))
        problem_invalid(ps, AT(p, "apiVersion"), jstr(ps->a, version),
                        "apiVersion must specify API group");
}

static void positive_amount(struct problems *ps, const struct path *p, jv amount)
{
    struct quantity q = quantity_of_jv(amount);

    if (!jv_is_null(amount) && quantity_sign(&q) <= 0)
        problem_invalid(ps, p, amount, "must be positive");
}

static void target_check(struct problems *ps, const struct path *p, jv target)
{
    static const char *const types[] = { "Utilization", "Value", "AverageValue", NULL };
    jv percent = FIELD(target, "averageUtilization");

    if (!FIELD_STR(target, "type").n)
        problem_required(ps, AT(p, "type"), "must specify a metric target type");
    if (!one_of(FIELD_STR(target, "type"), types))
        problem_invalid(ps, AT(p, "type"), shown(ps->a, FIELD(target, "type")),
                        "must be either Utilization, Value, or AverageValue");
    positive_amount(ps, AT(p, "value"), FIELD(target, "value"));
    positive_amount(ps, AT(p, "averageValue"), FIELD(target, "averageValue"));
    if (!jv_is_null(percent) && jv_int(percent, 0) < 1)
        problem_invalid(ps, AT(p, "averageUtilization"), percent, "must be greater than 0");
}

static void identifier_check(struct problems *ps, const struct path *p, jv metric)
{
    if (!FIELD_STR(metric, "name").n)
        problem_required(ps, AT(p, "name"), "must specify a metric name");
    else
        name_check(ps, AT(p, "name"), FIELD_STR(metric, "name"), name_path_segment);
}

static void object_check(struct problems *ps, const struct path *p, jv v)
{
    jv target = FIELD(v, "target");

    reference_check(ps, AT(p, "describedObject"), FIELD(v, "describedObject"), false);
    identifier_check(ps, AT(p, "metric"), FIELD(v, "metric"));
    target_check(ps, AT(p, "target"), target);
    if (jv_is_null(FIELD(target, "value")) && jv_is_null(FIELD(target, "averageValue")))
        problem_required(ps, AT(AT(p, "target"), "averageValue"),
                         "must set either a target value or averageValue");
}

static void external_check(struct problems *ps, const struct path *p, jv v)
{
    jv target = FIELD(v, "target");

    identifier_check(ps, AT(p, "metric"), FIELD(v, "metric"));
    target_check(ps, AT(p, "target"), target);
    if (jv_is_null(FIELD(target, "value")) && jv_is_null(FIELD(target, "averageValue")))
        problem_required(ps, AT(AT(p, "target"), "averageValue"),
                         "must set either a target value for metric or a per-pod target");
    if (!jv_is_null(FIELD(target, "value")) && !jv_is_null(FIELD(target, "averageValue")))
        problem_forbidden(ps, AT(AT(p, "target"), "value"),
                          "may not set both a target value for metric and a per-pod target");
}

static void pods_check(struct problems *ps, const struct path *p, jv v)
{
    identifier_check(ps, AT(p, "metric"), FIELD(v, "metric"));
    target_check(ps, AT(p, "target"), FIELD(v, "target"));
    if (jv_is_null(FIELD(FIELD(v, "target"), "averageValue")))
        problem_required(ps, AT(AT(p, "target"), "averageValue"),
                         "must specify a positive target averageValue");
}

static void resource_check(struct problems *ps, const struct path *p, jv v)
{
    jv target = FIELD(v, "target");

    if (!FIELD_STR(v, "name").n)
        problem_required(ps, AT(p, "name"), "must specify a resource name");
    target_check(ps, AT(p, "target"), target);
    if (jv_is_null(FIELD(target, "averageUtilization")) &&
        jv_is_null(FIELD(target, "averageValue")))
        problem_required(ps, AT(AT(p, "target"), "averageUtilization"),
                         "must set either a target raw value or a target utilization");
    if (!jv_is_null(FIELD(target, "averageUtilization")) &&
        !jv_is_null(FIELD(target, "averageValue")))
        problem_forbidden(ps, AT(AT(p, "target"), "averageValue"),
                          "may not set both a target raw value and a target utilization");
}

static void container_resource_check(struct problems *ps, const struct path *p, jv v)
{
    if (!FIELD_STR(v, "container").n)
        problem_required(ps, AT(p, "container"), "must specify a container");
    else
        name_check(ps, AT(p, "container"), FIELD_STR(v, "container"), name_dns1123_label);
    resource_check(ps, p, v);
}

static const struct {
    const char *type;
    const char *field;
    void (*check)(struct problems *ps, const struct path *p, jv v);
} metrics[] = {
    { "Object", "object", object_check },
    { "External", "external", external_check },
    { "Pods", "pods", pods_check },
    { "Resource", "resource", resource_check },
    { "ContainerResource", "containerResource", container_resource_check },
};
static const char *const metric_types[] = { "ContainerResource", "External", "Object", "Pods",
                                            "Resource",          NULL };

static void metric_check(struct problems *ps, const struct path *p, jv metric)
{
    jv type = shown(ps->a, FIELD(metric, "type"));
    const char *expected = "";
    unsigned present = 0;

    if (!jv_str(type, S("")).n)
        problem_required(ps, AT(p, "type"), "must specify a metric source type");
    enum_check(ps, AT(p, "type"), type, metric_types);
    for (size_t i = 0; i < COUNT(metrics); i++) {
        jv v = jv_get(metric, str_of(metrics[i].field));
        if (!jv_is_null(v) && present++ == 0)
            metrics[i].check(ps, ATZ(p, metrics[i].field), v);
    }
    for (size_t i = 0; i < COUNT(metrics); i++) {
        if (!str_eqz(jv_str(type, S("")), metrics[i].type))
            continue;
        expected = metrics[i].field;
        if (jv_is_null(jv_get(metric, str_of(expected))))
            problem_required(ps, ATZ(p, expected),
                             "must populate information for the given metric source");
    }
    if (!*expected)
        enum_check(ps, AT(p, "type"), type, metric_types);
    for (size_t i = 0; i < COUNT(metrics) && present != 1; i++)
        if (!jv_is_null(jv_get(metric, str_of(metrics[i].field))) &&
            !str_eqz(str_of(expected), metrics[i].field))
            problem_forbidden(ps, ATZ(p, metrics[i].field),
                              "must populate the given metric source only");
}

static void rules_check(struct problems *ps, const struct path *p, jv rules)
{
    static const char *const selects[] = { "Disabled", "Max", "Min", NULL };
    static const char *const types[] = { "Percent", "Pods", NULL };
    jv window = FIELD(rules, "stabilizationWindowSeconds");

    if (jv_is_null(rules))
        return;
    if (jv_int(window, 0) < 0)
        problem_invalid(ps, AT(p, "stabilizationWindowSeconds"), window,
                        "must be greater than or equal to zero");
    if (jv_int(window, 0) > MAX_WINDOW_S)
        problem_invalid(ps, AT(p, "stabilizationWindowSeconds"), window,
                        "must be less than or equal to %d", MAX_WINDOW_S);
    enum_optional(ps, AT(p, "selectPolicy"), FIELD(rules, "selectPolicy"), selects);
    if (!jv_len(FIELD(rules, "policies")))
        problem_required(ps, AT(p, "policies"), "must specify at least one Policy");
    JV_EACH (it, FIELD(rules, "policies")) {
        const struct path *q = ATI(AT(p, "policies"), it.i - 1);
        enum_check(ps, AT(q, "type"), FIELD(it.value, "type"), types);
        positive_check(ps, AT(q, "value"), FIELD(it.value, "value"));
        positive_check(ps, AT(q, "periodSeconds"), FIELD(it.value, "periodSeconds"));
        if (FIELD_INT(it.value, "periodSeconds") > MAX_PERIOD_S)
            problem_invalid(ps, AT(q, "periodSeconds"), FIELD(it.value, "periodSeconds"),
                            "must be less than or equal to %d", MAX_PERIOD_S);
    }
}

void horizontalpodautoscaler_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv min = FIELD(spec, "minReplicas");
    const struct path *p = ROOT("spec");

    if (!jv_is_null(min) && jv_int(min, 0) < 1)
        problem_invalid(ps, AT(p, "minReplicas"), min, "must be greater than or equal to 1");
    if (FIELD_INT(spec, "maxReplicas") < 1)
        problem_invalid(ps, AT(p, "maxReplicas"), LINT(FIELD_INT(spec, "maxReplicas")),
                        "must be greater than 0");
    if (!jv_is_null(min) && FIELD_INT(spec, "maxReplicas") < jv_int(min, 0))
        problem_invalid(ps, AT(p, "maxReplicas"), LINT(FIELD_INT(spec, "maxReplicas")),
                        "must be greater than or equal to `minReplicas`");
    reference_check(ps, AT(p, "scaleTargetRef"), FIELD(spec, "scaleTargetRef"), !ps->is_update);
    bool outside = false; /* a metric that does not need a pod to run */
    JV_EACH (it, FIELD(spec, "metrics")) {
        str type = FIELD_STR(it.value, "type");
        metric_check(ps, ATI(AT(p, "metrics"), it.i - 1), it.value);
        outside = outside || str_eq(type, S("Object")) || str_eq(type, S("External"));
    }
    if (!jv_is_null(min) && jv_int(min, 1) == 0 && !outside)
        problem_forbidden(ps, AT(p, "metrics"),
                          "must specify at least one Object or External metric to support scaling "
                          "to zero replicas");
    rules_check(ps, AT(AT(p, "behavior"), "scaleUp"), FIELD(FIELD(spec, "behavior"), "scaleUp"));
    rules_check(ps, AT(AT(p, "behavior"), "scaleDown"),
                FIELD(FIELD(spec, "behavior"), "scaleDown"));
}

void horizontalpodautoscaler1_validate(struct problems *ps, jv obj)
{
    horizontalpodautoscaler_validate(ps, hpa1_conversion.to_stored(ps->a, obj));
}
