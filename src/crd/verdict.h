/* What a value's check found: flaws, each said once, and how many checks it went through, by which
 * anyOf and oneOf choose whose flaws to tell. */
#pragma once

#include "kube/problem.h"

struct flaw {
    enum problem_type type;
    bool shapeless; /* told of the whole object: `"spec" must validate ...` */
    str name;       /* "spec.replicas", below the prefix */
    str text;       /* as told apart, and the detail */
    jv value;       /* shown; absent: "" */
    jv enums;       /* NOT_SUPPORTED */
    int64_t limit;  /* TOO_LONG, TOO_MANY */
};

struct verdict {
    struct arena *a;
    bool quiet;    /* flaws are counted and not kept: whoever asks again gets the words */
    size_t *spent; /* bytes of words made by all verdicts of one object, those dropped too */
    struct pattern_work *patterns; /* of one object */
    struct flaw *at;
    size_t n;
    size_t cap;
    int matches;
};

/* The flaw at hand needs no words: nobody wants any, or there are more than enough. It counts. */
bool verdict_is_full(struct verdict *v);
void verdict_add(struct verdict *v, struct flaw f);
void verdict_merge(struct verdict *into, const struct verdict *from);
void verdict_tell(const struct verdict *v, struct problems *ps, const struct path *prefix);
