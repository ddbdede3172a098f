/* Shared within sched/. */
#pragma once

#include "builtin/check.h"
#include "sched/sched.h"

#include <stdlib.h>

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
};

struct ledger {
    struct arena *a;
    jv namespaces;        /* as in struct sched_input */
    struct place *places; /* by the name of the node */
    size_t n;
    str *resources; /* those that somebody waits for, after the fixed ones */
    str *lacking;   /* "Insufficient cpu" */
    size_t n_resources;
    struct place **fit;       /* room for one a node: those that will do ... */
    struct refusal *refusals; /* ... and what the others say */
    bool has_anti;            /* a pod that has a node keeps others away */
};

void ledger_open(struct ledger *l, struct arena *a, const struct sched_input *in);
const int64_t *ledger_need(const struct ledger *l, const struct sched_amounts *need);
void ledger_take(struct ledger *l, struct place *p, const struct sched_pod *pod,
                 const int64_t *need);

/* ---- filter.c: why a node will not do */

struct candidate { /* a pod that waits, looked at */
    const struct ledger *l;
    const struct sched_waiting *w;
    const struct sched_pod *pod;
    const int64_t *need;
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

/* What kube-scheduler says on pods that might be sent away: "preemption: ...". first: what the
 * nodes said, one each; NULL when none was asked. */
str preempt_text(const struct candidate *c, const struct refusal *first);

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
