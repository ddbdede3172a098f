/* Who depends on whom: from the uid of an owner to the objects that name it. */
#pragma once

#include "base/json.h"
#include "base/map.h"
#include "store/store.h"

struct gc_edge { /* one dependent of one owner */
    struct gc_edge *next, *prev;
    struct gc_owner *owner;
    struct gc_dependent *of;
    bool blocks; /* blockOwnerDeletion */
};

struct gc_dependent {
    struct store_coll *coll;
    str key;
    size_t n;
    struct gc_edge edges[];
};

struct gc_index {
    struct map owners;     /* by uid */
    struct map dependents; /* by collection and key */
};

void gc_index_done(struct gc_index *x);
/* Puts the owner references of an object in place of those it had; meta absent: none. One that
 * names the object itself is left out: it would wait for its own end. */
void gc_index_set(struct gc_index *x, struct store_coll *coll, str key, jv meta);
/* The first edge of an owner, NULL if nobody depends on it; then ->next. */
struct gc_edge *gc_index_of(const struct gc_index *x, str uid);
/* How many of them keep their owner until they are gone. */
size_t gc_index_blocking(const struct gc_index *x, str uid);
