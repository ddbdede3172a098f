/* A control group for the next pod, made ahead. To move a process into a group takes the kernel 5
 * to 15 ms, all of it waiting; one that is forked in a group is in it at once. So the nursery goes
 * into a spare one whenever it has nothing to do, and the keeper that it forks next gives the group
 * the name of its pod. cgroup v1 alone: in v2 groups cannot be renamed. */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct spare_group {
    char dir[PATH_MAX];  /* that the nursery is in; "": none */
    char root[PATH_MAX]; /* where groups of pods are; "": not known */
    bool taken;          /* by a keeper: dir is a pod's now */
    unsigned made;
};

/* ---- the nursery */

/* group: of a pod that is to be started; "": pods have none. */
void spare_learn(struct spare_group *s, const char *group);
bool spare_is_wanted(const struct spare_group *s); /* it is taken, or there was none */
void spare_renew(struct spare_group *s);

/* ---- a keeper */

/* Makes it the pod's; false: it is not to be had. */
bool spare_use(const struct spare_group *s, const char *group);

/* ---- both */

/* Out of the group, or that of a pod which it has become. Takes its time. */
void spare_leave(const struct spare_group *s);
