/* rbac.authorization.k8s.io/v1: roles and their bindings. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.rbac.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(rbac, PolicyRule, PLAIN,
    F("verbs", LIST(STRING), REQ | KEEP, DOC("What may be done; * is everything.")),
    F("apiGroups", LIST(STRING), 0, DOC("Groups of the resources; \"\" is core.")),
    F("resources", LIST(STRING), 0, DOC("Resources, in the plural; * is all.")),
    F("resourceNames", LIST(STRING), 0, DOC("Only objects of these names.")),
    F("nonResourceURLs", LIST(STRING), 0, DOC("Paths that are no resources.")))

LOCAL_TYPE(rbac, AggregationRule, PLAIN,
    F("clusterRoleSelectors", LIST(meta_LabelSelector), 0))

TYPE(rbac, ClusterRole,
    DOC("Permissions, in all namespaces or outside of them."),
    OBJECT_HEAD,
    F("rules", LIST(rbac_PolicyRule), KEEP),
    F("aggregationRule", rbac_AggregationRule, PTR))

LOCAL_TYPE(rbac, Subject, ATOMIC,
    F("kind", STRING, REQ | KEEP),
    F("apiGroup", STRING, 0),
    F("name", STRING, REQ | KEEP),
    F("namespace", STRING, 0))

LOCAL_TYPE(rbac, RoleRef, ATOMIC,
    F("apiGroup", STRING, REQ | KEEP),
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP))

TYPE(rbac, ClusterRoleBinding,
    DOC("Grants the permissions of a cluster role in all namespaces."),
    OBJECT_HEAD,
    F("subjects", LIST(rbac_Subject), 0),
    F("roleRef", rbac_RoleRef, REQ | KEEP))

TYPE(rbac, Role,
    DOC("Permissions within a namespace."),
    OBJECT_HEAD,
    F("rules", LIST(rbac_PolicyRule), KEEP))

TYPE(rbac, RoleBinding,
    DOC("Grants the permissions of a role within its namespace."),
    OBJECT_HEAD,
    F("subjects", LIST(rbac_Subject), 0),
    F("roleRef", rbac_RoleRef, REQ | KEEP))
