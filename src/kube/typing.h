/* Walking objects beside their schema, in the way structured-merge-diff does it: what is a leaf,
 * how list elements are named, which fields a value has, and where two values differ. */
#pragma once

#include "kube/fieldset.h"
#include "kube/schema.h"

/* The schema of a member, or NULL: unknown. *hint (start with 0) makes looking up members in about
 * the order of the fields cheap, which is how decoded objects come. */
const struct schema *typing_member(const struct schema *s, str name, size_t *hint);

/* How a value is seen. A NULL schema is as SCHEMA_ANY: maps by member, lists whole. */
enum typing { TYPING_LEAF, TYPING_MAP, TYPING_LIST };
enum typing typing_of(const struct schema *s, jv v);
/* The same by schema alone: false for what is replaced whole. */
bool typing_is_list(const struct schema *s); /* elements have names */

/* How an element of list s is named: by its key fields or its value. NULL, or why it cannot be. */
const char *typing_element(struct arena *a, const struct schema *s, jv child,
                           struct field_element *out);

struct typed_item {
    struct field_element el;
    jv v;
    size_t place; /* in the list */
};
/* The elements of a list that can be named; sorted by name (and place) if asked to. */
struct typed_item *typing_items(struct arena *a, const struct schema *s, jv list, bool sorted,
                                size_t *n);

/* All fields that v sets: what an applier of v owns. */
struct fieldset typing_fields(struct arena *a, const struct schema *s, jv v);
/* What whoever creates v owns: the difference to an object that Go has just made. */
struct fieldset typing_created(struct arena *a, const struct schema *s, jv v);
/* set, with the fields that have longer paths in it made members, if they are fields of s. */
struct fieldset typing_named(struct arena *a, const struct schema *s, struct fieldset set);

struct typed_diff {
    struct fieldset removed;
    struct fieldset modified;
    struct fieldset added;
};
struct typed_diff typing_compare(struct arena *a, const struct schema *s, jv before, jv after);

/* config laid over live: lists by element in config's order, leaves from config. */
jv typing_merge(struct arena *a, const struct schema *s, jv live, jv config);
/* v without the fields of set. */
jv typing_remove(struct arena *a, const struct schema *s, jv v, struct fieldset set);

/* 0, or -1 with all that is wrong with an applied object in *why, in Kubernetes' words. */
int typing_check(struct arena *a, const struct schema *s, jv v, str *why);
