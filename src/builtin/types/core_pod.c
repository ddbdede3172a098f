/* core/v1: pods, pod templates and where pods may run. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, Binding,
    DOC("Puts a pod on a node. Sent by schedulers to pods/binding; never stored."),
    OBJECT_HEAD,
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

TYPE(core, Toleration, PLAIN,
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

#define POD_SPEC_ROWS \
    F("volumes", LIST(core_Volume, BY("name"), MERGE("name"), RETAIN_KEYS), 0, \
      DOC("Directories that containers can mount.")), \
    F("initContainers", LIST(core_Container, BY("name"), MERGE("name")), 0, \
      DOC("Containers that run to their end, one after the other, before the others start.")), \
    F("containers", LIST(core_Container, BY("name"), MERGE("name")), REQ | KEEP, \
      DOC("The containers. At least one; the set cannot change.")), \
    F("ephemeralContainers", LIST(core_EphemeralContainer, BY("name"), MERGE("name")), 0, \
      DOC("Containers added to a running pod, for looking into it.")), \
    F("restartPolicy", core_RestartPolicy, 0, \
      DOC("When a container ends: Always (the default), OnFailure or Never.")), \
    F("terminationGracePeriodSeconds", INT64, PTR, \
      DOC("Time from the request to stop until processes are killed. 30 if unset.")), \
    F("activeDeadlineSeconds", INT64, PTR, \
      DOC("The longest that the pod may be active; then it fails.")), \
    F("dnsPolicy", core_DNSPolicy, 0, DOC("Where host names are looked up.")), \
    F("nodeSelector", MAP(STRING, ATOMIC), 0, DOC("Labels that a node must have.")), \
    F("serviceAccountName", STRING, 0, DOC("Who the pod is when it talks to the API.")), \
    F("serviceAccount", STRING, 0, DOC("An old name of serviceAccountName.")), \
    F("automountServiceAccountToken", BOOL, PTR, \
      DOC("Whether a token of the service account is put into containers.")), \
    F("nodeName", STRING, 0, DOC("The node. Set by the scheduler, or by hand to go past it.")), \
    F("hostNetwork", BOOL, 0, DOC("Whether to use the network of the node.")), \
    F("hostPID", BOOL, 0, DOC("Whether to see the processes of the node.")), \
    F("hostIPC", BOOL, 0, DOC("Whether to share memory and semaphores with the node.")), \
    F("shareProcessNamespace", BOOL, PTR, \
      DOC("Whether containers see the processes of each other.")), \
    F("securityContext", core_PodSecurityContext, PTR, \
      DOC("Users, groups and privileges, for all containers.")), \
    F("imagePullSecrets", LIST(core_LocalObjectReference, BY("name"), MERGE("name")), 0, \
      DOC("Secrets for fetching images.")), \
    F("hostname", STRING, 0, \
      DOC("The name of the host as the pod sees it. The name of the pod if unset.")), \
    F("subdomain", STRING, 0, DOC("Makes the full host name hostname.subdomain.namespace.svc.")), \
    F("affinity", core_Affinity, PTR, DOC("Where the pod would like to run, or must.")), \
    F("schedulerName", STRING, 0, DOC("Which scheduler finds a node.")), \
    F("tolerations", LIST(core_Toleration), 0, DOC("Taints of nodes that the pod puts up with.")), \
    F("hostAliases", LIST(core_HostAlias, BY("ip"), MERGE("ip")), 0, \
      DOC("Further lines for /etc/hosts.")), \
    F("priorityClassName", STRING, 0, \
      DOC("How important the pod is, by the name of a priority class.")), \
    F("priority", INT32, PTR, \
      DOC("How important the pod is, as a number. Set from the priority class.")), \
    F("dnsConfig", core_PodDNSConfig, PTR, \
      DOC("Settings for looking up names, besides those of dnsPolicy.")), \
    F("readinessGates", LIST(core_PodReadinessGate), 0, \
      DOC("Conditions that must be true as well for the pod to be ready.")), \
    F("runtimeClassName", STRING, PTR, DOC("What runs the containers.")), \
    F("enableServiceLinks", BOOL, PTR, \
      DOC("Whether environment variables describe the services of the namespace.")), \
    F("preemptionPolicy", core_PreemptionPolicy, PTR, \
      DOC("Whether less important pods may be made to give way.")), \
    F("overhead", core_ResourceList, 0, DOC("What running the pod costs besides its containers.")), \
    F("topologySpreadConstraints", LIST(core_TopologySpreadConstraint, \
      BY("topologyKey", "whenUnsatisfiable"), MERGE("topologyKey")), 0, \
      DOC("How to spread like pods over the cluster.")), \
    F("setHostnameAsFQDN", BOOL, PTR, DOC("Whether the host name is the full name.")), \
    F("os", core_PodOS, PTR, DOC("The operating system of the containers.")), \
    F("hostUsers", BOOL, PTR, DOC("Whether users in the pod are users of the node.")), \
    F("schedulingGates", LIST(core_PodSchedulingGate, BY("name"), MERGE("name")), 0, \
      DOC("While there are any, the pod is not scheduled.")), \
    F("resourceClaims", LIST(core_PodResourceClaim, BY("name"), MERGE("name"), RETAIN_KEYS), 0, \
      DOC("Devices to be set aside before the pod starts.")), \
    F("resources", core_ResourceRequirements, PTR, \
      DOC("What the pod as a whole needs and may use.")), \
    F("hostnameOverride", STRING, PTR)

LOCAL_TYPE(core, PodSpec, DOC("What a pod should be."), POD_SPEC_ROWS)

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
    F("phase", core_PodPhase, 0, DOC("Pending, Running, Succeeded, Failed or Unknown.")),
    F("conditions", LIST(core_PodCondition, BY("type"), MERGE("type")), 0,
      DOC("The conditions of the object, one for each aspect.")),
    F("message", STRING, 0, DOC("Why, for people.")),
    F("reason", STRING, 0, DOC("Why, in one word.")),
    F("nominatedNodeName", STRING, 0,
      DOC("The node that others are being moved away from for this pod.")),
    F("hostIP", STRING, 0, DOC("The address of the node.")),
    F("hostIPs", LIST(core_HostIP, MERGE("ip")), 0),
    F("podIP", STRING, 0, DOC("The address of the pod.")),
    F("podIPs", LIST(core_PodIP, BY("ip"), MERGE("ip")), 0, DOC("All addresses of the pod.")),
    F("startTime", TIME, PTR, DOC("When the node took the pod on.")),
    F("initContainerStatuses", LIST(core_ContainerStatus), 0,
      DOC("How each init container is doing.")),
    F("containerStatuses", LIST(core_ContainerStatus), 0, DOC("How each container is doing.")),
    F("qosClass", core_PodQOSClass, 0, DOC("Guaranteed, Burstable or BestEffort.")),
    F("ephemeralContainerStatuses", LIST(core_ContainerStatus), 0),
    F("resize", core_PodResizeStatus, 0),
    F("resourceClaimStatuses", LIST(core_PodResourceClaimStatus, BY("name"), MERGE("name"),
      RETAIN_KEYS), 0),
    F("extendedResourceClaimStatus", core_PodExtendedResourceClaimStatus, PTR))

TYPE(core, Pod,
    DOC("Containers that run together on one node and share its network and volumes."),
    OBJECT_HEAD,
    F("spec", core_PodSpec, KEEP, DOC("The desired state.")),
    F("status", core_PodStatus, KEEP, DOC("The observed state. Written by the system.")))

/* The same with what Kubernetes 1.36 has behind a gate: the group that a pod starts with. */
LOCAL_TYPE(core, PodSchedulingGroup, PLAIN,
    F("podGroupName", STRING, PTR, DOC("The PodGroup, in the namespace of the pod.")))

ROWS_(core, PodSpecOfGroups, POD_SPEC_ROWS,
    F("schedulingGroup", core_PodSchedulingGroup, PTR, DOC("What the pod starts together with.")))
static const struct schema core_PodSpecOfGroups =
    OBJECT_(core_PodSpecOfGroups_rows, PodSpec, DOC("What a pod should be."));

ROWS_(core, PodOfGroups,
    OBJECT_HEAD,
    F("spec", core_PodSpecOfGroups, KEEP, DOC("The desired state.")),
    F("status", core_PodStatus, KEEP, DOC("The observed state. Written by the system.")))
const struct schema core_PodOfGroups = OBJECT_(core_PodOfGroups_rows, Pod,
    DOC("Containers that run together on one node and share its network and volumes."));

TYPE(core, PodTemplateSpec,
    DOC("A pod to make copies of."),
    F("metadata", meta_ObjectMeta, KEEP, DOC("Labels and annotations of the pods.")),
    F("spec", core_PodSpec, KEEP, DOC("What the pods should be.")))

TYPE(core, PodTemplate,
    DOC("A pod to make copies of, stored on its own."),
    OBJECT_HEAD,
    F("template", core_PodTemplateSpec, KEEP))
