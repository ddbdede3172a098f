/* HTTP/2 on a connection: nghttp2 does the framing, we map its streams to requests. Nothing is
 * sent from its callbacks; h2_pull gathers frames into TLS records once a turn. */

#include "http/inner.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STREAM_WINDOW = 256 * 1024, /* of request bodies */
    CONN_WINDOW = 1024 * 1024,
    RESETS_BURST = 1000, /* streams a client may open and reset at once, and each second */
    RESETS_A_SECOND = 33,
};

struct h2 {
    nghttp2_session *ng;
    struct http_head *head;    /* of the header block on its way; HTTP/2 has one at a time */
    int64_t head_ms;           /* when it began */
    struct http_req *incoming; /* the oldest whose body is on the way */
    struct http_req *newest;
    int64_t check_ms;     /* when to look for answers that the client takes nothing of; 0: never */
    const uint8_t *frame; /* made by nghttp2, not yet pulled */
    size_t frame_n;
};

static struct http_req *req_of(nghttp2_session *ng, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(ng, stream);
}

/* The earliest of what a client may keep us waiting for. */
static void set_deadline(struct conn *c)
{
    struct h2 *h = c->state;
    const struct http_limits *l = &c->s->limits;
    int64_t at = 0;

    if (h->head)
        at = h->head_ms + l->header_ms;
    if (h->incoming && (at == 0 || h->incoming->born_ms + l->body_ms < at))
        at = h->incoming->born_ms + l->body_ms;
    if (h->check_ms && (at == 0 || h->check_ms < at))
        at = h->check_ms;
    if (at == 0 && c->n_reqs == 0)
        at = loop_now_ms(c->s->loop) + l->idle_ms;
    conn_deadline_at(c, at);
}

static void incoming_add(struct h2 *h, struct http_req *r)
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

static void incoming_remove(struct h2 *h, struct http_req *r)
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

static int on_header(nghttp2_session *ng, const nghttp2_frame *f, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *ctx)
{
    struct conn *c = ctx;
    struct http_head *h = ((struct h2 *)c->state)->head;
    str key = { (const char *)name, n_name };
    str text = { (const char *)value, n_value };

    (void)ng;
    (void)flags;
    if (!h || f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0; /* trailers */
    h->size += n_name + n_value + 32;
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

static nghttp2_nv nv_of(str name, str value)
{
    nghttp2_nv nv = { .namelen = name.n, .valuelen = value.n, .flags = NGHTTP2_NV_FLAG_NONE };

    memcpy(&nv.name, &name.p, sizeof(nv.name)); /* nghttp2 copies both and changes neither */
    memcpy(&nv.value, &value.p, sizeof(nv.value));
    return nv;
}

static void submit_continue(nghttp2_session *ng, int32_t stream)
{
    nghttp2_nv nv = nv_of(S(":status"), S("100"));

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
        incoming_add(h, r);
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
            incoming_remove(c->state, r);
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
    incoming_remove(c->state, r);
    nghttp2_session_set_stream_user_data(ng, stream, NULL);
    req_lost(r);
    return 0;
}

static ssize_t on_pull(nghttp2_session *ng, int32_t stream, uint8_t *to, size_t n, uint32_t *flags,
                       nghttp2_data_source *source, void *ctx)
{
    struct http_req *r = source->ptr;

    (void)ng, (void)stream, (void)ctx;
    ssize_t got = req_pull(r, (char *)to, n);
    if (got == HTTP_WAIT)
        return NGHTTP2_ERR_DEFERRED;
    if (got == HTTP_ABORT)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (got == HTTP_END || r->reply.left == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return got == HTTP_END ? 0 : got;
}

static void h2_reply(struct http_req *r, const struct http_header *headers, size_t n)
{
    struct h2 *h = r->c->state;
    nghttp2_nv few[32];
    nghttp2_nv *nv = n < COUNT(few) ? few : ARENA_ARRAY(http_arena(r), nghttp2_nv, n + 1);
    nghttp2_data_provider body = { .source.ptr = r, .read_callback = on_pull };
    char status[16];

    snprintf(status, sizeof(status), "%d", r->reply.status);
    nv[0] = nv_of(S(":status"), str_of(status));
    for (size_t i = 0; i < n; i++)
        nv[i + 1] = nv_of(headers[i].name, headers[i].value);
    nghttp2_submit_response(h->ng, r->stream, nv, n + 1, r->reply.bodyless ? NULL : &body);
}

static void h2_wake(struct http_req *r)
{
    struct h2 *h = r->c->state;

    nghttp2_session_resume_data(h->ng, r->stream);
}

static nghttp2_session *session_new(struct conn *c)
{
    nghttp2_session_callbacks *cb = NULL;
    nghttp2_option *opt = NULL;
    nghttp2_session *ng = NULL;

    if (nghttp2_session_callbacks_new(&cb) || nghttp2_option_new(&opt))
        abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(cb, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_option_set_no_closed_streams(opt, 1); /* else it keeps them, for priorities */
    nghttp2_option_set_max_outbound_ack(opt, 100);
    nghttp2_option_set_stream_reset_rate_limit(opt, RESETS_BURST, RESETS_A_SECOND);
    if (nghttp2_session_server_new2(&ng, cb, c, opt))
        abort();
    nghttp2_option_del(opt);
    nghttp2_session_callbacks_del(cb);
    return ng;
}

static void h2_start(struct conn *c)
{
    struct h2 *h = calloc(1, sizeof(*h));
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)c->s->limits.streams },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)c->s->limits.header_bytes },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };

    if (!h)
        abort();
    c->state = h;
    h->ng = session_new(c);
    nghttp2_submit_settings(h->ng, NGHTTP2_FLAG_NONE, settings, COUNT(settings));
    nghttp2_session_set_local_window_size(h->ng, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW);
    conn_deadline(c, c->s->limits.header_ms);
    conn_touch(c);
}

static void h2_end(struct conn *c)
{
    struct h2 *h = c->state;

    server_head_give(c->s, h->head);
    nghttp2_session_del(h->ng); /* calls nothing back: conn looks after the requests */
    free(h);
}

static void h2_feed(struct conn *c, char *p, size_t n)
{
    struct h2 *h = c->state;

    ssize_t used = nghttp2_session_mem_recv(h->ng, (const uint8_t *)p, n);
    if (used < 0) {
        c->s->stats.refused_total++;
        conn_end(c, FATE_NOW);
        return;
    }
    set_deadline(c);
    conn_touch(c);
}

static size_t h2_pull(struct conn *c, char *to, size_t room)
{
    struct h2 *h = c->state;
    size_t n = 0;

    while (n < room) {
        if (h->frame_n == 0) {
            ssize_t got = nghttp2_session_mem_send(h->ng, &h->frame);
            if (got < 0)
                conn_end(c, FATE_NOW);
            if (got <= 0)
                break;
            h->frame_n = (size_t)got;
        }
        size_t k = h->frame_n < room - n ? h->frame_n : room - n;
        memcpy(to + n, h->frame, k);
        h->frame += k;
        h->frame_n -= k;
        n += k;
    }
    if (n == 0 && !nghttp2_session_want_read(h->ng) && !nghttp2_session_want_write(h->ng))
        conn_end(c, FATE_END);
    if (n == 0 && c->n_active && h->check_ms == 0) { /* all that is left waits for the client */
        h->check_ms = loop_now_ms(c->s->loop) + c->s->limits.body_ms;
        set_deadline(c);
    }
    if (c->n_reqs == 0 && c->deadline_ms == 0)
        set_deadline(c);
    return n;
}

/* Answers whose client gave no window for body_ms hold memory for nothing. */
static void reset_stalled(struct conn *c, int64_t now)
{
    struct h2 *h = c->state;

    for (struct http_req *r = c->reqs; r; r = r->next) {
        if (!r->active || r->pulled_ms + c->s->limits.body_ms > now)
            continue;
        c->s->stats.refused_total++;
        nghttp2_submit_rst_stream(h->ng, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
    }
    h->check_ms = c->n_active ? now + c->s->limits.body_ms : 0;
}

static void h2_expire(struct conn *c)
{
    struct h2 *h = c->state;
    int64_t now = loop_now_ms(c->s->loop);

    if (h->check_ms && h->check_ms <= now)
        reset_stalled(c, now);
    bool head_is_late = h->head && h->head_ms + c->s->limits.header_ms <= now;
    if (head_is_late || (!h->head && !h->incoming && c->n_reqs == 0)) {
        c->s->stats.refused_total += h->head != NULL;
        nghttp2_session_terminate_session(h->ng, NGHTTP2_NO_ERROR);
        return;
    }
    while (h->incoming && h->incoming->born_ms + c->s->limits.body_ms <= now) {
        struct http_req *r = h->incoming;
        incoming_remove(h, r);
        if (!r->incoming) {
            nghttp2_submit_rst_stream(h->ng, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_NO_ERROR);
            continue;
        }
        req_refuse(r, 408);
        r->born_ms = now; /* once more as long to end it properly */
        incoming_add(h, r);
    }
    set_deadline(c);
}

static void h2_stop(struct conn *c)
{
    struct h2 *h = c->state;

    nghttp2_submit_goaway(h->ng, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h->ng),
                          NGHTTP2_NO_ERROR, NULL, 0);
    for (struct http_req *r = c->reqs, *next; r; r = next) {
        next = r->next;
        if (r->reply.endless)
            http_wake(r);
    }
    conn_touch(c);
}

const struct proto h2_proto = {
    .start = h2_start,
    .feed = h2_feed,
    .pull = h2_pull,
    .reply = h2_reply,
    .wake = h2_wake,
    .expire = h2_expire,
    .stop = h2_stop,
    .end = h2_end,
};
