/* Jobs whose replicas make no progress; node/stall.h says which pods do not. */
#pragma once

#include "job/job.h"

enum on_stall { ON_STALL_TELL, ON_STALL_FAIL, ON_STALL_RESTART };

bool job_is_stalled(const struct job *j); /* by the classes of its pods */
/* What the job's annotation muster.dev/on-stall, or that of a template, asks for. */
enum on_stall job_on_stall(const struct job *j);
/* Of each replica since when, and where it waits. */
str job_stall_text(const struct job *j);
void job_tell_stall(const struct job *j, struct plan *p); /* an event, once for each stall */
void job_restart_stalled(struct job *j);                  /* marks the pods */
/* A pod's annotations with the job's own muster.dev/stall-after, unless they have one. */
jv job_stall_annotation(struct arena *a, const struct job *j, jv annotations);
/* "ps", "worker": in names and labels. */
bool job_role_is_idle(const struct job_kind *kind, str label);
