/* Gives pods their nodes and claims their volumes, as kube-scheduler, the volume controllers and
 * the local-path provisioner do on a cluster. Knows the API alone; does nothing while nothing
 * changes.
 */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct binder;

struct binder_opts {
    str volumes_dir;          /* absolute; each volume is a directory in it, made by the node */
    bool named;               /* directories are called as their claims, and stay when those go */
    bool volumes_only;        /* pods get their nodes from another scheduler */
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
