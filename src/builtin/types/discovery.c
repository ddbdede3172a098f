/* discovery.k8s.io/v1: endpoint slices. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.discovery.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(discovery, EndpointConditions, PLAIN,
    F("ready", BOOL, PTR),
    F("serving", BOOL, PTR),
    F("terminating", BOOL, PTR))

LOCAL_TYPE(discovery, ForZone, PLAIN,
    F("name", STRING, REQ | KEEP))

LOCAL_TYPE(discovery, ForNode, PLAIN,
    F("name", STRING, REQ | KEEP))

LOCAL_TYPE(discovery, EndpointHints, PLAIN,
    F("forZones", LIST(discovery_ForZone), 0),
    F("forNodes", LIST(discovery_ForNode), 0))

LOCAL_TYPE(discovery, Endpoint, PLAIN,
    F("addresses", LIST(STRING, SET), REQ | KEEP),
    F("conditions", discovery_EndpointConditions, KEEP),
    F("hostname", STRING, PTR),
    F("targetRef", core_ObjectReference, PTR),
    F("deprecatedTopology", MAP(STRING), 0),
    F("nodeName", STRING, PTR),
    F("zone", STRING, PTR),
    F("hints", discovery_EndpointHints, PTR))

LOCAL_TYPE(discovery, EndpointPort, ATOMIC,
    F("name", STRING, PTR),
    F("protocol", core_Protocol, PTR),
    F("port", INT32, PTR),
    F("appProtocol", STRING, PTR))

LOCAL_ENUM(discovery, AddressType, "FQDN", "IPv4", "IPv6")

TYPE(discovery, EndpointSlice,
    DOC("Some of the addresses behind a service."),
    OBJECT_HEAD,
    F("addressType", discovery_AddressType, REQ | KEEP),
    F("endpoints", LIST(discovery_Endpoint), REQ | KEEP),
    F("ports", LIST(discovery_EndpointPort), KEEP))
