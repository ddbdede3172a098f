/* Autoscalers as v1 shows them: the words are kube-apiserver's. */

#include "builtin/hooks.h"
#include "tap.h"

static const char v2[] =
    "{'metadata': {'name': 'x', 'annotations': {'mine': 'y'}},"
    " 'spec': {'scaleTargetRef': {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'},"
    "  'minReplicas': 1, 'maxReplicas': 3, 'metrics': ["
    "  {'type': 'Resource', 'resource': {'name': 'cpu',"
    "   'target': {'type': 'Utilization', 'averageUtilization': 40}}},"
    "  {'type': 'Resource', 'resource': {'name': 'memory',"
    "   'target': {'averageValue': '1Gi', 'type': 'AverageValue'}}},"
    "  {'type': 'Object', 'object': {'describedObject': {'kind': 'Service', 'name': 's'},"
    "   'metric': {'name': 'o', 'selector': {'matchLabels': {'a': 'b'}}},"
    "   'target': {'averageValue': '7', 'type': 'AverageValue'}}}],"
    "  'behavior': {"
    "   'scaleUp': {'stabilizationWindowSeconds': 0, 'selectPolicy': 'Max', 'policies':"
    "    [{'type': 'Pods', 'value': 4, 'periodSeconds': 15}]},"
    "   'scaleDown': {'stabilizationWindowSeconds': 5, 'selectPolicy': 'Max', 'policies':"
    "    [{'type': 'Percent', 'value': 100, 'periodSeconds': 15}]}}},"
    " 'status': {'currentReplicas': 2, 'desiredReplicas': 3, 'currentMetrics':"
    "  [{'type': 'Resource', 'resource': {'name': 'cpu',"
    "   'current': {'averageUtilization': 33, 'averageValue': '10m'}}}],"
    "  'conditions': [{'type': 'ScalingActive', 'status': 'True'}]}}";

static void what_v1_has_no_field_for_is_annotated(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(v2);
    jv v1 = horizontalpodautoscaler1_from_stored(a, jdoc_root(d));
    jv notes = jv_at(v1, "metadata", "annotations");

    is_json(jv_at(v1, "spec"),
            "{'scaleTargetRef': {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'},"
            " 'minReplicas': 1, 'maxReplicas': 3, 'targetCPUUtilizationPercentage': 40}",
            "the target for CPU is a field");
    is_json(jv_at(v1, "status"),
            "{'currentReplicas': 2, 'desiredReplicas': 3, 'currentCPUUtilizationPercentage': 33}",
            "and so is its use");
    is_str(jv_str(jv_at(notes, "autoscaling.alpha.kubernetes.io/metrics"), S("")),
           S("[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageValue\":"
             "\"1Gi\"}},{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"Service\",\"name\":"
             "\"s\"},\"metricName\":\"o\",\"targetValue\":\"0\",\"selector\":{\"matchLabels\":"
             "{\"a\":\"b\"}},\"averageValue\":\"7\"}}]"),
           "other metrics are annotated in v1's form");
    is_str(jv_str(jv_at(notes, "autoscaling.alpha.kubernetes.io/current-metrics"), S("")),
           S("[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":"
             "33,\"currentAverageValue\":\"10m\"}}]"),
           "with what they are");
    is_str(jv_str(jv_at(notes, "autoscaling.alpha.kubernetes.io/behavior"), S("")),
           S("{\"ScaleUp\":{\"StabilizationWindowSeconds\":0,\"SelectPolicy\":\"Max\",\"Policies\":"
             "[{\"Type\":\"Pods\",\"Value\":4,\"PeriodSeconds\":15}],\"Tolerance\":null},"
             "\"ScaleDown\":{\"StabilizationWindowSeconds\":5,\"SelectPolicy\":\"Max\","
             "\"Policies\":[{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}],"
             "\"Tolerance\":null}}"),
           "behaviour is annotated");
}

static void reading_and_writing_v1_loses_nothing(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(v2);
    jv v1 = horizontalpodautoscaler1_from_stored(a, jdoc_root(d));

    is_json(horizontalpodautoscaler1_to_stored(a, v1), v2, "there and back again");
}

static void v1_gets_the_defaults_of_v2(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("{'metadata': {}, 'spec': {'maxReplicas': 3}}");
    jv stored = horizontalpodautoscaler1_to_stored(a, jdoc_root(d));

    is_json(jv_at(stored, "spec", "metrics"),
            "[{'type': 'Resource', 'resource':"
            " {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 80}}}]",
            "CPU at 80 percent");
}

static void nonsense_in_annotations_is_not_taken(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'annotations': {'autoscaling.alpha.kubernetes.io/metrics': '[5]',"
          " 'autoscaling.alpha.kubernetes.io/behavior': '7',"
          " 'autoscaling.alpha.kubernetes.io/conditions': '{'}},"
          " 'spec': {'maxReplicas': 3, 'targetCPUUtilizationPercentage': 9}}");
    jv stored = horizontalpodautoscaler1_to_stored(a, jdoc_root(d));

    ok(!jv_exists(jv_at(stored, "spec", "behavior")), "no behaviour is made of a number");
    is_int((int64_t)jv_len(jv_at(stored, "spec", "metrics")), 1, "nor a metric");
    ok(!jv_exists(jv_at(stored, "metadata", "annotations")), "and the annotations are used up");
}

int main(void)
{
    nonsense_in_annotations_is_not_taken();
    what_v1_has_no_field_for_is_annotated();
    reading_and_writing_v1_loses_nothing();
    v1_gets_the_defaults_of_v2();
    return tap_done();
}
