/* policy/v1: disruption budgets and evictions. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.policy.v1"
#define GO_PACKAGE "v1"

LOCAL_ENUM(policy, UnhealthyPodEvictionPolicyType, "AlwaysAllow", "IfHealthyBudget")

LOCAL_TYPE(policy, PodDisruptionBudgetSpec, PLAIN,
    F("minAvailable", INT_OR_STRING, PTR),
    F("selector", meta_LabelSelectorReplaced, PTR),
    F("maxUnavailable", INT_OR_STRING, PTR),
    F("unhealthyPodEvictionPolicy", policy_UnhealthyPodEvictionPolicyType, PTR))

LOCAL_TYPE(policy, PodDisruptionBudgetStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("disruptedPods", MAP(TIME), 0),
    F("disruptionsAllowed", INT32, REQ | KEEP),
    F("currentHealthy", INT32, REQ | KEEP),
    F("desiredHealthy", INT32, REQ | KEEP),
    F("expectedPods", INT32, REQ | KEEP),
    F("conditions", LIST(meta_Condition, BY("type"), MERGE("type")), 0))

TYPE(policy, PodDisruptionBudget, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", policy_PodDisruptionBudgetSpec, KEEP),
    F("status", policy_PodDisruptionBudgetStatus, KEEP))

TYPE(policy, Eviction, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("deleteOptions", meta_DeleteOptions, PTR))
