/* How `muster up` and `muster run` start the pods of jobs together, and the PodGroups and Queues
 * that their scheduler reads, as kinds of their API. */
#pragma once

#include "api/api.h"
#include "plan/observed.h"

enum up_gang_way {
    UP_GANG_WHOLE,  /* jobs start whole; no PodGroup is made */
    UP_GANG_NONE,   /* pod by pod */
    UP_GANG_GROUPS, /* the operator makes a PodGroup for each job, as on a cluster */
    UP_GANG_KUBE,   /* likewise; that of Kubernetes itself, which is served only then */
};

struct up_gang_opts {
    const char *name;     /* of --gang-scheduler-name; NULL or empty: jobs start whole */
    int64_t hold_s;       /* -1: not given */
    int64_t max_restarts; /* so, too, and then without a limit */
};

#define UP_GANG_DEFAULTS \
    {                    \
        NULL, -1, -1     \
    }
#define UP_GANG_NAMES                                                                          \
    "none: pod by pod; volcano, kube (Kubernetes' own) or a scheduler's name: with PodGroups " \
    "(default: jobs start whole)"

/* -1: what is wrong with them. */
int up_gang_check(const struct up_gang_opts *o, struct err *e);
enum up_gang_way up_gang_way(const struct up_gang_opts *o);
void up_gang_settings(struct plan_settings *out, const struct up_gang_opts *o);

/* Served from the start; a is kept until the API is ready. */
void up_groups_describe(struct arena *a, const struct up_gang_opts *gang, struct api_opts *o);
