/* The kinds that pods are grouped and queued with, as Volcano, scheduler-plugins and
 * Kubernetes 1.36 define them. */
#pragma once

#include "base/json.h"

size_t manifest_n_groups(void);
bool manifest_group_is_of_kubernetes(size_t i); /* behind a gate, so not of 1.34 */
/* The i-th CustomResourceDefinition. */
jv manifest_group_crd(struct arena *a, size_t i);
/* The queues that always exist: an array of whole objects. */
jv manifest_queues(struct arena *a);
