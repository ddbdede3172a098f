/* PodGroups and Queues: what the scheduler is told of them, and what it tells them. */
#pragma once

#include "binder/internal.h"
#include "binder/phase.h"

struct group {
    struct gang g; /* first */
    struct binder *b;
    enum group_form form;
    enum group_phase phase;  /* as it is to be */
    enum group_phase stored; /* as it was read or written last */
    struct group_pods pods;
    struct pod *members;       /* its pods; during a pass */
    struct sched_amounts asks; /* minResources; lives with h */
    /* Of that, and of the least number, what it asked for when it was let in: no more is kept. */
    struct arena *grant;
    struct sched_amounts granted;
    int64_t granted_min;
    str queue; /* likewise */
    str class; /* of its priority; likewise */
    bool let_in;
    bool is_void;   /* its pods never fit, so nothing is kept for it; during a pass */
    bool returning; /* it was let in and lost all its pods */
    bool going;     /* it is being deleted */
    /* Let in, and too few pods since then (monotonic); 0: not so. */
    int64_t lonely_ms;
    int64_t retry_ms; /* not let in before */
    unsigned retries;
    /* Why it waits: of its condition Unschedulable; NULL: it does not. */
    const char *reason;
    char *why;
    const char *refusal; /* reason of g.g.refused; during a pass */
    /* Of what it asks for, what no pod that has a node, and no pod at all, asks for; and what its
     * pods that succeeded asked for. During a pass. */
    struct sched_amounts left, unmade, done;
    str lacking_role;    /* fewer of these exist than start together; during a pass */
    uint64_t told_first; /* hash of what was told, without the sentence */
    int64_t told_ms;
    bool busy;        /* a request is under way */
    uint64_t written; /* hash of the status written last and not seen yet; 0: none */
    int64_t write_ms; /* its status is not written before, as the last try failed (monotonic) */
    uint64_t seen;    /* hash of what the status was made of last */
    struct event_budget budget;
};

struct queue {
    struct held h;
    struct binder *b;
    struct sched_queue q;
    bool closed;
    bool busy;
    uint64_t written;
    int64_t write_ms; /* as in struct group */
};

static inline int64_t group_min(const struct group *g)
{
    return g->g.g.min;
}

static inline int64_t group_existing(const struct group *g)
{
    return group_pods_total(&g->pods) - g->pods.going;
}

/* ---- groups.c */

const struct kube_resource *group_resource(enum group_form form);
struct group *group_of(struct gang *g); /* of one that is a group */
struct group *group_find(const struct binder *b, enum group_form form, str ns, str name);
/* Each of the groups: GROUP_EACH (slot, form, b) */
#define GROUP_EACH(slot, form, b)                                          \
    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++) \
        MAP_EACH (slot, &(b)->groups[form].items)
size_t groups_number(const struct binder *b);
const struct shelf_ops *group_shelf(enum group_form form);
/* Whether such groups are looked at at all. */
bool group_form_is_on(const struct binder *b, enum group_form form);
/* What a pod says of its group; absent: it is in none. */
jv group_of_pod_slim(struct arena *a, jv pod);
struct sched_amounts amounts_of_list(struct arena *a, jv list); /* a ResourceList */
void group_grant(struct group *g); /* it is let in with what it asks for now */
struct sched_amounts group_granted(struct arena *a, const struct group *g);
#define GROUP_NOT_IN "the pod group is not let in."
/* Why it waits; first: what does not change with every pod that ends. */
bool group_is_said(struct group *g, const char *reason, str first);
void group_say(struct group *g, const char *reason, str first, str message);
void group_say_nothing(struct group *g);
void group_tell(struct group *g, const struct plan_note *note);

/* ---- group_count.c */

/* Says of each pod which group it is of, and counts them. */
void groups_count(struct binder *b, struct arena *a);

/* ---- group_pass.c */

/* Tells what is known of groups to the decision. */
void groups_collect(struct binder *b, struct arena *a, struct sched_input *in);
/* Lets in whom the decision lets in, and keeps the reason of others. */
void groups_decided(struct binder *b, struct arena *a, struct collected *c);
/* Why no pod of its group starts, this one asks; empty: some may. */
str group_refuses(struct arena *a, const struct pod *p);
void groups_look_at(struct binder *b, int64_t at_ms); /* again then (monotonic) */

/* ---- group_kept.c */

/* What it asks for ... */
void group_sums_open(struct arena *a, struct group *g);
void group_sums_add(struct group *g, const struct pod *p); /* ... and a pod of it has */
/* What groups that are in have yet to use, but for that one, as pods of no name on the nodes of the
 * input. Room: groups_kept_max. */
size_t groups_kept_max(const struct binder *b, const struct sched_input *in);
size_t groups_kept(const struct binder *b, struct arena *a, const struct sched_input *in,
                   const struct sched_gang *but, const struct sched_pod **out);
/* Whether it has something to use yet. */
bool group_has_left(const struct group *g);

/* ---- group_status.c */

/* Writes what is not written yet. */
void groups_send(struct binder *b);

/* ---- queues.c */

bool queues_send(struct binder *b); /* false: not all of it */

/* ---- evict.c */

void evictions_begin(struct binder *b, const struct sched_decision *d);
void evictions_send(struct binder *b);
void evictions_done(struct binder *b);

/* ---- quota.c */

void quotas_collect(struct binder *b, struct arena *a, struct sched_input *in);
