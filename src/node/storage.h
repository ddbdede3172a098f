/* Ephemeral storage: what pods keep on this machine's disk, against their limits. */
#pragma once

#include "base/json.h"

/* Whether it has any: limits of ephemeral-storage, a sizeLimit of an emptyDir on disk. */
bool storage_is_limited(jv pod);
/* What it has there, in bytes: {containers: {NAME: n}, volumes: {NAME: n}}; dir: the pod's. Reads
 * directories: not on the loop. */
jv storage_measure(struct arena *a, jv pod, const char *dir);
/* Which limit is exceeded, in kubelet's words; empty: none. PURE. */
str storage_exceeded(struct arena *a, jv pod, jv use);
