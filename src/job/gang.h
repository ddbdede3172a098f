/* Gang scheduling on a cluster: a PodGroup tells a scheduler which pods start together or not at
 * all. Four ways of it, by --gang-scheduler-name: Volcano's, that of scheduler-plugins, Kubernetes'
 * own, and none. The rest of the planner knows no more of them than this. */
#pragma once

#include "job/gang_of.h"
#include "job/job.h"
#include "plan/planner.h"

/* "volcano", "kube", "none" or empty (off), in any case; else the name of a scheduler. A broken
 * gang is then restarted after two minutes, without a limit. */
void gang_settings(struct plan_settings *out, str scheduler_name);
/* What the operator must be able to read and write, to be ended by an empty row; NULL: nothing. */
const struct planner_needed *gang_needed(enum gang_mode mode);

/* Brings the job's PodGroup about, and says in j->is_held whether pods have to wait for it. */
void gang_sync(struct job *j, struct plan *p);
/* The job is over or suspended: its groups go. */
void gang_drop(const struct job *j, struct plan *p);
/* Whether the job has run too long with fewer members than must run together, as when another job
 * took the place of one that failed: fills j->is_gang_broken. After job_classify. */
void gang_watch(struct job *j, struct plan *p);
str gang_broken_text(const struct job *j); /* why the whole job is restarted then */
str gang_limit_text(const struct job *j);  /* or has failed, as that happened too often */
bool gang_is_spent(const struct job *j);   /* it did */
/* A pod of the job with what its scheduler knows its group by. */
jv gang_add_to_pod(struct arena *a, const struct job *j, const struct job_role *r, jv pod);
/* A template's own scheduler is kept, which is told with the making of the pod. */
void gang_tell_scheduler(const struct job *j, struct plan *p, struct plan_step *s);

/* gang_wait.c: why a job has no pods yet, as its condition Created says; empty: it does not wait.
 */
str gang_held_text(jv job);

/* gang_of.c: how much of the job must start together. */
struct gang_size gang_size_of(const struct job *j);
