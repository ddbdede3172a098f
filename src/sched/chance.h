/* Whether a pod that has not started can start: a pure function of the pod, the nodes and what its
 * events say. */
#pragma once

#include "sched/sched.h"

enum chance {
    CHANCE_FINE,  /* it runs, has ended, or is being started */
    CHANCE_LATER, /* it waits for something that may come: room, a volume, a node */
    CHANCE_NEVER, /* it waits for something that nobody here is going to provide */
};

struct chance_in {
    jv pod;
    const struct sched_node *const *nodes;
    size_t n_nodes;
    bool own;          /* the cluster is the caller's alone: no other client creates objects */
    str mount_failure; /* message of the pod's last FailedMount event; empty: none */
    bool made;         /* the job was made from --cpu, --memory and --gpus */
    str where;         /* path of the pod's spec in the job: "spec.tfReplicaSpecs.Worker..." */
};

struct chance_out {
    enum chance chance;
    str what; /* CHANCE_NEVER: "asks for 8 CPUs, this machine has 2" */
    str help; /* what can be done about it */
};

/* Texts live in a, or share the input. */
struct chance_out chance_of(struct arena *a, const struct chance_in *in);
