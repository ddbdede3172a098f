/* scheduling.k8s.io/v1: priority classes. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.scheduling.v1"
#define GO_PACKAGE "v1"

TYPE(scheduling, PriorityClass, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("value", INT32, REQ | KEEP),
    F("globalDefault", BOOL, 0),
    F("description", STRING, 0),
    F("preemptionPolicy", core_PreemptionPolicy, PTR))
