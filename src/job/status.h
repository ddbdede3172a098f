/* The status of a job as it will be, and the one patch that makes it so. */
#pragma once

#include "job/job.h"

void status_set_time(struct job *j, str member, str time); /* RFC 3339 */
void status_start(struct job *j);                          /* startTime, unless it is there */
/* replicaStatuses of the types in spec, from their counters; others stay. */
void status_count(struct job *j);
void status_uncount(struct job *j);          /* back to what they were */
void status_none_active(struct job *j);      /* of any type */
void status_active_succeeded(struct job *j); /* what is still active counts as succeeded */

/* Plans to write what changed, with the notes gathered in j; NULL: nothing did. */
struct plan_step *status_write(struct job *j, struct plan *p, unsigned stage);
/* The same, but counters alone are written at most once a second. */
struct plan_step *status_refresh(struct job *j, struct plan *p, unsigned stage);
/* The merge patch that turns old into new; absent: they are the same. */
jv status_diff(struct arena *a, jv old, jv new);
