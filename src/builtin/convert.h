/* Kinds that are stored in the shape of another version: turned on the way in and out. Pure. */
#pragma once

#include "base/json.h"

struct kind_conversion {
    const char *group; /* of the kind as it is stored */
    const char *version;
    const char *plural;
    /* Objects without kind and apiVersion; what is empty is left out or filled in by the schema. */
    jv (*to_stored)(struct arena *a, jv obj);
    jv (*from_stored)(struct arena *a, jv obj);
    /* The field of the stored shape that a field selector means. NULL: the same. */
    str (*field)(struct arena *a, str field);
};

extern const struct kind_conversion event_conversion; /* events.k8s.io to core */
extern const struct kind_conversion hpa1_conversion;  /* autoscaling/v1 to v2 */

/* v2 has fields of its own for what v1 keeps in these annotations. */
jv hpa_without_saved(struct arena *a, jv obj);
