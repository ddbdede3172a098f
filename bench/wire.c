/* One connection: HTTP/2 frames by nghttp2, TLS by OpenSSL. Windows are as wide as they can be, so
 * that a server is never held up by us. */

#include "wire.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    OUT_BYTES = 16 * 1024,
    IN_BYTES = 16 * 1024,
    READS = 64, /* at once, before the others have their turn */
    WINDOW = 1024 * 1024 * 1024,
};

static ssize_t on_body(nghttp2_session *h2, int32_t stream, uint8_t *to, size_t n, uint32_t *flags,
                       nghttp2_data_source *from, void *ctx)
{
    struct call *c = from->ptr;
    size_t left = c->body.n - c->body_sent;

    (void)h2, (void)stream, (void)ctx;
    if (n > left)
        n = left;
    memcpy(to, c->body.p + c->body_sent, n);
    c->body_sent += n;
    if (n == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *f, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, f->hd.stream_id);
    int64_t status = 0;

    (void)flags, (void)ctx;
    if (c && str_eq((str){ (const char *)name, name_n }, S(":status")) &&
        str_to_int((str){ (const char *)value, value_n }, &status))
        c->status = (int)status;
    return 0;
}

static int on_chunk(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *p, size_t n,
                    void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, stream);

    (void)flags, (void)ctx;
    if (c && c->on_data)
        c->on_data(c, (str){ (const char *)p, n });
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *f, void *ctx)
{
    struct wire *w = ctx;

    (void)h2;
    if (f->hd.type == NGHTTP2_SETTINGS && !(f->hd.flags & NGHTTP2_FLAG_ACK))
        w->settled = true;
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t stream, uint32_t code, void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, stream);
    struct wire *w = ctx;

    w->open--;
    if (!c)
        return 0;
    c->is_over = true;
    c->is_cut = code != NGHTTP2_NO_ERROR;
    if (c->on_end)
        c->on_end(c);
    return 0;
}

void wire_h2_start(struct wire *w)
{
    nghttp2_session_callbacks *cb = NULL;
    nghttp2_option *opt = NULL;
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW },
    };

    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_option_new(&opt);
    nghttp2_option_set_no_closed_streams(opt, 1);
    nghttp2_session_client_new2(&w->h2, cb, w, opt);
    nghttp2_option_del(opt);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(w->h2, NGHTTP2_FLAG_NONE, settings, COUNT(settings));
    nghttp2_session_set_local_window_size(w->h2, NGHTTP2_FLAG_NONE, 0, WINDOW);
}

static void want_write(struct wire *w, bool wanted)
{
    struct epoll_event ev = { .events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = w };

    if (w->wants_write == wanted)
        return;
    w->wants_write = wanted;
    epoll_ctl(w->net->epoll, EPOLL_CTL_MOD, w->fd, &ev);
}

static int broken(struct wire *w, int rc, const char *doing, struct err *e)
{
    unsigned long code = ERR_peek_error();

    if (SSL_get_error(w->ssl, rc) == SSL_ERROR_ZERO_RETURN)
        return err_set(e, ERR_IO, "the server closed the connection");
    if (code)
        return err_set(e, ERR_IO, "%s: %s", doing, ERR_reason_error_string(code));
    return err_sys(e, "%s", doing);
}

/* Frames gather to a record's worth before they are encrypted. False: nghttp2 is out of order. */
static bool gather(struct wire *w)
{
    const uint8_t *p = NULL;
    ssize_t n = 0;

    if (w->out_at < w->out.n)
        return true;
    buf_clear(&w->out);
    w->out_at = 0;
    while (w->out.n < OUT_BYTES && (n = nghttp2_session_mem_send(w->h2, &p)) > 0)
        buf_add(&w->out, (str){ (const char *)p, (size_t)n });
    return n >= 0;
}

int wire_flush(struct wire *w, struct err *e)
{
    for (;;) {
        if (!gather(w))
            return err_set(e, ERR_INTERNAL, "nghttp2 cannot send");
        if (w->out_at == w->out.n)
            break;
        ERR_clear_error();
        int n = SSL_write(w->ssl, w->out.p + w->out_at, (int)(w->out.n - w->out_at));
        if (n <= 0) {
            if (SSL_get_error(w->ssl, n) != SSL_ERROR_WANT_WRITE)
                return broken(w, n, "write", e);
            want_write(w, true);
            return 0;
        }
        w->out_at += (size_t)n;
    }
    want_write(w, false);
    return 0;
}

int wire_read(struct wire *w, struct err *e)
{
    uint8_t in[IN_BYTES];

    w->has_more = false;
    for (int i = 0; i < READS; i++) {
        ERR_clear_error();
        int n = SSL_read(w->ssl, in, sizeof(in));
        if (n <= 0) {
            if (SSL_get_error(w->ssl, n) == SSL_ERROR_WANT_READ)
                return 0;
            return broken(w, n, "read", e);
        }
        ssize_t used = nghttp2_session_mem_recv(w->h2, in, (size_t)n);
        if (used < 0)
            return err_set(e, ERR_IO, "HTTP/2: %s", nghttp2_strerror((int)used));
    }
    w->has_more = true; /* perhaps within OpenSSL, where epoll does not see it */
    return 0;
}

size_t wire_room(const struct wire *w)
{
    size_t most =
        nghttp2_session_get_remote_settings(w->h2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

    return most > w->open ? most - w->open : 0;
}

static void head_add(struct net *n, str name, str value)
{
    nghttp2_nv nv = {
        .name = (uint8_t *)(uintptr_t)name.p,
        .value = (uint8_t *)(uintptr_t)value.p,
        .namelen = name.n,
        .valuelen = value.n,
    };

    vec_push(&n->head, nv);
}

int wire_call(struct wire *w, struct call *c, struct err *e)
{
    nghttp2_data_provider body = { .source.ptr = c, .read_callback = on_body };
    struct net *n = w->net;
    char length[24];

    n->head.n = 0;
    head_add(n, S(":method"), str_of(c->method));
    head_add(n, S(":scheme"), S("https"));
    head_add(n, S(":authority"), n->target->authority);
    head_add(n, S(":path"), c->path);
    head_add(n, S("user-agent"), S("kbench"));
    head_add(n, S("accept"), str_of(c->accept ? c->accept : "application/json"));
    if (n->target->authorization.n)
        head_add(n, S("authorization"), n->target->authorization);
    if (c->gzip)
        head_add(n, S("accept-encoding"), S("gzip"));
    if (c->body.n) {
        snprintf(length, sizeof(length), "%zu", c->body.n);
        head_add(n, S("content-type"), str_of(c->type ? c->type : "application/json"));
        head_add(n, S("content-length"), str_of(length));
    }
    c->status = 0;
    c->is_over = c->is_cut = false;
    c->body_sent = 0;
    c->sent_ns = now_ns();
    if (nghttp2_submit_request(w->h2, NULL, n->head.at, n->head.n, c->body.n ? &body : NULL, c) < 0)
        return err_set(e, ERR_INTERNAL, "nghttp2 takes no more requests");
    w->open++;
    return 0;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    nghttp2_session_del(w->h2);
    SSL_free(w->ssl);
    if (w->fd >= 0)
        close(w->fd);
    buf_done(&w->out);
    free(w);
}
