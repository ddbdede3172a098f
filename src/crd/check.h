/* Checking a value: the keywords that look at one value only, and how flaws are told. Shared by
 * check_keyword.c and check_value.c, which walks. */
#pragma once

#include "base/map.h"
#include "crd/rules.h"
#include "crd/verdict.h"

/* A value and what it was, walked down together by the structural schema. */
struct pair {
    const struct schema *schema;
    jv now;
    jv old;
};

/* As it was before; what cannot be followed by the schema counts as changed. */
bool pair_unchanged(const struct pair *p);

/* The elements of a list, or the members of an object, as they were. p may be NULL, and outlives
 * it.
 */
struct old_list {
    const struct pair *pair;
    struct map by_keys; /* of large ones: place + 1 */
    struct arena *a;
};
void old_list_init(struct old_list *l, const struct pair *p);
void old_list_done(struct old_list *l);
/* The old element with the same keys; absent: none, or the list is not told apart by keys. */
jv old_list_find(const struct old_list *l, jv element);
jv old_list_get(const struct old_list *l, str key); /* the old member */
/* The pair of an element or member; false: there is nothing to compare with. */
bool pair_index(const struct old_list *l, size_t i, struct pair *out);
bool pair_key(const struct old_list *l, str key, jv now, struct pair *out);

struct at { /* where we are */
    const struct path *path;
    const struct pair *pair; /* NULL: nothing to compare with */
};

/* A flaw of the value at hand; the words come after "spec.x in body ". */
void flaw_add(struct verdict *out, struct at at, struct flaw f, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* One that is told of the whole object; the words come after "\"spec.x\" ". */
void flaw_add_shapeless(struct verdict *out, struct at at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* One in words of its own. */
void flaw_add_plain(struct verdict *out, struct at at, jv value, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void keyword_type(struct verdict *out, const struct schema *s, struct at at, jv v);
void keyword_string(struct verdict *out, const struct crd_rules *r, struct at at, jv v);
void keyword_number(struct verdict *out, const struct crd_rules *r, struct at at, jv v);
void keyword_enum(struct verdict *out, const struct crd_rules *r, struct at at, jv v);
