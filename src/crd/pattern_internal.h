/* Regular expressions: what parsing, compiling and matching share. */
#pragma once

#include "crd/pattern.h"

enum { RUNE_MAX = 0x10ffff, RE_NEST_MAX = 1000, RE_REPEAT_MAX = 1000 };

/* ---- sets of runes: pattern_set.c */

struct re_range {
    uint32_t lo;
    uint32_t hi;
};

struct re_set {
    struct re_range *at;
    size_t n;
    size_t cap;
};

/* What Unicode says, as far as one expression asked. */
struct re_tables {
    struct arena *a;
    const struct re_fold *folds; /* NULL: not asked for */
    size_t n_folds;
    struct re_property *properties;
};

void set_add(struct arena *a, struct re_set *s, uint32_t lo, uint32_t hi);
void set_normalize(struct re_set *s); /* sorts and joins */
void set_negate(struct arena *a, struct re_set *s);
/* Each adds a set to s: folded, with all that differs in case alone; then negated. */
void set_add_set(struct re_tables *t, struct re_set *s, struct re_set *more, bool fold,
                 bool negate);
/* \d and its like by their letter; POSIX classes by name; Unicode categories and scripts ("L",
 * "^Greek"). False: there is none of that name. */
bool set_add_perl(struct re_tables *t, struct re_set *s, int letter, bool fold);
bool set_add_posix(struct re_tables *t, struct re_set *s, str name, bool fold);
bool set_add_property(struct re_tables *t, struct re_set *s, str name, bool fold, bool negate);

/* ---- the tree: pattern_syntax.c */

enum re_op { RE_EMPTY, RE_SET, RE_ASSERT, RE_CAT, RE_ALT, RE_REPEAT };

enum re_assert { /* bits */
                 ASSERT_BEGIN = 1,
                 ASSERT_END = 2,
                 ASSERT_LINE_BEGIN = 4,
                 ASSERT_LINE_END = 8,
                 ASSERT_WORD = 16,
                 ASSERT_NOT_WORD = 32,
};

struct re_node {
    enum re_op op;
    unsigned assertion;
    int min, max; /* REPEAT; max -1: any number */
    const struct re_set *set;
    struct re_node *kid; /* the last of CAT and ALT */
    struct re_node *prev;
};

/* NULL: refused. */
const struct re_node *re_parse(struct arena *a, str text, struct err *e);

/* ---- the program: pattern_compile.c */

enum inst_op { INST_SET, INST_SPLIT, INST_ASSERT, INST_MATCH };

struct inst {
    uint32_t op : 2;
    uint32_t arg : 30; /* SET: which; SPLIT: the other way; ASSERT: bits */
    uint32_t out;
};

/* Runes that no set tells apart are one class; a set is made of ranges of classes. */
struct crd_pattern {
    struct inst *insts;
    uint32_t n;
    uint32_t start;
    const struct re_set *sets; /* of classes */
    const uint32_t *firsts;    /* the first rune of each class */
    uint32_t n_classes;
    uint32_t ascii[128]; /* their classes */
    unsigned asserts;    /* bits of those that there are */
    bool anchored;       /* matches from the start of the text only */
};

uint32_t pattern_class(const struct crd_pattern *p, uint32_t rune);
