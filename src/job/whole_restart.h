/* Restarting a job whole: all of its pods are deleted together, and made again once the last of
 * them is gone. A job asks for it with the annotation muster.dev/restart-scope: job, for failures
 * that its policies restart; other causes use the same mechanism.
 *
 * Each whole restart is an attempt. Its number is written to the job before any pod is deleted, and
 * stands on the pods made for it: pods of an earlier attempt are to go. So an operator that dies
 * anywhere in between goes on where it was, and no restart counts twice. */
#pragma once

#include "job/verdict.h"

/* Whether a failure restarts the whole job. */
bool whole_restart_is_wanted(const struct job *j);
/* Why the annotation has no effect; empty: it has, or it is not there. */
str whole_restart_advise(const struct job *j);
void whole_restart_tell(const struct job *j, struct plan *p); /* that advice, as an event */

/* Fills j->attempt; before job_classify. */
void whole_restart_read(struct job *j);
/* Counts the pods of earlier attempts and, if failures restart the whole job, takes those that only
 * followed another failure for what they are; after job_classify. */
void whole_restart_classify(struct job *j);
/* Of failed pods to be restarted: the condition's message, which names the first. */
str whole_restart_text(const struct job *j);
/* The last restart is not over: pods are still to go or to be made, or are not yet seen to run. */
bool whole_restart_is_under_way(const struct job *j);

/* Begins an attempt for v's cause and message: written to the job, shown, and all pods become
 * CLASS_OUTDATED. A failure counts against the limit if b says that one is due, other causes do
 * not. After the status was counted, before pods are deleted or made. */
void whole_restart_begin(struct job *j, struct plan *p, const struct verdict *v,
                         const struct budget *b);
/* Sets the condition, as whole_restart_begin does: an operator may have died before it wrote it. */
void whole_restart_show(struct job *j);
/* Whether pods may be made: all of earlier attempts are gone, and the back-off is over (else the
 * plan wakes then). */
bool whole_restart_may_create(const struct job *j, struct plan *p);
/* The label of a pod of this attempt; absent: it is the first. */
jv whole_restart_label(struct arena *a, const struct job *j);
