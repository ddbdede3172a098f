/* Which pod on which node: a pure function of the pods that wait, the nodes, and the pods that have
 * one. What does not fit is told why, in kube-scheduler's words (1.34).
 *
 * Decided unit by unit: a unit is a pod, or the pods of a gang, of which as many as must start
 * together are placed, or none. The more important unit comes first, then one that is missing
 * members of a gang that has started, then the older. What is placed takes its share before the
 * next unit is looked at, so nothing is ever given twice (S1).
 *
 * A unit that does not fit is passed over, until it has been the first of those for
 * sched_guard.patience_ms: from then on no later unit gets what it lacks.
 *
 * Groups that are not let in are units in the same order. What a group asks for is kept for it from
 * when it is let in, in sum over the nodes; its pods draw from it, and others get only the rest. A
 * queue has no more than its capability, and one that has its share comes after one that has not.
 * Nothing is kept for a group whose pods never fit. */
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

/* How much the groups in it may use together. */
struct sched_queue {
    str name;
    int64_t weight;                  /* of queues that want more than there is, at least 1 */
    struct sched_amounts capability; /* no more than this of these; of others there is no limit */
    bool closed;                     /* lets no group in */
    bool strict;                     /* nothing passes its first group that does not fit */
};

/* Pods that start together, or none of them. */
struct sched_gang {
    str uid; /* of the job or group */
    str ns, name;
    str kind; /* for people: "job" */
    int64_t created_ms;
    int64_t min;               /* members that start together */
    int64_t n_done;            /* members that succeeded */
    struct sched_amounts done; /* what these asked for */
    bool started; /* min of them had a node at once: the rest, and replacements, go one by one */
    bool stopped; /* suspended, ended or being deleted: no pod of it starts */

    /* Of a group that somebody made, a PodGroup; other gangs follow from their job. */
    bool is_group;
    bool let_in;    /* its pods may be made and start, and what it asks for is kept for it */
    bool returning; /* it was restarted whole: it comes first among those of its priority */
    bool has_priority;
    int64_t priority;                /* instead of its pods' */
    const struct sched_queue *queue; /* NULL: none */
    struct sched_amounts asks;       /* minResources; its members draw from it */
    int64_t unkept;      /* of min: asked for since it was let in, so no room is kept for these */
    bool never_preempts; /* nobody is sent away for it */
    str refused;         /* it is not let in whatever is free: "queue \"x\" not found" */
};

/* What is left of a ResourceQuota, under its own names: "requests.cpu", "pods". */
struct sched_quota {
    str ns, name;
    struct sched_amounts left;
};

/* What a member had that is gone, kept for the pod that replaces it. */
struct sched_reserve {
    const struct sched_gang *gang;
    str member;
    str node;
    struct sched_amounts need;
};

struct sched_pod {
    str ns, name, uid;
    str node;  /* empty: none yet */
    str owner; /* uid of its controller */
    /* What people know it by: "job" "mnist", "replicaset" "web-5c4", "pod" and its own name. */
    str owner_kind, owner_name;
    const struct sched_gang *gang; /* NULL: it starts alone */
    str member;                    /* which of the gang's it is: "worker/0"; empty: none of them */
    int64_t priority;
    int64_t created_ms;
    bool never_preempts;
    bool ending; /* it is being deleted: what it has comes free */
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
    /* Which of its GPUs other runs of the machine use, and what they have, as a pod without
     * namespace, to be put among the bound pods; empty and NULL: they use none. */
    str gpus_elsewhere;
    const struct sched_pod *others;
};

/* A pod that waits, and what its volumes say. */
struct sched_waiting {
    const struct sched_pod *pod;
    uint64_t seq;      /* among those of the same second, the lower first */
    str refused;       /* no node is looked at: "persistentvolumeclaim \"x\" not found" */
    const jv *volumes; /* NodeSelectors of the volumes it has: where these can be reached */
    size_t n_volumes;
    bool unchanged; /* it did not fit, and since then nothing came free that it asks for */
    bool never;     /* unchanged: verdict.never as it was */
};

/* Carried from one decision to the next. Starts as { 0 } but for patience_ms. */
struct sched_guard {
    int64_t patience_ms;
    int64_t now_ms;
    char first[64];   /* uid of the first unit that did not fit */
    int64_t since_ms; /* when it became the first */
    bool released;    /* set: another is the first now, and what was kept for that one is free */
};

struct sched_input {
    const struct sched_node *const *nodes;
    size_t n_nodes;
    const struct sched_pod *const *bound; /* not those that have ended */
    size_t n_bound;
    const struct sched_waiting *waiting;
    size_t n_waiting;
    const struct sched_reserve *reserves;
    size_t n_reserves;
    const struct sched_gang *const *groups; /* all of them, let in or not */
    size_t n_groups;
    const struct sched_quota *quotas; /* groups are let in within them */
    size_t n_quotas;
    bool preempts; /* pods may be sent away for more important ones, for one unit at a time */
    struct sched_guard *guard; /* NULL: units are passed over for ever */
    jv namespaces;             /* the labels of each, by its name */
};

struct sched_verdict {
    const struct sched_waiting *of;
    const struct sched_node *node; /* NULL: it goes on waiting */
    str why;                       /* then; empty: as it was (unchanged) */
    str behind;                    /* then: "job default/a", which waits longer */
    bool never;                    /* then: it does not fit on these nodes when they are empty */
    bool early;       /* then: not all that start together exist, or they are stopped */
    int64_t together; /* then: so many must be placed at once; 0: it starts alone */
    bool whole;       /* placed as one of those that start together */
};

/* On a group that was not let in. */
struct sched_group_verdict {
    const struct sched_gang *of;
    bool let_in; /* from now on, and its pods are decided on next time */
    bool never;  /* it asks for more than these nodes have when they are empty */
    str why;     /* it goes on waiting */
    str behind;  /* as in struct sched_verdict */
};

/* A pod to be sent away, as that lets another unit start. */
struct sched_victim {
    const struct sched_pod *pod; /* of in->bound */
    bool whole;                  /* with all of its gang; a group is to be let in anew */
    str makes_way_for;           /* "job default/a" */
};

struct sched_decision {
    struct sched_verdict *pods;         /* n_waiting, in the order they were reached */
    struct sched_group_verdict *groups; /* in the order of admission */
    size_t n_groups;
    struct sched_victim *victims;
    size_t n_victims;
};

/* What is decided lives in a and shares the input. */
struct sched_decision sched_decide(struct arena *a, const struct sched_input *in);

/* ---- read.c. What is read is borrowed from the object, the arrays from a. */

struct sched_pod sched_pod_read(struct arena *a, jv pod);
struct sched_node sched_node_read(struct arena *a, jv node);
/* A pod with nothing in it but what sched_pod_read reads. */
jv sched_pod_slim(struct arena *a, jv pod);
jv sched_node_slim(struct arena *a, jv node);
bool sched_pod_has_ended(jv pod);
/* "0/1 nodes are available: 1 Too many pods." has these words first, whoever waits. */
#define SCHED_NO_NODES "no nodes available to schedule pods"
