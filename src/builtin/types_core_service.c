/* core/v1: services, endpoints, configuration, accounts and replication controllers. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, ConfigMap, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("immutable", BOOL, PTR),
    F("data", MAP(STRING), 0),
    F("binaryData", MAP(BYTES), 0))

LOCAL_TYPE(core, EndpointAddress, ATOMIC,
    F("ip", STRING, REQ | KEEP),
    F("hostname", STRING, 0),
    F("nodeName", STRING, PTR),
    F("targetRef", core_ObjectReference, PTR))

LOCAL_TYPE(core, EndpointPort, ATOMIC,
    F("name", STRING, 0),
    F("port", INT32, REQ | KEEP),
    F("protocol", core_Protocol, 0),
    F("appProtocol", STRING, PTR))

LOCAL_TYPE(core, EndpointSubset, PLAIN,
    F("addresses", LIST(core_EndpointAddress), 0),
    F("notReadyAddresses", LIST(core_EndpointAddress), 0),
    F("ports", LIST(core_EndpointPort), 0))

TYPE(core, Endpoints, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("subsets", LIST(core_EndpointSubset), 0))

LOCAL_TYPE(core, ReplicationControllerSpec, PLAIN,
    F("replicas", INT32, PTR),
    F("minReadySeconds", INT32, 0),
    F("selector", MAP(STRING, ATOMIC), 0),
    F("template", core_PodTemplateSpec, PTR))

LOCAL_STRING_TYPE(core, ReplicationControllerConditionType)

LOCAL_TYPE(core, ReplicationControllerCondition, PLAIN,
    F("type", core_ReplicationControllerConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(core, ReplicationControllerStatus, PLAIN,
    F("replicas", INT32, REQ | KEEP),
    F("fullyLabeledReplicas", INT32, 0),
    F("readyReplicas", INT32, 0),
    F("availableReplicas", INT32, 0),
    F("observedGeneration", INT64, 0),
    F("conditions", LIST(core_ReplicationControllerCondition, BY("type"), MERGE("type")), 0))

TYPE(core, ReplicationController, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", core_ReplicationControllerSpec, KEEP),
    F("status", core_ReplicationControllerStatus, KEEP))

LOCAL_STRING_TYPE(core, SecretType)

TYPE(core, Secret, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("immutable", BOOL, PTR),
    F("data", MAP(BYTES), 0),
    F("stringData", MAP(STRING), 0),
    F("type", core_SecretType, 0))

TYPE(core, ServiceAccount, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("secrets", LIST(core_ObjectReference, BY("name"), MERGE("name")), 0),
    F("imagePullSecrets", LIST(core_LocalObjectReference), 0),
    F("automountServiceAccountToken", BOOL, PTR))

LOCAL_TYPE(core, ServicePort, PLAIN,
    F("name", STRING, 0),
    F("protocol", core_Protocol, 0),
    F("appProtocol", STRING, PTR),
    F("port", INT32, REQ | KEEP),
    F("targetPort", INT_OR_STRING, KEEP),
    F("nodePort", INT32, 0))

LOCAL_TYPE(core, ClientIPConfig, PLAIN,
    F("timeoutSeconds", INT32, PTR))

LOCAL_TYPE(core, SessionAffinityConfig, PLAIN,
    F("clientIP", core_ClientIPConfig, PTR))

LOCAL_ENUM(core, ServiceType, "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
LOCAL_ENUM(core, ServiceAffinity, "ClientIP", "None")
LOCAL_ENUM(core, ServiceExternalTrafficPolicy, "Cluster", "Local")
LOCAL_ENUM(core, IPFamily, "", "IPv4", "IPv6")
LOCAL_ENUM(core, IPFamilyPolicy, "PreferDualStack", "RequireDualStack", "SingleStack")
LOCAL_ENUM(core, ServiceInternalTrafficPolicy, "Cluster", "Local")

LOCAL_TYPE(core, ServiceSpec, PLAIN,
    F("ports", LIST(core_ServicePort, BY("port", "protocol"), MERGE("port")), 0),
    F("selector", MAP(STRING, ATOMIC), 0),
    F("clusterIP", STRING, 0),
    F("clusterIPs", LIST(STRING), 0),
    F("type", core_ServiceType, 0),
    F("externalIPs", LIST(STRING), 0),
    F("sessionAffinity", core_ServiceAffinity, 0),
    F("loadBalancerIP", STRING, 0),
    F("loadBalancerSourceRanges", LIST(STRING), 0),
    F("externalName", STRING, 0),
    F("externalTrafficPolicy", core_ServiceExternalTrafficPolicy, 0),
    F("healthCheckNodePort", INT32, 0),
    F("publishNotReadyAddresses", BOOL, 0),
    F("sessionAffinityConfig", core_SessionAffinityConfig, PTR),
    F("ipFamilies", LIST(core_IPFamily), 0),
    F("ipFamilyPolicy", core_IPFamilyPolicy, PTR),
    F("allocateLoadBalancerNodePorts", BOOL, PTR),
    F("loadBalancerClass", STRING, PTR),
    F("internalTrafficPolicy", core_ServiceInternalTrafficPolicy, PTR),
    F("trafficDistribution", STRING, PTR))

LOCAL_TYPE(core, PortStatus, PLAIN,
    F("port", INT32, REQ | KEEP),
    F("protocol", core_Protocol, REQ | KEEP),
    F("error", STRING, PTR))

LOCAL_STRING_TYPE(core, LoadBalancerIPMode)

LOCAL_TYPE(core, LoadBalancerIngress, PLAIN,
    F("ip", STRING, 0),
    F("hostname", STRING, 0),
    F("ipMode", core_LoadBalancerIPMode, PTR),
    F("ports", LIST(core_PortStatus), 0))

LOCAL_TYPE(core, LoadBalancerStatus, PLAIN,
    F("ingress", LIST(core_LoadBalancerIngress), 0))

LOCAL_TYPE(core, ServiceStatus, PLAIN,
    F("loadBalancer", core_LoadBalancerStatus, KEEP),
    F("conditions", LIST(meta_Condition, BY("type"), MERGE("type")), 0))

TYPE(core, Service, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", core_ServiceSpec, KEEP),
    F("status", core_ServiceStatus, KEEP))

LOCAL_TYPE(core, TopologySelectorLabelRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("values", LIST(STRING), REQ | KEEP))

TYPE(core, TopologySelectorTerm, ATOMIC,
    F("matchLabelExpressions", LIST(core_TopologySelectorLabelRequirement), 0))
