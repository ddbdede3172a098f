/* HorizontalPodAutoscalers are stored as v2. v1 knows CPU only: what else there is, it carries in
 * annotations, so that whoever reads and writes v1 loses nothing. */

#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/types.h"

#define PREFIX           "autoscaling.alpha.kubernetes.io/"
#define ANNOTATION(name) S(PREFIX name)

/* ---- metrics: v2 nests what v1 has in a row */

struct member {
    const char *kind; /* of metric, as its member is called */
    const char *v1;   /* with a capital: after "target" or "current" */
    const char *v2;
    const char *in; /* the object in v2 it is in; "": target or current; NULL: none */
};

/* In the order in which kube-apiserver writes them. */
static const struct member members[] = {
    { "resource", "name", "name", NULL },
    { "resource", "AverageUtilization", "averageUtilization", "" },
    { "resource", "AverageValue", "averageValue", "" },
    { "containerResource", "name", "name", NULL },
    { "containerResource", "AverageUtilization", "averageUtilization", "" },
    { "containerResource", "AverageValue", "averageValue", "" },
    { "containerResource", "container", "container", NULL },
    { "pods", "metricName", "name", "metric" },
    { "pods", "AverageValue", "averageValue", "" },
    { "pods", "selector", "selector", "metric" },
    { "object", "target", "describedObject", NULL },
    { "object", "metricName", "name", "metric" },
    { "object", "Value", "value", "" },
    { "object", "selector", "selector", "metric" },
    { "object", "averageValue", "averageValue", "" },
    { "external", "metricName", "name", "metric" },
    { "external", "metricSelector", "selector", "metric" },
    { "external", "Value", "value", "" },
    { "external", "AverageValue", "averageValue", "" },
};

static str name_in_v1(struct arena *a, const struct member *m, const char *side)
{
    bool is_amount = m->v1[0] >= 'A' && m->v1[0] <= 'Z';

    return is_amount ? arena_printf(a, "%s%s", side, m->v1) : str_of(m->v1);
}

/* The kind of a metric: its member besides type. */
static str kind_of(jv metric)
{
    for (struct jv_iter it = jv_iter(metric); jv_next(&it);)
        if (!str_eqz(it.key, "type"))
            return it.key;
    return S("");
}

static jv metric_to_v1(struct arena *a, jv metric, const char *side)
{
    struct jbuild b = jb_obj(a);
    str kind = kind_of(metric);
    jv from = jv_get(metric, kind);

    for (size_t i = 0; i < COUNT(members); i++) {
        const struct member *m = &members[i];
        if (!str_eqz(kind, m->kind))
            continue;
        jv holder = m->in ? jv_get(from, str_of(*m->in ? m->in : side)) : from;
        jv value = jv_get(holder, str_of(m->v2));
        if (!jv_exists(value) && str_eqz(kind, "object") && str_eqz(str_of(m->v1), "Value"))
            value = jstrz(a, "0"); /* v1 always has one */
        jb_set(&b, name_in_v1(a, m, side), value);
    }
    jv out = jobj(a, { "type", F(metric, "type") });
    return jv_with_key(a, out, kind, jb_done(&b));
}

static jv metric_to_v2(struct arena *a, jv metric, const char *side)
{
    str kind = kind_of(metric);
    jv from = jv_get(metric, kind);
    jv to = JV_EMPTY_OBJ;
    bool averaged = str_eqz(kind, "object") && jv_exists(F(from, "averageValue"));

    for (size_t i = 0; i < COUNT(members); i++) {
        const struct member *m = &members[i];
        jv value = jv_get(from, name_in_v1(a, m, side));
        if (!str_eqz(kind, m->kind) || !jv_exists(value) ||
            (averaged && str_eqz(str_of(m->v2), "value")))
            continue;
        const char *in = m->in && !*m->in ? side : m->in;
        const char *const steps[] = { in ? in : m->v2, in ? m->v2 : NULL, NULL };
        to = jv_with_path(a, to, value, steps);
    }
    if (str_eqz(str_of(side), "target")) {
        jv target = F(to, "target");
        jv type = jv_exists(F(target, "averageUtilization")) ? LSTR("Utilization")
                  : jv_exists(F(target, "value"))            ? LSTR("Value")
                                                             : LSTR("AverageValue");
        to = jv_with(a, to, jv_copy(a, type), "target", "type");
    }
    return jv_with_key(a, jobj(a, { "type", F(metric, "type") }), kind, to);
}

static bool is_cpu_percentage(jv metric, const char *side)
{
    jv resource = F(metric, "resource");

    return str_eqz(FS(resource, "name"), "cpu") &&
           jv_exists(F(jv_get(resource, str_of(side)), "averageUtilization"));
}

/* ---- behaviour: v1 has it in the words of Go's structs */

static jv with_other_case(struct arena *a, jv v, bool upper)
{
    struct jbuild b = jv_is(v, JV_ARR) ? jb_arr(a) : jb_obj(a);

    if (jv_is(v, JV_ARR)) {
        EACH (it, v)
            jb_push(&b, with_other_case(a, it.value, upper));
        return jb_done(&b);
    }
    if (!jv_is(v, JV_OBJ))
        return v;
    EACH (it, v) {
        char first = it.key.n ? it.key.p[0] : 0;
        char other = (char)(upper ? first & ~0x20 : first | 0x20);
        str key = arena_printf(a, "%c%" PRI_STR, other, STR_ARG(str_sub(it.key, 1, it.key.n)));
        if (!jv_is_null(it.value))
            jb_set(&b, key, with_other_case(a, it.value, upper));
    }
    return jb_done(&b);
}

static jv rules_to_v1(struct arena *a, jv rules)
{
    rules = with_other_case(a, rules, true);
    return jobj(a,
                { "StabilizationWindowSeconds", jv_exists(F(rules, "StabilizationWindowSeconds"))
                                                    ? F(rules, "StabilizationWindowSeconds")
                                                    : JV_NULL_V },
                { "SelectPolicy", F(rules, "SelectPolicy") }, { "Policies", F(rules, "Policies") },
                { "Tolerance", JV_NULL_V });
}

static jv behavior_to_v1(struct arena *a, jv behavior)
{
    return jobj(a, { "ScaleUp", rules_to_v1(a, F(behavior, "scaleUp")) },
                { "ScaleDown", rules_to_v1(a, F(behavior, "scaleDown")) });
}

/* ---- both ways */

static void annotate(struct arena *a, struct edit *notes, str name, jv value)
{
    edit_set(notes, name, jv_len(value) ? jstr(a, json_text(a, value)) : JV_ABSENT);
}

static jv noted(struct arena *a, jv notes, str name)
{
    return json_parse(a, jv_str(jv_get(notes, name), S("")), NULL, NULL);
}

static bool is_metric(jv metric)
{
    str kind = kind_of(metric);

    for (size_t i = 0; i < COUNT(members); i++)
        if (str_eqz(kind, members[i].kind))
            return jv_is(jv_get(metric, kind), JV_OBJ);
    return false;
}

/* All metrics but the one that v1 has a field for. */
static jv others_to_v1(struct arena *a, jv metrics)
{
    struct jbuild b = jb_arr(a);

    EACH (it, metrics)
        if (!is_cpu_percentage(it.value, "target"))
            jb_push(&b, metric_to_v1(a, it.value, "target"));
    return jb_done(&b);
}

static jv each_metric(struct arena *a, jv metrics, const char *side,
                      jv (*f)(struct arena *a, jv metric, const char *side))
{
    struct jbuild b = jb_arr(a);

    EACH (it, metrics)
        if (is_metric(it.value))
            jb_push(&b, f(a, it.value, side));
    return jb_done(&b);
}

static jv cpu_percentage(jv metrics, const char *side)
{
    jv found = JV_ABSENT;

    EACH (it, metrics)
        if (is_cpu_percentage(it.value, side))
            found = F(jv_get(F(it.value, "resource"), str_of(side)), "averageUtilization");
    return found;
}

static jv with_notes(struct arena *a, jv obj, struct edit *notes)
{
    jv left = edit_done(notes);

    return jv_with(a, obj, jv_len(left) ? left : JV_ABSENT, "metadata", "annotations");
}

jv horizontalpodautoscaler1_from_stored(struct arena *a, jv obj)
{
    jv spec = F(obj, "spec");
    jv status = F(obj, "status");
    jv was = F(status, "currentMetrics");
    struct edit notes = edit(a, F(F(obj, "metadata"), "annotations"));
    jv replicas = F(status, "currentReplicas");

    annotate(a, &notes, ANNOTATION("metrics"), others_to_v1(a, F(spec, "metrics")));
    annotate(a, &notes, ANNOTATION("current-metrics"),
             each_metric(a, was, "current", metric_to_v1));
    annotate(a, &notes, ANNOTATION("conditions"), F(status, "conditions"));
    annotate(a, &notes, ANNOTATION("behavior"),
             jv_is_null(F(spec, "behavior")) ? JV_ABSENT : behavior_to_v1(a, F(spec, "behavior")));
    obj = with_notes(a, obj, &notes);
    obj = jv_with_key(
        a, obj, S("spec"),
        jobj(a, { "scaleTargetRef", F(spec, "scaleTargetRef") },
             { "minReplicas", F(spec, "minReplicas") }, { "maxReplicas", F(spec, "maxReplicas") },
             { "targetCPUUtilizationPercentage", cpu_percentage(F(spec, "metrics"), "target") }));
    return jv_with_key(a, obj, S("status"),
                       jobj(a, { "observedGeneration", F(status, "observedGeneration") },
                            { "lastScaleTime", F(status, "lastScaleTime") },
                            { "currentReplicas", jv_exists(replicas) ? replicas : jint(a, 0) },
                            { "desiredReplicas", jint(a, jv_int(F(status, "desiredReplicas"), 0)) },
                            { "currentCPUUtilizationPercentage", cpu_percentage(was, "current") }));
}

static jv metrics_to_v2(struct arena *a, jv percentage, jv others)
{
    struct jbuild b = jb_arr(a);
    jv target = jobj(a, { "type", jstrz(a, "Utilization") }, { "averageUtilization", percentage });

    if (jv_exists(percentage))
        jb_push(&b,
                jobj(a, { "type", jstrz(a, "Resource") },
                     { "resource", jobj(a, { "name", jstrz(a, "cpu") }, { "target", target }) }));
    EACH (it, others)
        if (is_metric(it.value))
            jb_push(&b, metric_to_v2(a, it.value, "target"));
    return jb_done(&b);
}

static jv to_v2(struct arena *a, jv obj, jv carried)
{
    struct kind_ctx c = { .a = a };
    jv spec = F(obj, "spec");
    jv status = F(obj, "status");
    jv was =
        each_metric(a, noted(a, carried, ANNOTATION("current-metrics")), "current", metric_to_v2);
    jv behavior = noted(a, carried, ANNOTATION("behavior"));
    jv conditions = noted(a, carried, ANNOTATION("conditions"));
    jv metrics = metrics_to_v2(a, F(spec, "targetCPUUtilizationPercentage"),
                               noted(a, carried, ANNOTATION("metrics")));
    obj =
        jv_with_key(a, obj, S("spec"),
                    jobj(a, { "scaleTargetRef", F(spec, "scaleTargetRef") },
                         { "minReplicas", F(spec, "minReplicas") },
                         { "maxReplicas", F(spec, "maxReplicas") }, { "metrics", metrics },
                         { "behavior", jv_is(behavior, JV_OBJ) ? with_other_case(a, behavior, false)
                                                               : JV_ABSENT }));
    obj = jv_with_key(
        a, obj, S("status"),
        jobj(a, { "observedGeneration", F(status, "observedGeneration") },
             { "lastScaleTime", F(status, "lastScaleTime") },
             { "currentReplicas",
               jv_int(F(status, "currentReplicas"), 0) ? F(status, "currentReplicas") : JV_ABSENT },
             { "desiredReplicas", jint(a, jv_int(F(status, "desiredReplicas"), 0)) },
             { "currentMetrics", jv_len(was) ? was : JV_NULL_V }, { "conditions", conditions }));
    return horizontalpodautoscaler_defaults(&c, obj);
}

jv horizontalpodautoscaler1_to_stored(struct arena *a, jv obj)
{
    static const str ours[] = { S_INIT(PREFIX "metrics"), S_INIT(PREFIX "current-metrics"),
                                S_INIT(PREFIX "conditions"), S_INIT(PREFIX "behavior") };
    jv carried = F(F(obj, "metadata"), "annotations");
    struct edit notes = edit(a, carried);

    for (size_t i = 0; i < COUNT(ours); i++)
        edit_set(&notes, ours[i], JV_ABSENT);
    obj = with_notes(a, obj, &notes);
    jv out = to_v2(a, obj, carried);
    /* annotations hold what users please: what does not fit is not taken */
    bool fits = jv_exists(schema_decode(a, &autoscaling2_HorizontalPodAutoscaler,
                                        jv_without(a, jv_without(a, out, "kind"), "apiVersion"),
                                        NULL, NULL));
    return fits ? out : to_v2(a, obj, JV_ABSENT);
}
