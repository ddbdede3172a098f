/* The kinds that pods are grouped and queued with, as Volcano and scheduler-plugins define them. */
#pragma once

#include "base/json.h"

size_t manifest_n_groups(void);
/* The i-th CustomResourceDefinition. */
jv manifest_group_crd(struct arena *a, size_t i);
/* The queues that always exist: an array of whole objects. */
jv manifest_queues(struct arena *a);
