/* metrics.k8s.io/v1beta1: what pods and nodes use. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.metrics.pkg.apis.metrics.v1beta1"
#define GO_PACKAGE "v1beta1"

LOCAL_TYPE(metrics, ContainerMetrics, PLAIN,
    F("name", STRING, REQ | KEEP, DOC("The name of the container.")),
    F("usage", core_ResourceList, REQ | KEEP,
      DOC("CPU, as an average over the window, and memory.")))

#define MEASURED \
    F("timestamp", TIME, REQ | KEEP, DOC("The end of the window.")), \
    F("window", schema_duration, REQ | KEEP, DOC("The time over which CPU usage was measured."))

TYPE(metrics, NodeMetrics,
    DOC("What a node uses."),
    OBJECT_HEAD,
    MEASURED,
    F("usage", core_ResourceList, REQ | KEEP,
      DOC("CPU, as an average over the window, and memory.")))

TYPE(metrics, PodMetrics,
    DOC("What the containers of a pod use."),
    OBJECT_HEAD,
    MEASURED,
    F("containers", LIST(metrics_ContainerMetrics, BY("name"), MERGE("name")), REQ | KEEP,
      DOC("The containers that run.")))
