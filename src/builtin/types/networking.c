/* networking.k8s.io/v1: ingresses and network policies. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.networking.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(networking, ServiceBackendPort, ATOMIC,
    F("name", STRING, 0),
    F("number", INT32, 0))

LOCAL_TYPE(networking, IngressServiceBackend, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("port", networking_ServiceBackendPort, KEEP))

LOCAL_TYPE(networking, IngressBackend, PLAIN,
    F("service", networking_IngressServiceBackend, PTR),
    F("resource", core_TypedLocalObjectReference, PTR))

LOCAL_TYPE(networking, IngressTLS, PLAIN,
    F("hosts", LIST(STRING), 0),
    F("secretName", STRING, 0))

LOCAL_ENUM(networking, PathType, "Exact", "ImplementationSpecific", "Prefix")

LOCAL_TYPE(networking, HTTPIngressPath, PLAIN,
    F("path", STRING, 0),
    F("pathType", networking_PathType, REQ | KEEP | PTR),
    F("backend", networking_IngressBackend, REQ | KEEP))

LOCAL_TYPE(networking, HTTPIngressRuleValue, PLAIN,
    F("paths", LIST(networking_HTTPIngressPath), REQ | KEEP))

LOCAL_TYPE(networking, IngressRule, PLAIN,
    F("host", STRING, 0),
    F("http", networking_HTTPIngressRuleValue, PTR))

LOCAL_TYPE(networking, IngressSpec, PLAIN,
    F("ingressClassName", STRING, PTR, DOC("Which ingress class looks after it.")),
    F("defaultBackend", networking_IngressBackend, PTR,
      DOC("Where everything goes that no rule matches.")),
    F("tls", LIST(networking_IngressTLS), 0, DOC("Which certificates for which hosts.")),
    F("rules", LIST(networking_IngressRule), 0, DOC("What goes where.")))

LOCAL_TYPE(networking, IngressPortStatus, PLAIN,
    F("port", INT32, REQ | KEEP),
    F("protocol", core_Protocol, REQ | KEEP),
    F("error", STRING, PTR))

LOCAL_TYPE(networking, IngressLoadBalancerIngress, PLAIN,
    F("ip", STRING, 0),
    F("hostname", STRING, 0),
    F("ports", LIST(networking_IngressPortStatus), 0))

LOCAL_TYPE(networking, IngressLoadBalancerStatus, PLAIN,
    F("ingress", LIST(networking_IngressLoadBalancerIngress), 0))

LOCAL_TYPE(networking, IngressStatus, PLAIN,
    F("loadBalancer", networking_IngressLoadBalancerStatus, KEEP))

TYPE(networking, Ingress,
    DOC("Routes HTTP from outside to services, by host and path."),
    OBJECT_HEAD,
    F("spec", networking_IngressSpec, KEEP, DOC("The desired state.")),
    F("status", networking_IngressStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(networking, IngressClassParametersReference, PLAIN,
    F("apiGroup", STRING, PTR),
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("scope", STRING, KEEP | PTR),
    F("namespace", STRING, PTR))

LOCAL_TYPE(networking, IngressClassSpec, PLAIN,
    F("controller", STRING, 0),
    F("parameters", networking_IngressClassParametersReference, PTR))

TYPE(networking, IngressClass,
    DOC("A sort of ingress, and the controller that looks after it."),
    OBJECT_HEAD,
    F("spec", networking_IngressClassSpec, KEEP, DOC("The desired state.")))

LOCAL_TYPE(networking, NetworkPolicyPort, PLAIN,
    F("protocol", core_Protocol, PTR),
    F("port", INT_OR_STRING, PTR),
    F("endPort", INT32, PTR))

LOCAL_TYPE(networking, IPBlock, PLAIN,
    F("cidr", STRING, REQ | KEEP),
    F("except", LIST(STRING), 0))

LOCAL_TYPE(networking, NetworkPolicyPeer, PLAIN,
    F("podSelector", meta_LabelSelector, PTR),
    F("namespaceSelector", meta_LabelSelector, PTR),
    F("ipBlock", networking_IPBlock, PTR))

LOCAL_TYPE(networking, NetworkPolicyIngressRule, PLAIN,
    F("ports", LIST(networking_NetworkPolicyPort), 0),
    F("from", LIST(networking_NetworkPolicyPeer), 0))

LOCAL_TYPE(networking, NetworkPolicyEgressRule, PLAIN,
    F("ports", LIST(networking_NetworkPolicyPort), 0),
    F("to", LIST(networking_NetworkPolicyPeer), 0))

LOCAL_ENUM(networking, PolicyType, "Egress", "Ingress")

LOCAL_TYPE(networking, NetworkPolicySpec, PLAIN,
    F("podSelector", meta_LabelSelector, KEEP),
    F("ingress", LIST(networking_NetworkPolicyIngressRule), 0),
    F("egress", LIST(networking_NetworkPolicyEgressRule), 0),
    F("policyTypes", LIST(networking_PolicyType), 0))

TYPE(networking, NetworkPolicy,
    DOC("Which peers the selected pods may exchange traffic with."),
    OBJECT_HEAD,
    F("spec", networking_NetworkPolicySpec, KEEP, DOC("The desired state.")))

LOCAL_TYPE(networking, ParentReference, PLAIN,
    F("group", STRING, 0),
    F("resource", STRING, REQ),
    F("namespace", STRING, 0),
    F("name", STRING, REQ))

LOCAL_TYPE(networking, IPAddressSpec, PLAIN,
    F("parentRef", networking_ParentReference, REQ | PTR))

TYPE(networking, IPAddress,
    DOC("An address that is taken, and the object that has taken it."),
    OBJECT_HEAD,
    F("spec", networking_IPAddressSpec, KEEP, DOC("The desired state.")))

LOCAL_TYPE(networking, ServiceCIDRSpec, PLAIN,
    F("cidrs", LIST(STRING), 0))

LOCAL_TYPE(networking, ServiceCIDRStatus, PLAIN,
    F("conditions", LIST(meta_Condition, BY("type"), MERGE("type")), 0))

TYPE(networking, ServiceCIDR,
    DOC("A range that services take their addresses from."),
    OBJECT_HEAD,
    F("spec", networking_ServiceCIDRSpec, KEEP, DOC("The desired state.")),
    F("status", networking_ServiceCIDRStatus, KEEP, DOC("The observed state. Written by the system.")))
