/* ResourceQuotas: held to at admission, and their status kept true. */
#pragma once

#include "api/request.h"
#include "builtin/quota_check.h"

struct quotas *quotas_new(struct api *api);
void quotas_free(struct quotas *q);
void quotas_load(struct quotas *q);
void quotas_on_event(struct quotas *q, struct store_coll *c, const struct store_event *ev);

/* What a write under way is going to use, so that others cannot use it as well. All zero: none. */
struct quota_hold {
    struct quota_hold *prev, *next;
    str ns;
    const str *quotas; /* n names ... */
    const struct amounts *delta;
    size_t n;
};

/* Whether the quotas of r->ns allow it; old absent: obj is new. 0, or -1 and answered. What it
 * needs stays held (not by dry runs) until it is released, which the store's event must precede. */
int quotas_admit(struct api_req *r, jv obj, jv old, struct quota_hold *h);
void quota_hold_release(struct quota_hold *h);
