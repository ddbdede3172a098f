/* Filling in defaults: an object is copied once, and only if something changes. Values are copied
 * into place at once, so LSTR() and LINT() may be handed in. */
#pragma once

#include "base/json.h"

struct edit {
    struct arena *a;
    jv was;
    struct jnode *nodes; /* NULL: nothing has changed yet */
    uint32_t n;          /* members */
    uint32_t cap;
};

/* Values that live to the end of the enclosing block. */
#define LSTR(lit) \
    ((jv){ &(const struct jnode){ .type = JV_STR, .n = sizeof(lit) - 1, .u.text = (lit) } })
#define LINT(num) ((jv){ &(const struct jnode){ .type = JV_INT, .u.i = (num) } })

typedef jv edit_fn(struct arena *a, jv v);

struct edit edit(struct arena *a, jv obj); /* absent or null: an empty object to fill */
jv edit_get(const struct edit *e, str key);
void edit_set(struct edit *e, str key, jv value); /* absent: removes */
/* Sets what is absent, null or "". */
void edit_default(struct edit *e, str key, jv value);
/* Sets what is absent, null or 0: fields that Go keeps as plain integers. */
void edit_default_zero(struct edit *e, str key, int64_t value);
/* Applies f to a member that is an object. */
void edit_in(struct edit *e, str key, edit_fn *f);
/* Applies f to each element of a member that is a list. */
void edit_each(struct edit *e, str key, edit_fn *f);
jv edit_done(struct edit *e);

jv edit_list(struct arena *a, jv list, edit_fn *f); /* shares the list if nothing changes */
/* The member of an object that may be missing, made by f. */
jv edit_member(struct arena *a, jv obj, str key, edit_fn *f);
