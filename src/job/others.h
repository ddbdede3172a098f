/* What a job owns besides pods and services, by name. */
#pragma once

#include "job/job.h"

/* As it was seen; absent: it is not there. */
jv job_other_find(const struct job *j, const struct kube_resource *res, str name);
bool job_owns(const struct job *j, jv obj);
/* Its metadata: labels by which we see it, and the job as its owner. app: label of that name,
 * NULL: none. */
jv job_other_meta(struct arena *a, const struct job *j, str name, const str *app);
struct plan_step *job_other_step(const struct job *j, struct plan *p, enum plan_kind kind,
                                 unsigned stage, const struct kube_resource *res, str name);
