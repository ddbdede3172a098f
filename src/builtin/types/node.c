/* node.k8s.io/v1: ways to run containers. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.node.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(node, Overhead, PLAIN,
    F("podFixed", core_ResourceList, 0))

LOCAL_TYPE(node, Scheduling, PLAIN,
    F("nodeSelector", MAP(STRING, .map_atomic = true), 0),
    F("tolerations", LIST(core_Toleration), 0))

TYPE(node, RuntimeClass,
    DOC("A way to run containers that pods can ask for by name."),
    OBJECT_HEAD,
    F("handler", STRING, REQ | KEEP, DOC("The name by which nodes know it.")),
    F("overhead", node_Overhead, PTR, DOC("What running a pod costs besides its containers.")),
    F("scheduling", node_Scheduling, PTR, DOC("The nodes that support it.")))
