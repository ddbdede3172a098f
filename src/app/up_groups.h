/* PodGroups and Queues, which the scheduler of `muster up` reads, as kinds of its API. */
#pragma once

#include "api/api.h"

/* Served from the start; a is kept until the API is ready. */
void up_groups_describe(struct arena *a, struct api_opts *o);
