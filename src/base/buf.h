/* Bytes that grow. Embedded: start as { 0 }, end with buf_done. */
#pragma once

#include "base/str.h"

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
/* Room for n more bytes; returns where they go. The caller adds to b->n what it wrote. */
char *buf_room(struct buf *b, size_t n);
void buf_add(struct buf *b, str s);
void buf_addc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *b); /* keeps the memory */

static inline str buf_str(const struct buf *b)
{
    return (str){ b->p, b->n };
}
