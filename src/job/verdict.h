/* Where a job stands, decided once a pass from its pods: docs/job-states.md. */
#pragma once

#include "job/kind.h"
#include "job/restart.h"

enum verdict_kind {
    VERDICT_SAME, /* conditions stay as they are */
    VERDICT_RUNNING,
    VERDICT_RESTARTING,
    VERDICT_SUCCEEDED,
    VERDICT_FAILED,
};

struct verdict {
    enum verdict_kind kind;
    bool by_limit; /* FAILED: the restart budget or the deadline */
    bool by_exit;  /* FAILED: a permanent exit code */
    bool by_stall; /* FAILED: it made no progress, and its annotation says so; by_limit, too */
    bool begins; /* RESTARTING: the whole job, for this cause; false: failed pods alone, or no more
                  * than shown */
    enum restart_cause cause;
    str message;
    const struct job_role *role; /* RESTARTING, FAILED by a pod: the first type that has one */
};

struct verdict job_judge(const struct job *j, const struct budget *b);
bool job_is_running(const struct job *j); /* some pod of a type that decides runs */
/* Whether the message of a Failed condition is one of those that by_limit gives. */
bool verdict_was_by_limit(const struct job *j, str message);
bool verdict_was_by_exit(const struct job *j, str message); /* likewise */
/* When the deadline passes; -1: there is none. */
int64_t job_deadline_ms(const struct job *j);
/* A text of the kind's, or the common one. */
str job_text(const struct job *j, enum job_text which, const struct job_role *r);
