/* Why pods wait, as one sentence and as data: a pure function of the nodes, the pods that hold
 * resources and what waits. Used by the scheduler (conditions, events), `muster why`, `muster run`.
 *
 * The sentence is stable: it names no ages and changes only when the facts do. It is bounded: at
 * most WHY_HOLDERS holders are named, and names are limited by Kubernetes.
 *
 * To explain many units of one pass, call why_world_new once: why_of then takes time in proportion
 * to the nodes, and to the bound pods only for units that may not use every node. */
#pragma once

#include "sched/sched.h"

enum { WHY_HOLDERS = 3 };

/* ---- input */

/* What waits: one pod, or of a gang, those of its pods without a node that must start together.
 * What the pods say of their gang is not read. */
struct why_unit {
    const struct sched_waiting *const *pods;
    size_t n_pods;
    int64_t min;     /* so many must exist; fewer do: it waits for them */
    bool by_default; /* a gang without PodGroup: --gang-scheduler-name=none ends it */
    bool never;      /* the scheduler found that it never fits */
    str behind;      /* "job default/a": it keeps what is free, as it waits longer */
};

/* ---- output */

struct why_holder {
    str kind, ns, name;
    int64_t n;        /* of the resource */
    int64_t since_ms; /* creation of its oldest pod here */
    int64_t pods;
};

enum why_scope {
    WHY_TOTAL,    /* need, has and free are sums over the nodes that it may use */
    WHY_PER_NODE, /* of one pod, and the most on one node */
};

/* A resource ("pods" is one) of which there is not enough. */
struct why_lack {
    str resource;
    enum why_scope scope;
    int64_t need, has, free;
    bool never;                       /* need > has */
    const struct why_holder *holders; /* the largest first */
    size_t n_holders;
};

/* Why nodes do not do, grouped; in kube-scheduler's words. */
struct why_reason {
    str text;
    int64_t nodes;
};

enum why_cause {
    WHY_NOTHING,  /* as far as can be seen, it fits now */
    WHY_NO_NODES, /* there is no node at all */
    WHY_REFUSED,  /* `refused`: a claim is missing, ... */
    WHY_MEMBERS,  /* fewer pods exist than start together */
    WHY_LACKS,    /* lacks[0] */
    WHY_NODES,    /* reasons: taints, labels, affinity, ports, volumes */
    WHY_PACKING,  /* enough in sum, but not on the same nodes */
    WHY_BEHIND,   /* `behind` */
};

struct why {
    enum why_cause cause;
    bool never;      /* not with these nodes, whoever ends */
    bool by_default; /* as given; and each of its pods alone would fit */
    str refused, behind;
    str labels;                   /* "gpu=a100": the nodeSelector; empty: it has none */
    int64_t pods, min;            /* that exist and wait; that start together */
    int64_t nodes, usable;        /* usable: by labels, taints and volumes */
    bool partial;                 /* see why_world_set_partial */
    const struct why_lack *lacks; /* the most telling first */
    size_t n_lacks;
    const struct why_reason *reasons; /* the most nodes first */
    size_t n_reasons;
};

/* ---- calls. All texts and arrays live in a, or share the input, which must live as long. */

struct why_world;
/* bound: pods with a node. What a gang has reserved beyond its bound pods is one more of them, with
 * the sum as its need. */
struct why_world *why_world_new(struct arena *a, const struct sched_node *const *nodes,
                                size_t n_nodes, const struct sched_pod *const *bound,
                                size_t n_bound);
/* Not all bound pods are known: what is free is not told, and only "never" is certain. */
void why_world_set_partial(struct why_world *w);
struct why why_of(struct why_world *w, const struct why_unit *unit);

/* "needs 4 nvidia.com/gpu, this machine has 1, 0 free; held by job default/a (1)"; empty for
 * WHY_NOTHING. Without a full stop. */
str why_sentence(struct arena *a, const struct why *why);
bool why_sentence_is_never(str sentence);
/* The same data: {"cause", "sentence", "never", "lacks": [...], "nodes": {...}}. */
jv why_json(struct arena *a, const struct why *why);

/* A scheduler's "0/3 nodes are available: 2 x, 1 y. ..." as its parts; 0: it is no such message. */
size_t why_reasons_read(struct arena *a, str message, const struct why_reason **out);
/* "have the taint a=b, which the pod does not tolerate": what is wrong with n nodes. */
str why_reason_text(struct arena *a, str reason, int64_t n);

/* ---- amounts.c: amounts for people */

str amount_text(struct arena *a, str resource, int64_t n);   /* "8", "500m", "8Gi" */
str resource_text(struct arena *a, str resource, int64_t n); /* "8 CPUs", "8Gi of memory" */
