/* The cluster roles that are there from the start, and who is bound to them. Pure. */
#pragma once

#include "api/api.h"
#include "base/json.h"

/* ClusterRoles: cluster-admin, admin, edit and view. metrics: metrics.k8s.io is served. */
jv roles_basic(struct arena *a, bool metrics);
/* "get,list" as a rule has it: ["get", "list"]. */
jv roles_words(struct arena *a, const char *list);
/* The ClusterRoleBinding that makes system:masters cluster-admin. */
jv roles_basic_binding(struct arena *a);
/* Those of our own components. */
jv roles_own(struct arena *a, const struct api_role *r);
jv roles_own_binding(struct arena *a, const struct api_role *r);
