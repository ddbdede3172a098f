/* What objects use of quotas, and which quotas speak of them. Pure. Resources are named as in
 * errors: "pods", "deployments.apps". */
#pragma once

#include "builtin/amounts.h"

/* Everything an object uses, by the names quotas have for it. Pods that are over use nothing but
 * their place in count/pods. */
struct amounts quota_usage(struct arena *a, str resource, jv obj);

/* Objects of this resource use what a quota calls by this name. */
bool quota_counts(struct arena *a, str resource, str name);
/* Nothing but how many there are counts, so that the object itself need not be looked at. */
bool quota_counts_only(str resource);

/* The scopes of the quota (a ResourceQuota's spec) take the object in. */
bool quota_covers(struct arena *a, jv spec, str resource, jv obj);

/* What quotas add up of requests and limits: "cpu", "requests.cpu", "limits.cpu", "pods" ... */
void quota_add_compute(struct amounts *to, const struct amounts *requests,
                       const struct amounts *limits);
