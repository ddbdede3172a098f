/* Events, in the order they happened. */
#pragma once

#include "cli/jobs.h"

struct event_seen {
    int64_t at_ms; /* last seen */
    jv obj;
};
struct events {
    struct event_seen *at;
    size_t n;
};

/* Of a job and what it made, what is gone too; pods: its own; job NULL: all. ns empty: of all
 * namespaces. -1, or an exit code. */
int events_list(struct session *s, str ns, const struct job_found *job, const struct job_pods *pods,
                struct events *out);
str event_object(struct arena *a, jv event); /* "pod/mnist-worker-0" */
str event_text(struct arena *a, jv event);   /* its message, with a count where it came often */
