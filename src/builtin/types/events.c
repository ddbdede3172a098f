/* events.k8s.io/v1: events, in their newer form. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.events.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(events, EventSeries, PLAIN,
    F("count", INT32, REQ | KEEP),
    F("lastObservedTime", MICRO_TIME, REQ | KEEP))

TYPE(events, Event,
    DOC("Something that happened to an object, for people to read. Kept for an hour."),
    OBJECT_HEAD,
    F("eventTime", MICRO_TIME, REQ | KEEP),
    F("series", events_EventSeries, PTR),
    F("reportingController", STRING, 0),
    F("reportingInstance", STRING, 0),
    F("action", STRING, 0),
    F("reason", STRING, 0),
    F("regarding", core_ObjectReference, KEEP),
    F("related", core_ObjectReference, PTR),
    F("note", STRING, 0),
    F("type", STRING, 0),
    F("deprecatedSource", core_EventSource, KEEP),
    F("deprecatedFirstTimestamp", TIME, KEEP),
    F("deprecatedLastTimestamp", TIME, KEEP),
    F("deprecatedCount", INT32, 0))
