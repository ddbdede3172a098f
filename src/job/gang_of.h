/* How much of a job must start together. Pure; one answer for the operator, which writes it into a
 * PodGroup, and for the scheduler of one machine, which needs no PodGroup. */
#pragma once

#include "base/json.h"

struct gang_size {
    int64_t min;   /* members that start together, or none does */
    int64_t total; /* replicas of the job that are members */
};

/* obj: any object, as the server has it. False: it is no job that starts whole (another kind,
 * suspended, or without replicas). min is schedulingPolicy.minAvailable, else the least that an
 * elastic job trains with, else all; never more than total. */
bool gang_of(struct arena *a, jv obj, struct gang_size *out);
