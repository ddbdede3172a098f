/* Claims and the volumes behind them: what the next step is for each, as a plan of one step at
 * most. Pure; whoever carries it out looks again at what came of it. */
#pragma once

#include "plan/plan.h"

#define LOCAL_PATH             "rancher.io/local-path"
#define ANNOTATION_NODE        "volume.kubernetes.io/selected-node"
#define ANNOTATION_PROVISIONED "pv.kubernetes.io/provisioned-by"
#define FINALIZER_CLAIM        "kubernetes.io/pvc-protection"
#define FINALIZER_VOLUME       "kubernetes.io/pv-protection"

extern const struct kube_resource kube_claims, kube_volumes, kube_classes, kube_nodes,
    kube_namespaces;

/* The class that claims without one get. */
jv local_path_class(struct arena *a);

struct claim_seen {
    jv claim;
    bool in_use;      /* a pod on a node has it, and has not ended */
    jv cls;           /* its StorageClass; absent: there is none of that name */
    jv volume;        /* the one it names, or that was made for it */
    const jv *others; /* the volumes that no claim names or is about to get */
    size_t n_others;
    jv node;     /* the one chosen for it */
    str dir;     /* below which volumes are made */
    bool named;  /* their directories are called as the claims are */
    bool strict; /* a class that is not there makes a claim wait */
};

/* Notes are events on the claim. */
void claim_plan(struct plan *p, const struct claim_seen *seen);
str claim_volume_name(struct arena *a, jv claim); /* what it names, or "pvc-UID" */
bool claim_is_bound(jv claim);
/* Whether it is for the pod that is scheduled first to say where it goes. */
bool claim_waits_for_consumer(const struct claim_seen *seen);

struct volume_seen {
    jv volume;
    jv claim; /* of the name it is for; absent: there is none */
    str dir;
};

/* true: nobody needs what is in its directory any more: that goes before the step is done. */
bool volume_plan(struct plan *p, const struct volume_seen *seen);
/* The directory below dir that was made for it; empty: none was. */
str volume_own_path(jv volume, str dir);
