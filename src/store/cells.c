/* Table leaf pages by hand (https://www.sqlite.org/fileformat2.html#b_tree_pages). Nothing found
 * here is believed: every number is checked against the page, and rows have checksums. Overflow and
 * freed pages begin with a zero byte, as no file has 2^24 pages, and are passed over. */

#include "store/cells.h"

#include "base/limits.h"

enum {
    PAGE_HEADER = 8,
    FILE_HEADER = 100,
    LOCAL_MAX = DB_PAGE_BYTES - 35,
    LOCAL_MIN = (DB_PAGE_BYTES - 12) * 32 / 255 - 23,
    OVERFLOW_BYTES = DB_PAGE_BYTES - 4,
    PAYLOAD_MAX = 8 * LIMIT_OBJECT_BYTES,
};

struct reader {
    const unsigned char *p;
    const unsigned char *end;
    bool failed;
};

static uint64_t varint(struct reader *r)
{
    uint64_t n = 0;

    for (int i = 0; i < 9; i++) {
        if (r->p >= r->end) {
            r->failed = true;
            return 0;
        }
        unsigned char c = *r->p++;
        if (i == 8)
            return n << 8 | c;
        n = n << 7 | (c & 0x7f);
        if (!(c & 0x80))
            break;
    }
    return n;
}

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The payload that begins at r, overflow pages included. */
static bool gather(const struct pages *p, struct reader *r, size_t n, struct buf *to)
{
    size_t rest = LOCAL_MIN + (n - LOCAL_MIN) % OVERFLOW_BYTES;
    size_t local = n <= LOCAL_MAX ? n : rest <= LOCAL_MAX ? rest : LOCAL_MIN;

    if (n > PAYLOAD_MAX || (size_t)(r->end - r->p) < local + (n > local ? 4 : 0))
        return false;
    buf_clear(to);
    buf_add(to, (str){ (const char *)r->p, local });
    uint32_t next = n > local ? be32(r->p + local) : 0;
    while (to->n < n) {
        unsigned char page[DB_PAGE_BYTES];
        if (!pages_read(p, next, page))
            return false;
        size_t more = n - to->n < OVERFLOW_BYTES ? n - to->n : OVERFLOW_BYTES;
        buf_add(to, (str){ (const char *)page + 4, more });
        next = be32(page);
    }
    return true;
}

/* One column of the given serial type. */
static struct cell_value read_value(struct reader *r, uint64_t type)
{
    static const unsigned char widths[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
    struct cell_value v = { .type = type == 0 ? 'n' : 'i', .number = type == 9 };
    size_t n = type < COUNT(widths) ? widths[type] : 0;

    if (type >= 12) {
        n = (type - 12) / 2;
        v.type = type % 2 ? 't' : 'b';
        v.bytes = (str){ (const char *)r->p, n };
    }
    if (type == 7 || type == 10 || type == 11 || (size_t)(r->end - r->p) < n) {
        r->failed = true;
        return v;
    }
    if (type >= 1 && type <= 6) {
        uint64_t bits = r->p[0] & 0x80 ? UINT64_MAX : 0;
        for (size_t i = 0; i < n; i++)
            bits = bits << 8 | r->p[i];
        v.number = (int64_t)bits;
    }
    r->p += n;
    return v;
}

static void read_record(struct cell *c, str payload)
{
    const unsigned char *start = (const unsigned char *)payload.p;
    struct reader head = { start, start + payload.n, false };
    uint64_t head_n = varint(&head);

    if (head.failed || head_n > payload.n)
        return;
    head.end = start + head_n;
    struct reader body = { start + head_n, start + payload.n, false };
    int n = 0;
    while (head.p < head.end && n < CELL_COLUMNS) {
        uint64_t type = varint(&head);
        if (head.failed)
            return;
        c->at[n++] = read_value(&body, type);
        if (body.failed)
            return;
    }
    c->n = head.p == head.end ? n : 0;
}

void cells_read(const struct pages *p, uint32_t no, void (*fn)(void *ctx, const struct cell *c),
                void *ctx)
{
    unsigned char page[DB_PAGE_BYTES];
    AUTO(buf) struct buf payload = { 0 };
    size_t base = no == 1 ? FILE_HEADER : 0;

    if (!pages_read(p, no, page) || page[base] == 0)
        return;
    size_t n = (size_t)page[base + 3] << 8 | page[base + 4];
    for (size_t i = 0; i < n && base + PAGE_HEADER + 2 * i + 2 <= DB_PAGE_BYTES; i++) {
        const unsigned char *pointer = page + base + PAGE_HEADER + 2 * i;
        size_t at = (size_t)pointer[0] << 8 | pointer[1];
        if (at < base + PAGE_HEADER || at >= DB_PAGE_BYTES)
            continue;
        struct reader r = { page + at, page + DB_PAGE_BYTES, false };
        size_t size = varint(&r);
        struct cell c = { .id = (int64_t)varint(&r) };
        if (r.failed)
            continue;
        if (gather(p, &r, size, &payload))
            read_record(&c, buf_str(&payload));
        fn(ctx, &c);
    }
}
