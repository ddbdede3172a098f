/* The kinds of metrics.k8s.io, which metrics-server adds to a cluster. */

#include "builtin/cells/cells.h"
#include "builtin/kind.h"
#include "builtin/types/types.h"

#define API .group = METRICS_GROUP, .version = "v1beta1", .verbs = "get,list"

/* Without singular names, as of metrics-server: "pod" is a pod. */
const struct builtin_kind metrics_kinds[METRICS_KINDS] = {
    { API, .kind = "NodeMetrics", .plural = "nodes", .singular = "", .schema = &metrics_NodeMetrics,
      TABLE(nodemetrics), .flags = KIND_MEASURED },
    { API, .kind = "PodMetrics", .plural = "pods", .singular = "", .schema = &metrics_PodMetrics,
      TABLE(podmetrics), .flags = KIND_MEASURED | KIND_NAMESPACED },
};
