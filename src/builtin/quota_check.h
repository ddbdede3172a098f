/* Whether a write keeps to the quotas of its namespace. Pure. */
#pragma once

#include "builtin/quota_usage.h"

/* A quota as it stands. */
struct quota_now {
    str name;
    jv spec;
    struct amounts hard; /* spec.hard */
    struct amounts used; /* each name of hard that is known; writes under way count */
};

struct quota_write {
    str resource;
    jv obj;
    jv old; /* absent: it is new */
};

/* STR_NONE, or what is wrong. delta[i]: what quota i is to be charged with. */
str quota_check(struct arena *a, const struct quota_now *quotas, size_t n,
                const struct quota_write *w, struct amounts *delta);
