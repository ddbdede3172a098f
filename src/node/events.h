/* Events of the node on pods and on itself: the same again within a while is counted, not written
 * anew; losing one never fails anything. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct tell;

struct tell_what {
    jv obj; /* a Pod or a Node */
    const struct kube_resource *res;
    str container; /* empty: none */
    bool warning;
    const char *reason;
    str message;
};

/* host: name of the node. */
struct tell *tell_new(struct loop *l, struct kube_api *api, int64_t (*wall_ms)(void), str host);
void tell_free(struct tell *t);
void tell_event(struct tell *t, const struct tell_what *w);
