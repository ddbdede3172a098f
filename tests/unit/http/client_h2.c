/* An HTTP/2 client over the blocking one. */

#include "client.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_STREAMS = 20000, KEEP_BODY = 256 * 1024 };

struct h2c {
    struct client *c;
    nghttp2_session *ng;
    struct h2c_stream *streams[MAX_STREAMS]; /* by (id - 1) / 2 */
    size_t total, closed;
    int goaways;
    bool over;
};

struct body {
    str left;
    bool not_last;
};

struct h2c_stream *h2c_stream(struct h2c *h, int32_t id)
{
    size_t i = (size_t)(id - 1) / 2;

    if (id <= 0 || i >= MAX_STREAMS)
        abort();
    if (!h->streams[i])
        h->streams[i] = calloc(1, sizeof(struct h2c_stream));
    return h->streams[i];
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *f, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *ctx)
{
    struct h2c_stream *s = h2c_stream(ctx, f->hd.stream_id);
    str key = { (const char *)name, n_name };

    (void)ng, (void)flags;
    if (str_eq(key, S(":status"))) {
        s->status = atoi((const char *)value);
        s->n_interim += s->status < 200;
    }
    if (str_eq(key, S("content-encoding")) && n_value < sizeof(s->encoding))
        memcpy(s->encoding, value, n_value);
    return 0;
}

static int on_data(nghttp2_session *ng, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *ctx)
{
    struct h2c *h = ctx;
    struct h2c_stream *s = h2c_stream(h, id);

    (void)ng, (void)flags;
    if (s->n < KEEP_BODY)
        buf_add(&s->body, (str){ (const char *)p, n });
    s->n += n;
    h->total += n;
    return 0;
}

static int on_close(nghttp2_session *ng, int32_t id, uint32_t error, void *ctx)
{
    struct h2c *h = ctx;
    struct h2c_stream *s = h2c_stream(h, id);

    (void)ng;
    s->closed = true;
    s->error = error;
    h->closed++;
    return 0;
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    struct h2c *h = ctx;

    (void)ng;
    h->goaways += f->hd.type == NGHTTP2_GOAWAY;
    return 0;
}

struct h2c *h2c_open(struct fixture *f)
{
    struct h2c *h = calloc(1, sizeof(*h));
    nghttp2_session_callbacks *cb = NULL;
    nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 100 } };

    if (!h)
        abort();
    h->c = client_open(f, (struct client_opts){ .alpn = "h2" });
    if (!h->c)
        abort();
    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_client_new(&h->ng, cb, h);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(h->ng, 0, settings, 1);
    return h;
}

void h2c_free(struct h2c *h)
{
    nghttp2_session_del(h->ng);
    client_free(h->c);
    for (size_t i = 0; i < MAX_STREAMS; i++) {
        if (h->streams[i])
            buf_done(&h->streams[i]->body);
        free(h->streams[i]);
    }
    free(h);
}

struct nghttp2_session *h2c_session(struct h2c *h)
{
    return h->ng;
}

static ssize_t read_body(nghttp2_session *ng, int32_t id, uint8_t *to, size_t n, uint32_t *flags,
                         nghttp2_data_source *source, void *ctx)
{
    struct body *b = source->ptr;
    size_t k = b->left.n < n ? b->left.n : n;

    (void)ng, (void)id, (void)ctx;
    if (k)
        memcpy(to, b->left.p, k);
    b->left = str_sub(b->left, k, b->left.n);
    if (b->left.n == 0) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        free(b);
    }
    return (ssize_t)k;
}

static nghttp2_nv nv_of(const char *name, const char *value)
{
    return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                         strlen(value), 0 };
}

int32_t h2c_request_headers(struct h2c *h, const char *const *pairs, size_t n, bool is_last)
{
    nghttp2_nv nv[200];

    for (size_t i = 0; i < n; i++)
        nv[i] = nv_of(pairs[2 * i], pairs[2 * i + 1]);
    return nghttp2_submit_headers(h->ng, is_last ? NGHTTP2_FLAG_END_STREAM : 0, -1, NULL, nv, n,
                                  NULL);
}

int32_t h2c_request(struct h2c *h, const char *method, const char *path, str body)
{
    nghttp2_nv nv[] = { nv_of(":method", method), nv_of(":scheme", "https"), nv_of(":path", path),
                        nv_of(":authority", "127.0.0.1") };
    struct body *b = body.p ? calloc(1, sizeof(*b)) : NULL;
    nghttp2_data_provider from = { .source.ptr = b, .read_callback = read_body };

    if (b)
        b->left = body;
    return nghttp2_submit_request(h->ng, NULL, nv, 4, b ? &from : NULL, NULL);
}

void h2c_send(struct h2c *h)
{
    const uint8_t *p = NULL;
    ssize_t n = 0;
    struct buf out = { 0 };

    while ((n = nghttp2_session_mem_send(h->ng, &p)) > 0) {
        buf_add(&out, (str){ (const char *)p, (size_t)n });
        if (out.n < 16384)
            continue;
        h->over |= !client_write(h->c, buf_str(&out));
        buf_clear(&out);
    }
    if (out.n)
        h->over |= !client_write(h->c, buf_str(&out));
    buf_done(&out);
}

bool h2c_run(struct h2c *h, bool (*done)(struct h2c *h, void *ctx), void *ctx)
{
    static char in[16384];
    struct timespec from, now;

    clock_gettime(CLOCK_MONOTONIC, &from);
    while (!done || !done(h, ctx)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (h->over || now.tv_sec - from.tv_sec > 60)
            return false;
        h2c_send(h);
        int n = client_read(h->c, in, sizeof(in), 20);
        if (n == 0)
            h->over = true;
        if (n > 0 && nghttp2_session_mem_recv(h->ng, (const uint8_t *)in, (size_t)n) < 0)
            h->over = true;
    }
    return true;
}

static bool is_closed(struct h2c *h, void *ctx)
{
    return h2c_stream(h, *(int32_t *)ctx)->closed;
}

bool h2c_run_stream(struct h2c *h, int32_t id)
{
    return h2c_run(h, is_closed, &id);
}

bool h2c_is_over(const struct h2c *h)
{
    return h->over;
}

int h2c_goaways(const struct h2c *h)
{
    return h->goaways;
}

size_t h2c_total(const struct h2c *h)
{
    return h->total;
}

size_t h2c_closed(const struct h2c *h)
{
    return h->closed;
}
