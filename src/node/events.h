/* Events that the node writes about pods and about itself. A repeated event is counted, not written
 * again. An event that cannot be written is dropped: nothing depends on it. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct node_events;

struct node_event {
    jv obj; /* a Pod or a Node */
    const struct kube_resource *res;
    str container; /* empty: none */
    bool warning;
    const char *reason;
    str message;
};

/* host: name of the node. */
struct node_events *node_events_new(struct loop *l, struct kube_api *api, int64_t (*wall_ms)(void),
                                    str host);
void node_events_free(struct node_events *t);
void node_events_send(struct node_events *t, const struct node_event *w);
