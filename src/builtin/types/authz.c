/* authorization.k8s.io/v1: may somebody do something? */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.authorization.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(authz, FieldSelectorAttributes, PLAIN,
    F("rawSelector", STRING, 0),
    F("requirements", LIST(meta_FieldSelectorRequirement), 0))

LOCAL_TYPE(authz, LabelSelectorAttributes, PLAIN,
    F("rawSelector", STRING, 0),
    F("requirements", LIST(meta_LabelSelectorRequirement), 0))

LOCAL_TYPE(authz, ResourceAttributes, PLAIN,
    F("namespace", STRING, 0),
    F("verb", STRING, 0),
    F("group", STRING, 0),
    F("version", STRING, 0),
    F("resource", STRING, 0),
    F("subresource", STRING, 0),
    F("name", STRING, 0),
    F("fieldSelector", authz_FieldSelectorAttributes, PTR),
    F("labelSelector", authz_LabelSelectorAttributes, PTR))

LOCAL_TYPE(authz, NonResourceAttributes, PLAIN,
    F("path", STRING, 0),
    F("verb", STRING, 0))

LOCAL_TYPE(authz, SubjectAccessReviewSpec, PLAIN,
    F("resourceAttributes", authz_ResourceAttributes, PTR),
    F("nonResourceAttributes", authz_NonResourceAttributes, PTR),
    F("user", STRING, 0),
    F("groups", LIST(STRING), 0),
    F("extra", MAP(LIST(STRING, GO("v1.ExtraValue"))), 0),
    F("uid", STRING, 0))

LOCAL_TYPE(authz, SubjectAccessReviewStatus, PLAIN,
    F("allowed", BOOL, REQ | KEEP),
    F("denied", BOOL, 0),
    F("reason", STRING, 0),
    F("evaluationError", STRING, 0))

TYPE(authz, LocalSubjectAccessReview,
    DOC("Checks whether a user may perform an action in one namespace."),
    OBJECT_HEAD,
    F("spec", authz_SubjectAccessReviewSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authz_SubjectAccessReviewStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(authz, SelfSubjectAccessReviewSpec, PLAIN,
    F("resourceAttributes", authz_ResourceAttributes, PTR),
    F("nonResourceAttributes", authz_NonResourceAttributes, PTR))

TYPE(authz, SelfSubjectAccessReview,
    DOC("Asks whether you may do something."),
    OBJECT_HEAD,
    F("spec", authz_SelfSubjectAccessReviewSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authz_SubjectAccessReviewStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(authz, SelfSubjectRulesReviewSpec, PLAIN,
    F("namespace", STRING, 0))

LOCAL_TYPE(authz, ResourceRule, PLAIN,
    F("verbs", LIST(STRING), REQ | KEEP),
    F("apiGroups", LIST(STRING), 0),
    F("resources", LIST(STRING), 0),
    F("resourceNames", LIST(STRING), 0))

LOCAL_TYPE(authz, NonResourceRule, PLAIN,
    F("verbs", LIST(STRING), REQ | KEEP),
    F("nonResourceURLs", LIST(STRING), 0))

LOCAL_TYPE(authz, SubjectRulesReviewStatus, PLAIN,
    F("resourceRules", LIST(authz_ResourceRule), REQ | KEEP),
    F("nonResourceRules", LIST(authz_NonResourceRule), REQ | KEEP),
    F("incomplete", BOOL, REQ | KEEP),
    F("evaluationError", STRING, 0))

TYPE(authz, SelfSubjectRulesReview,
    DOC("Asks what you may do in a namespace."),
    OBJECT_HEAD,
    F("spec", authz_SelfSubjectRulesReviewSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authz_SubjectRulesReviewStatus, KEEP, DOC("The observed state. Written by the system.")))

TYPE(authz, SubjectAccessReview,
    DOC("Checks whether a user may perform an action."),
    OBJECT_HEAD,
    F("spec", authz_SubjectAccessReviewSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authz_SubjectAccessReviewStatus, KEEP, DOC("The observed state. Written by the system.")))
