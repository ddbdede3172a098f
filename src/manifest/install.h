/* Everything that a cluster needs to run Muster: definitions, rights, and the operator itself. */
#pragma once

#include "job/kinds.h"

enum { MANIFEST_KINDS = 16 };

struct manifest_options {
    const struct job_kind *kinds[MANIFEST_KINDS];
    size_t n_kinds;
    bool is_some; /* kinds are less than all */
    str watched;  /* the namespace whose jobs are handled; empty: all */
    str home;     /* the namespace of the operator */
    str image;
    int64_t replicas;
    str gang;           /* as --gang-scheduler-name; empty: off */
    bool like_original; /* names, labels and Service of Kubeflow's training operator */
};

enum manifest_part { MANIFEST_CRDS, MANIFEST_RBAC, MANIFEST_INSTALL, MANIFEST_UNINSTALL };

/* An array of objects, in the order in which to create them. For MANIFEST_UNINSTALL what to delete,
 * in that order, by name alone: neither definitions nor namespaces, whose jobs would go with them.
 */
jv manifest_objects(struct arena *a, const struct manifest_options *o, enum manifest_part part);

/* ---- what these are made of */

/* Replaces the words $name, $home, $watched and $image, and the keys and values of labels. */
jv manifest_fill(struct arena *a, const struct manifest_options *o, const char *yaml);
void manifest_rbac(struct jbuild *b, const struct manifest_options *o);     /* rbac.c */
void manifest_users(struct jbuild *b, const struct manifest_options *o);    /* users.c */
void manifest_operator(struct jbuild *b, const struct manifest_options *o); /* operator.c */
/* The rules of these kinds, not more than needed. cluster_wide: those of resources without a
 * namespace; else the others. */
jv manifest_rules(struct arena *a, const struct manifest_options *o, bool cluster_wide);
