/* A part of CEL, the language of x-kubernetes-validations: enough for most rules that definitions
 * carry. Expressions are typed against the schema when compiled, so that what is outside of this
 * part is known then: it is told in a warning, not enforced. */
#pragma once

#include "kube/schema.h"

enum cel_kind {
    CEL_NONE, /* no argument, no receiver */
    CEL_DYN,  /* known when run: int-or-string */
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_LIST,
    CEL_MAP,
    CEL_TYPE, /* int, string ... as values */
};

struct cel_type {
    enum cel_kind kind;
    const struct schema *schema; /* LIST and MAP that come from objects */
    const struct cel_type *item; /* LIST, and MAP without fields: what is in it */
};

struct cel_value {
    enum cel_kind kind;
    bool b;
    int64_t i; /* TYPE: an enum cel_kind */
    double d;
    str s;
    jv json;                     /* LIST and MAP from objects ... */
    const struct schema *schema; /* ... with the schema of what json is; may be NULL */
    const struct cel_value *at;  /* made ones: elements, or keys and values in turn */
    size_t n;
};

struct cel_program;

/* NULL: outside of our part, or wrong; e says which. Lives in a. */
const struct cel_program *cel_compile(struct arena *a, str text, const struct schema *self,
                                      struct err *e);
enum cel_kind cel_result(const struct cel_program *p);
bool cel_uses_old(const struct cel_program *p);

/* What the rules on one object may take, all of them and each run. */
struct cel_budget {
    size_t steps_left;
    size_t run_steps;
    size_t run_bytes;
    struct pattern_work *patterns; /* of matches() */
};

/* brief: a few milliseconds. Lives in a. */
struct cel_budget cel_budget(struct arena *a, bool brief);
/* e holds cel-go's words on failure: "no such key: x", "division by zero". ERR_TOO_LARGE: the
 * budget was not enough. */
int cel_run(const struct cel_program *p, struct arena *a, jv self, jv old, struct cel_budget *b,
            struct cel_value *out, struct err *e);
