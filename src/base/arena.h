/* Memory that lives and dies together: one arena a request, reconcile or command. */
#pragma once

#include "base/str.h"

#include <stdarg.h>

struct arena;

struct arena *arena_new(void);
struct arena *arena_new_for(size_t n); /* the first block has room for n bytes, and no more */
void arena_free(struct arena *a);      /* runs the deferred releases, last first */
static inline void arena_auto(struct arena **a)
{
    arena_free(*a);
}

/* Never NULL (out of memory aborts); 16-byte aligned; not cleared. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
/* A copy of n bytes with room for size bytes: arrays grow in an arena by this (vec_push_in). */
void *arena_grow(struct arena *a, const void *from, size_t n, size_t size);
#define ARENA_NEW(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (n)))

/* Copies end in a NUL byte that is not counted, so .p also serves C APIs. */
str arena_str(struct arena *a, str s);
const char *arena_z(struct arena *a, str s);
str arena_lower(struct arena *a, str s); /* ASCII letters only */
str arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
str arena_cat(struct arena *a, str x, str y);

/* Calls release(thing) when the arena goes: lends it a refcounted thing. */
void arena_defer(struct arena *a, void (*release)(void *), void *thing);
size_t arena_size(const struct arena *a); /* bytes taken from the system */
