/* What job.c and cronjob.c share. */
#pragma once

#include "builtin/workload.h"

jv job_spec_defaults(struct arena *a, jv spec);
/* Everything but the selector, which templates of CronJobs do not have. */
void job_spec_check(struct problems *ps, const struct path *p, jv spec);
/* "0-3,7": 0, and the number of indexes in *total; -1: what is wrong in *why. */
int indexes_parse(struct arena *a, str text, int64_t completions, int64_t *total, str *why);
