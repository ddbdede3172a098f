/* Kinds that are stored in another shape: what a client of one version sees of the other's. */

#include "builtin/convert.h"
#include "tap.h"

static void events_go_by_other_names(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *core =
        J("{'metadata': {'name': 'e'}, 'involvedObject': {'name': 'p'}, 'reason': 'R', 'message': "
          "'m', 'count': 2, 'reportingComponent': 'c'}");
    jv new = event_conversion.from_stored(a, jdoc_root(core));

    is_json(new,
            "{'metadata': {'name': 'e'}, 'regarding': {'name': 'p'}, 'reason': 'R', 'note': 'm',"
            " 'deprecatedCount': 2, 'reportingController': 'c'}",
            "as events.k8s.io shows a core event");
    ok(jv_equal(event_conversion.to_stored(a, new), jdoc_root(core)), "and back");
}

static void event_selectors_mean_the_stored_fields(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(event_conversion.field(a, S("regarding.name")), S("involvedObject.name"),
           "a renamed one");
    is_str(event_conversion.field(a, S("reportingController")), S("reportingComponent"),
           "a plain one");
    is_str(event_conversion.field(a, S("reason")), S("reason"), "one that has no other name");
}

static const char hpa[] =
    "{'metadata': {'name': 'h', 'annotations': {'a': 'b'}}, 'spec': {'maxReplicas': 5, 'metrics': ["
    "{'type': 'Resource', 'resource': {'name': 'memory', 'target': {'averageValue': '1Mi', 'type': "
    "'AverageValue'}}},"
    "{'type': 'Object', 'object': {'describedObject': {'kind': 'S', 'name': 's'}, 'metric': "
    "{'name': 'o'}, 'target': {'value': '10', 'type': 'Value'}}},"
    "{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'averageUtilization': 50, 'type': "
    "'Utilization'}}}],"
    " 'behavior': {'scaleUp': {'selectPolicy': 'Max', 'policies': [{'type': 'Pods', 'value': 1,"
    " 'periodSeconds': 5}]}}},"
    " 'status': {'desiredReplicas': 3, 'currentMetrics': [{'type': 'Resource', 'resource': {'name': "
    "'cpu', 'current': {'averageUtilization': 7, 'averageValue': '5'}}}], 'conditions': [{'type': "
    "'AbleToScale', 'status': 'True', 'reason': 'r'}]}}";

static str saved(jv obj, const char *key)
{
    return jv_str(jv_at(obj, "metadata", "annotations", key), S(""));
}

static void an_old_autoscaler_keeps_the_rest_in_annotations(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *v2 = J(hpa);
    jv v1 = hpa1_conversion.from_stored(a, jdoc_root(v2));

    is_json(jv_at(v1, "spec"), "{'maxReplicas': 5, 'targetCPUUtilizationPercentage': 50}",
            "CPU is the one metric it knows");
    is_json(jv_at(v1, "status"), "{'desiredReplicas': 3, 'currentCPUUtilizationPercentage': 7}",
            "also in its status");
    is_str(
        saved(v1, "autoscaling.alpha.kubernetes.io/metrics"),
        S("[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageValue\":"
          "\"1Mi\"}},{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"S\",\"name\":\"s\"},"
          "\"metricName\":\"o\",\"targetValue\":\"10\"}}]"),
        "other metrics are kept in the old words");
    is_str(saved(v1, "autoscaling.alpha.kubernetes.io/current-metrics"),
           S("[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":"
             "7,\"currentAverageValue\":\"5\"}}]"),
           "and so are current ones");
    is_str(
        saved(v1, "autoscaling.alpha.kubernetes.io/behavior"),
        S("{\"ScaleUp\":{\"StabilizationWindowSeconds\":null,\"SelectPolicy\":\"Max\","
          "\"Policies\":[{\"Type\":\"Pods\",\"Value\":1,\"PeriodSeconds\":5}],\"Tolerance\":null}"
          ",\"ScaleDown\":null}"),
        "behavior by the names of Go's fields");
    is_str(saved(v1, "a"), S("b"), "annotations of the user stay");
}

static void nothing_is_lost_on_the_way_through_v1(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *v2 = J(hpa);
    jv back = hpa1_conversion.to_stored(a, hpa1_conversion.from_stored(a, jdoc_root(v2)));

    if (!ok(jv_equal(back, jdoc_root(v2)), "v2 to v1 and back is the same"))
        printf("# %" PRI_STR "\n", STR_ARG(json_text(a, back)));
}

static void no_metric_means_cpu(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *v1 =
        J("{'metadata': {'annotations': {'autoscaling.alpha.kubernetes.io/metrics': '{nonsense'}},"
          " 'spec': {'maxReplicas': 1}}");
    jv v2 = hpa1_conversion.to_stored(a, jdoc_root(v1));

    is_json(jv_at(v2, "spec", "metrics"),
            "[{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization',"
            " 'averageUtilization': 80}}}]",
            "80 percent, as kube-apiserver has it; annotations that cannot be read are nothing");
    ok(!jv_exists(jv_at(v2, "metadata", "annotations")), "and are dropped");
}

static void nonsense_in_annotations_is_not_taken(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'annotations': {'autoscaling.alpha.kubernetes.io/metrics': '[5]',"
          " 'autoscaling.alpha.kubernetes.io/behavior': '7',"
          " 'autoscaling.alpha.kubernetes.io/current-metrics': '[{\\u0022type\\u0022: 5,"
          " \\u0022resource\\u0022: {\\u0022currentAverageUtilization\\u0022: {}}}]',"
          " 'autoscaling.alpha.kubernetes.io/conditions': '{'}},"
          " 'spec': {'maxReplicas': 3, 'targetCPUUtilizationPercentage': 9}}");
    jv stored = hpa1_conversion.to_stored(a, jdoc_root(d));

    ok(!jv_exists(jv_at(stored, "spec", "behavior")), "no behaviour is made of a number");
    is_int((int64_t)jv_len(jv_at(stored, "spec", "metrics")), 1, "nor a metric");
    ok(!jv_exists(jv_at(stored, "status", "currentMetrics")), "nor what is of other types");
    ok(!jv_exists(jv_at(stored, "metadata", "annotations")), "and the annotations are used up");
}

int main(void)
{
    nonsense_in_annotations_is_not_taken();
    events_go_by_other_names();
    event_selectors_mean_the_stored_fields();
    an_old_autoscaler_keeps_the_rest_in_annotations();
    nothing_is_lost_on_the_way_through_v1();
    no_metric_means_cpu();
    return tap_done();
}
