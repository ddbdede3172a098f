/* What a client sends on HTTP/2: nghttp2 calls us for each header and frame, and we put requests
 * together. nghttp2 has checked the syntax of headers; what they mean is for us to check. */

#include "http/h2.h"

static struct http_req *req_of(nghttp2_session *ng, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(ng, stream);
}

void h2_incoming_add(struct h2 *h, struct http_req *r)
{
    r->listed = true;
    r->next_incoming = NULL;
    r->prev_incoming = h->newest;
    if (h->newest)
        h->newest->next_incoming = r;
    else
        h->incoming = r;
    h->newest = r;
}

void h2_incoming_remove(struct h2 *h, struct http_req *r)
{
    if (!r->listed)
        return;
    r->listed = false;
    if (r->prev_incoming)
        r->prev_incoming->next_incoming = r->next_incoming;
    else
        h->incoming = r->next_incoming;
    if (r->next_incoming)
        r->next_incoming->prev_incoming = r->prev_incoming;
    else
        h->newest = r->prev_incoming;
}

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    struct conn *c = ctx;
    struct h2 *h = c->state;

    (void)ng;
    if (f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (!h->head)
        h->head = server_head_take(c->s);
    head_clear(h->head);
    c->turn_heads++;
    h->head_ms = loop_now_ms(c->s->loop);
    return 0;
}

static void add_pseudo(struct http_head *h, str name, str value)
{
    struct span at = head_add(h, value);

    if (str_eq(name, S(":method")))
        h->method = at;
    else if (str_eq(name, S(":path")))
        h->target = at;
    else if (str_eq(name, S(":authority")))
        h->authority = at;
}

/* The rest of the head is not looked at; the connection ends once the client was told why. */
static int end_flood(struct conn *c, nghttp2_session *ng)
{
    c->s->stats.refused_total++;
    nghttp2_session_terminate_session(ng, NGHTTP2_ENHANCE_YOUR_CALM);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *f, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *ctx)
{
    struct conn *c = ctx;
    struct http_head *h = ((struct h2 *)c->state)->head;
    str key = { (const char *)name, n_name };
    str text = { (const char *)value, n_value };

    (void)flags;
    if (!h || f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0; /* trailers */
    h->size += n_name + n_value + 32;
    c->turn_header_bytes += n_name + n_value + 32;
    if (h->size > LIMIT_HEADER_FLOOD) /* one byte can stand for a header of 4 KB */
        return end_flood(c, ng);
    if (h->status)
        return 0;
    if (str_eq(key, S(":path")) && n_value > c->s->limits.url_bytes)
        h->status = 414;
    else if (h->size > c->s->limits.header_bytes || h->n == LIMIT_HEADER_COUNT)
        h->status = 431;
    else if (n_name && name[0] == ':')
        add_pseudo(h, key, text);
    else {
        h->fields[h->n].name = head_add(h, key);
        h->fields[h->n++].value = head_add(h, text);
    }
    return 0;
}

static int on_invalid_header(nghttp2_session *ng, const nghttp2_frame *f, const uint8_t *name,
                             size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags,
                             void *ctx)
{
    struct conn *c = ctx;

    (void)ng, (void)f, (void)name, (void)n_name, (void)value, (void)n_value, (void)flags;
    c->s->stats.refused_total++;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* the stream is reset */
}

/* What nghttp2 leaves to us to check. */
static int check_head(struct conn *c, const struct http_head *h)
{
    size_t n_host = 0;
    size_t n_length = 0;
    int64_t length = 0;
    str host = head_find(h, S("host"), &n_host);
    str length_text = head_find(h, S("content-length"), &n_length);

    if (h->status)
        return h->status;
    if (str_eq(head_str(h, h->method), S("CONNECT")) || !target_is_plain(head_str(h, h->target)))
        return 400;
    if (n_host > 1 || (n_host && h->authority.n && !str_eq(host, head_str(h, h->authority))))
        return 400;
    if (n_length && (!str_to_int(length_text, &length) || length < 0))
        return 400;
    return length > (int64_t)c->s->limits.body_bytes ? 413 : 0;
}

static void submit_continue(nghttp2_session *ng, int32_t stream)
{
    nghttp2_nv nv = h2_nv(S(":status"), S("100"));

    nghttp2_submit_headers(ng, NGHTTP2_FLAG_NONE, stream, NULL, &nv, 1, NULL);
}

static void on_request_head(struct conn *c, int32_t stream, bool is_last)
{
    struct h2 *h = c->state;
    struct http_head *head = TAKE(h->head);
    bool full = c->n_reqs >= 2 * c->s->limits.streams || /* reset ones that wait for their answer */
                c->s->stats.streams_open >= c->s->limits.requests;

    if (!head || full || c->s->stopping) {
        server_head_give(c->s, head);
        c->s->stats.refused_total += full;
        nghttp2_submit_rst_stream(h->ng, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
        return;
    }
    size_t n = 0;
    int status = check_head(c, head);
    if (head->authority.n == 0) {
        str host = head_find(head, S("host"), &n);
        head->authority =
            (struct span){ n ? (uint32_t)(host.p - head->text.p) : 0, (uint32_t)host.n };
    }
    head_find(head, S("expect"), &n);
    struct http_req *r = req_new(c, head);
    server_head_give(c->s, head);
    r->version = 2;
    r->stream = stream;
    nghttp2_session_set_stream_user_data(h->ng, stream, r);
    nghttp2_session_change_extpri_stream_priority(
        h->ng, stream, &(nghttp2_extpri){ .urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1 }, 1);
    if (!is_last)
        h2_incoming_add(h, r);
    if (status)
        req_refuse(r, status);
    else if (is_last)
        req_dispatch(r);
    else if (n)
        submit_continue(h->ng, stream);
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    struct conn *c = ctx;
    bool is_last = f->hd.flags & NGHTTP2_FLAG_END_STREAM;

    if (f->hd.type == NGHTTP2_HEADERS && f->headers.cat == NGHTTP2_HCAT_REQUEST) {
        on_request_head(c, f->hd.stream_id, is_last);
    } else if ((f->hd.type == NGHTTP2_DATA || f->hd.type == NGHTTP2_HEADERS) && is_last) {
        struct http_req *r = req_of(ng, f->hd.stream_id);
        if (r)
            h2_incoming_remove(c->state, r);
        if (r && r->incoming)
            req_dispatch(r);
    }
    return 0;
}

/* What comes for a refused request is read over: a reset would make some clients (curl 7.88) lose
 * the answer. But not for ever. */
static int on_data(nghttp2_session *ng, uint8_t flags, int32_t stream, const uint8_t *p, size_t n,
                   void *ctx)
{
    struct conn *c = ctx;
    struct http_req *r = req_of(ng, stream);

    (void)flags;
    if (!r)
        return 0;
    int status = r->incoming ? req_add_body(r, (const char *)p, n) : 0;
    if (status)
        req_refuse(r, status);
    if (!r->incoming && (r->read_over += n) > c->s->limits.body_bytes)
        nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, stream, NGHTTP2_NO_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *ng, int32_t stream, uint32_t code, void *ctx)
{
    struct conn *c = ctx;
    struct http_req *r = req_of(ng, stream);

    (void)code;
    if (!r)
        return 0;
    h2_incoming_remove(c->state, r);
    nghttp2_session_set_stream_user_data(ng, stream, NULL);
    req_lost(r);
    return 0;
}

void h2_set_callbacks(nghttp2_session_callbacks *cb)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(cb, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
}
