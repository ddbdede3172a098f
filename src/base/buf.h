/* Bytes that grow. Embedded: start as { 0 }, end with buf_done. */
#pragma once

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n;
    size_t cap;
};

void buf_done(struct buf *b);
static inline void buf_auto(struct buf *b)
{
    buf_done(b);
}
void buf_grow(struct buf *b, size_t n); /* until it has room for n more bytes */
/* Room for n more bytes; returns where they go. The caller adds to b->n what it wrote. */
static inline char *buf_room(struct buf *b, size_t n)
{
    if (b->cap - b->n < n)
        buf_grow(b, n);
    return b->p + b->n;
}
static inline void buf_add(struct buf *b, str s)
{
    if (s.n == 0 || !s.p)
        return;
    memcpy(buf_room(b, s.n), s.p, s.n);
    b->n += s.n;
}
static inline void buf_addc(struct buf *b, char c)
{
    *buf_room(b, 1) = c;
    b->n++;
}
/* Each byte that is not UTF-8 as U+FFFD. */
void buf_add_utf8(struct buf *b, str s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *b); /* keeps the memory */

static inline str buf_str(const struct buf *b)
{
    return (str){ b->p, b->n };
}
