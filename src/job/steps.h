/* The steps of a pass, each in its file, in the order pass.c takes them. */
#pragma once

#include "job/verdict.h"

/* Stages of a plan. What must be known before anything is undone or made comes first. */
enum {
    STAGE_FIRST = 0,  /* the end of a job, restarts that count */
    STAGE_CHANGE = 1, /* deletes and creates */
    STAGE_STATUS = 2,
    STAGE_PODS = 2,   /* pods whose services go first, or that stand on objects of their kind */
    STAGE_LEADER = 3, /* a pod that stands on the other pods */
    STAGE_JOB = 3,    /* deleting the job itself */
};

/* pass.c: the kind's own objects. */
void job_extras(struct job *j, struct plan *p, bool wanted);

/* suspend.c */
void job_suspend(struct job *j, struct plan *p); /* suspended, or stays so: the whole pass */
void job_resume(struct job *j);                  /* resumed, if it was suspended */

/* sweep.c: deletes what there is, type by type, pods before services. */
struct sweep {
    unsigned pods_stage, services_stage;
    bool all;      /* everything the job owns */
    bool by_limit; /* else by cleanPodPolicy, and whatever runs if a limit ended it */
};
void job_sweep(const struct job *j, struct plan *p, struct sweep s);

/* plan_pods.c */
/* Surplus, and those to be restarted. */
void job_delete_pods(const struct job *j, struct plan *p, const struct verdict *v);
void job_create_pods(struct job *j, struct plan *p, size_t role); /* missing ones */
void job_tell_pods(const struct job *j, struct plan *p);          /* exit codes and troubles */
struct plan_step *job_delete_pod(const struct job *j, struct plan *p, unsigned stage,
                                 const struct seen_pod *pod);

/* plan_services.c */
void job_claim_services(const struct job *j, struct plan *p);  /* adopt those that nobody owns */
void job_delete_services(const struct job *j, struct plan *p); /* surplus */
void job_create_services(const struct job *j, struct plan *p, size_t role); /* missing ones */
void job_delete_service(const struct job *j, struct plan *p, unsigned stage,
                        const struct seen_service *svc);

/* cleanup.c: a job that has ended. */
void job_clean_up(const struct job *j, struct plan *p, bool by_limit);
void job_ttl(struct job *j, struct plan *p);
