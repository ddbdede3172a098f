/* Requests from within the process: to the same handlers, without a connection. The answer goes to
 * a callback, in pieces pulled a bounded amount a turn. All on the loop thread. */
#pragma once

#include "base/buf.h"
#include "http/server.h"

enum http_piece {
    PIECE_MORE,
    PIECE_LAST,
    PIECE_BROKEN, /* the answer was broken off; the last too */
};

struct http_taker {
    /* Once, when the handler answers: may be from within http_local_start. */
    void (*on_head)(void *ctx, int status, const struct http_header *h, size_t n);
    /* Never from within http_local_start, nor after the last or http_local_cancel. The piece is
     * borrowed, of the last one also the request's arena. */
    void (*on_piece)(void *ctx, struct arena *a, str piece, enum http_piece how);
    void *ctx;
};

struct http_local {
    struct loop *loop;
    void (*on_request)(void *ctx, struct http_req *r);
    void *ctx;
    struct http_identity who; /* its texts live as long as those of the request */
    struct http_taker to;
};

struct http_ask {
    str method;
    str target; /* path and query */
    const struct http_header *headers;
    size_t n_headers;
    struct buf body; /* taken */
    struct arena *a; /* taken: the request's; holds all of the above but the body */
};

/* Valid until the last piece or http_local_cancel. */
struct http_req *http_local_start(const struct http_local *l, const struct http_ask *ask);
/* Nothing is called back after it; from callbacks too. */
void http_local_cancel(struct http_req *r);
