/* coordination.k8s.io/v1: leases. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.coordination.v1"
#define GO_PACKAGE "v1"

LOCAL_STRING_TYPE(coordination, CoordinatedLeaseStrategy)

LOCAL_TYPE(coordination, LeaseSpec, PLAIN,
    F("holderIdentity", STRING, PTR),
    F("leaseDurationSeconds", INT32, PTR),
    F("acquireTime", MICRO_TIME, PTR),
    F("renewTime", MICRO_TIME, PTR),
    F("leaseTransitions", INT32, PTR),
    F("strategy", coordination_CoordinatedLeaseStrategy, PTR),
    F("preferredHolder", STRING, PTR))

TYPE(coordination, Lease, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", coordination_LeaseSpec, KEEP))
