/* Gives pods their nodes and claims their volumes, as kube-scheduler, the volume controllers and
 * the local-path provisioner do on a cluster. Knows the API alone; does nothing while nothing
 * changes.
 */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct binder;

/* Objects whose pods start together: those of these kinds that are the pods' controllers. */
struct binder_gangs {
    const struct kube_resource *const *kinds;
    size_t n_kinds;
    /* What matters of one: { "metadata": name, namespace, uid, creationTimestamp; "kind": for
     * people; "min": how many start together; "members": { role: number }; "stopped": no pod of it
     * starts }. Absent: each of its pods starts alone. Pure. */
    jv (*read)(struct arena *a, jv obj);
    bool by_default; /* nobody asked for it: reasons say how to do without */
};

struct binder_opts {
    struct binder_gangs gangs;
    str scheduler;            /* one more name that it answers to; empty: none */
    bool kube_groups;         /* PodGroups of Kubernetes are served */
    bool preempts;            /* pods are sent away for more important ones */
    int64_t group_wait_ms;    /* how long a PodGroup that is let in waits for its pods; 0: 60 s */
    bool no_placing;          /* others give pods their nodes */
    bool no_volumes;          /* others make volumes, and bind claims to them */
    int64_t patience_ms;      /* how long the first that does not fit is passed over */
    str volumes_dir;          /* absolute; each volume is a directory in it, made by the node */
    bool named;               /* directories are called as their claims, and stay when those go */
    bool strict_classes;      /* claims of a class that is not there wait; else it is an alias */
    int64_t trash_ms;         /* how long what was in a deleted volume is kept; 0: a day */
    int64_t (*wall_ms)(void); /* NULL: the real clock */
};

/* The API outlives it. */
struct binder *binder_new(struct loop *l, struct kube_api *api, const struct binder_opts *o);
void binder_start(struct binder *b); /* makes the class local-path where it is missing */
void binder_free(struct binder *b);  /* what is under way is cancelled; NULL is fine */

/* Everything was read once, and nothing is left to do until something changes. */
bool binder_is_idle(const struct binder *b);
/* Requests sent other than reading: bindings, conditions, volumes; not events. */
uint64_t binder_writes(const struct binder *b);
