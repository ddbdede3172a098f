/* Logs of containers, by pods/log. */
#pragma once

#include "cli/jobs.h"

struct podlog_opts {
    str ns;
    str pod;
    str container; /* empty: the server chooses */
    bool follow;
    bool previous;
    bool timestamps;
    int64_t tail;     /* lines; -1: all */
    int64_t since_ms; /* 0: all */
};
str podlog_path(struct arena *a, const struct podlog_opts *o);
/* All of it at once, for a few lines; *why: the server's words when there is none. -1, or an exit
 * code. */
int podlog_read(struct session *s, const struct podlog_opts *o, str *out, str *why);
