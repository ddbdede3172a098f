/* rbac.authorization.k8s.io/v1: roles and their bindings. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.rbac.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(rbac, PolicyRule, PLAIN,
    F("verbs", LIST(STRING), REQ | KEEP),
    F("apiGroups", LIST(STRING), 0),
    F("resources", LIST(STRING), 0),
    F("resourceNames", LIST(STRING), 0),
    F("nonResourceURLs", LIST(STRING), 0))

LOCAL_TYPE(rbac, AggregationRule, PLAIN,
    F("clusterRoleSelectors", LIST(meta_LabelSelector), 0))

TYPE(rbac, ClusterRole, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
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

TYPE(rbac, ClusterRoleBinding, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("subjects", LIST(rbac_Subject), 0),
    F("roleRef", rbac_RoleRef, REQ | KEEP))

TYPE(rbac, Role, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("rules", LIST(rbac_PolicyRule), KEEP))

TYPE(rbac, RoleBinding, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("subjects", LIST(rbac_Subject), 0),
    F("roleRef", rbac_RoleRef, REQ | KEEP))
