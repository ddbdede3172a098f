/* What the parts of `muster up` may do over the API: each is a user of its own, with a ClusterRole
 * for what it asks for and no more. */
#pragma once

#include "api/api.h"
#include "plan/planner.h"

#define UP_OPERATOR_USER  "system:muster:operator"
#define UP_SCHEDULER_USER "system:kube-scheduler"
#define UP_NODES_GROUP    "system:nodes" /* of which each node is a user: system:node:NAME */

/* The table of docs/operator.md, of these kinds of jobs. */
jv up_operator_rules(struct arena *a, const struct planner *const *planners, size_t n,
                     enum gang_mode gang);
struct api_role up_node_role(struct arena *a);

struct up_scheduler_may {
    bool delete_pods; /* to make way for others */
    bool kube_groups; /* read the PodGroups of Kubernetes, and tell them */
};
struct api_role up_scheduler_role(struct arena *a, const struct up_scheduler_may *may);
