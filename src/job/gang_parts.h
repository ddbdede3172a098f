/* What the gang_*.c files share; not for others. */
#pragma once

#include "job/gang.h"

/* On PodGroups: how many members the job needed together when the group was made, or when none of
 * them had a node. A job that grows while it runs does not lack members. */
#define GANG_START_SIZE "muster.dev/start-size"

struct gang_back_end {
    const struct kube_resource *res;
    const struct planner_needed *needed;
    bool delays; /* pods are made once the scheduler has let the group in */
    void (*sync)(struct job *j, struct plan *p, const struct gang_back_end *g);
    jv (*spec)(const struct job *j,
               jv there); /* of the group; there: the one there is, or absent */
    jv (*add_to_pod)(struct arena *a, const struct job *j, const struct job_role *r, jv pod);
};

/* ---- gang.c */

const struct gang_back_end *gang_back_end(const struct job *j); /* NULL: off */
/* Not another's: controlled by this job, or by nobody and named like it. */
bool gang_claims(const struct job *j, jv group);
bool gang_is_group(const struct job *j, const struct seen_object *o); /* of the job */
jv gang_group_now(const struct job *j); /* the newest that is not being deleted; absent: none */
/* Of groups that replace another, the one at the end of the name; 0: of the first. */
int64_t gang_number_of(const struct job *j, jv group);
int64_t gang_number(jv group, const char *annotation, int64_t otherwise); /* above 0 */
/* Pods of the same plan wait until it is there. */
struct plan_step *gang_create(const struct job *j, struct plan *p, const struct gang_back_end *g,
                              str name, jv spec);
void gang_delete(const struct job *j, struct plan *p, jv group, unsigned stage);
/* The name is another's: says so and holds the job back. */
void gang_tell_foreign(struct job *j, struct plan *p, jv group);

/* ---- gang_group.c: what stands in the groups of Volcano and of scheduler-plugins */

jv gang_volcano_spec(const struct job *j, jv there);
jv gang_plugins_spec(const struct job *j, jv there);
/* A merge patch that makes the spec that is there the wanted one; absent: nothing to change. */
jv gang_spec_changes(struct arena *a, jv there, jv wanted);

/* ---- gang_kube.c: groups whose spec cannot change */

void gang_kube_sync(struct job *j, struct plan *p, const struct gang_back_end *g);

/* ---- gang_watch.c */

/* Members that have a node and have not failed. */
int64_t gang_placed(const struct job *j);

/* ---- gang_wait.c: what holds the job back, and what is told of it */

bool gang_is_let_in(const struct job *j, jv group);
void gang_hold(struct job *j); /* nothing is said: it is over soon, or told elsewhere */
void gang_wait_for(struct job *j, struct plan *p, jv group); /* absent: the server has none */
void gang_go(struct job *j);                                 /* it waits no more */
