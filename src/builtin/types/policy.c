/* policy/v1: disruption budgets and evictions. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.policy.v1"
#define GO_PACKAGE "v1"

LOCAL_ENUM(policy, UnhealthyPodEvictionPolicyType, "AlwaysAllow", "IfHealthyBudget")

LOCAL_TYPE(policy, PodDisruptionBudgetSpec, PLAIN,
    F("minAvailable", INT_OR_STRING, PTR,
      DOC("How many pods must stay, as a number or in percent.")),
    F("selector", meta_LabelSelectorReplaced, PTR, DOC("The pods it is about.")),
    F("maxUnavailable", INT_OR_STRING, PTR,
      DOC("How many pods may go, as a number or in percent.")),
    F("unhealthyPodEvictionPolicy", policy_UnhealthyPodEvictionPolicyType, PTR))

LOCAL_TYPE(policy, PodDisruptionBudgetStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("disruptedPods", MAP(TIME), 0),
    F("disruptionsAllowed", INT32, REQ | KEEP),
    F("currentHealthy", INT32, REQ | KEEP),
    F("desiredHealthy", INT32, REQ | KEEP),
    F("expectedPods", INT32, REQ | KEEP),
    F("conditions", LIST(meta_Condition, BY("type"), MERGE("type")), 0))

TYPE(policy, PodDisruptionBudget,
    DOC("How many pods of a set may be taken away at the same time."),
    OBJECT_HEAD,
    F("spec", policy_PodDisruptionBudgetSpec, KEEP, DOC("The desired state.")),
    F("status", policy_PodDisruptionBudgetStatus, KEEP, DOC("The observed state. Written by the system.")))

TYPE(policy, Eviction,
    DOC("Asks for a pod to be deleted, if its disruption budgets allow it."),
    OBJECT_HEAD,
    F("deleteOptions", meta_DeleteOptions, PTR))
