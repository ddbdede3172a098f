/* resource.k8s.io/v1: devices that drivers offer, and claims to them. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.resource.v1"
#define GO_PACKAGE "v1"

LOCAL_ENUM(resource, DeviceTaintEffect, "NoExecute", "NoSchedule")
LOCAL_ENUM(resource, DeviceTolerationOperator, "Equal", "Exists")
LOCAL_STRING_TYPE(resource, DeviceAllocationMode)
LOCAL_STRING_TYPE(resource, AllocationConfigSource)
LOCAL_STRING_TYPE(resource, FullyQualifiedName)

/* ---- what drivers offer */

LOCAL_TYPE(resource, Counter, PLAIN,
    F("value", QUANTITY, REQ | KEEP))

LOCAL_TYPE(resource, CounterSet, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("counters", MAP(resource_Counter), REQ))

LOCAL_TYPE(resource, ResourcePool, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("generation", INT64, REQ | KEEP),
    F("resourceSliceCount", INT64, REQ | KEEP))

LOCAL_TYPE(resource, DeviceAttribute, PLAIN,
    F("int", INT64, PTR),
    F("bool", BOOL, PTR),
    F("string", STRING, PTR),
    F("version", STRING, PTR))

LOCAL_TYPE(resource, CapacityRequestPolicyRange, PLAIN,
    F("min", QUANTITY, REQ | PTR),
    F("max", QUANTITY, PTR),
    F("step", QUANTITY, PTR))

LOCAL_TYPE(resource, CapacityRequestPolicy, PLAIN,
    F("default", QUANTITY, KEEP | PTR),
    F("validValues", LIST(QUANTITY), 0),
    F("validRange", resource_CapacityRequestPolicyRange, PTR))

LOCAL_TYPE(resource, DeviceCapacity, PLAIN,
    F("value", QUANTITY, REQ | KEEP),
    F("requestPolicy", resource_CapacityRequestPolicy, PTR))

LOCAL_TYPE(resource, DeviceCounterConsumption, PLAIN,
    F("counterSet", STRING, REQ | KEEP),
    F("counters", MAP(resource_Counter), REQ))

LOCAL_TYPE(resource, DeviceTaint, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("value", STRING, 0),
    F("effect", resource_DeviceTaintEffect, REQ | KEEP),
    F("timeAdded", TIME, PTR))

LOCAL_TYPE(resource, Device, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("attributes", MAP(resource_DeviceAttribute), 0),
    F("capacity", MAP(resource_DeviceCapacity), 0),
    F("consumesCounters", LIST(resource_DeviceCounterConsumption), 0),
    F("nodeName", STRING, PTR),
    F("nodeSelector", core_NodeSelector, PTR),
    F("allNodes", BOOL, PTR),
    F("taints", LIST(resource_DeviceTaint), 0),
    F("bindsToNode", BOOL, PTR),
    F("bindingConditions", LIST(STRING), 0),
    F("bindingFailureConditions", LIST(STRING), 0),
    F("allowMultipleAllocations", BOOL, PTR))

LOCAL_TYPE(resource, ResourceSliceSpec, PLAIN,
    F("driver", STRING, REQ | KEEP, DOC("The driver that offers the devices.")),
    F("pool", resource_ResourcePool, REQ | KEEP, DOC("The pool that the devices belong to.")),
    F("nodeName", STRING, PTR, DOC("The node that has the devices.")),
    F("nodeSelector", core_NodeSelector, PTR, DOC("The nodes that can use the devices.")),
    F("allNodes", BOOL, PTR, DOC("Whether all nodes can use the devices.")),
    F("devices", LIST(resource_Device), KEEP, DOC("The devices.")),
    F("perDeviceNodeSelection", BOOL, PTR),
    F("sharedCounters", LIST(resource_CounterSet), 0))

TYPE(resource, ResourceSlice,
    DOC("Devices that a driver offers."),
    OBJECT_HEAD,
    F("spec", resource_ResourceSliceSpec, REQ | KEEP, DOC("The devices that are offered.")))

/* ---- what claims ask for */

LOCAL_TYPE(resource, CELDeviceSelector, PLAIN,
    F("expression", STRING, REQ | KEEP))

LOCAL_TYPE(resource, DeviceSelector, PLAIN,
    F("cel", resource_CELDeviceSelector, PTR))

LOCAL_TYPE(resource, DeviceToleration, PLAIN,
    F("key", STRING, 0),
    F("operator", resource_DeviceTolerationOperator, 0),
    F("value", STRING, 0),
    F("effect", resource_DeviceTaintEffect, 0),
    F("tolerationSeconds", INT64, PTR))

LOCAL_TYPE(resource, CapacityRequirements, PLAIN,
    F("requests", MAP(QUANTITY), 0))

LOCAL_TYPE(resource, ExactDeviceRequest, PLAIN,
    F("deviceClassName", STRING, REQ | KEEP),
    F("selectors", LIST(resource_DeviceSelector), 0),
    F("allocationMode", resource_DeviceAllocationMode, 0),
    F("count", INT64, 0),
    F("adminAccess", BOOL, PTR),
    F("tolerations", LIST(resource_DeviceToleration), 0),
    F("capacity", resource_CapacityRequirements, PTR))

LOCAL_TYPE(resource, DeviceSubRequest, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("deviceClassName", STRING, REQ | KEEP),
    F("selectors", LIST(resource_DeviceSelector), 0),
    F("allocationMode", resource_DeviceAllocationMode, 0),
    F("count", INT64, 0),
    F("tolerations", LIST(resource_DeviceToleration), 0),
    F("capacity", resource_CapacityRequirements, PTR))

LOCAL_TYPE(resource, DeviceRequest, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("exactly", resource_ExactDeviceRequest, PTR),
    F("firstAvailable", LIST(resource_DeviceSubRequest), 0))

LOCAL_TYPE(resource, DeviceConstraint, PLAIN,
    F("requests", LIST(STRING), 0),
    F("matchAttribute", resource_FullyQualifiedName, PTR),
    F("distinctAttribute", resource_FullyQualifiedName, PTR))

LOCAL_TYPE(resource, OpaqueDeviceConfiguration, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("parameters", RAW, REQ | KEEP))

LOCAL_TYPE(resource, DeviceClaimConfiguration, PLAIN,
    F("requests", LIST(STRING), 0),
    F("opaque", resource_OpaqueDeviceConfiguration, PTR))

LOCAL_TYPE(resource, DeviceClaim, PLAIN,
    F("requests", LIST(resource_DeviceRequest), KEEP),
    F("constraints", LIST(resource_DeviceConstraint), 0),
    F("config", LIST(resource_DeviceClaimConfiguration), 0))

LOCAL_TYPE(resource, ResourceClaimSpec, PLAIN,
    F("devices", resource_DeviceClaim, KEEP, DOC("The devices that are wanted.")))

/* ---- what claims got */

LOCAL_TYPE(resource, DeviceRequestAllocationResult, PLAIN,
    F("request", STRING, REQ | KEEP),
    F("driver", STRING, REQ | KEEP),
    F("pool", STRING, REQ | KEEP),
    F("device", STRING, REQ | KEEP),
    F("adminAccess", BOOL, PTR),
    F("tolerations", LIST(resource_DeviceToleration), 0),
    F("bindingConditions", LIST(STRING), 0),
    F("bindingFailureConditions", LIST(STRING), 0),
    F("shareID", meta_UID, PTR),
    F("consumedCapacity", MAP(QUANTITY), 0))

LOCAL_TYPE(resource, DeviceAllocationConfiguration, PLAIN,
    F("source", resource_AllocationConfigSource, REQ | KEEP),
    F("requests", LIST(STRING), 0),
    F("opaque", resource_OpaqueDeviceConfiguration, PTR))

LOCAL_TYPE(resource, DeviceAllocationResult, PLAIN,
    F("results", LIST(resource_DeviceRequestAllocationResult), 0),
    F("config", LIST(resource_DeviceAllocationConfiguration), 0))

LOCAL_TYPE(resource, AllocationResult, PLAIN,
    F("devices", resource_DeviceAllocationResult, KEEP),
    F("nodeSelector", core_NodeSelector, PTR),
    F("allocationTimestamp", TIME, PTR))

LOCAL_TYPE(resource, ResourceClaimConsumerReference, PLAIN,
    F("apiGroup", STRING, 0),
    F("resource", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("uid", meta_UID, REQ | KEEP))

LOCAL_TYPE(resource, NetworkDeviceData, PLAIN,
    F("interfaceName", STRING, 0),
    F("ips", LIST(STRING), 0),
    F("hardwareAddress", STRING, 0))

LOCAL_TYPE(resource, AllocatedDeviceStatus, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("pool", STRING, REQ | KEEP),
    F("device", STRING, REQ | KEEP),
    F("shareID", STRING, PTR),
    F("conditions", LIST(meta_Condition, BY("type")), KEEP),
    F("data", RAW, PTR),
    F("networkData", resource_NetworkDeviceData, PTR))

LOCAL_TYPE(resource, ResourceClaimStatus, PLAIN,
    F("allocation", resource_AllocationResult, PTR, DOC("The devices allocated to the claim.")),
    F("reservedFor", LIST(resource_ResourceClaimConsumerReference, BY("uid"), MERGE("uid")), 0,
      DOC("The pods that may use them.")),
    F("devices", LIST(resource_AllocatedDeviceStatus, BY("driver", "device", "pool", "shareID")), 0))

TYPE(resource, ResourceClaim,
    DOC("A request for devices, for pods to use."),
    OBJECT_HEAD,
    F("spec", resource_ResourceClaimSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", resource_ResourceClaimStatus, KEEP, DOC("The devices allocated to the claim.")))

LOCAL_TYPE(resource, ResourceClaimTemplateSpec, PLAIN,
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", resource_ResourceClaimSpec, REQ | KEEP))

TYPE(resource, ResourceClaimTemplate,
    DOC("What the claims are like that are made for each pod."),
    OBJECT_HEAD,
    F("spec", resource_ResourceClaimTemplateSpec, REQ | KEEP, DOC("The claim.")))

/* ---- classes */

LOCAL_TYPE(resource, DeviceClassConfiguration, PLAIN,
    F("opaque", resource_OpaqueDeviceConfiguration, PTR))

LOCAL_TYPE(resource, DeviceClassSpec, PLAIN,
    F("selectors", LIST(resource_DeviceSelector), 0, DOC("Which devices belong to the class.")),
    F("config", LIST(resource_DeviceClassConfiguration), 0,
      DOC("Settings for the drivers of its devices.")),
    F("extendedResourceName", STRING, PTR))

TYPE(resource, DeviceClass,
    DOC("A class of devices that claims can ask for by name."),
    OBJECT_HEAD,
    F("spec", resource_DeviceClassSpec, REQ | KEEP, DOC("Which devices, and their settings.")))
