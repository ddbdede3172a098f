/* apps/v1: deployments and the like. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.apps.v1"
#define GO_PACKAGE "v1"

TYPE(apps, ControllerRevision,
    DOC("An earlier state of a DaemonSet or StatefulSet, kept so that it can be restored."),
    OBJECT_HEAD,
    F("data", RAW, KEEP),
    F("revision", INT64, REQ | KEEP))

LOCAL_TYPE(apps, RollingUpdateDaemonSet, PLAIN,
    F("maxUnavailable", INT_OR_STRING, PTR),
    F("maxSurge", INT_OR_STRING, PTR))

LOCAL_ENUM(apps, DaemonSetUpdateStrategyType, "OnDelete", "RollingUpdate")

LOCAL_TYPE(apps, DaemonSetUpdateStrategy, PLAIN,
    F("type", apps_DaemonSetUpdateStrategyType, 0),
    F("rollingUpdate", apps_RollingUpdateDaemonSet, PTR))

LOCAL_TYPE(apps, DaemonSetSpec, PLAIN,
    F("selector", meta_LabelSelector, REQ | KEEP | PTR,
      DOC("Which pods are its own. Cannot change.")),
    F("template", core_PodTemplateSpec, REQ | KEEP, DOC("The pods to make.")),
    F("updateStrategy", apps_DaemonSetUpdateStrategy, KEEP, DOC("How pods are replaced.")),
    F("minReadySeconds", INT32, 0, DOC("How long a new pod must be ready to count.")),
    F("revisionHistoryLimit", INT32, PTR))

LOCAL_STRING_TYPE(apps, DaemonSetConditionType)

LOCAL_TYPE(apps, DaemonSetCondition, PLAIN,
    F("type", apps_DaemonSetConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apps, DaemonSetStatus, PLAIN,
    F("currentNumberScheduled", INT32, REQ | KEEP),
    F("numberMisscheduled", INT32, REQ | KEEP),
    F("desiredNumberScheduled", INT32, REQ | KEEP),
    F("numberReady", INT32, REQ | KEEP),
    F("observedGeneration", INT64, 0),
    F("updatedNumberScheduled", INT32, 0),
    F("numberAvailable", INT32, 0),
    F("numberUnavailable", INT32, 0),
    F("collisionCount", INT32, PTR),
    F("conditions", LIST(apps_DaemonSetCondition, BY("type"), MERGE("type")), 0))

TYPE(apps, DaemonSet,
    DOC("Keeps one pod running on every node that matches."),
    OBJECT_HEAD,
    F("spec", apps_DaemonSetSpec, KEEP, DOC("The desired state.")),
    F("status", apps_DaemonSetStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(apps, RollingUpdateDeployment, PLAIN,
    F("maxUnavailable", INT_OR_STRING, PTR,
      DOC("How many pods may be missing, as a number or in percent.")),
    F("maxSurge", INT_OR_STRING, PTR,
      DOC("How many pods there may be too many, as a number or in percent.")))

LOCAL_ENUM(apps, DeploymentStrategyType, "Recreate", "RollingUpdate")

LOCAL_TYPE(apps, DeploymentStrategy, RETAIN_KEYS,
    F("type", apps_DeploymentStrategyType, 0, DOC("RollingUpdate or Recreate.")),
    F("rollingUpdate", apps_RollingUpdateDeployment, PTR, DOC("For RollingUpdate.")))

LOCAL_TYPE(apps, DeploymentSpec, PLAIN,
    F("replicas", INT32, PTR, DOC("How many pods. 1 if unset.")),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR,
      DOC("Which pods are its own. Cannot change.")),
    F("template", core_PodTemplateSpec, REQ | KEEP, DOC("The pods to make.")),
    F("strategy", apps_DeploymentStrategy, KEEP, DOC("How pods are replaced.")),
    F("minReadySeconds", INT32, 0, DOC("How long a new pod must be ready to count.")),
    F("revisionHistoryLimit", INT32, PTR, DOC("How many old replica sets to keep. 10 if unset.")),
    F("paused", BOOL, 0, DOC("Whether to leave pods as they are.")),
    F("progressDeadlineSeconds", INT32, PTR,
      DOC("The longest without progress before it counts as failed.")))

LOCAL_STRING_TYPE(apps, DeploymentConditionType)

LOCAL_TYPE(apps, DeploymentCondition, PLAIN,
    F("type", apps_DeploymentConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastUpdateTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apps, DeploymentStatus, PLAIN,
    F("observedGeneration", INT64, 0, DOC("The generation that this was said of.")),
    F("replicas", INT32, 0, DOC("Pods there are.")),
    F("updatedReplicas", INT32, 0, DOC("Pods made from the template of now.")),
    F("readyReplicas", INT32, 0, DOC("Pods that are ready.")),
    F("availableReplicas", INT32, 0, DOC("Pods that have been ready long enough.")),
    F("unavailableReplicas", INT32, 0, DOC("Pods that are missing.")),
    F("terminatingReplicas", INT32, PTR),
    F("conditions", LIST(apps_DeploymentCondition, BY("type"), MERGE("type")), 0,
      DOC("The conditions of the object, one for each aspect.")),
    F("collisionCount", INT32, PTR))

TYPE(apps, Deployment,
    DOC("Keeps pods running and replaces them step by step when their template changes."),
    OBJECT_HEAD,
    F("spec", apps_DeploymentSpec, KEEP, DOC("The desired state.")),
    F("status", apps_DeploymentStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(apps, ReplicaSetSpec, PLAIN,
    F("replicas", INT32, PTR, DOC("How many pods. 1 if unset.")),
    F("minReadySeconds", INT32, 0, DOC("How long a new pod must be ready to count.")),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR,
      DOC("Which pods are its own. Cannot change.")),
    F("template", core_PodTemplateSpec, KEEP, DOC("The pods to make.")))

LOCAL_STRING_TYPE(apps, ReplicaSetConditionType)

LOCAL_TYPE(apps, ReplicaSetCondition, PLAIN,
    F("type", apps_ReplicaSetConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apps, ReplicaSetStatus, PLAIN,
    F("replicas", INT32, REQ | KEEP),
    F("fullyLabeledReplicas", INT32, 0),
    F("readyReplicas", INT32, 0),
    F("availableReplicas", INT32, 0),
    F("terminatingReplicas", INT32, PTR),
    F("observedGeneration", INT64, 0),
    F("conditions", LIST(apps_ReplicaSetCondition, BY("type"), MERGE("type")), 0))

TYPE(apps, ReplicaSet,
    DOC("Keeps a number of like pods running. Mostly made by deployments."),
    OBJECT_HEAD,
    F("spec", apps_ReplicaSetSpec, KEEP, DOC("The desired state.")),
    F("status", apps_ReplicaSetStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(apps, RollingUpdateStatefulSetStrategy, PLAIN,
    F("partition", INT32, PTR),
    F("maxUnavailable", INT_OR_STRING, PTR))

LOCAL_ENUM(apps, StatefulSetUpdateStrategyType, "OnDelete", "RollingUpdate")

LOCAL_TYPE(apps, StatefulSetUpdateStrategy, PLAIN,
    F("type", apps_StatefulSetUpdateStrategyType, 0),
    F("rollingUpdate", apps_RollingUpdateStatefulSetStrategy, PTR))

LOCAL_STRING_TYPE(apps, PersistentVolumeClaimRetentionPolicyType)

LOCAL_TYPE(apps, StatefulSetPersistentVolumeClaimRetentionPolicy, PLAIN,
    F("whenDeleted", apps_PersistentVolumeClaimRetentionPolicyType, 0),
    F("whenScaled", apps_PersistentVolumeClaimRetentionPolicyType, 0))

LOCAL_TYPE(apps, StatefulSetOrdinals, PLAIN,
    F("start", INT32, KEEP))

LOCAL_ENUM(apps, PodManagementPolicyType, "OrderedReady", "Parallel")

LOCAL_TYPE(apps, StatefulSetSpec, PLAIN,
    F("replicas", INT32, PTR, DOC("How many pods. 1 if unset.")),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR,
      DOC("Which pods are its own. Cannot change.")),
    F("template", core_PodTemplateSpec, REQ | KEEP, DOC("The pods to make.")),
    F("volumeClaimTemplates", LIST(core_PersistentVolumeClaim), 0,
      DOC("Claims to make for each pod.")),
    F("serviceName", STRING, KEEP, DOC("The headless service that names the pods.")),
    F("podManagementPolicy", apps_PodManagementPolicyType, 0,
      DOC("OrderedReady: one after the other; Parallel: all at once.")),
    F("updateStrategy", apps_StatefulSetUpdateStrategy, KEEP, DOC("How pods are replaced.")),
    F("revisionHistoryLimit", INT32, PTR),
    F("minReadySeconds", INT32, 0),
    F("persistentVolumeClaimRetentionPolicy",
      apps_StatefulSetPersistentVolumeClaimRetentionPolicy, PTR),
    F("ordinals", apps_StatefulSetOrdinals, PTR))

LOCAL_STRING_TYPE(apps, StatefulSetConditionType)

LOCAL_TYPE(apps, StatefulSetCondition, PLAIN,
    F("type", apps_StatefulSetConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apps, StatefulSetStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("replicas", INT32, REQ | KEEP),
    F("readyReplicas", INT32, 0),
    F("currentReplicas", INT32, 0),
    F("updatedReplicas", INT32, 0),
    F("currentRevision", STRING, 0),
    F("updateRevision", STRING, 0),
    F("collisionCount", INT32, PTR),
    F("conditions", LIST(apps_StatefulSetCondition, BY("type"), MERGE("type")), 0),
    F("availableReplicas", INT32, KEEP))

TYPE(apps, StatefulSet,
    DOC("Keeps pods running that have names, an order and storage of their own."),
    OBJECT_HEAD,
    F("spec", apps_StatefulSetSpec, KEEP, DOC("The desired state.")),
    F("status", apps_StatefulSetStatus, KEEP, DOC("The observed state. Written by the system.")))
