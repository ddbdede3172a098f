/* HTTP/1.1 on a connection. One request at a time: what a client sends ahead waits in `rest` until
 * the answer before it is through, so answers keep their order and little is held. */

#include "http/h1.h"

#include "base/mem.h"
#include "http/h1_parse.h"
#include "http/internal.h"

#include <assert.h>
#include <stdlib.h>

enum { CHUNK_FRAME = 4 + 2 + 2 }; /* "3fff\r\n" before, "\r\n" behind */

struct h1 {
    struct h1_parser parser;
    struct http_req *cur; /* being received or answered */
    struct buf rest;      /* came before its turn */
    size_t rest_at;
    struct buf interim;       /* 100 Continue */
    const struct proto *next; /* not NULL: an upgrade was accepted */
    void *next_state;
};

static int on_body(void *ctx, const char *p, size_t n)
{
    struct h1 *h = ctx;

    return req_add_body(h->cur, p, n);
}

static void h1_start(struct conn *c)
{
    struct h1 *h = mem_new(sizeof(*h));

    c->state = h;
    h->parser.head = server_head_take(c->s);
    h->parser.on_body = on_body;
    h->parser.ctx = h;
    h->parser.max_head = c->s->limits.header_bytes;
    h->parser.max_url = c->s->limits.url_bytes;
    h->parser.max_body = c->s->limits.body_bytes;
    h1_parser_begin(&h->parser);
    conn_deadline(c, c->s->limits.header_ms);
}

static void h1_end(struct conn *c)
{
    struct h1 *h = c->state;

    if (h->next) {
        c->state = h->next_state;
        h->next->end(c);
    }
    server_head_give(c->s, h->parser.head);
    buf_done(&h->rest);
    buf_done(&h->interim);
    free(h);
}

static bool is_busy(const struct h1 *h)
{
    return h->cur && !h->cur->incoming;
}

/* Answers by ourselves; the connection ends with it. */
static void refuse(struct conn *c, int status)
{
    struct h1 *h = c->state;

    if (!h->cur) {
        head_clear(h->parser.head);
        h->cur = req_new(c, h->parser.head);
        h->cur->version = 1;
    }
    conn_deadline(c, 0);
    req_refuse(h->cur, status);
}

static void on_head(struct conn *c, bool body_is_here)
{
    struct h1 *h = c->state;
    struct h1_parser *p = &h->parser;

    h->cur = req_new(c, p->head);
    h->cur->version = 1;
    h->cur->keep_alive = p->keep_alive;
    h->cur->old = p->old;
    conn_deadline(c, c->s->limits.body_ms);
    if (p->expects && !p->message_done && !body_is_here) {
        buf_add(&h->interim, S("HTTP/1.1 100 Continue\r\n\r\n"));
        conn_touch(c);
    }
}

/* Parses until a request is complete or the bytes are used up; returns how many were used. */
static size_t run(struct conn *c, const char *in, size_t n)
{
    struct h1 *h = c->state;
    size_t done = 0;

    if (h1_parser_is_idle(&h->parser) && n > 0)
        conn_deadline(c, c->s->limits.header_ms);
    for (;;) {
        size_t used = 0;
        enum h1_event ev = h1_parser_feed(&h->parser, in + done, n - done, &used);
        done += used;
        switch (ev) {
        case H1_MORE:
            return done;
        case H1_HEAD:
            on_head(c, done < n);
            if (c->s->stats.streams_open > c->s->limits.requests) {
                refuse(c, 429);
                return n;
            }
            break;
        case H1_DONE:
            conn_deadline(c, 0);
            h1_parser_begin(&h->parser);
            req_dispatch(h->cur);
            return done;
        case H1_BAD:
            refuse(c, h->parser.status);
            return n; /* nothing behind it can be trusted */
        }
    }
}

static void run_rest(struct conn *c)
{
    struct h1 *h = c->state;

    while (!is_busy(h) && h->rest_at < h->rest.n && c->fate == FATE_NONE)
        h->rest_at += run(c, h->rest.p + h->rest_at, h->rest.n - h->rest_at);
    if (h->rest_at == h->rest.n) {
        buf_done(&h->rest);
        h->rest_at = 0;
    }
    if (c->paused && h->rest.n - h->rest_at < OUT_HIGH)
        conn_pause(c, false);
}

static void h1_feed(struct conn *c, char *p, size_t n)
{
    struct h1 *h = c->state;
    size_t used = 0;

    if (!is_busy(h) && h->rest.n == 0)
        used = run(c, p, n);
    while (used < n && !is_busy(h) && h->rest.n == 0 && c->fate == FATE_NONE)
        used += run(c, p + used, n - used);
    if (used < n && c->fate == FATE_NONE)
        buf_add(&h->rest, (str){ p + used, n - used });
    if (h->rest.n - h->rest_at >= OUT_HIGH)
        conn_pause(c, true);
}

static void h1_reply(struct http_req *r, const struct http_header *h, size_t n)
{
    struct buf *b = &r->head_out;
    struct reply *p = &r->reply;

    p->chunked = p->left < 0 && !p->bodyless && !r->old;
    if (p->left < 0 && !p->bodyless && r->old)
        r->keep_alive = false; /* the end of the connection is the end of the answer */
    buf_printf(b, "HTTP/1.1 %d %s\r\n", p->status, status_phrase(p->status));
    for (size_t i = 0; i < n; i++) {
        buf_add(b, h[i].name);
        buf_add(b, S(": "));
        buf_add(b, h[i].value);
        buf_add(b, S("\r\n"));
    }
    if (p->chunked)
        buf_add(b, S("transfer-encoding: chunked\r\n"));
    if (!r->keep_alive || r->c->s->stopping)
        buf_add(b, S("connection: close\r\n"));
    else if (r->old)
        buf_add(b, S("connection: keep-alive\r\n"));
    buf_add(b, S("\r\n"));
}

static void h1_wake(struct http_req *r)
{
    (void)r; /* the next pull asks the source */
}

static size_t take(struct buf *b, size_t *at, char *to, size_t room)
{
    size_t n = b->n - *at < room ? b->n - *at : room;

    memcpy(to, b->p + *at, n);
    *at += n;
    if (*at == b->n) {
        buf_done(b);
        *at = 0;
    }
    return n;
}

/* The answer is through; on to the next request. */
static void answered(struct conn *c)
{
    struct h1 *h = c->state;
    bool keep = h->cur->keep_alive && !c->s->stopping;

    req_finish(h->cur);
    h->cur = NULL;
    if (!keep) {
        conn_end(c, FATE_END);
        return;
    }
    conn_deadline(c, c->s->limits.idle_ms);
    run_rest(c);
}

/* Around the n bytes at to + 6. */
static void frame_chunk(char *to, size_t n)
{
    for (size_t i = 0; i < 4; i++)
        to[i] = "0123456789abcdef"[n >> (12 - 4 * i) & 15];
    to[4] = to[6 + n] = '\r';
    to[5] = to[7 + n] = '\n';
}

/* A piece of the body, framed; 0: none now, or the answer is over. */
static size_t pull_body(struct conn *c, struct http_req *r, char *to, size_t room)
{
    struct reply *p = &r->reply;
    size_t frame = p->chunked ? CHUNK_FRAME : 0;

    ssize_t n = req_pull(r, to + (p->chunked ? 6 : 0), room - frame);
    if (n > 0 && p->chunked) {
        frame_chunk(to, (size_t)n);
    }
    if (n > 0)
        return (size_t)n + frame;
    if (n == HTTP_ABORT)
        conn_end(c, FATE_NOW);
    if (n != HTTP_END)
        return 0;
    size_t last = p->chunked ? 5 : 0;
    memcpy(to, "0\r\n\r\n", last);
    answered(c);
    return last;
}

void h1_upgrade(struct http_req *r, const struct proto *next, void *state)
{
    struct h1 *h = r->c->state;

    r->answered = true;
    r->c->slow_allowed = r->slow_allowed; /* whatever it answered before */
    h->next = next;
    h->next_state = state;
    conn_touch(r->c);
}

static void change_protocol(struct conn *c)
{
    struct h1 *h = c->state;
    AUTO(buf) struct buf rest = h->rest;
    size_t at = h->rest_at;
    const struct proto *next = TAKE(h->next);
    void *state = h->next_state;

    h->rest = (struct buf){ 0 };
    if (!h->cur->kept)
        req_finish(h->cur);
    h1_end(c);
    c->proto = next;
    c->state = state;
    c->proto->start(c);
    conn_pause(c, false);
    if (rest.n > at)
        c->proto->feed(c, rest.p + at, rest.n - at);
    if (c->s->stopping)
        c->proto->stop(c);
}

static size_t h1_pull(struct conn *c, char *to, size_t room)
{
    struct h1 *h = c->state;
    size_t none = 0;
    size_t n = 0;

    if (h->next) {
        change_protocol(c);
        return c->proto->pull(c, to, room);
    }
    if (h->interim.n)
        n = take(&h->interim, &none, to, room);
    while (room - n > 64 && c->fate == FATE_NONE) {
        struct http_req *r = h->cur;
        if (!r || !r->answered || r->waiting)
            break;
        if (r->head_out.n) {
            n += take(&r->head_out, &r->head_at, to + n, room - n);
        } else if (r->reply.bodyless) {
            answered(c);
        } else {
            size_t k = pull_body(c, r, to + n, room - n);
            if (k == 0 && h->cur == r)
                break;
            n += k;
        }
    }
    return n;
}

static void h1_expire(struct conn *c)
{
    struct h1 *h = c->state;

    if (is_busy(h))
        return;
    if (h->cur || !h1_parser_is_idle(&h->parser))
        refuse(c, 408);
    else
        conn_end(c, FATE_END);
}

static void h1_stop(struct conn *c)
{
    struct h1 *h = c->state;

    if (!h->cur)
        conn_end(c, FATE_END);
    else
        h->cur->waiting = false; /* a watch: its next pull is its end */
    conn_touch(c);
}

const struct proto h1_proto = {
    .start = h1_start,
    .feed = h1_feed,
    .pull = h1_pull,
    .reply = h1_reply,
    .wake = h1_wake,
    .expire = h1_expire,
    .stop = h1_stop,
    .end = h1_end,
};
