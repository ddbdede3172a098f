/* How much memory a tree of processes has, for where no cgroup counts it. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Resident bytes of all below pid. When that is over `limit`, pages that several share are counted
 * once (slower, and the truth: workers forked from a large process are not that many of it). */
int64_t warden_memory_below(int proc, pid_t pid, int64_t limit);
