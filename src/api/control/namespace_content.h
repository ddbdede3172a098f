/* What holds a namespace that is being deleted, and its status conditions that say so. */
#pragma once

#include "api/request.h"

struct namespace_left {
    str content;    /* empty: nothing is left */
    str finalizers; /* empty: nothing that is left has any */
};

struct namespace_left namespace_left_in(struct api *api, struct arena *a, str name);
/* ns with the conditions of one that is being deleted; the same value where it has them. */
jv namespace_with_conditions(struct arena *a, jv ns, const struct namespace_left *left,
                             int64_t now_ms);
