/* What the operator must be allowed, by kind of job and gang scheduler. The one table of it: the
 * operator asks the cluster for these rights, and the Roles that we ship grant them. */
#pragma once

#include "job/gang.h"

struct right {
    const struct kube_resource *res;
    const char *sub;   /* "": none */
    const char *verbs; /* in one string, with a space between them; "": only watched */
    bool is_watched;   /* list and watch, too */
};

enum { RIGHTS_MAX = 64 };

/* Fills at most RIGHTS_MAX; returns how many. */
size_t rights_of(struct right *out, const struct planner *const *kinds, size_t n,
                 enum gang_mode gang);
