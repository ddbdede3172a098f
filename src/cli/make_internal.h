/* What the files that make jobs share: a kind is a row. */
#pragma once

#include "cli/make_job.h"
#include "cli/make_words.h"
#include "job/kinds.h"

struct make_role {
    const char *name;
    bool is_added;  /* there is one unless --role says otherwise */
    bool is_extra;  /* not one of --replicas */
    bool has_none;  /* no GPU, processor or memory is asked for it */
    bool no_gpu;    /* only no GPU */
    bool is_called; /* has no command: others start programs in it */
    bool serves;    /* does not end by itself */
};

struct make;

struct make_row {
    const char *word;
    const char *kind;
    struct make_role
        roles[MANY_ROLES]; /* ends with an empty one; Worker takes what --replicas leaves */
    jv (*wrap)(const struct make *m); /* the command in its launcher; NULL: as it is */
    jv (*per_node)(const struct make *m);
    const char *per_node_field; /* in spec; NULL: none */
    const char *success;        /* spec.successPolicy; NULL: none */
    bool per_node_words;        /* auto, cpu and gpu stand for numbers */
    bool is_unbuffered;         /* lines are shown as they are written without our help */
    const char *const *env;     /* name, value, ...; NULL ends it */
};

struct make {
    struct arena *a;
    const struct make_opts *o;
    const struct make_row *row;
    const struct job_kind *kind;
    struct words words;
    int64_t count[MANY_ROLES];
    int64_t per_node; /* 0: not said, or a word */
    int64_t ranks;    /* of an MPI job */
};

extern const struct make_row make_pod;
const struct make_row *make_row_find(const char *word); /* NULL: no such kind */
