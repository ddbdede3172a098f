/* What job.c and cronjob.c share. */
#pragma once

#include "builtin/workload.h"

jv job_spec_defaults(struct arena *a, jv spec);
/* Everything but the selector, which templates of CronJobs do not have. */
void job_spec_check(struct problems *ps, const struct path *p, jv spec);
