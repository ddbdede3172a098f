/* Roles and their bindings, as stored: who may do what beyond the fixed rules of access.c. */
#pragma once

#include "api/auth/access.h"

struct rbac *rbac_new(struct api *api);
void rbac_free(struct rbac *b);
void rbac_on_event(struct rbac *b, const struct store_coll *c);

/* Looks through all bindings that can matter; for those who are no administrators. */
bool rbac_allows(struct api *api, const struct api_user *who, const struct access *what);
/* The rules that a user has by bindings of the cluster and, if ns is not empty, of a namespace;
 * true as soon as visit says so. The rule is there during the call only. */
typedef bool rbac_visit(void *ctx, jv rule);
bool rbac_any_rule(struct api *api, const struct api_user *who, str ns, rbac_visit *visit,
                   void *ctx);
/* One rule of a role. Pure. */
bool rbac_rule_allows(jv rule, const struct access *what);
/* Whether a subject of a binding is this user; ns: of the binding. Pure. */
bool rbac_is_subject(jv subject, str ns, const struct api_user *who);
