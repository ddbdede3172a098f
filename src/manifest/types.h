/* The types that all job kinds share, and those of PodGroups and Queues. */
#pragma once

#include "kube/schema.h"

extern const struct schema job_RunPolicy, job_ReplicaSpec, job_JobStatus, job_TemplateMeta;

extern const struct schema group_VolcanoSpec, group_VolcanoStatus, group_QueueSpec,
    group_QueueStatus, group_PluginsSpec, group_PluginsStatus, group_KubeSpec, group_KubeStatus;
