/* The scheduler inside `muster up` and `muster run`, and what gives claims their volumes. */
#pragma once

#include "api/api.h"
#include "loop/loop.h"

struct up_binder_opts {
    const char *volumes; /* absolute: the directory for volumes; NULL: others make volumes */
    bool named;          /* they are called as their claims */
    bool strict_classes;
    int64_t starvation_s; /* how long the first that does not fit is passed over; 0: five minutes */
    bool whole_jobs;      /* they start together without a PodGroup */
    bool kube_groups;     /* PodGroups of Kubernetes are served */
    const char *scheduler; /* one more name that it answers to; NULL: none */
    bool preempts;         /* pods are evicted for more important ones */
    bool no_scheduler;     /* others give pods their nodes */
};

struct up_binder;

/* When the API is ready. */
void up_binder_start(struct up_binder **out, struct loop *l, struct api *api,
                     const struct up_binder_opts *o);
void up_binder_free(struct up_binder *u); /* nothing new begins; NULL is fine */
