/* Answers of many objects. */
#pragma once

#include "api/request.h"

struct list_meta {
    int64_t rev;
    str cont;          /* empty: the last page */
    int64_t remaining; /* 0: none, or not known */
};

struct list_found {
    struct list_meta meta;
    struct store_item *items; /* in r->a */
    size_t n;
};

/* What is looked at in a turn of the loop (L1): bytes of stored objects, at least one object. */
enum { LIST_SLICE_BYTES = 512 * 1024 };

/* What selectors, page and revision of the request choose, looked for in slices: then found(ctx),
 * at once where that is quick, or later. Not called where the request was refused. */
void list_find(struct api_req *r, struct list_found *out, void (*found)(void *ctx), void *ctx);

/* items live in r->a and keep their values until the answer is through. */
void answer_list(struct api_req *r, struct list_meta m, const struct store_item *items, size_t n);
