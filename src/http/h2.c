/* HTTP/2 on a connection: nghttp2 does the framing, we map its streams to requests. Nothing is
 * sent from its callbacks; h2_pull gathers frames into TLS records once a turn. */

#include "http/h2.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STREAM_WINDOW = 256 * 1024, /* of request bodies */
    CONN_WINDOW = 1024 * 1024,
    RESETS_BURST = 1000, /* streams a client may open and reset at once, and each second */
    RESETS_A_SECOND = 33,
};

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
    nv[0] = h2_nv(S(":status"), str_of(status));
    for (size_t i = 0; i < n; i++)
        nv[i + 1] = h2_nv(headers[i].name, headers[i].value);
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
    h2_set_callbacks(cb);
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
    struct h2 *h = mem_new(sizeof(*h));
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)c->s->limits.streams },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)c->s->limits.header_bytes },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };

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

/* Answers whose client gave no window for so long hold memory for nothing. */
static void reset_stalled(struct conn *c, int64_t now)
{
    struct h2 *h = c->state;

    for (struct http_req *r = c->reqs; r; r = r->next) {
        int64_t most = r->slow_allowed ? c->s->limits.slow_client_ms : c->s->limits.body_ms;
        if (!r->active || r->pulled_ms + most > now)
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
        h2_incoming_remove(h, r);
        if (!r->incoming) {
            nghttp2_submit_rst_stream(h->ng, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_NO_ERROR);
            continue;
        }
        req_refuse(r, 408);
        r->born_ms = now; /* once more as long to end it properly */
        h2_incoming_add(h, r);
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
