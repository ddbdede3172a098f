/* The filter of system calls that containers have by default (seccomp). */
#pragma once

#include "base/err.h"

#include <stdint.h>

/* Compiles the filter of the default capabilities, which processes forked from now on share.
 * Optional: without it each container compiles its own, which takes some milliseconds. */
void warden_filter_prepare(void);
/* Puts the filter that goes with these capabilities on the calling process, for good. Needs
 * CAP_SYS_ADMIN or no_new_privs. */
int warden_filter_set(uint64_t caps, struct err *e);
