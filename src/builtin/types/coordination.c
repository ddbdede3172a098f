/* coordination.k8s.io/v1: leases. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.coordination.v1"
#define GO_PACKAGE "v1"

LOCAL_STRING_TYPE(coordination, CoordinatedLeaseStrategy)

LOCAL_TYPE(coordination, LeaseSpec, PLAIN,
    F("holderIdentity", STRING, PTR, DOC("Who holds it.")),
    F("leaseDurationSeconds", INT32, PTR,
      DOC("How long a holder may be silent before others may take it.")),
    F("acquireTime", MICRO_TIME, PTR, DOC("When the holder took it.")),
    F("renewTime", MICRO_TIME, PTR, DOC("When the holder last said so.")),
    F("leaseTransitions", INT32, PTR, DOC("The number of times it went from one holder to another.")),
    F("strategy", coordination_CoordinatedLeaseStrategy, PTR),
    F("preferredHolder", STRING, PTR))

TYPE(coordination, Lease,
    DOC("Who holds something, and until when. Used for heartbeats and for electing leaders."),
    OBJECT_HEAD,
    F("spec", coordination_LeaseSpec, KEEP, DOC("The desired state.")))
