/* DIR/state: a record (sys/record.h) of what is known of a pod's containers, whole at any time.
 * First the pod's facts: version, uid, boot_id, pid, born, ip and, when it is over, ended_ms, idle,
 * why. Then for each container `container` NAME and container.attempt, .pid, .started_ms,
 * .finished_ms, .code, .signal, .oom, .failed, .lost. Numbers are decimal; what is not known is
 * left out. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Of the records on disk and on the socket. The node ends a pod that was made by another version.
 */
enum { WARDEN_VERSION = 2 };

/* STR_NONE (and e says why) when there is none, or it is not one. */
str warden_state_read(struct arena *a, int dirfd, struct err *e);
/* After the death of whoever kept it: containers that seemed to run were killed with it. Returns
 * the state as it is now on disk. */
str warden_state_bury(struct arena *a, int dirfd, int64_t now_ms, str why);
str warden_boot_id(struct arena *a);
