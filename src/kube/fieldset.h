/* Sets of fields, as server-side apply keeps them: a trie of path elements, sorted on each level.
 * Immutable once made; sets share their parts. FieldsV1 is their JSON form. */
#pragma once

#include "base/json.h"

/* In the order in which elements sort. */
enum field_kind { FIELD_NAME, FIELD_KEY, FIELD_VALUE, FIELD_INDEX };

struct field_element {
    enum field_kind kind;
    str name;      /* FIELD_NAME */
    jv value;      /* FIELD_KEY: an object with sorted members; FIELD_VALUE: a scalar */
    int64_t index; /* FIELD_INDEX */
};

struct fieldset {
    const struct field_node *at; /* sorted, no two alike */
    size_t n;
};

struct field_node {
    struct field_element el;
    bool member;         /* the path that ends here is in the set */
    struct fieldset sub; /* longer paths */
};

int field_cmp(const struct field_element *x, const struct field_element *y);
static inline struct field_element field_named(str name)
{
    return (struct field_element){ .kind = FIELD_NAME, .name = name };
}

/* Collects the nodes of one level in any order; alike ones are united. */
struct field_builder {
    struct arena *a;
    struct field_node *at;
    size_t n;
    size_t cap;
    bool unsorted;
};
void field_add(struct field_builder *b, struct field_element el, bool member, struct fieldset sub);
struct fieldset field_done(struct field_builder *b);

static inline bool fieldset_is_empty(struct fieldset s)
{
    return s.n == 0;
}
bool fieldset_equal(struct fieldset x, struct fieldset y);
struct fieldset fieldset_union(struct arena *a, struct fieldset x, struct fieldset y);
struct fieldset fieldset_intersection(struct arena *a, struct fieldset x, struct fieldset y);
/* x without the paths of y; longer paths stay. */
struct fieldset fieldset_difference(struct arena *a, struct fieldset x, struct fieldset y);
/* x without the paths of y and all that is below them. */
struct fieldset fieldset_difference_deep(struct arena *a, struct fieldset x, struct fieldset y);
const struct field_node *fieldset_find(struct fieldset s, const struct field_element *el);
/* The set of one path of names, as "metadata.labels". */
struct fieldset fieldset_path(struct arena *a, str dotted);

/* FieldsV1. Unknown kinds of elements are left out, as Kubernetes does. */
int fieldset_parse(struct arena *a, jv fields, struct fieldset *out, struct err *e);
jv fieldset_json(struct arena *a, struct fieldset s);

/* Calls f with the text of each path (".spec.containers[name=\"a\"].image"), members of a level
 * before longer paths. */
void fieldset_each(struct arena *a, struct fieldset s, void (*f)(void *ctx, str path), void *ctx);
void field_print(struct buf *b, const struct field_element *el); /* one element of such a text */
