/* Capability sets as bit masks: bit N stands for capability number N. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define WARDEN_CAPS_ALL ((UINT64_C(1) << 41) - 1) /* CAP_CHOWN to CAP_CHECKPOINT_RESTORE */

/* The set that container engines leave to a container that asks for nothing. */
uint64_t warden_caps_default(void);
/* "NET_ADMIN" or "CAP_NET_ADMIN" as a mask with one bit; 0: there is no such capability. */
uint64_t warden_caps_named(str name);
/* Takes all others out of the bounding set of the calling process. */
void warden_caps_bound(uint64_t keep);
/* Sets the permitted and effective sets to keep, as far as the process has them, and the
 * inheritable set to none but `ambient`, which survives execve of a user that is not root. */
int warden_caps_set(uint64_t keep, uint64_t ambient, struct err *e);
