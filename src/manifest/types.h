/* The types that all job kinds share. */
#pragma once

#include "kube/schema.h"

extern const struct schema job_RunPolicy, job_ReplicaSpec, job_JobStatus, job_TemplateMeta;
