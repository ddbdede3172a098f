/* What came of jobs that were run, for people and for programs. Pure. */
#pragma once

#include "cli/run_claims.h"
#include "cli/runstate.h"

struct summary_opts {
    int64_t ms; /* from submitting to the end */
    int code;   /* of the exit to come */
    bool color;
    /* The directory with a job's logs, and the last lines that a replica wrote ("a\nb\n"); may be
     * NULL, and so may what they give. */
    str (*logs)(void *ctx, const struct run_job *j);
    str (*tail)(void *ctx, const struct run_job *j, str replica);
    void *ctx;
    const struct run_claim *claims; /* that stay */
    size_t n_claims;
    str run; /* its name, where it has one */
};

/* "Succeeded", "Failed", "TimedOut", "Interrupted": by exit code. */
const char *summary_state(int code);
str summary_text(struct arena *a, const struct run_state *s, const struct summary_opts *o);
jv summary_json(struct arena *a, const struct run_state *s, const struct summary_opts *o);
