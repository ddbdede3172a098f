/* core/v1: services, endpoints, configuration, accounts and replication controllers. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, ConfigMap,
    DOC("Configuration for pods to read: text and bytes by key."),
    OBJECT_HEAD,
    F("immutable", BOOL, PTR, DOC("Whether the data can never change again.")),
    F("data", MAP(STRING), 0, DOC("Text by key.")),
    F("binaryData", MAP(BYTES), 0, DOC("Bytes by key, as base64.")))

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

TYPE(core, Endpoints,
    DOC("The addresses behind a service. EndpointSlices have taken its place."),
    OBJECT_HEAD,
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

TYPE(core, ReplicationController,
    DOC("Keeps a number of like pods running. ReplicaSets and deployments have taken its place."),
    OBJECT_HEAD,
    F("spec", core_ReplicationControllerSpec, KEEP, DOC("The desired state.")),
    F("status", core_ReplicationControllerStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_STRING_TYPE(core, SecretType)

TYPE(core, Secret,
    DOC("Like a ConfigMap, for things that not everybody should read. Values are base64."),
    OBJECT_HEAD,
    F("immutable", BOOL, PTR, DOC("Whether the data can never change again.")),
    F("data", MAP(BYTES), 0, DOC("Bytes by key, as base64.")),
    F("stringData", MAP(STRING), 0, DOC("Text by key; becomes part of data when written.")),
    F("type", core_SecretType, 0, DOC("A name for the condition, for programs.")))

TYPE(core, ServiceAccount,
    DOC("Who a pod is when it talks to the API."),
    OBJECT_HEAD,
    F("secrets", LIST(core_ObjectReference, BY("name"), MERGE("name")), 0,
      DOC("Secrets that pods of the account may use.")),
    F("imagePullSecrets", LIST(core_LocalObjectReference), 0, DOC("Secrets for fetching images.")),
    F("automountServiceAccountToken", BOOL, PTR, DOC("Whether tokens are put into containers.")))

LOCAL_TYPE(core, ServicePort, PLAIN,
    F("name", STRING, 0, DOC("Unique within the service.")),
    F("protocol", core_Protocol, 0, DOC("TCP unless said otherwise.")),
    F("appProtocol", STRING, PTR, DOC("The application protocol of the port.")),
    F("port", INT32, REQ | KEEP, DOC("The port of the service.")),
    F("targetPort", INT_OR_STRING, KEEP,
      DOC("The port of the pods, by number or name. The same if unset.")),
    F("nodePort", INT32, 0, DOC("The port on every node, for NodePort and LoadBalancer.")))

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
    F("ports", LIST(core_ServicePort, BY("port", "protocol"), MERGE("port")), 0,
      DOC("The ports that the service offers.")),
    F("selector", MAP(STRING, ATOMIC), 0, DOC("Labels of the pods behind it.")),
    F("clusterIP", STRING, 0,
      DOC("Its address: given by the server; \"None\" for a headless service.")),
    F("clusterIPs", LIST(STRING), 0, DOC("All its addresses.")),
    F("type", core_ServiceType, 0, DOC("ClusterIP, NodePort, LoadBalancer or ExternalName.")),
    F("externalIPs", LIST(STRING), 0, DOC("Further addresses that lead to it.")),
    F("sessionAffinity", core_ServiceAffinity, 0,
      DOC("ClientIP: the same client gets the same pod.")),
    F("loadBalancerIP", STRING, 0, DOC("Where the load balancer should be, if it can be chosen.")),
    F("loadBalancerSourceRanges", LIST(STRING), 0),
    F("externalName", STRING, 0, DOC("The name that an ExternalName service stands for.")),
    F("externalTrafficPolicy", core_ServiceExternalTrafficPolicy, 0),
    F("healthCheckNodePort", INT32, 0),
    F("publishNotReadyAddresses", BOOL, 0, DOC("Whether pods that are not ready count as well.")),
    F("sessionAffinityConfig", core_SessionAffinityConfig, PTR),
    F("ipFamilies", LIST(core_IPFamily), 0, DOC("IPv4, IPv6 or both.")),
    F("ipFamilyPolicy", core_IPFamilyPolicy, PTR,
      DOC("How many address families there should be.")),
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

TYPE(core, Service,
    DOC("A stable name and address for a set of pods."),
    OBJECT_HEAD,
    F("spec", core_ServiceSpec, KEEP, DOC("The desired state.")),
    F("status", core_ServiceStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(core, TopologySelectorLabelRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("values", LIST(STRING), REQ | KEEP))

TYPE(core, TopologySelectorTerm, ATOMIC,
    F("matchLabelExpressions", LIST(core_TopologySelectorLabelRequirement), 0))
