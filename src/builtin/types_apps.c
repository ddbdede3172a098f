/* apps/v1: deployments and the like. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.apps.v1"
#define GO_PACKAGE "v1"

TYPE(apps, ControllerRevision, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
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
    F("selector", meta_LabelSelector, REQ | KEEP | PTR),
    F("template", core_PodTemplateSpec, REQ | KEEP),
    F("updateStrategy", apps_DaemonSetUpdateStrategy, KEEP),
    F("minReadySeconds", INT32, 0),
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

TYPE(apps, DaemonSet, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", apps_DaemonSetSpec, KEEP),
    F("status", apps_DaemonSetStatus, KEEP))

LOCAL_TYPE(apps, RollingUpdateDeployment, PLAIN,
    F("maxUnavailable", INT_OR_STRING, PTR),
    F("maxSurge", INT_OR_STRING, PTR))

LOCAL_ENUM(apps, DeploymentStrategyType, "Recreate", "RollingUpdate")

LOCAL_TYPE(apps, DeploymentStrategy, RETAIN_KEYS,
    F("type", apps_DeploymentStrategyType, 0),
    F("rollingUpdate", apps_RollingUpdateDeployment, PTR))

LOCAL_TYPE(apps, DeploymentSpec, PLAIN,
    F("replicas", INT32, PTR),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR),
    F("template", core_PodTemplateSpec, REQ | KEEP),
    F("strategy", apps_DeploymentStrategy, KEEP),
    F("minReadySeconds", INT32, 0),
    F("revisionHistoryLimit", INT32, PTR),
    F("paused", BOOL, 0),
    F("progressDeadlineSeconds", INT32, PTR))

LOCAL_STRING_TYPE(apps, DeploymentConditionType)

LOCAL_TYPE(apps, DeploymentCondition, PLAIN,
    F("type", apps_DeploymentConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastUpdateTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apps, DeploymentStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("replicas", INT32, 0),
    F("updatedReplicas", INT32, 0),
    F("readyReplicas", INT32, 0),
    F("availableReplicas", INT32, 0),
    F("unavailableReplicas", INT32, 0),
    F("terminatingReplicas", INT32, PTR),
    F("conditions", LIST(apps_DeploymentCondition, BY("type"), MERGE("type")), 0),
    F("collisionCount", INT32, PTR))

TYPE(apps, Deployment, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", apps_DeploymentSpec, KEEP),
    F("status", apps_DeploymentStatus, KEEP))

LOCAL_TYPE(apps, ReplicaSetSpec, PLAIN,
    F("replicas", INT32, PTR),
    F("minReadySeconds", INT32, 0),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR),
    F("template", core_PodTemplateSpec, KEEP))

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

TYPE(apps, ReplicaSet, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", apps_ReplicaSetSpec, KEEP),
    F("status", apps_ReplicaSetStatus, KEEP))

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
    F("replicas", INT32, PTR),
    F("selector", meta_LabelSelector, REQ | KEEP | PTR),
    F("template", core_PodTemplateSpec, REQ | KEEP),
    F("volumeClaimTemplates", LIST(core_PersistentVolumeClaim), 0),
    F("serviceName", STRING, KEEP),
    F("podManagementPolicy", apps_PodManagementPolicyType, 0),
    F("updateStrategy", apps_StatefulSetUpdateStrategy, KEEP),
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

TYPE(apps, StatefulSet, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", apps_StatefulSetSpec, KEEP),
    F("status", apps_StatefulSetStatus, KEEP))
