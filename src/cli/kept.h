/* Logs of jobs that are gone: what the node wrote below DATA/logs stays, and so do the logs of
 * runs below DATA/runs. */
#pragma once

#include "base/arena.h"

struct kept_opts {
    const char *data; /* as given; NULL: the usual directory */
    str ns;
    str job; /* or pod: its name */
    /* Which replicas, by name ("worker-0", "launcher"); NULL: all. */
    bool (*is_wanted)(void *ctx, str replica);
    str container; /* empty: the main one */
    int64_t tail;  /* lines of each run; -1: all */
    int64_t since_us;
    bool timestamps;
    bool previous; /* the runs before the last ones, instead of all */
    /* In the order of time over all replicas. False: that is enough. */
    bool (*on_line)(void *ctx, str replica, str line);
    void *ctx;
};

/* Reads the job's latest logs. False: there are none. names: told first of each replica. */
bool kept_read(const struct kept_opts *o, void (*on_replica)(void *ctx, str replica));
