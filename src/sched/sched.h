/* Which pod on which node: a pure function of the pods that wait, the nodes, and the pods that have
 * one. What does not fit is told why, in kube-scheduler's words (1.34).
 *
 * Decided pod by pod, the more important and then the older first; each that is placed takes its
 * share before the next one is looked at, so nothing is ever given twice (S1). */
#pragma once

#include "base/json.h"

/* cpu in thousandths, all else in whole units. */
struct sched_amount {
    str name;
    int64_t n;
};

struct sched_amounts {
    const struct sched_amount *at;
    size_t n;
};

struct sched_port {
    str protocol;
    str ip;
    int64_t port;
};

struct sched_pod {
    str ns, name, uid;
    str node;  /* empty: none yet */
    str owner; /* uid of its controller */
    int64_t priority;
    int64_t created_ms;
    bool never_preempts;
    struct sched_amounts need;
    const struct sched_port *ports; /* of the node itself */
    size_t n_ports;
    jv labels, selector, affinity, tolerations, spread;
    const str *claims; /* names of PersistentVolumeClaims */
    size_t n_claims;
    bool claims_devices; /* spec.resourceClaims: who has drivers for them is not known here */
};

struct sched_node {
    str name;
    jv labels;
    jv taints;
    bool unschedulable;
    bool not_ready;
    struct sched_amounts has;
};

/* A pod that waits, and what its volumes say. */
struct sched_waiting {
    const struct sched_pod *pod;
    uint64_t seq;      /* among those of the same second, the lower first */
    str refused;       /* no node is looked at: "persistentvolumeclaim \"x\" not found" */
    const jv *volumes; /* NodeSelectors of the volumes it has: where these can be reached */
    size_t n_volumes;
};

struct sched_input {
    const struct sched_node *const *nodes;
    size_t n_nodes;
    const struct sched_pod *const *bound; /* not those that have ended */
    size_t n_bound;
    const struct sched_waiting *waiting;
    size_t n_waiting;
    jv namespaces; /* the labels of each, by its name */
};

struct sched_verdict {
    const struct sched_waiting *of;
    const struct sched_node *node; /* NULL: it goes on waiting */
    str why;                       /* then */
};

/* n_waiting verdicts, in the order they were reached. They live in a and share the input. */
struct sched_verdict *sched_decide(struct arena *a, const struct sched_input *in);

/* ---- read.c. What is read is borrowed from the object, the arrays from a. */

struct sched_pod sched_pod_read(struct arena *a, jv pod);
struct sched_node sched_node_read(struct arena *a, jv node);
/* A pod with nothing in it but what sched_pod_read reads. */
jv sched_pod_slim(struct arena *a, jv pod);
jv sched_node_slim(struct arena *a, jv node);
bool sched_pod_has_ended(jv pod);
/* "0/1 nodes are available: 1 Too many pods." has these words first, whoever waits. */
#define SCHED_NO_NODES "no nodes available to schedule pods"
