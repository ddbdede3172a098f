/* Rules that need to look at other objects, or at who asks. */
#pragma once

#include "api/control/admit_quota.h"

/* Each 0, or -1 and answered. */

/* The object with each owner reference once, and a warning if some came twice. */
jv admit_owners(struct api_req *r, struct arena *a, jv obj);
/* Before a new object is checked: what its surroundings fill in. */
int admit_create(struct api_req *r, jv *obj);
/* Once an object is known to be valid: whether the limits and quotas of its namespace allow it.
 * live absent: it is new. h holds what it uses of quotas while it is written. */
int admit_limits(struct api_req *r, jv obj, jv live, struct quota_hold *h);
/* Of a new pod; part of admit_create. */
int admit_account(struct api_req *r, jv *pod);
/* A new namespace has its account. */
void accounts_on_event(struct api *api, const struct store_coll *c, const struct store_event *ev);
/* Of roles and bindings: whether the user may hand that on. live absent: it is new. */
int admit_grant(struct api_req *r, jv obj, jv live);
int admit_delete(struct api_req *r, jv obj);
/* Once an object is known to be valid: tells what is deprecated or odd about it. */
void admit_warn(struct api_req *r, jv obj, jv live);
