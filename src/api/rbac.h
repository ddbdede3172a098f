/* Roles and their bindings, as stored: who may do what beyond the fixed rules of access.c. */
#pragma once

#include "api/access.h"

/* Looks through all bindings that can matter; for those who are no administrators. */
bool rbac_allows(struct api *api, const struct api_user *who, const struct access *what);
/* One rule of a role. Pure. */
bool rbac_rule_allows(jv rule, const struct access *what);
/* Whether a subject of a binding is this user; ns: of the binding. Pure. */
bool rbac_is_subject(jv subject, str ns, const struct api_user *who);
