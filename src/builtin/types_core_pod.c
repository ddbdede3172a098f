/* core/v1: pods, pod templates and where pods may run. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, Binding, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("target", core_ObjectReference, REQ | KEEP))

ENUM(core, TaintEffect, "NoExecute", "NoSchedule", "PreferNoSchedule")

LOCAL_TYPE(core, Sysctl, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("value", STRING, REQ | KEEP))

LOCAL_ENUM(core, SupplementalGroupsPolicy, "Merge", "Strict")
LOCAL_ENUM(core, PodFSGroupChangePolicy, "Always", "OnRootMismatch")
LOCAL_STRING_TYPE(core, PodSELinuxChangePolicy)

LOCAL_TYPE(core, PodSecurityContext, PLAIN,
    F("seLinuxOptions", core_SELinuxOptions, PTR),
    F("windowsOptions", core_WindowsSecurityContextOptions, PTR),
    F("runAsUser", INT64, PTR),
    F("runAsGroup", INT64, PTR),
    F("runAsNonRoot", BOOL, PTR),
    F("supplementalGroups", LIST(INT64), 0),
    F("supplementalGroupsPolicy", core_SupplementalGroupsPolicy, PTR),
    F("fsGroup", INT64, PTR),
    F("sysctls", LIST(core_Sysctl), 0),
    F("fsGroupChangePolicy", core_PodFSGroupChangePolicy, PTR),
    F("seccompProfile", core_SeccompProfile, PTR),
    F("appArmorProfile", core_AppArmorProfile, PTR),
    F("seLinuxChangePolicy", core_PodSELinuxChangePolicy, PTR))

LOCAL_TYPE(core, PreferredSchedulingTerm, PLAIN,
    F("weight", INT32, REQ | KEEP),
    F("preference", core_NodeSelectorTerm, REQ | KEEP))

LOCAL_TYPE(core, NodeAffinity, PLAIN,
    F("requiredDuringSchedulingIgnoredDuringExecution", core_NodeSelector, PTR),
    F("preferredDuringSchedulingIgnoredDuringExecution", LIST(core_PreferredSchedulingTerm), 0))

LOCAL_TYPE(core, PodAffinityTerm, PLAIN,
    F("labelSelector", meta_LabelSelector, PTR),
    F("namespaces", LIST(STRING), 0),
    F("topologyKey", STRING, REQ | KEEP),
    F("namespaceSelector", meta_LabelSelector, PTR),
    F("matchLabelKeys", LIST(STRING), 0),
    F("mismatchLabelKeys", LIST(STRING), 0))

LOCAL_TYPE(core, WeightedPodAffinityTerm, PLAIN,
    F("weight", INT32, REQ | KEEP),
    F("podAffinityTerm", core_PodAffinityTerm, REQ | KEEP))

LOCAL_TYPE(core, PodAffinity, PLAIN,
    F("requiredDuringSchedulingIgnoredDuringExecution", LIST(core_PodAffinityTerm), 0),
    F("preferredDuringSchedulingIgnoredDuringExecution", LIST(core_WeightedPodAffinityTerm), 0))

LOCAL_TYPE(core, PodAntiAffinity, PLAIN,
    F("requiredDuringSchedulingIgnoredDuringExecution", LIST(core_PodAffinityTerm), 0),
    F("preferredDuringSchedulingIgnoredDuringExecution", LIST(core_WeightedPodAffinityTerm), 0))

LOCAL_TYPE(core, Affinity, PLAIN,
    F("nodeAffinity", core_NodeAffinity, PTR),
    F("podAffinity", core_PodAffinity, PTR),
    F("podAntiAffinity", core_PodAntiAffinity, PTR))

LOCAL_ENUM(core, TolerationOperator, "Equal", "Exists")

LOCAL_TYPE(core, Toleration, PLAIN,
    F("key", STRING, 0),
    F("operator", core_TolerationOperator, 0),
    F("value", STRING, 0),
    F("effect", core_TaintEffect, 0),
    F("tolerationSeconds", INT64, PTR))

LOCAL_TYPE(core, HostAlias, PLAIN,
    F("ip", STRING, REQ | KEEP),
    F("hostnames", LIST(STRING), 0))

LOCAL_TYPE(core, PodDNSConfigOption, PLAIN,
    F("name", STRING, 0),
    F("value", STRING, PTR))

LOCAL_TYPE(core, PodDNSConfig, PLAIN,
    F("nameservers", LIST(STRING), 0),
    F("searches", LIST(STRING), 0),
    F("options", LIST(core_PodDNSConfigOption), 0))

STRING_TYPE(core, PodConditionType)

LOCAL_TYPE(core, PodReadinessGate, PLAIN,
    F("conditionType", core_PodConditionType, REQ | KEEP))

LOCAL_ENUM(core, UnsatisfiableConstraintAction, "DoNotSchedule", "ScheduleAnyway")
LOCAL_ENUM(core, NodeInclusionPolicy, "Honor", "Ignore")

LOCAL_TYPE(core, TopologySpreadConstraint, PLAIN,
    F("maxSkew", INT32, REQ | KEEP),
    F("topologyKey", STRING, REQ | KEEP),
    F("whenUnsatisfiable", core_UnsatisfiableConstraintAction, REQ | KEEP),
    F("labelSelector", meta_LabelSelector, PTR),
    F("minDomains", INT32, PTR),
    F("nodeAffinityPolicy", core_NodeInclusionPolicy, PTR),
    F("nodeTaintsPolicy", core_NodeInclusionPolicy, PTR),
    F("matchLabelKeys", LIST(STRING), 0))

LOCAL_STRING_TYPE(core, OSName)

LOCAL_TYPE(core, PodOS, PLAIN,
    F("name", core_OSName, REQ | KEEP))

LOCAL_TYPE(core, PodSchedulingGate, PLAIN,
    F("name", STRING, REQ | KEEP))

LOCAL_TYPE(core, PodResourceClaim, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("resourceClaimName", STRING, PTR),
    F("resourceClaimTemplateName", STRING, PTR))

LOCAL_ENUM(core, RestartPolicy, "Always", "Never", "OnFailure")
LOCAL_ENUM(core, DNSPolicy, "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
ENUM(core, PreemptionPolicy, "Never", "PreemptLowerPriority")

LOCAL_TYPE(core, PodSpec, PLAIN,
    F("volumes", LIST(core_Volume, BY("name"), MERGE("name"), RETAIN_KEYS), 0),
    F("initContainers", LIST(core_Container, BY("name"), MERGE("name")), 0),
    F("containers", LIST(core_Container, BY("name"), MERGE("name")), REQ | KEEP),
    F("ephemeralContainers", LIST(core_EphemeralContainer, BY("name"), MERGE("name")), 0),
    F("restartPolicy", core_RestartPolicy, 0),
    F("terminationGracePeriodSeconds", INT64, PTR),
    F("activeDeadlineSeconds", INT64, PTR),
    F("dnsPolicy", core_DNSPolicy, 0),
    F("nodeSelector", MAP(STRING, ATOMIC), 0),
    F("serviceAccountName", STRING, 0),
    F("serviceAccount", STRING, 0),
    F("automountServiceAccountToken", BOOL, PTR),
    F("nodeName", STRING, 0),
    F("hostNetwork", BOOL, 0),
    F("hostPID", BOOL, 0),
    F("hostIPC", BOOL, 0),
    F("shareProcessNamespace", BOOL, PTR),
    F("securityContext", core_PodSecurityContext, PTR),
    F("imagePullSecrets", LIST(core_LocalObjectReference, BY("name"), MERGE("name")), 0),
    F("hostname", STRING, 0),
    F("subdomain", STRING, 0),
    F("affinity", core_Affinity, PTR),
    F("schedulerName", STRING, 0),
    F("tolerations", LIST(core_Toleration), 0),
    F("hostAliases", LIST(core_HostAlias, BY("ip"), MERGE("ip")), 0),
    F("priorityClassName", STRING, 0),
    F("priority", INT32, PTR),
    F("dnsConfig", core_PodDNSConfig, PTR),
    F("readinessGates", LIST(core_PodReadinessGate), 0),
    F("runtimeClassName", STRING, PTR),
    F("enableServiceLinks", BOOL, PTR),
    F("preemptionPolicy", core_PreemptionPolicy, PTR),
    F("overhead", core_ResourceList, 0),
    F("topologySpreadConstraints", LIST(core_TopologySpreadConstraint,
      BY("topologyKey", "whenUnsatisfiable"), MERGE("topologyKey")), 0),
    F("setHostnameAsFQDN", BOOL, PTR),
    F("os", core_PodOS, PTR),
    F("hostUsers", BOOL, PTR),
    F("schedulingGates", LIST(core_PodSchedulingGate, BY("name"), MERGE("name")), 0),
    F("resourceClaims", LIST(core_PodResourceClaim, BY("name"), MERGE("name"), RETAIN_KEYS), 0),
    F("resources", core_ResourceRequirements, PTR),
    F("hostnameOverride", STRING, PTR))

LOCAL_TYPE(core, PodCondition, PLAIN,
    F("type", core_PodConditionType, REQ | KEEP),
    F("observedGeneration", INT64, 0),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastProbeTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(core, HostIP, PLAIN,
    F("ip", STRING, REQ | KEEP))

LOCAL_TYPE(core, PodIP, PLAIN,
    F("ip", STRING, REQ | KEEP))

LOCAL_TYPE(core, PodResourceClaimStatus, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("resourceClaimName", STRING, PTR))

LOCAL_TYPE(core, ContainerExtendedResourceRequest, PLAIN,
    F("containerName", STRING, REQ | KEEP),
    F("resourceName", STRING, REQ | KEEP),
    F("requestName", STRING, REQ | KEEP))

LOCAL_TYPE(core, PodExtendedResourceClaimStatus, PLAIN,
    F("requestMappings", LIST(core_ContainerExtendedResourceRequest), REQ | KEEP),
    F("resourceClaimName", STRING, REQ | KEEP))

LOCAL_ENUM(core, PodPhase, "Failed", "Pending", "Running", "Succeeded", "Unknown")
LOCAL_ENUM(core, PodQOSClass, "BestEffort", "Burstable", "Guaranteed")
LOCAL_STRING_TYPE(core, PodResizeStatus)

LOCAL_TYPE(core, PodStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("phase", core_PodPhase, 0),
    F("conditions", LIST(core_PodCondition, BY("type"), MERGE("type")), 0),
    F("message", STRING, 0),
    F("reason", STRING, 0),
    F("nominatedNodeName", STRING, 0),
    F("hostIP", STRING, 0),
    F("hostIPs", LIST(core_HostIP, MERGE("ip")), 0),
    F("podIP", STRING, 0),
    F("podIPs", LIST(core_PodIP, BY("ip"), MERGE("ip")), 0),
    F("startTime", TIME, PTR),
    F("initContainerStatuses", LIST(core_ContainerStatus), 0),
    F("containerStatuses", LIST(core_ContainerStatus), 0),
    F("qosClass", core_PodQOSClass, 0),
    F("ephemeralContainerStatuses", LIST(core_ContainerStatus), 0),
    F("resize", core_PodResizeStatus, 0),
    F("resourceClaimStatuses", LIST(core_PodResourceClaimStatus, BY("name"), MERGE("name"),
      RETAIN_KEYS), 0),
    F("extendedResourceClaimStatus", core_PodExtendedResourceClaimStatus, PTR))

TYPE(core, Pod, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", core_PodSpec, KEEP),
    F("status", core_PodStatus, KEEP))

TYPE(core, PodTemplateSpec, PLAIN,
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", core_PodSpec, KEEP))

TYPE(core, PodTemplate, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("template", core_PodTemplateSpec, KEEP))
