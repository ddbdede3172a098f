/* What would let waiting pods start: each answer was tried on the scheduler's own decision. Pure.
 */
#pragma once

#include "sched/why.h"

enum help_what {
    HELP_END,      /* this owner's pods end, or are deleted; it may wait, too */
    HELP_LOWER,    /* each of the pods asks for at most `to` of the resource */
    HELP_UNSELECT, /* the pods have no nodeSelector and no node affinity */
    HELP_TOLERATE, /* the pods tolerate the taint with this key */
    HELP_UNCORDON, /* the node is opened */
    HELP_ADD,      /* the node offers `to` of the resource */
};

struct help_step {
    enum help_what what;
    str kind, ns, name; /* HELP_END */
    str resource;
    int64_t from, to;
    str key;  /* HELP_TOLERATE */
    str node; /* HELP_UNCORDON, HELP_ADD */
};

/* All of its steps together are enough. */
struct why_help {
    const struct help_step *steps;
    size_t n;
};

struct why_scene {
    const struct sched_input *in; /* all that waits, too */
    const bool *ours;             /* by in->waiting: what is to start */
    bool can_add;                 /* what the node offers is declared by its owner */
};

enum { HELPS_MAX = 8 };

/* How many answers there are in out; none: nothing that is known here would be enough. */
size_t why_help_find(struct arena *a, const struct why_scene *scene, const struct why *why,
                     struct why_help out[HELPS_MAX]);
/* "wait for job d/a to end, or delete it" */
str why_help_text(struct arena *a, const struct why_help *h);
jv why_help_json(struct arena *a, const struct why_help *h);
/* Of those that wait, how many the scheduler takes before ours, and the owners of the first of
 * them. They stand in the array once each; both live in a. */
size_t why_queue_before(struct arena *a, const struct why_scene *scene,
                        const struct help_step **out);
