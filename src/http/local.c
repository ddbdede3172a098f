/* Requests without a connection: the answer's bytes go straight from their source to the asker. */

#include "http/local.h"

#include "base/mem.h"
#include "http/internal.h"

#include <assert.h>

enum {
    PIECE_BYTES = 32 * 1024,
    PIECES_A_TURN = 8, /* others first */
};

struct local {
    struct http_local from;
    bool queued; /* a deferred call knows of it */
    bool at_work;
};

static void run(void *arg);

static void queue(struct http_req *r)
{
    if (r->local->queued)
        return;
    r->local->queued = true;
    loop_defer(r->local->from.loop, run, r);
}

/* False: it was the last, or the asker cancelled. */
static bool deliver(struct http_req *r, str piece, enum http_piece how)
{
    const struct http_taker *to = &r->local->from.to;

    to->on_piece(to->ctx, r->a, piece, how);
    return how == PIECE_MORE && !r->gone;
}

/* False: the answer is over. */
static bool pull_one(struct http_req *r)
{
    struct reply *p = &r->reply;
    char piece[PIECE_BYTES];
    size_t n = p->left >= 0 && p->left < PIECE_BYTES ? (size_t)p->left : PIECE_BYTES;

    ssize_t got = n && !p->bodyless ? p->src.read(p->src.ctx, piece, n) : HTTP_END;
    assert(got <= (ssize_t)n);
    if (got > 0) {
        p->left -= p->left > 0 ? got : 0;
        return deliver(r, (str){ piece, (size_t)got }, p->left == 0 ? PIECE_LAST : PIECE_MORE);
    }
    r->waiting = got == HTTP_WAIT;
    if (r->waiting)
        return true;
    bool whole = got == HTTP_END && (p->left <= 0 || p->bodyless);
    return deliver(r, S(""), whole ? PIECE_LAST : PIECE_BROKEN);
}

static bool pull(struct http_req *r)
{
    if (r->reply.blob)
        return deliver(r, blob_str(r->reply.blob), PIECE_LAST);
    for (size_t i = 0; i < PIECES_A_TURN; i++) {
        if (!pull_one(r))
            return false;
        if (r->waiting)
            return true;
    }
    queue(r);
    return true;
}

static void run(void *arg)
{
    struct http_req *r = arg;

    r->local->queued = false;
    r->local->at_work = true;
    bool more = !r->gone && pull(r);
    r->local->at_work = false;
    if (more && !r->gone)
        return;
    r->gone = true;
    if (!r->local->queued) /* else the deferred call ends it */
        req_finish(r);
}

void local_reply(struct http_req *r, const struct http_header *h, size_t n)
{
    const struct http_taker *to = &r->local->from.to;

    r->reply.left = r->reply.src.length;
    if (!r->gone)
        to->on_head(to->ctx, r->reply.status, h, n);
    queue(r);
}

void local_wake(struct http_req *r)
{
    r->waiting = false;
    queue(r);
}

struct http_identity local_identity(const struct http_req *r)
{
    return r->local->from.who;
}

struct http_req *http_local_start(const struct http_local *l, const struct http_ask *ask)
{
    struct http_req *r = mem_new(sizeof(*r) + sizeof(struct local));

    assert_on_loop(l->loop);
    r->local = (struct local *)(r + 1);
    r->local->from = *l;
    r->a = ask->a;
    r->body = ask->body;
    r->method = ask->method;
    req_set_target(r, ask->target);
    r->headers = ask->headers;
    r->n_headers = ask->n_headers;
    r->version = 2;
    l->on_request(l->ctx, r);
    return r;
}

void http_local_cancel(struct http_req *r)
{
    assert(!r->gone);
    r->gone = true;
    if (r->answered && !r->local->at_work && !r->local->queued)
        req_finish(r);
}
