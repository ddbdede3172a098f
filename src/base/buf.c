/* Bytes that grow by doubling. */

#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ 0 };
}

void buf_grow(struct buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 128;

    while (cap - b->n < n) {
        if (cap > SIZE_MAX / 4)
            abort();
        cap *= 2;
    }
    b->p = mem_resize(b->p, cap);
    b->cap = cap;
}

void buf_add_utf8(struct buf *b, str s)
{
    for (;;) {
        size_t good = str_utf8_prefix(s);
        buf_add(b, str_sub(s, 0, good));
        if (good == s.n)
            return;
        buf_add(b, S("\xef\xbf\xbd"));
        s = str_sub(s, good + 1, s.n);
    }
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0)
        abort();
    vsnprintf(buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt, again);
    b->n += (size_t)n;
    va_end(again);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
}
