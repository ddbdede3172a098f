/* Memory from the heap, to be given back with free(). Asking never fails: out of memory aborts, as
 * state is on disk and whoever starts us again finds it there. */
#pragma once

#include <stdlib.h>

__attribute__((returns_nonnull)) static inline void *mem_or_abort(void *p)
{
    if (!p)
        abort();
    return p;
}

/* All zero: struct x *x = mem_new(sizeof(*x)); */
static inline void *mem_new(size_t size)
{
    return mem_or_abort(calloc(1, size));
}

/* n of them, all zero. */
static inline void *mem_array(size_t n, size_t size)
{
    return mem_or_abort(calloc(n, size));
}

/* Not set to anything. */
static inline void *mem_room(size_t size)
{
    return mem_or_abort(malloc(size));
}

static inline void *mem_resize(void *p, size_t size)
{
    return mem_or_abort(realloc(p, size));
}
