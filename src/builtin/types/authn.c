/* authentication.k8s.io/v1: who is asking? */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.authentication.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(authn, UserInfo, PLAIN,
    F("username", STRING, 0),
    F("uid", STRING, 0),
    F("groups", LIST(STRING), 0),
    F("extra", MAP(LIST(STRING, GO("v1.ExtraValue"))), 0))

LOCAL_TYPE(authn, SelfSubjectReviewStatus, PLAIN,
    F("userInfo", authn_UserInfo, KEEP))

TYPE(authn, SelfSubjectReview,
    DOC("Asks who the server takes you for."),
    OBJECT_HEAD,
    F("status", authn_SelfSubjectReviewStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(authn, TokenReviewSpec, PLAIN,
    F("token", STRING, 0),
    F("audiences", LIST(STRING), 0))

LOCAL_TYPE(authn, TokenReviewStatus, PLAIN,
    F("authenticated", BOOL, 0),
    F("user", authn_UserInfo, KEEP),
    F("audiences", LIST(STRING), 0),
    F("error", STRING, 0))

TYPE(authn, TokenReview,
    DOC("Asks whether a token is good, and whose it is."),
    OBJECT_HEAD,
    F("spec", authn_TokenReviewSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authn_TokenReviewStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(authn, BoundObjectReference, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("name", STRING, 0),
    F("uid", meta_UID, 0))

LOCAL_TYPE(authn, TokenRequestSpec, PLAIN,
    F("audiences", LIST(STRING), REQ | KEEP),
    F("expirationSeconds", INT64, KEEP | PTR),
    F("boundObjectRef", authn_BoundObjectReference, KEEP | PTR))

LOCAL_TYPE(authn, TokenRequestStatus, PLAIN,
    F("token", STRING, REQ | KEEP),
    F("expirationTimestamp", TIME, REQ | KEEP))

TYPE(authn, TokenRequest,
    DOC("Asks for a token of a service account."),
    OBJECT_HEAD,
    F("spec", authn_TokenRequestSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", authn_TokenRequestStatus, KEEP, DOC("The observed state. Written by the system.")))
