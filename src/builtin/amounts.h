/* Resource lists to reckon with: amounts by name, sorted as Go shows maps. Names are borrowed. */
#pragma once

#include "base/quantity.h"

struct amount {
    str name;
    struct quantity q;
};

struct amounts {
    struct arena *a;
    struct amount *at;
    size_t n;
    size_t cap;
};

static inline struct amounts amounts_new(struct arena *a)
{
    return (struct amounts){ .a = a };
}
/* A resource list of an object, such as requests; absent: none. */
struct amounts amounts_of(struct arena *a, jv list);

const struct quantity *amounts_get(const struct amounts *l, str name); /* NULL: not there */
void amounts_set(struct amounts *l, str name, const struct quantity *q);
void amounts_set_int(struct amounts *l, str name, int64_t n);
void amounts_add_one(struct amounts *l, str name, const struct quantity *q);
void amounts_add(struct amounts *to, const struct amounts *more);
/* n times `more`. */
void amounts_add_times(struct amounts *to, const struct amounts *more, int64_t n);
/* What is not in `from` is left alone: for what was added there before. */
void amounts_sub(struct amounts *from, const struct amounts *less);
void amounts_max(struct amounts *to, const struct amounts *other); /* the greater ones */
/* Only the names of `which`. */
struct amounts amounts_mask(struct arena *a, const struct amounts *l, const struct amounts *which);
void amounts_drop_zeros(struct amounts *l);

jv amounts_json(struct arena *a, const struct amounts *l);
str amounts_text(struct arena *a, const struct amounts *l); /* "cpu=1,pods=2" */
