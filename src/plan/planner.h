/* A kind of job, as the controller machinery knows it: a resource and a pure function. */
#pragma once

#include "plan/plan.h"

/* A resource besides pods and services that jobs own. */
struct planner_owned {
    const struct kube_resource *res;
    const char *verbs; /* of plans, in one string: "create patch delete" */
};

/* A resource that jobs of all kinds own or read, in the way the operator is set up. Objects of it
 * need no label: what has a job's name is seen, whosever it is. */
struct planner_needed {
    const struct kube_resource *res;
    const char *verbs;   /* as above; NULL: it is only read, and may be missing */
    const char *install; /* what a cluster without it lacks, for people */
};

/* What a plan's Roles let others do, so that whoever carries it out must be allowed it, too. */
struct planner_grant {
    const struct kube_resource *res;
    const char *sub;
    const char *verbs; /* as above */
};

struct planner {
    const struct kube_resource *res;    /* of the job */
    const char *controller;             /* label operator-name, and component of its events */
    const char *framework;              /* label of the metrics */
    const char *main_container;         /* NULL: the first */
    const struct planner_owned *owned;  /* ends with an empty one; NULL: none */
    const struct planner_grant *grants; /* likewise */
    /* Pure. -1 only for what a later try may mend; an invalid job gets a plan that says so. */
    int (*plan)(const struct observed *seen, struct plan *p, struct err *e);
    /* A finished job with only what planning it still reads: about 1 KB. Shares. */
    jv (*slim)(struct arena *a, jv job);
};

/* Labels on everything a job owns. */
#define LABEL_OPERATOR "training.kubeflow.org/operator-name"
#define LABEL_JOB      "training.kubeflow.org/job-name"
#define LABEL_ROLE     "training.kubeflow.org/replica-type"
#define LABEL_INDEX    "training.kubeflow.org/replica-index"
#define LABEL_JOB_ROLE "training.kubeflow.org/job-role"
/* On pods: how often the whole job had been restarted when they were made; absent: never. */
#define LABEL_ATTEMPT "muster.dev/restart-attempt"

/* Annotations on a job or on its pods: told after that time without progress (node/stall.h), and
 * what is done then: "fail" or "restart". */
#define POD_STALL_AFTER "muster.dev/stall-after"
#define POD_ON_STALL    "muster.dev/on-stall"
/* The condition of a pod that makes no progress. */
#define POD_STALLED "muster.dev/Stalled"
/* The condition of a node whose GPUs are in use by other runs or servers; its message says which.
 */
#define NODE_GPUS_ELSEWHERE "muster.dev/GPUsElsewhere"
#define OF_ANOTHER_RUN      " of another run or server on this machine" /* its message ends so */

/* Whether pods that name this scheduler (spec.schedulerName) are scheduled by `muster up`. */
bool scheduler_is_ours(str name);

extern const struct kube_resource kube_pods, kube_services, kube_events, kube_leases,
    kube_priority_classes;
