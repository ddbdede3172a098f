/* What a whole pod asks for: its containers, the greatest need while they start, and itself. */
#pragma once

#include "builtin/amounts.h"

enum pod_amounts_what { POD_REQUESTS, POD_LIMITS };

enum {
    POD_OVERHEAD = 1,   /* with the overhead of its runtime class */
    POD_USE_STATUS = 2, /* at least what its containers have now: resizing takes a while */
};

struct amounts pod_amounts(struct arena *a, jv pod, enum pod_amounts_what what, unsigned flags);
/* Requests or limits of the pod as a whole say what counts, not its containers'. */
bool pod_has_own_amounts(jv pod);
