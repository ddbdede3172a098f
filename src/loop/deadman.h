/* A deadline that the kernel keeps: unless it is moved in time, this process ends, at once and
 * whatever it is doing. Holds for a process that was stopped, frozen or asleep, too: it does not
 * get to run an instruction past the deadline before it ends, so nothing that it still holds in
 * its own buffers gets out. One a process; call it on the thread that does the work. */
#pragma once

#include "base/str.h"

/* When boot_now_ms() says at_ms: last_words (copied, up to 500 bytes) to stderr and exit status 1.
 * at_ms 0: not any more. Moving it is one system call. */
void deadman_set(int64_t at_ms, str last_words);
