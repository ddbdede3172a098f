/* A compiled path: shared by the files of kube/jsonpath; nobody else needs it. */
#pragma once

#include "kube/jsonpath.h"

enum step_type {
    STEP_FIELD,
    STEP_ALL,
    STEP_RECURSIVE,
    STEP_SLICE,
    STEP_FILTER,
    STEP_UNION,
    STEP_VALUE
};

enum filter_op { FILTER_EXISTS, FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE };

struct jsonpath { /* steps, one after the other */
    struct step *at;
    size_t n;
    size_t cap;
};

struct slice_bound {
    bool known;
    bool derived; /* [i] is [i:i+1] */
    int64_t value;
};

struct step {
    enum step_type type;
    str name;                      /* FIELD */
    jv value;                      /* VALUE: a literal */
    struct slice_bound bounds[3];  /* SLICE: from, to, step */
    enum filter_op op;             /* FILTER */
    const struct jsonpath *left;   /* FILTER */
    const struct jsonpath *right;  /* FILTER */
    const struct jsonpath **parts; /* UNION */
    size_t n_parts;
};
