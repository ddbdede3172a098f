/* The steps of a pass, each in its file, in the order pass.c takes them. */
#pragma once

#include "job/verdict.h"

/* Stages of a plan. What must be known before anything is undone or made comes first. */
enum {
    STAGE_FIRST = 0,  /* the end of a job, restarts that count */
    STAGE_CHANGE = 1, /* deletes and creates */
    STAGE_STATUS = 2,
    STAGE_PODS = 2,  /* after the end: pods go after their services */
    STAGE_AFTER = 3, /* what needs all before it: deleting the job */
};

/* suspend.c */
void suspend_enter(struct job *j, struct plan *p); /* suspended, or stays so: the whole pass */
void suspend_leave(struct job *j);                 /* resumed, if it was suspended */

/* plan_pods.c */
void pods_delete(const struct job *j, struct plan *p); /* surplus, and those to be restarted */
void pods_create(struct job *j, struct plan *p);       /* missing ones */
void pods_tell(const struct job *j, struct plan *p);   /* exit codes and troubles */
struct plan_step *pod_delete(const struct job *j, struct plan *p, unsigned stage,
                             const struct seen_pod *pod);

/* plan_services.c */
void services_claim(const struct job *j, struct plan *p);  /* adopt those that nobody owns */
void services_delete(const struct job *j, struct plan *p); /* surplus */
void services_create(const struct job *j, struct plan *p); /* missing ones */
void service_delete(const struct job *j, struct plan *p, unsigned stage,
                    const struct seen_service *svc);

/* cleanup.c: a job that has ended. */
void cleanup(const struct job *j, struct plan *p, bool by_limit);
void ttl(struct job *j, struct plan *p);
