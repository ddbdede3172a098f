/* Bump allocation out of blocks that double up to 64 KB; large pieces get a block of their own. */

#include "base/arena.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 65536 };

struct block {
    struct block *next;
    size_t size;
    _Alignas(16) char data[];
};

struct deferred {
    struct deferred *next;
    void (*release)(void *);
    void *thing;
};

struct arena {
    struct block *blocks;
    char *at;
    char *end;
    struct deferred *deferred;
    size_t next_size;
    size_t total;
};

struct arena *arena_new(void)
{
    struct arena *a = mem_new(sizeof(*a));

    a->next_size = FIRST_BLOCK;
    return a;
}

struct arena *arena_new_for(size_t n)
{
    struct arena *a = arena_new();

    a->next_size = n < 16 ? 16 : (n + 15) & ~(size_t)15;
    return a;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct deferred *d = a->deferred; d; d = d->next)
        d->release(d->thing);
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static struct block *block_add(struct arena *a, size_t size)
{
    struct block *b = mem_room(sizeof(*b) + size);

    b->size = size;
    b->next = a->blocks;
    a->blocks = b;
    a->total += sizeof(*b) + size;
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n > SIZE_MAX / 2)
        abort();
    n = ((n ? n : 1) + 15) & ~(size_t)15; /* nothing too has an address */
    if (n <= (size_t)(a->end - a->at)) {
        void *p = a->at;
        a->at += n;
        return p;
    }
    if (n > a->next_size / 4 && a->next_size == LARGEST_BLOCK)
        return block_add(a, n)->data; /* the current block stays in use */
    while (a->next_size < n && a->next_size < LARGEST_BLOCK)
        a->next_size *= 2;
    if (n > a->next_size)
        return block_add(a, n)->data;
    struct block *b = block_add(a, a->next_size);
    a->at = b->data + n;
    a->end = b->data + b->size;
    if (a->next_size < LARGEST_BLOCK)
        a->next_size *= 2;
    return b->data;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_grow(struct arena *a, const void *from, size_t n, size_t size)
{
    void *to = arena_alloc(a, size);

    if (n)
        memcpy(to, from, n);
    return to;
}

str arena_str(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return (str){ p, s.n };
}

const char *arena_z(struct arena *a, str s)
{
    return arena_str(a, s).p;
}

str arena_lower(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] - 'A' + 'a' : s.p[i]);
    p[s.n] = 0;
    return (str){ p, s.n };
}

str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    char few[128]; /* most texts are short: these are formatted once */
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(few, sizeof(few), fmt, ap);
    if (n < 0)
        abort();
    char *p = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof(few))
        memcpy(p, few, (size_t)n + 1);
    else
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (str){ p, (size_t)n };
}

str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

str arena_cat(struct arena *a, str x, str y)
{
    char *p = arena_alloc(a, x.n + y.n + 1);

    if (x.n)
        memcpy(p, x.p, x.n);
    if (y.n)
        memcpy(p + x.n, y.p, y.n);
    p[x.n + y.n] = 0;
    return (str){ p, x.n + y.n };
}

void arena_defer(struct arena *a, void (*release)(void *), void *thing)
{
    struct deferred *d = arena_alloc(a, sizeof(*d));

    *d = (struct deferred){ a->deferred, release, thing };
    a->deferred = d;
}

size_t arena_size(const struct arena *a)
{
    return a->total;
}
