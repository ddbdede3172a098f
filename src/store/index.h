/* The objects of one collection in key order: a sorted array cut into chunks. 8 bytes a place, no
 * pointers in the objects but one to the chunk, so stepping on costs no search. */
#pragma once

#include "store/store.h"

struct chunk;

/* An object, and the one copy of its key that index, history and pending writes share. */
struct obj {
    struct store_obj pub; /* first: the public pointer is ours */
    int64_t id;           /* its row */
    struct chunk *chunk;  /* NULL: not in the index */
    uint32_t refs;        /* loop thread only */
    char text[];          /* the key */
};

struct obj *obj_new(str key);
struct obj *obj_ref(struct obj *o);
void obj_unref(struct obj *o);
static inline struct obj *obj_of_key(str key) /* the object whose text this is */
{
    /* borrowed as const, but ours to count */
    return (struct obj *)(void *)((uintptr_t)key.p - offsetof(struct obj, text));
}

struct index {
    struct chunk **chunks;
    size_t n_chunks;
    size_t cap;
    size_t n;
};

void index_done(struct index *x); /* lets the objects go too */
struct obj *index_get(const struct index *x, str key);
struct obj *index_seek(const struct index *x, str from); /* first with key >= from */
struct obj *index_next(const struct obj *o);
void index_insert(struct index *x, struct obj *o); /* takes the reference; its key is not there */
void index_remove(struct index *x, struct obj *o); /* and lets it go */
