/* scheduling.k8s.io/v1: priority classes. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.scheduling.v1"
#define GO_PACKAGE "v1"

TYPE(scheduling, PriorityClass,
    DOC("A name for how important pods are."),
    OBJECT_HEAD,
    F("value", INT32, REQ | KEEP, DOC("The priority: more is more important.")),
    F("globalDefault", BOOL, 0, DOC("Whether pods without a class get this one.")),
    F("description", STRING, 0, DOC("When to use it.")),
    F("preemptionPolicy", core_PreemptionPolicy, PTR,
      DOC("Whether less important pods may be made to give way.")))
