/* The restart budget: backoffLimit, and what has been spent of it. */
#pragma once

#include "job/job.h"

#define BUDGET_ANNOTATION "muster.dev/restarts"

struct budget {
    bool limited;
    int64_t limit;
    int64_t recreated; /* pods deleted for restart since startTime, as the annotation says */
    jv last;           /* uids of the latest of them */
    int64_t due; /* failed pods to be restarted that are not counted yet; 1 if they restart the
                  * whole job */
};

/* After job_classify. */
struct budget budget_read(const struct job *j);
bool budget_is_spent(const struct job *j, const struct budget *b);     /* already */
bool budget_is_overdrawn(const struct job *j, const struct budget *b); /* with what is due */
/* When a job without startTime began: now, or earlier if restarts were counted before the first
 * status could be written, as they must go on counting. */
str budget_since(const struct job *j);
/* The annotation, with n more counted, and the uids that `last` holds. */
jv budget_text(const struct job *j, const struct budget *b, int64_t n, jv last);
/* Plans to write annotations of the job before anything else is done. */
struct plan_step *job_annotate(const struct job *j, struct plan *p, jv annotations);
/* Plans, before any of these pods is deleted, that each counts from now on, exactly once. The tally
 * names them all, so where there is a limit only so many are restarted in one pass: the others
 * become CLASS_WAITING. */
void budget_tally(struct job *j, const struct budget *b, struct plan *p);
