/* Large answers of known length go out gzipped to who accepts it, in small pieces, so that no other
 * connection waits long. The cheapest level: on a list of pods it saves nine tenths already. */

#include "http/internal.h"

#include "base/mem.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    GZIP_LEAST = 128 * 1024,
    GZIP_AT_ONCE = 64,           /* each holds about 270 KB while it runs */
    PIECE = 32 * 1024,           /* read from the source at a time */
    PIECES_A_READ = 64 * 1024,   /* fed in before a read returns what there is */
    FLUSH_AFTER = 4 * 64 * 1024, /* fed in without a byte coming out */
};

struct gzip {
    struct http_server *s;
    struct http_source from;
    int64_t left;
    z_stream z;
    bool ended; /* all is fed in */
    bool done;  /* all is out */
    char in[PIECE];
};

/* "q=0", "q=0.00": not at all */
static bool is_zero(str weight)
{
    if (!str_starts(weight, S("q=0")))
        return false;
    for (size_t i = 2; i < weight.n; i++)
        if (weight.p[i] != '0' && weight.p[i] != '.')
            return false;
    return true;
}

static bool is_accepted(str accept)
{
    while (accept.p) {
        str item = str_cut(&accept, ',');
        str name = str_trim(str_cut(&item, ';'));
        if (str_eq_nocase(name, S("gzip")) || str_eq(name, S("*")))
            return !is_zero(str_trim(item));
    }
    return false;
}

bool gzip_is_wanted(const struct http_req *r)
{
    int64_t length = r->reply.src.length;

    return (length >= GZIP_LEAST || length == HTTP_LARGE) && r->c->s->gzips < GZIP_AT_ONCE &&
           is_accepted(http_get_header(r, S("accept-encoding")));
}

/* Takes the next piece of the source in; HTTP_WAIT and HTTP_ABORT as it says. */
static ssize_t fill(struct gzip *g)
{
    size_t n = g->left >= 0 && g->left < PIECE ? (size_t)g->left : PIECE;
    ssize_t got = n ? g->from.read(g->from.ctx, g->in, n) : HTTP_END;

    if (got == HTTP_END && g->left > 0)
        return HTTP_ABORT;
    if (got == HTTP_END)
        g->ended = true;
    if (got <= 0)
        return got;
    g->left -= g->left > 0 ? got : 0;
    g->z.next_in = (Bytef *)g->in;
    g->z.avail_in = (uInt)got;
    g->s->squeezed += (size_t)got;
    return got;
}

static ssize_t gzip_read(void *ctx, char *to, size_t n)
{
    struct gzip *g = ctx;
    size_t fed = 0;

    g->z.next_out = (Bytef *)to;
    g->z.avail_out = (uInt)n;
    while (!g->done) {
        if (g->z.avail_in == 0 && !g->ended) {
            ssize_t got = fill(g);
            if (got == HTTP_ABORT)
                return HTTP_ABORT;
            if (got == HTTP_WAIT)
                break;
            fed += got > 0 ? (size_t)got : 0;
        }
        int flush = g->ended ? Z_FINISH : fed >= FLUSH_AFTER ? Z_SYNC_FLUSH : Z_NO_FLUSH;
        int rc = deflate(&g->z, flush);
        g->done = rc == Z_STREAM_END;
        if (g->z.avail_out == 0 || (fed >= PIECES_A_READ && g->z.avail_out < n))
            break;
    }
    size_t made = n - g->z.avail_out;
    if (made > 0)
        return (ssize_t)made;
    return g->done ? HTTP_END : HTTP_WAIT;
}

static void gzip_close(void *ctx)
{
    struct gzip *g = ctx;

    deflateEnd(&g->z);
    g->s->gzips--;
    if (g->from.close)
        g->from.close(g->from.ctx);
    free(g);
}

void gzip_wrap(struct http_req *r)
{
    struct gzip *g = mem_new(sizeof(*g));

    if (deflateInit2(&g->z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    g->s = r->c->s;
    g->s->gzips++;
    g->from = r->reply.src;
    g->left = r->reply.src.length;
    r->reply.src = (struct http_source){ gzip_read, gzip_close, g, -1 };
}
