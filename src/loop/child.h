/* A program run to its end beside the loop: what it prints on its standard output is gathered. It
 * has no standard input, and our standard error. */
#pragma once

#include "loop/loop.h"

struct loop_child_end {
    int status; /* as wait(2) gives it */
    bool timed_out;
    bool too_large;
    str out; /* borrowed until done returns */
};

struct loop_child_opts {
    const char *const *argv; /* ends with NULL; without '/' looked for in $PATH */
    const char *const *env;  /* "name=value", added to ours; ends with NULL */
    size_t most_bytes;       /* of output; more: it is killed */
    int64_t timeout_ms;      /* after which it is killed, with what it started */
    void (*done)(void *ctx, const struct loop_child_end *end); /* once, never from within start */
    void *ctx;
};

struct loop_child;
int loop_child_start(struct loop_child **out, struct loop *l, const struct loop_child_opts *o,
                     struct err *e);
/* Before done only: kills it, and done is not called. NULL is fine. */
void loop_child_stop(struct loop_child *ch);
