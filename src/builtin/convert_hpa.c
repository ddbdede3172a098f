/* HorizontalPodAutoscalers of autoscaling/v1 know one metric, the use of CPU. All else that v2 can
 * say is kept in annotations, in the words of an older version, so that nothing is lost on the way
 * through v1. */

#include "builtin/convert_hpa.h"
#include "builtin/check.h"
#include "builtin/convert.h"
#include "builtin/types/types.h"

#define SAVED "autoscaling.alpha.kubernetes.io/"

enum { CPU_PERCENT = 80 };

static const char *const saved[] = { SAVED "metrics",
                                     SAVED "behavior",
                                     SAVED "current-metrics",
                                     SAVED "conditions",
                                     SAVED "scale-down-tolerance",
                                     SAVED "scale-up-tolerance",
                                     NULL };

/* ---- the use of CPU */

static jv cpu_metric(struct arena *a, const char *in, jv percent, bool is_status)
{
    jv target = jobj(a, { "type", is_status ? JV_ABSENT : jstrz(a, "Utilization") },
                     { "averageUtilization", percent });

    return jobj(a, { "type", jstrz(a, "Resource") },
                { "resource", jobj(a, { "name", jstrz(a, "cpu") }, { in, target }) });
}

/* The use of CPU in a metric of v2, or absent. */
static jv cpu_percent(jv metric, const char *in)
{
    jv resource = FIELD(metric, "resource");
    jv percent = FIELD(jv_get(resource, str_of(in)), "averageUtilization");

    return str_eqz(FIELD_STR(metric, "type"), "Resource") &&
                   str_eqz(FIELD_STR(resource, "name"), "cpu") && !jv_is_null(percent)
               ? percent
               : JV_ABSENT;
}

/* ---- behavior: written with the names of Go's fields */

static str with_first(struct arena *a, str key, bool upper)
{
    str copy = arena_str(a, key);
    char *p = (char *)(uintptr_t)copy.p;

    if (copy.n && upper && p[0] >= 'a' && p[0] <= 'z')
        p[0] = (char)(p[0] - 'a' + 'A');
    else if (copy.n && !upper && p[0] >= 'A' && p[0] <= 'Z')
        p[0] = (char)(p[0] - 'A' + 'a');
    return copy;
}

static jv policies(struct arena *a, jv list, bool upper)
{
    struct jbuild all = jb_arr(a);

    JV_EACH (it, list) {
        struct jbuild b = jb_obj(a);
        JV_EACH (m, it.value)
            jb_set(&b, with_first(a, m.key, upper), m.value);
        jb_push(&all, jb_done(&b));
    }
    return jb_done(&all);
}

static jv rules_to_go(struct arena *a, jv rules)
{
    jv list = FIELD(rules, "policies");
    jv window = FIELD(rules, "stabilizationWindowSeconds");
    jv select = FIELD(rules, "selectPolicy");

    if (jv_is_null(rules))
        return JV_NULL_V;
    return jobj(a, { "StabilizationWindowSeconds", jv_is_null(window) ? JV_NULL_V : window },
                { "SelectPolicy", jv_is_null(select) ? JV_NULL_V : select },
                { "Policies", jv_is_null(list) ? JV_NULL_V : policies(a, list, true) },
                { "Tolerance", JV_NULL_V });
}

static jv behavior_to_go(struct arena *a, jv behavior)
{
    return jobj(a, { "ScaleUp", rules_to_go(a, FIELD(behavior, "scaleUp")) },
                { "ScaleDown", rules_to_go(a, FIELD(behavior, "scaleDown")) });
}

static jv rules_from_go(struct arena *a, jv rules)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, rules) {
        str key = with_first(a, it.key, false);
        if (!jv_is_null(it.value))
            jb_set(&b, key, str_eqz(key, "policies") ? policies(a, it.value, false) : it.value);
    }
    return jb_done(&b);
}

static jv behavior_from_go(struct arena *a, jv behavior)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, behavior)
        if (jv_is(it.value, JV_OBJ))
            jb_set(&b, with_first(a, it.key, false), rules_from_go(a, it.value));
    return jb_done(&b);
}

/* ---- whole objects */

jv hpa_without_saved(struct arena *a, jv obj)
{
    struct jbuild b = jb_obj(a);
    bool any = false;

    JV_EACH (it, meta_annotations(obj)) {
        bool drop = one_of(it.key, saved);
        any = any || drop;
        if (!drop)
            jb_add(&b, it.key, it.value);
    }
    if (!any)
        return obj;
    return jv_with(a, obj, b.n ? jb_done(&b) : JV_ABSENT, "metadata", "annotations");
}

static jv with_saved(struct arena *a, jv obj, const char *key, jv value)
{
    return jv_with(a, obj, jstr(a, json_text(a, value)), "metadata", "annotations", key);
}

static jv read_saved(struct arena *a, jv obj, const char *key, enum jv_type type)
{
    str text = jv_str(jv_get(meta_annotations(obj), str_of(key)), S(""));
    jv v = text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;

    JV_EACH (it, v)
        if (type == JV_ARR && !jv_is(it.value, JV_OBJ))
            return JV_ABSENT;
    return jv_is(v, type) ? v : JV_ABSENT;
}

static jv spec_from_v2(struct arena *a, jv spec, struct jbuild *others)
{
    struct jbuild b = jb_from(a, spec);

    jb_set(&b, S("metrics"), JV_ABSENT);
    jb_set(&b, S("behavior"), JV_ABSENT);
    JV_EACH (it, FIELD(spec, "metrics")) {
        jv percent = cpu_percent(it.value, "target");
        if (!jv_exists(percent))
            jb_push(others, hpa_metric_to_v1(a, it.value, false));
        else if (!jv_exists(jb_get(&b, S("targetCPUUtilizationPercentage"))))
            jb_set(&b, S("targetCPUUtilizationPercentage"), percent);
    }
    return jb_done(&b);
}

static jv status_from_v2(struct arena *a, jv status, struct jbuild *metrics)
{
    struct jbuild b = jb_from(a, status);

    jb_set(&b, S("currentMetrics"), JV_ABSENT);
    jb_set(&b, S("conditions"), JV_ABSENT);
    JV_EACH (it, FIELD(status, "currentMetrics")) {
        jv percent = cpu_percent(it.value, "current");
        jb_push(metrics, hpa_metric_to_v1(a, it.value, true));
        if (jv_exists(percent))
            jb_set(&b, S("currentCPUUtilizationPercentage"), percent);
    }
    return jb_done(&b);
}

/* In the order that Go writes them. */
static jv conditions_list(struct arena *a, jv list)
{
    static const str names[] = { S_INIT("type"), S_INIT("status"), S_INIT("lastTransitionTime"),
                                 S_INIT("reason"), S_INIT("message") };
    struct jbuild all = jb_arr(a);

    JV_EACH (it, list) {
        struct jbuild b = jb_obj(a);
        for (size_t i = 0; i < COUNT(names); i++)
            jb_set(&b, names[i], jv_get(it.value, names[i]));
        jb_push(&all, jb_done(&b));
    }
    return jb_done(&all);
}

static jv from_v2(struct arena *a, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv status = FIELD(obj, "status");
    struct jbuild others = jb_arr(a);
    struct jbuild metrics = jb_arr(a);
    jv out = hpa_without_saved(a, obj);

    out = jv_with_key(a, out, S("spec"), spec_from_v2(a, spec, &others));
    out = jv_with_key(a, out, S("status"), status_from_v2(a, status, &metrics));
    if (others.n)
        out = with_saved(a, out, SAVED "metrics", jb_done(&others));
    if (metrics.n)
        out = with_saved(a, out, SAVED "current-metrics", jb_done(&metrics));
    if (!jv_is_null(FIELD(spec, "behavior")))
        out = with_saved(a, out, SAVED "behavior", behavior_to_go(a, FIELD(spec, "behavior")));
    if (jv_len(FIELD(status, "conditions")))
        out =
            with_saved(a, out, SAVED "conditions", conditions_list(a, FIELD(status, "conditions")));
    return out;
}

static jv metrics_list(struct arena *a, jv list, bool is_status)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, list)
        jb_push(&b, hpa_metric_to_v2(a, it.value, is_status));
    return jb_done(&b);
}

static jv spec_to_v2(struct arena *a, jv obj)
{
    struct jbuild b = jb_from(a, FIELD(obj, "spec"));
    jv percent = jb_get(&b, S("targetCPUUtilizationPercentage"));
    jv others = read_saved(a, obj, SAVED "metrics", JV_ARR);
    jv behavior = behavior_from_go(a, read_saved(a, obj, SAVED "behavior", JV_OBJ));
    jv metrics = metrics_list(a, others, false);

    if (jv_is_null(percent) && !jv_len(metrics))
        percent = jint(a, CPU_PERCENT); /* nothing else is asked for */
    if (!jv_is_null(percent))
        metrics =
            jv_with_index(a, metrics, jv_len(metrics), cpu_metric(a, "target", percent, false));
    jb_set(&b, S("targetCPUUtilizationPercentage"), JV_ABSENT);
    jb_set(&b, S("metrics"), metrics);
    jb_set(&b, S("behavior"), jv_len(behavior) ? behavior : JV_ABSENT);
    return jb_done(&b);
}

static jv status_to_v2(struct arena *a, jv obj)
{
    struct jbuild b = jb_from(a, FIELD(obj, "status"));
    jv percent = jb_get(&b, S("currentCPUUtilizationPercentage"));
    jv metrics = read_saved(a, obj, SAVED "current-metrics", JV_ARR);
    jv conditions = read_saved(a, obj, SAVED "conditions", JV_ARR);

    jb_set(&b, S("currentCPUUtilizationPercentage"), JV_ABSENT);
    if (jv_exists(metrics)) /* they say more than the percentage */
        jb_set(&b, S("currentMetrics"), metrics_list(a, metrics, true));
    else if (!jv_is_null(percent))
        jb_set(&b, S("currentMetrics"), jarr(a, cpu_metric(a, "current", percent, true)));
    jb_set(&b, S("conditions"), conditions);
    return jb_done(&b);
}

static jv to_v2(struct arena *a, jv obj)
{
    jv plain = hpa_without_saved(a, obj);
    jv out = jv_with_key(a, plain, S("spec"), spec_to_v2(a, obj));

    out = jv_with_key(a, out, S("status"), status_to_v2(a, obj));
    if (jv_equal(plain, obj) ||
        jv_exists(schema_decode(a, &autoscaling2_HorizontalPodAutoscaler, out, NULL, NULL)))
        return out;
    return to_v2(a, plain); /* annotations are the user's: what makes no sense is not taken */
}

const struct kind_conversion hpa1_conversion = { .group = "autoscaling",
                                                 .version = "v2",
                                                 .plural = "horizontalpodautoscalers",
                                                 .to_stored = to_v2,
                                                 .from_stored = from_v2 };
