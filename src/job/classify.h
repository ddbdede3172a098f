/* What each pod is to its job. */
#pragma once

#include "job/job.h"

/* Fills j->classes, the counters of the roles, and what else follows from the pods alone. */
void job_classify(struct job *j);
bool job_owns_pod(const struct job *j, const struct seen_pod *pod);
bool job_owns_service(const struct job *j, const struct seen_service *svc);
/* Index of the pod within its type; -1: it has none. */
int64_t job_pod_index(const struct job_role *r, const struct seen_pod *pod);
