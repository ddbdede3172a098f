/* state.json: what is known of a pod's containers, whole at any time. */
#pragma once

#include "base/err.h"
#include "base/json.h"

enum { WARDEN_VERSION = 1 };

/* Absent (and e says why) when there is none, or it is not one. */
jv warden_state_read(struct arena *a, int dirfd, struct err *e);
/* After the death of whoever kept it: containers that seemed to run were killed with it. Returns
 * the state as it is now on disk. */
jv warden_state_bury(struct arena *a, int dirfd, int64_t now_ms, str why);
str warden_boot_id(struct arena *a);
