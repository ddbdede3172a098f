/* Shared within sched/. */
#pragma once

#include "builtin/check.h"
#include "sched/sched.h"

#include <stdlib.h>

static inline int compare(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

/* Why a node will not do. */
enum { REFUSALS_MAX = 16 };

struct refusal {
    str at[REFUSALS_MAX];
    size_t n;
    bool for_good; /* it would not do without its pods either */
};

/* ---- ledger.c: what the nodes have, and what is taken of it */

enum { RES_CPU, RES_MEMORY, RES_STORAGE, RES_FIXED };

struct seat {
    const struct sched_pod *pod;
    const int64_t *need; /* by resource */
    struct seat *next;
};

struct place {
    const struct sched_node *node;
    int64_t *has;
    int64_t *used;
    int64_t max_pods;
    int64_t n_pods;
    int64_t least_priority; /* of its pods */
    struct seat *seats;
    bool barred; /* who waits longest could be there: others get what ledger.spare leaves */
};

/* By which nodes that will do are compared. */
struct score {
    int64_t own, siblings, avoided, preferred;
};

enum { SEARCHES_MAX = 64 * 1024 }; /* a few milliseconds */

struct ledger {
    struct arena *a;
    jv namespaces;        /* as in struct sched_input */
    struct place *places; /* by the name of the node */
    size_t n;
    str *resources; /* those that somebody waits for, after the fixed ones */
    str *lacking;   /* "Insufficient cpu" */
    size_t n_resources;
    size_t others;      /* stands for all resources that have no place of their own; 0: they have */
    struct place **fit; /* room for one a node: those that will do ... */
    struct refusal *refusals; /* ... and what the others say */
    struct score *scores;     /* of those that will do */
    size_t next;              /* of places, to look at first */
    bool has_anti;            /* a pod that has a node keeps others away */
    struct ghost *ghosts;     /* by gang and member */
    size_t n_ghosts;
    bool tight;            /* of nodes that will do, take the fullest */
    int64_t *spare;        /* by resource: how much others may take of barred places */
    size_t search_left;    /* places that may still be looked at by search */
    bool is_open;          /* nothing is barred for the time being */
    str barred_for;        /* "job default/a": what is barred is kept for it; empty: nothing is */
    int64_t n_kept_pods;   /* room for so many is left on each of these; 0: nobody was sent away */
    str barred_text;       /* what those are told that it is kept from */
    bool preempts;         /* as in struct sched_input */
    struct stakes *stakes; /* of groups; NULL: there are none */
};

/* A reserve that counts in its place while it is kept. */
struct ghost {
    const struct sched_reserve *of;
    struct place *place;
    const int64_t *need;
    bool kept;
};

/* What a step of a transaction changed. */
struct step {
    struct place *place;
    struct place before;
    bool had_anti;
    struct ghost *ghost; /* given up for it; NULL: none */
    const struct sched_waiting *of;
    const int64_t *beyond; /* as in struct candidate */
};

void ledger_open(struct ledger *l, struct arena *a, const struct sched_input *in);
int64_t amount_sum(int64_t x, int64_t y); /* at most INT64_MAX */
const int64_t *ledger_need(const struct ledger *l, const struct sched_amounts *need);
void ledger_take(struct ledger *l, struct place *p, const struct sched_pod *pod,
                 const int64_t *need);
struct place *ledger_find(const struct ledger *l, str node);
/* The same nodes without any pod. */
void ledger_empty(struct ledger *out, const struct ledger *l);

/* ---- kept.c: what is kept for members that are gone, and steps that can be taken back */

void kept_open(struct ledger *l, const struct sched_input *in);
struct ghost *kept_find(const struct ledger *l, const struct sched_pod *pod);
void kept_take(struct ledger *l, struct ghost *g);
void kept_give(struct ledger *l, struct ghost *g);
void step_take(struct ledger *l, struct step *t, struct place *p, const struct sched_pod *pod,
               const int64_t *need);
void step_undo(struct ledger *l, const struct step *t);

/* ---- stake.c: what is kept for groups that were let in, in sum over the nodes. Arrays are by
 * resource, and one more for the number of pods. */

struct unit;

struct line { /* a queue, and what its groups hold */
    const struct sched_queue *of;
    int64_t *cap; /* INT64_MAX: no limit */
    int64_t *used;
    double *wants;                     /* and what they would use if all were let in */
    double *share;                     /* by weight; NULL: it has no rival */
    const struct sched_gang *first;    /* strict: of those that were not let in */
    const struct sched_gang *kept_for; /* who has waited longest; later ones get nothing */
};

struct stake {
    const struct sched_gang *of;
    struct line *line; /* NULL: none */
    int64_t *asks;     /* what is kept for it, or will be */
    int64_t *use;      /* what its pods have of the nodes */
    int64_t *exist;    /* ... and those that wait */
    bool kept;
    bool is_void; /* let in, and can never start: nothing is kept for it */
    bool ends;    /* some of its pods are being deleted */
};

struct limit { /* an amount of a ResourceQuota */
    const struct sched_quota *of;
    str name;
    size_t resource;
    int64_t left;
};

struct stakes {
    struct stake *at; /* by uid */
    size_t n;
    struct line *lines;
    size_t n_lines;
    struct limit *limits; /* by namespace */
    size_t n_limits;
    str kept_ns;       /* who waited longest has a quota to wait for there; empty: none */
    int64_t *has;      /* of nodes that take pods */
    int64_t *free;     /* of those, whoever it is kept for */
    int64_t *held;     /* what is kept and not in use yet */
    int64_t kept_pods; /* room for so many is kept for who waits longest */
    const struct stake **largest; /* of what is held, by resource; NULL: to be looked for */
    const struct sched_input *in;
    struct why_world *world; /* who holds what; NULL: not asked for yet */
    str *held_by;            /* by resource, "; held by job default/a (1)"; p NULL: not yet */
    int64_t *open;           /* free where nothing is barred; NULL: to be summed up again */
};

struct candidate;
void stake_open(struct ledger *l, const struct sched_input *in);
/* Once all bound pods are seated. voids: let in, and can never start: nothing is kept for them. */
void stake_start(struct ledger *l, const struct sched_gang *const *voids, size_t n);
struct stake *stake_find(const struct ledger *l, const struct sched_gang *g);
void stake_keep(struct ledger *l, struct stake *h); /* it is let in */
void stake_drop(struct ledger *l, struct stake *h);
/* Around each change of a place; and that a pod, or what is kept of one, came or went. */
void stake_lift(struct ledger *l, const struct place *p);
void stake_settle(struct ledger *l, const struct place *p);
void stake_seat(struct ledger *l, const struct sched_gang *g, const int64_t *need, int64_t sign);
/* How much is kept for it that its pods do not have. */
int64_t stake_left(const struct stake *h, size_t resource);
/* Sets beyond and held. */
void stake_look(struct candidate *c);
int64_t stake_room(struct ledger *l, size_t resource); /* for a group that comes now */
/* Who has most of what is kept. */
const struct stake *stake_largest(const struct ledger *l, size_t resource);
int64_t stake_has(const struct ledger *l, size_t resource);
str stake_resource(const struct ledger *l, size_t resource);
str gang_text(struct arena *a, const struct sched_gang *g);
bool place_counts(const struct place *p); /* it takes pods */

/* ---- share.c: queues that want more than there is */

void shares_open(struct ledger *l, const struct unit *units, size_t n);
/* It has what it is due of something that the group asks for. */
bool line_is_served(const struct ledger *l, const struct stake *h);

/* ---- quota.c: what ResourceQuotas leave */

void quota_open(struct ledger *l, const struct sched_input *in);
str quota_exceeded(const struct ledger *l, const struct stake *h); /* empty: it fits in */
void quota_take(struct ledger *l, const struct stake *h);

/* ---- filter.c: why a node will not do */

struct candidate { /* a pod that waits, looked at */
    const struct ledger *l;
    const struct sched_waiting *w;
    const struct sched_pod *pod;
    const int64_t *need;
    const int64_t *beyond; /* what of it is not kept for its group */
    str held, held_for;    /* nobody may give it room, as that is kept; for whom */
    bool owed;             /* a barred place is not barred for it: something there is kept for it */
};

/* Whether the pod can go there; else why not. */
bool filter_place(const struct candidate *c, const struct place *p, struct refusal *why);
void refuse(struct refusal *why, str reason, bool for_good);
bool taint_is_tolerated(jv tolerations, jv taint);
jv untolerated_taint(jv tolerations, jv taints); /* the first that keeps pods away; absent: none */

/* ---- affinity.c */

bool node_terms_match(jv node_selector, const struct sched_node *n);
bool node_term_matches(jv term, const struct sched_node *n);
bool node_is_wanted(const struct sched_pod *pod, const struct sched_node *n);
void filter_affinity(const struct candidate *c, const struct place *p, struct refusal *why);
bool pod_keeps_away(const struct sched_pod *pod);
bool label_value(const struct sched_node *n, str key, str *value); /* false: it has none */

/* ---- spread.c */

void filter_spread(const struct candidate *c, const struct place *p, struct refusal *why);

/* ---- score.c: the best of those that will do; NULL: none */

struct place *score_best(const struct candidate *c, struct place *const *fit, size_t n);

/* ---- preempt.c */

enum evicts {
    EVICTS_NOBODY, /* it would not help, or may not be */
    EVICTS_LATER,  /* another comes first */
    EVICTS_BEFORE, /* it waits until those have ended that are being deleted */
    EVICTS_NOW,
};

/* What kube-scheduler says on pods that might be sent away: "preemption: ...". first: what the
 * nodes said, one each; NULL when none was asked. */
str preempt_text(const struct candidate *c, const struct refusal *first);
/* The same, once it is known what comes of it. */
str preempt_retell(struct arena *a, str why, enum evicts evicts, size_t n_victims);

/* How many nodes gave each reason: "0/2 nodes are available: 1 Insufficient cpu, 1 ...". */
struct tally {
    struct arena *a;
    struct {
        str reason;
        size_t n;
    } * at;
    size_t n;
};
void tally_add(struct tally *t, str reason, size_t n);
str tally_text(const struct tally *t, size_t n_nodes);

/* ---- gang.c: which pods are decided together, as a unit */

struct unit {
    const struct sched_gang *gang; /* NULL: a pod that starts alone */
    const struct sched_waiting **at;
    size_t n;
    size_t n_distinct; /* the first of at, each another member */
    int64_t need;      /* how many of these start together; 0: each alone */
    int64_t priority, created_ms;
    uint64_t seq;
    bool returning; /* members of a gang that has others with a node */
    bool enters;    /* a group that was not let in, with those of its pods that exist */
    bool is_in;     /* ... and is now */
};

/* In no order; the arrays live in a. */
struct unit *units_of(struct arena *a, const struct sched_input *in, size_t *n);
/* The order in which pods are looked at. */
int waiting_compare(const struct sched_waiting *v, const struct sched_waiting *w);

/* ---- admit.c: groups that are let in */

/* It is let in, and what it asks for is kept for it; false: v says why not. */
bool group_fits(struct ledger *l, struct stake *h);
bool group_admit(struct ledger *l, struct stake *h, struct sched_group_verdict *v);

/* ---- guard.c: who has waited longest keeps others away */

/* From now on others get only what it can spare; nothing of what it asks for, if that is free only
 * because pods were sent away for it. */
void guard_keep(struct ledger *l, const struct unit *u, bool all);
/* The first unit that does not fit now, and would if others ended; NULL: there is none. */
void guard_first(struct sched_guard *g, struct ledger *l, const struct unit *u);

/* ---- evict.c: who is sent away for a unit that does not fit */

struct evictor {
    const struct sched_input *in;
    struct evictee *at; /* NULL: not looked at yet */
    size_t n;
    size_t n_removed;          /* pods taken from the ledger for a time, by all tries */
    const struct unit *failed; /* the last group that it did not help */
    struct sched_victim *victims;
    size_t n_victims;
};

enum evicts evict_for(struct evictor *e, struct ledger *l, const struct unit *u);

/* ---- place.c */

/* Gives the pod a place in the ledger; false: v says why not. */
bool place_pod(struct ledger *l, struct sched_verdict *v, struct step *t);

/* ---- together.c: placing those that start together */

/* u->need of its distinct members have their place in the ledger, as steps say, which has room for
 * them; false: no says why not, of the first that did not fit. */
bool place_together(struct ledger *l, const struct unit *u, struct step *steps,
                    struct sched_verdict *no);
/* ... on nodes without any pod, which stay so. */
bool fits_empty(struct ledger *empty, const struct unit *u);

/* ---- like.c: units that fare as one before */

enum { FAILURES_MAX = 8 };

/* Of units that found no room, with the ledger as it is. */
struct failures {
    struct {
        struct unit u;
        struct sched_verdict no;
    } at[FAILURES_MAX];
    size_t n, next;
};

/* Pods that ask for the same nodes and amounts. */
bool waiting_same_shape(const struct sched_waiting *x, const struct sched_waiting *y);
/* What was said of one like it; NULL: there was none. */
const struct sched_verdict *failed_like(const struct ledger *l, const struct failures *f,
                                        const struct unit *u);
void failures_add(struct failures *f, const struct unit *u, const struct sched_verdict *no);
