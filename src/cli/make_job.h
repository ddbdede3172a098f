/* A job made from a command and a few words, for people who have no YAML. Pure: what to make in,
 * the object out. */
#pragma once

#include "base/err.h"
#include "base/json.h"

/* Stands for "no image": on this machine it runs on the machine's own files. */
#define MAKE_IMAGE_HERE "localhost/this-machine"
#define MAKE_KINDS      "pytorch|tf|jax|mpi|xgboost|paddle"

struct make_opts {
    const char *kind; /* one of MAKE_KINDS; NULL: a pod */
    int64_t replicas; /* in all, if has_replicas */
    bool has_replicas;
    const char *roles; /* "worker=4,ps=2"; NULL: by replicas */
    int64_t gpus;      /* 0: none */
    const char *cpu;   /* a quantity; NULL: not said, as all that follows */
    const char *memory;
    const char *name; /* NULL: from the command */
    const char *ns;
    const char *image;
    const char *nproc_per_node;
    const char *const *command;
    int n_command;
    str files;     /* ConfigMap that holds the scripts; STR_NONE: none */
    str files_dir; /* where it is mounted, and where the command starts */
};

/* The object; absent: *e says what is wrong with what was asked. Borrows the words of o. */
jv make_job(struct arena *a, const struct make_opts *o, struct err *e);
/* The name that the job gets: o->name, or one made from the command. */
str make_name(struct arena *a, const struct make_opts *o);
