/* A list that is kept up with: first what is there, then what changes, until it is stopped. Ends of
 * watches and short failures are got over. */
#pragma once

#include "cli/session.h"

struct follow_opts {
    const struct kube_resource *res;
    str ns;
    str name; /* of the one object; empty: all */
    str labels;
    str fields;
    const char *accept; /* Tables are told whole */
    /* obj: as in kube_watcher; borrowed. What the list has is ADDED; bookmarks are not told. */
    void (*on_event)(void *ctx, enum kube_event type, jv obj);
    void (*on_listed)(void *ctx); /* after the first list; may be NULL */
    void *ctx;
};

struct follow;

/* o's texts must live as long. */
struct follow *follow_start(struct session *s, const struct follow_opts *o);
void follow_stop(struct follow *f);
/* NULL: it goes on. Else it gave up: what the server, or the network, said last. */
const struct ask *follow_failed(const struct follow *f);
