/* Where this machine lets us make control groups for pods. */
#pragma once

#include "base/json.h"

/* {v2: DIR} or {v1: {cpu: DIR, memory: DIR, pids: DIR}}, made by us for the name; absent: nowhere,
 * so that limits are kept by other means. root: where proc is; NULL: here. */
jv groups_find(struct arena *a, const char *root, str name);
/* Whether control groups keep that limit: "cpu", "memory" or "pids". */
bool groups_keep(jv groups, const char *limit);
/* Of one pod, in there; made and removed by its keeper. */
jv groups_of_pod(struct arena *a, jv groups, str uid);
void groups_remove(jv groups); /* those that are empty */
