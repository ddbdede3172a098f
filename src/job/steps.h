/* The steps of a pass, each in its file, in the order pass.c takes them. */
#pragma once

#include "job/verdict.h"

/* Stages of a plan. What must be known before anything is undone or made comes first. */
enum {
    STAGE_FIRST = 0,  /* the end of a job, restarts that count */
    STAGE_CHANGE = 1, /* deletes and creates */
    STAGE_STATUS = 2,
    STAGE_PODS = 2, /* pods whose services go first */
    STAGE_JOB = 3,  /* deleting the job itself */
};

/* suspend.c */
void suspend_enter(struct job *j, struct plan *p); /* suspended, or stays so: the whole pass */
void suspend_leave(struct job *j);                 /* resumed, if it was suspended */

/* sweep.c: deletes what there is, type by type, pods before services. */
struct sweep {
    unsigned pods_stage, services_stage;
    bool all;      /* everything the job owns */
    bool by_limit; /* else by cleanPodPolicy, and whatever runs if a limit ended it */
};
void sweep(const struct job *j, struct plan *p, struct sweep s);

/* plan_pods.c */
/* Surplus, and those to be restarted. */
void pods_delete(const struct job *j, struct plan *p, const struct verdict *v);
void pods_create(struct job *j, struct plan *p, size_t role); /* missing ones */
void pods_tell(const struct job *j, struct plan *p);          /* exit codes and troubles */
struct plan_step *pod_delete(const struct job *j, struct plan *p, unsigned stage,
                             const struct seen_pod *pod);

/* plan_services.c */
void services_claim(const struct job *j, struct plan *p);  /* adopt those that nobody owns */
void services_delete(const struct job *j, struct plan *p); /* surplus */
void services_create(const struct job *j, struct plan *p, size_t role); /* missing ones */
void service_delete(const struct job *j, struct plan *p, unsigned stage,
                    const struct seen_service *svc);

/* cleanup.c: a job that has ended. */
void cleanup(const struct job *j, struct plan *p, bool by_limit);
void ttl(struct job *j, struct plan *p);
