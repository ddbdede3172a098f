/* Resource lists: which names may stand where, and which amounts. */
#pragma once

#include "base/quantity.h"
#include "builtin/check.h"

bool resource_is_native(str name);
bool resource_is_hugepage(str name);
bool resource_is_extended(str name);
bool resource_can_overcommit(str name);

/* 0 when it is no quantity: decoding has refused those before. */
struct quantity quantity_of_jv(jv v);

void resource_name_check(struct problems *ps, const struct path *p, str name);
void resource_container_name_check(struct problems *ps, const struct path *p, str name);
void resource_quota_name_check(struct problems *ps, const struct path *p, str name);
void resource_amount_check(struct problems *ps, const struct path *p, str name, jv amount);
void quantity_nonnegative_check(struct problems *ps, const struct path *p, jv amount);
void quantity_positive_check(struct problems *ps, const struct path *p, jv amount);

/* requests and limits of a container (pod_level: of a pod). claims: spec.resourceClaims. */
void requirements_check(struct problems *ps, const struct path *p, jv requirements, jv claims,
                        bool pod_level);
