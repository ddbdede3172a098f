/* What a client sends as SPDY: in one piece or in two, it means the same. */

#include "base/buf.h"
#include "http/spdy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint64_t frames, bytes, sum;
};

static void on_open(void *ctx, uint32_t id, bool fin, const struct spdy_headers *h)
{
    struct seen *s = ctx;

    s->frames++;
    s->sum = s->sum * 31 + id + fin;
    for (size_t i = 0; i < h->n; i++)
        s->sum = s->sum * 31 + str_hash(h->at[i].name) + str_hash(h->at[i].value);
}

static void on_data(void *ctx, uint32_t id, str bytes, bool fin)
{
    struct seen *s = ctx;

    s->bytes += bytes.n;
    s->frames += fin;
    for (size_t i = 0; i < bytes.n; i++)
        s->sum = s->sum * 31 + id + (uint8_t)bytes.p[i];
}

static void on_id(void *ctx, uint32_t id)
{
    struct seen *s = ctx;

    s->frames++;
    s->sum = s->sum * 31 + id;
}

static void on_leave(void *ctx)
{
    on_id(ctx, 0);
}

static int feed(const uint8_t *data, size_t size, size_t cut, struct seen *s)
{
    struct spdy_parser p = { .on_open = on_open,
                             .on_data = on_data,
                             .on_reset = on_id,
                             .on_ping = on_id,
                             .on_leave = on_leave,
                             .ctx = s };
    str all = { (const char *)data, size };
    int rc = spdy_parser_feed(&p, str_sub(all, 0, cut));

    if (rc == 0)
        rc = spdy_parser_feed(&p, str_sub(all, cut, size));
    spdy_parser_done(&p);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen one = { 0 }, two = { 0 };
    int first = feed(data, size, size, &one);
    int second = feed(data, size, size / 2, &two);

    if (first != second || one.frames != two.frames || one.bytes != two.bytes ||
        one.sum != two.sum || one.bytes > size)
        abort();
    return 0;
}
