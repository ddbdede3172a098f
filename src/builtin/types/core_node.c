/* core/v1: nodes, namespaces, events, limits and quotas. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, EventSource, PLAIN,
    F("component", STRING, 0),
    F("host", STRING, 0))

LOCAL_TYPE(core, EventSeries, PLAIN,
    F("count", INT32, 0),
    F("lastObservedTime", MICRO_TIME, KEEP))

TYPE(core, Event,
    DOC("Something that happened to an object, for people to read. Kept for an hour."),
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, REQ | KEEP),
    F("involvedObject", core_ObjectReference, REQ | KEEP, DOC("The object that the event is about.")),
    F("reason", STRING, 0, DOC("What happened, in one word.")),
    F("message", STRING, 0, DOC("What happened, for people.")),
    F("source", core_EventSource, KEEP, DOC("The component that reports the event.")),
    F("firstTimestamp", TIME, KEEP, DOC("When it was first seen.")),
    F("lastTimestamp", TIME, KEEP, DOC("When it was last seen.")),
    F("count", INT32, 0, DOC("How often.")),
    F("type", STRING, 0, DOC("Normal or Warning.")),
    F("eventTime", MICRO_TIME, KEEP, DOC("When it happened.")),
    F("series", core_EventSeries, PTR),
    F("action", STRING, 0),
    F("related", core_ObjectReference, PTR),
    F("reportingComponent", STRING, KEEP, DOC("The component that reports the event.")),
    F("reportingInstance", STRING, KEEP, DOC("The instance of the component that reports it.")))

LOCAL_STRING_TYPE(core, LimitType)

LOCAL_TYPE(core, LimitRangeItem, PLAIN,
    F("type", core_LimitType, REQ | KEEP),
    F("max", core_ResourceList, 0),
    F("min", core_ResourceList, 0),
    F("default", core_ResourceList, 0),
    F("defaultRequest", core_ResourceList, 0),
    F("maxLimitRequestRatio", core_ResourceList, 0))

LOCAL_TYPE(core, LimitRangeSpec, PLAIN,
    F("limits", LIST(core_LimitRangeItem), REQ | KEEP))

TYPE(core, LimitRange,
    DOC("Bounds and defaults for what pods and claims of a namespace may ask for."),
    OBJECT_HEAD,
    F("spec", core_LimitRangeSpec, KEEP, DOC("The desired state.")))

LOCAL_STRING_TYPE(core, FinalizerName)

LOCAL_TYPE(core, NamespaceSpec, PLAIN,
    F("finalizers", LIST(core_FinalizerName), 0))

LOCAL_STRING_TYPE(core, NamespaceConditionType)

LOCAL_TYPE(core, NamespaceCondition, PLAIN,
    F("type", core_NamespaceConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_ENUM(core, NamespacePhase, "Active", "Terminating")

LOCAL_TYPE(core, NamespaceStatus, PLAIN,
    F("phase", core_NamespacePhase, 0),
    F("conditions", LIST(core_NamespaceCondition, BY("type"), MERGE("type")), 0))

TYPE(core, Namespace,
    DOC("A scope for names. Deleting it deletes everything in it."),
    OBJECT_HEAD,
    F("spec", core_NamespaceSpec, KEEP, DOC("The desired state.")),
    F("status", core_NamespaceStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(core, Taint, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("value", STRING, 0),
    F("effect", core_TaintEffect, REQ | KEEP),
    F("timeAdded", TIME, PTR))

LOCAL_TYPE(core, ConfigMapNodeConfigSource, PLAIN,
    F("namespace", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("uid", meta_UID, 0),
    F("resourceVersion", STRING, 0),
    F("kubeletConfigKey", STRING, REQ | KEEP))

LOCAL_TYPE(core, NodeConfigSource, PLAIN,
    F("configMap", core_ConfigMapNodeConfigSource, PTR))

LOCAL_TYPE(core, NodeSpec, PLAIN,
    F("podCIDR", STRING, 0, DOC("The addresses for the pods of the node.")),
    F("podCIDRs", LIST(STRING, SET, MERGE_VALUES), 0),
    F("providerID", STRING, 0, DOC("How the cloud calls it.")),
    F("unschedulable", BOOL, 0, DOC("Whether no more pods should come.")),
    F("taints", LIST(core_Taint), 0, DOC("What keeps pods away that do not tolerate it.")),
    F("configSource", core_NodeConfigSource, PTR),
    F("externalID", STRING, 0))

LOCAL_STRING_TYPE(core, NodeConditionType)

LOCAL_TYPE(core, NodeCondition, PLAIN,
    F("type", core_NodeConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastHeartbeatTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_STRING_TYPE(core, NodeAddressType)

LOCAL_TYPE(core, NodeAddress, PLAIN,
    F("type", core_NodeAddressType, REQ | KEEP),
    F("address", STRING, REQ | KEEP))

LOCAL_TYPE(core, DaemonEndpoint, PLAIN,
    F("Port", INT32, REQ | KEEP))

LOCAL_TYPE(core, NodeDaemonEndpoints, PLAIN,
    F("kubeletEndpoint", core_DaemonEndpoint, KEEP))

LOCAL_TYPE(core, NodeSwapStatus, PLAIN,
    F("capacity", INT64, PTR))

LOCAL_TYPE(core, NodeSystemInfo, PLAIN,
    F("machineID", STRING, REQ | KEEP),
    F("systemUUID", STRING, REQ | KEEP),
    F("bootID", STRING, REQ | KEEP),
    F("kernelVersion", STRING, REQ | KEEP),
    F("osImage", STRING, REQ | KEEP),
    F("containerRuntimeVersion", STRING, REQ | KEEP),
    F("kubeletVersion", STRING, REQ | KEEP),
    F("kubeProxyVersion", STRING, REQ | KEEP),
    F("operatingSystem", STRING, REQ | KEEP),
    F("architecture", STRING, REQ | KEEP),
    F("swap", core_NodeSwapStatus, PTR))

LOCAL_TYPE(core, ContainerImage, PLAIN,
    F("names", LIST(STRING), KEEP),
    F("sizeBytes", INT64, 0))

LOCAL_STRING_TYPE(core, UniqueVolumeName)

LOCAL_TYPE(core, AttachedVolume, PLAIN,
    F("name", core_UniqueVolumeName, REQ | KEEP),
    F("devicePath", STRING, REQ | KEEP))

LOCAL_TYPE(core, NodeConfigStatus, PLAIN,
    F("assigned", core_NodeConfigSource, PTR),
    F("active", core_NodeConfigSource, PTR),
    F("lastKnownGood", core_NodeConfigSource, PTR),
    F("error", STRING, 0))

LOCAL_TYPE(core, NodeRuntimeHandlerFeatures, PLAIN,
    F("recursiveReadOnlyMounts", BOOL, PTR),
    F("userNamespaces", BOOL, PTR))

LOCAL_TYPE(core, NodeRuntimeHandler, PLAIN,
    F("name", STRING, KEEP),
    F("features", core_NodeRuntimeHandlerFeatures, PTR))

LOCAL_TYPE(core, NodeFeatures, PLAIN,
    F("supplementalGroupsPolicy", BOOL, PTR))

LOCAL_ENUM(core, NodePhase, "Pending", "Running", "Terminated")

LOCAL_TYPE(core, NodeStatus, PLAIN,
    F("capacity", core_ResourceList, 0, DOC("What the node has.")),
    F("allocatable", core_ResourceList, 0, DOC("What pods may use of it.")),
    F("phase", core_NodePhase, 0),
    F("conditions", LIST(core_NodeCondition, BY("type"), MERGE("type")), 0,
      DOC("The conditions of the object, one for each aspect.")),
    F("addresses", LIST(core_NodeAddress, BY("type"), MERGE("type")), 0, DOC("How to reach it.")),
    F("daemonEndpoints", core_NodeDaemonEndpoints, KEEP),
    F("nodeInfo", core_NodeSystemInfo, KEEP, DOC("The hardware and software of the node.")),
    F("images", LIST(core_ContainerImage), 0, DOC("Images that are there already.")),
    F("volumesInUse", LIST(core_UniqueVolumeName), 0),
    F("volumesAttached", LIST(core_AttachedVolume), 0),
    F("config", core_NodeConfigStatus, PTR),
    F("runtimeHandlers", LIST(core_NodeRuntimeHandler), 0),
    F("features", core_NodeFeatures, PTR))

TYPE(core, Node,
    DOC("A machine that runs pods."),
    OBJECT_HEAD,
    F("spec", core_NodeSpec, KEEP, DOC("The desired state.")),
    F("status", core_NodeStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_ENUM(core, ResourceQuotaScope, "BestEffort", "CrossNamespacePodAffinity",
    "NotBestEffort", "NotTerminating", "PriorityClass", "Terminating", "VolumeAttributesClass")
LOCAL_ENUM(core, ScopeSelectorOperator, "DoesNotExist", "Exists", "In", "NotIn")

LOCAL_TYPE(core, ScopedResourceSelectorRequirement, PLAIN,
    F("scopeName", core_ResourceQuotaScope, REQ | KEEP),
    F("operator", core_ScopeSelectorOperator, REQ | KEEP),
    F("values", LIST(STRING), 0))

LOCAL_TYPE(core, ScopeSelector, ATOMIC,
    F("matchExpressions", LIST(core_ScopedResourceSelectorRequirement), 0))

LOCAL_TYPE(core, ResourceQuotaSpec, PLAIN,
    F("hard", core_ResourceList, 0, DOC("The most of each resource.")),
    F("scopes", LIST(core_ResourceQuotaScope), 0, DOC("Which objects count.")),
    F("scopeSelector", core_ScopeSelector, PTR))

LOCAL_TYPE(core, ResourceQuotaStatus, PLAIN,
    F("hard", core_ResourceList, 0),
    F("used", core_ResourceList, 0))

TYPE(core, ResourceQuota,
    DOC("The most that a namespace may use."),
    OBJECT_HEAD,
    F("spec", core_ResourceQuotaSpec, KEEP, DOC("The desired state.")),
    F("status", core_ResourceQuotaStatus, KEEP, DOC("The observed state. Written by the system.")))
