/* A list that is kept up with: first what is there, then what changes, until it is stopped. Ends of
 * watches and short failures are got over. */
#pragma once

#include "cli/session.h"

struct track_opts {
    const struct kube_resource *res;
    str ns;
    str name; /* of the one object; empty: all */
    str labels;
    str fields;
    const char *accept; /* Tables are told whole */
    /* obj: as in kube_watcher; borrowed. What the list has is ADDED; bookmarks are not told. When
     * all is listed again, what is there still is MODIFIED, what is not is DELETED as it was seen
     * last. */
    void (*on_event)(void *ctx, enum kube_event type, jv obj);
    void (*on_listed)(void *ctx); /* after the first list; may be NULL */
    void *ctx;
};

struct track;

/* o's texts must live as long. */
struct track *track_start(struct session *s, const struct track_opts *o);
void track_stop(struct track *f);
/* NULL: it goes on. Else it gave up: what the server, or the network, said last. */
const struct ask *track_failed(const struct track *f);
