/* The types behind the built-in kinds: constant tables, one file an API group. */
#pragma once

#include "kube/schema.h"

extern const struct schema admission_MutatingWebhookConfiguration,
    admission_ValidatingAdmissionPolicy, admission_ValidatingAdmissionPolicyBinding,
    admission_ValidatingWebhookConfiguration;
extern const struct schema apiext_CustomResourceDefinition, apiext_JSONSchemaProps;
extern const struct schema apps_ControllerRevision, apps_DaemonSet, apps_Deployment,
    apps_ReplicaSet, apps_StatefulSet;
extern const struct schema authn_SelfSubjectReview, authn_TokenRequest, authn_TokenReview;
extern const struct schema authz_LocalSubjectAccessReview, authz_SelfSubjectAccessReview,
    authz_SelfSubjectRulesReview, authz_SubjectAccessReview;
extern const struct schema autoscaling1_HorizontalPodAutoscaler, autoscaling1_Scale;
extern const struct schema autoscaling2_HorizontalPodAutoscaler;
extern const struct schema batch_CronJob, batch_Job;
extern const struct schema coordination_Lease;
extern const struct schema core_AppArmorProfile, core_Binding, core_ConditionStatus, core_ConfigMap,
    core_Container, core_ContainerStatus, core_Endpoints, core_EphemeralContainer, core_Event,
    core_EventSource, core_LimitRange, core_LocalObjectReference, core_Namespace, core_Node,
    core_NodeSelector, core_NodeSelectorTerm, core_ObjectFieldSelector, core_ObjectReference,
    core_PersistentVolume, core_PersistentVolumeClaim, core_PersistentVolumeReclaimPolicy,
    core_PersistentVolumeSpec, core_Pod, core_PodConditionType, core_PodOfGroups, core_PodTemplate,
    core_PodTemplateSpec, core_PreemptionPolicy, core_Protocol, core_PullPolicy,
    core_ReplicationController, core_ResourceFieldSelector, core_ResourceList, core_ResourceName,
    core_ResourceQuota, core_ResourceRequirements, core_SELinuxOptions, core_SeccompProfile,
    core_Secret, core_Service, core_ServiceAccount, core_TaintEffect, core_Toleration,
    core_TopologySelectorTerm, core_TypedLocalObjectReference, core_Volume,
    core_WindowsSecurityContextOptions;
extern const struct schema discovery_EndpointSlice;
extern const struct schema events_Event;
extern const struct schema meta_Condition, meta_DeleteOptions, meta_FieldSelectorRequirement,
    meta_LabelSelector, meta_LabelSelectorReplaced, meta_LabelSelectorRequirement, meta_ListMeta,
    meta_ObjectMeta, meta_Status, meta_StatusReason, meta_UID;
extern const struct schema metrics_NodeMetrics, metrics_PodMetrics;
extern const struct schema networking_IPAddress, networking_Ingress, networking_IngressClass,
    networking_NetworkPolicy, networking_ServiceCIDR;
extern const struct schema node_RuntimeClass;
extern const struct schema policy_Eviction, policy_PodDisruptionBudget;
extern const struct schema rbac_ClusterRole, rbac_ClusterRoleBinding, rbac_Role, rbac_RoleBinding;
extern const struct schema resource_DeviceClass, resource_ResourceClaim,
    resource_ResourceClaimTemplate, resource_ResourceSlice;
extern const struct schema scheduling_PriorityClass;
extern const struct schema storage_CSIDriver, storage_CSINode, storage_CSIStorageCapacity,
    storage_StorageClass, storage_VolumeAttachment, storage_VolumeAttributesClass;
