/* See spdy.h. Bodies of control frames are gathered, data goes through as it comes. */

#include "http/spdy.h"

#include "base/mem.h"

#include <zlib.h>

enum {
    VERSION = 3,
    SYN_STREAM = 1,
    SYN_REPLY = 2,
    RST_STREAM = 3,
    PING = 6,
    GOAWAY = 7,
    HEADERS = 8,
    FLAG_FIN = 1,
    ID_MASK = 0x7fffffff,
    CONTROL_MAX = 16 * 1024, /* a control frame, and the headers that come out of it */
};

static const uint32_t dictionary_sum = 0xe3c6a7c2; /* Adler-32 */

struct spdy_inflate {
    z_stream z;
    char *dictionary;
    size_t dictionary_n;
    char out[CONTROL_MAX];
};

str spdy_header(const struct spdy_headers *h, str name)
{
    for (size_t i = 0; i < h->n; i++)
        if (str_eq(h->at[i].name, name))
            return h->at[i].value;
    return STR_NONE;
}

/* ---- in */

static uint32_t read32(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static struct spdy_inflate *inflate_new(void)
{
    struct spdy_inflate *f = mem_new(sizeof(*f));

    f->dictionary = spdy_dictionary(&f->dictionary_n);
    if (inflateInit(&f->z) != Z_OK)
        abort(); /* out of memory */
    return f;
}

/* The headers' bytes, valid until the next; p NULL: it is not what a client sends. */
static str inflate_all(struct spdy_inflate *f, str in)
{
    /* NOLINTNEXTLINE(clang-diagnostic-cast-qual): zlib only reads it */
    f->z.next_in = (Bytef *)(uintptr_t)in.p;
    f->z.avail_in = (uInt)in.n;
    f->z.next_out = (Bytef *)f->out;
    f->z.avail_out = sizeof(f->out);
    int rc = inflate(&f->z, Z_SYNC_FLUSH);
    if (rc == Z_NEED_DICT &&
        inflateSetDictionary(&f->z, (const Bytef *)f->dictionary, (uInt)f->dictionary_n) == Z_OK)
        rc = inflate(&f->z, Z_SYNC_FLUSH);
    if ((rc != Z_OK && rc != Z_BUF_ERROR) || f->z.avail_in || !f->z.avail_out)
        return STR_NONE;
    return (str){ f->out, sizeof(f->out) - f->z.avail_out };
}

/* Cuts a text behind its length off; false: there is none. */
static bool cut_text(str *rest, str *out)
{
    uint32_t n = rest->n >= 4 ? read32(rest->p) : UINT32_MAX;

    if (n > rest->n - (rest->n >= 4 ? 4 : 0))
        return false;
    *out = str_sub(*rest, 4, 4 + n);
    *rest = str_sub(*rest, 4 + n, rest->n);
    return true;
}

static int read_headers(struct spdy_parser *p, str block, struct spdy_headers *out)
{
    if (!p->inflate)
        p->inflate = inflate_new();
    str rest = inflate_all(p->inflate, block);
    uint32_t n = rest.n >= 4 ? read32(rest.p) : UINT32_MAX;

    out->n = 0;
    if (n > SPDY_HEADERS_MAX)
        return -1;
    rest = str_sub(rest, 4, rest.n);
    for (; out->n < n; out->n++)
        if (!cut_text(&rest, &out->at[out->n].name) || !cut_text(&rest, &out->at[out->n].value))
            return -1;
    return 0;
}

static int open_stream(struct spdy_parser *p, str body, bool fin)
{
    struct spdy_headers h;
    uint32_t id = body.n >= 10 ? read32(body.p) & ID_MASK : 0;

    if (!id || read_headers(p, str_sub(body, 10, body.n), &h) < 0)
        return -1;
    p->on_open(p->ctx, id, fin, &h);
    return 0;
}

static int control(struct spdy_parser *p)
{
    struct spdy_headers h;
    str body = buf_str(&p->body);
    uint32_t first = body.n >= 4 ? read32(body.p) & ID_MASK : 0;

    switch (read32(p->head) & 0xffff) {
    case SYN_STREAM:
        return open_stream(p, body, p->head[4] & FLAG_FIN);
    case SYN_REPLY:
    case HEADERS: /* nothing we need; but all are compressed as one */
        return body.n >= 4 ? read_headers(p, str_sub(body, 4, body.n), &h) : -1;
    case RST_STREAM:
        if (body.n == 8)
            p->on_reset(p->ctx, first);
        return body.n == 8 ? 0 : -1;
    case PING:
        if (body.n == 4)
            p->on_ping(p->ctx, read32(body.p));
        return body.n == 4 ? 0 : -1;
    case GOAWAY:
        p->on_leave(p->ctx);
        return 0;
    default: /* settings, windows, and what is not known, which is to be passed over */
        return 0;
    }
}

static bool is_control(const struct spdy_parser *p)
{
    return p->head[0] & 0x80;
}

static int begin(struct spdy_parser *p)
{
    p->left = read32(p->head + 4) & 0xffffff;
    if (!is_control(p))
        return read32(p->head) ? 0 : -1;
    return (read32(p->head) >> 16 & 0x7fff) == VERSION && p->left <= CONTROL_MAX ? 0 : -1;
}

/* What is there of the frame's body. */
static int take(struct spdy_parser *p, str piece)
{
    p->left -= (uint32_t)piece.n;
    if (!is_control(p)) {
        p->on_data(p->ctx, read32(p->head), piece, p->left == 0 && (p->head[4] & FLAG_FIN));
        return 0;
    }
    buf_add(&p->body, piece);
    if (p->left)
        return 0;
    int rc = control(p);
    buf_clear(&p->body);
    return rc;
}

int spdy_parser_feed(struct spdy_parser *p, str in)
{
    while (in.n) {
        if (p->head_n < sizeof(p->head)) {
            p->head[p->head_n++] = (uint8_t)in.p[0];
            in = str_sub(in, 1, in.n);
            if (p->head_n < sizeof(p->head))
                continue;
            if (begin(p) < 0)
                return -1;
        }
        str piece = str_sub(in, 0, p->left);
        if (piece.n == 0 && p->left)
            break;
        in = str_sub(in, piece.n, in.n);
        if (take(p, piece) < 0)
            return -1;
        if (p->left == 0)
            p->head_n = 0;
    }
    return 0;
}

void spdy_parser_done(struct spdy_parser *p)
{
    buf_done(&p->body);
    if (!p->inflate)
        return;
    inflateEnd(&p->inflate->z);
    free(p->inflate->dictionary);
    free(TAKE(p->inflate));
}

/* ---- out */

static void add32(struct buf *out, uint32_t n)
{
    const char bytes[4] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };

    buf_add(out, (str){ bytes, sizeof(bytes) });
}

static void add_head(struct buf *out, uint32_t type, size_t n)
{
    add32(out, UINT32_C(0x80000000) | (uint32_t)VERSION << 16 | type);
    add32(out, (uint32_t)n);
}

/* No headers, so nothing to compress: a stored block with their number, 0, and an empty one, which
 * makes readers hand out what they have. Only the first of a connection begins zlib's stream. */
void spdy_reply(struct buf *out, uint32_t id, bool first)
{
    static const char opening[2] = { 0x78, 0x20 }; /* with a dictionary */
    static const char blocks[] = { 0, 4, 0, (char)0xfb, (char)0xff, 0,          0,
                                   0, 0, 0, 0,          0,          (char)0xff, (char)0xff };

    add_head(out, SYN_REPLY, 4 + sizeof(blocks) + (first ? sizeof(opening) + 4 : 0));
    add32(out, id);
    if (first) {
        buf_add(out, (str){ opening, sizeof(opening) });
        add32(out, dictionary_sum);
    }
    buf_add(out, (str){ blocks, sizeof(blocks) });
}

void spdy_data(struct buf *out, uint32_t id, str bytes, bool fin)
{
    add32(out, id);
    add32(out, (fin ? (uint32_t)FLAG_FIN << 24 : 0) | (uint32_t)bytes.n);
    buf_add(out, bytes);
}

void spdy_reset(struct buf *out, uint32_t id, uint32_t why)
{
    add_head(out, RST_STREAM, 8);
    add32(out, id);
    add32(out, why);
}

void spdy_ping(struct buf *out, uint32_t id)
{
    add_head(out, PING, 4);
    add32(out, id);
}

void spdy_leave(struct buf *out, uint32_t last_id)
{
    add_head(out, GOAWAY, 8);
    add32(out, last_id);
    add32(out, 0);
}
