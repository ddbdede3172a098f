/* Inside CEL: the tree, and what parsing, typing and running share. */
#pragma once

#include "crd/cel.h"
#include "crd/pattern.h"
#include "kube/members.h"

enum cel_op {
    CEL_LITERAL,
    CEL_IDENT,
    CEL_SELECT, /* kids[0].name */
    CEL_HAS,    /* has(kids[0].name) */
    CEL_INDEX,
    CEL_CALL, /* name(kids...), the first being the receiver if is_method */
    CEL_MAKE_LIST,
    CEL_MAKE_MAP, /* keys and values in turn */
    CEL_MACRO,    /* kids[0].name(variable, kids[1] [, kids[2]]) */
    CEL_COND,
    CEL_AND,
    CEL_OR,
    CEL_NOT,
    CEL_NEG,
    CEL_ADD,
    CEL_SUB,
    CEL_MUL,
    CEL_DIV,
    CEL_MOD,
    CEL_EQ,
    CEL_NE,
    CEL_LT,
    CEL_LE,
    CEL_GT,
    CEL_GE,
    CEL_IN,
};

enum { CEL_MAX_KIDS = 32, CEL_MAX_DEPTH = 64, CEL_MAX_HEIGHT = 500, CEL_MAX_VARS = 8 };

struct cel_func;

struct cel_node {
    enum cel_op op;
    bool is_method;
    str name;     /* a field, function, macro or identifier */
    str variable; /* of a macro */
    struct cel_value literal;
    struct cel_node **kids;
    size_t n;
    size_t height; /* nodes below it on the longest way: long chains nest to the left */
    struct cel_type type;
    size_t slot; /* IDENT, MACRO: which variable; 0 self, 1 oldSelf */
    const struct cel_func *func;
    const struct crd_pattern *pattern; /* of matches() */
};

struct cel_program {
    struct cel_node *root;
    bool uses_old;
    const struct schema *self;
};

struct cel_node *cel_parse(struct arena *a, str text, struct err *e);
int cel_check(struct arena *a, struct cel_node *n, const struct schema *self, bool *uses_old,
              struct err *e);
/* The schema of a field that rules may name; NULL: none. */
const struct schema *cel_field(const struct schema *s, str name);

/* ---- functions: one row each */

struct cel_env; /* where an expression runs */
typedef int cel_call(struct cel_env *env, const struct cel_node *n, const struct cel_value *args,
                     struct cel_value *out);
struct cel_func {
    const char *name;
    bool is_method;
    enum cel_kind args[4]; /* the receiver first; CEL_DYN: any */
    enum cel_kind result;
    enum cel_kind item; /* of a list; CEL_NONE: as the receiver's */
    cel_call *call;
};
const struct cel_func *cel_func_find(const struct cel_node *n);

enum { CEL_INDEXES = 4 };

struct cel_env {
    struct arena *a;
    struct cel_value vars[CEL_MAX_VARS];
    size_t steps_left;
    size_t bytes_left;
    bool spent; /* one of both was not enough: the run is over, whatever && and || make of it */
    struct members *index[CEL_INDEXES]; /* of large objects, by turns */
    size_t n_indexes;
    struct pattern_work *patterns;
    struct err *e;
};

/* Takes from what the run may spend. -1: there is not enough left, and e says so. */
int cel_spend_steps(struct cel_env *env, size_t n);
/* The same for a value about to be made; bytes cost steps too. */
int cel_spend_bytes(struct cel_env *env, size_t n);

struct cel_value cel_json(jv json, const struct schema *s);
size_t cel_len(const struct cel_value *v); /* elements, members or runes */
struct cel_value cel_item(const struct cel_value *list, size_t i);
/* False, too, where the run has no steps left. */
bool cel_equal(struct cel_env *env, const struct cel_value *a, const struct cel_value *b);
int cel_compare(const struct cel_value *a, const struct cel_value *b); /* of one order */
bool cel_find(struct cel_env *env, const struct cel_value *map, str key, struct cel_value *out);
