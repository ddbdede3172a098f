/* Server-side apply. */
#pragma once

#include "kube/managed.h"

struct apply_conflict {
    str message; /* `conflict with "kubectl" using v1` */
    str field;   /* ".data.key" */
};

/* Why an apply failed. */
struct apply_failure {
    str message; /* whole; e->msg may have been cut */
    struct apply_conflict *conflicts;
    size_t n;
};

/* live (absent: to be created) after w->manager has applied config: what it sets, and without what
 * it used to set and nobody else does; with new managedFields. To be decoded, defaulted and
 * validated as any written object. When config changes nothing, live's values and times stay.
 * Absent on failure: ERR_CONFLICT with the conflicts (force takes the fields over instead),
 * ERR_BAD_REQUEST, or ERR_UNKNOWN for what does not fit the schema. why may be NULL. */
jv apply_patch(struct arena *a, const struct managed_write *w, jv live, jv config, bool force,
               struct apply_failure *why, struct err *e);
