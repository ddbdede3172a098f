/* Shared by the files of why.h. */
#pragma once

#include "sched/internal.h"
#include "sched/why.h"

/* ---- why_world.c: what nodes have, what is used of it, and by whom; by resource, when asked */

struct why_resource {
    str name;
    int64_t *has, *used;              /* by node */
    const struct why_holder *holders; /* on all nodes */
    size_t n_holders;
    bool holders_known;
    struct why_resource *next;
};

struct why_world {
    struct arena *a;
    const struct sched_node **nodes; /* by name */
    size_t n;
    const struct sched_pod *const *bound;
    size_t n_bound;
    size_t *node_of; /* by bound pod: its node; n: none of these */
    bool partial;
    struct why_resource *resources;
    size_t n_resources;
};

struct why_resource *world_resource(struct why_world *w, str name);
bool world_is_full(const struct why_world *w, str name); /* no more are looked at than it knows */
/* usable: by node; NULL: all. */
const struct why_holder *world_holders(struct why_world *w, struct why_resource *r,
                                       const bool *usable, size_t *n);
/* "; held by job default/a (1)" */
void why_say_holders(struct arena *a, struct buf *b, str resource, const struct why_holder *all,
                     size_t n_all);
int64_t why_need_of(const struct sched_pod *pod, str resource); /* 1 of "pods" */

/* ---- why.c: a unit while it is looked at */

/* Pods of a unit that ask for the same: most have one shape, or one for each role. */
struct why_shape {
    const struct sched_waiting *of;
    int64_t n;
    bool *usable; /* by node */
    size_t n_usable;
    struct tally refusals; /* by the others */
};

enum { WHY_SHAPES = 16 };

struct why_view {
    struct why_world *w;
    const struct why_unit *unit;
    struct why_shape shapes[WHY_SHAPES];
    size_t n_shapes;
    bool *usable; /* by any of the shapes */
    size_t n_usable;
    bool lasting; /* nodes that are not usable will not become so by themselves */
    struct why_lack *lacks;
    size_t n_lacks, cap_lacks;
};

void why_lacks_find(struct why_view *v); /* why_lacks.c: fills lacks */

/* ---- why_reason.c */

void why_reasons_sort(struct why_reason *at, size_t n); /* the most nodes first */
bool why_reason_is_room(str reason);                    /* not enough of a resource is free there */
bool why_reason_is_label(str reason);
/* "needs the Secret s, which does not exist"; empty: the message is about something else. */
str why_missing_text(struct arena *a, str message);
