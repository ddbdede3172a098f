/* SPDY/3.1 frames in and out of bytes, without any I/O: the server's side, and only as much of it
 * as kubectl and client-go use for streams to a pod. Nobody there keeps flow-control windows;
 * who takes too little is held up by the connection underneath. */
#pragma once

#include "base/buf.h"

enum { /* why a stream is broken off */
       SPDY_PROTOCOL_ERROR = 1,
       SPDY_REFUSED_STREAM = 3,
       SPDY_CANCEL = 5,
       SPDY_STREAM_IN_USE = 8,
};

enum { SPDY_HEADERS_MAX = 32 };

struct spdy_headers { /* names are in lower case, as sent */
    struct {
        str name, value;
    } at[SPDY_HEADERS_MAX];
    size_t n;
};
str spdy_header(const struct spdy_headers *h, str name); /* STR_NONE: it is not there */

struct spdy_inflate;

struct spdy_parser {
    /* Texts live until the call returns; fin: the client sends nothing on it. */
    void (*on_open)(void *ctx, uint32_t id, bool fin, const struct spdy_headers *h);
    void (*on_data)(void *ctx, uint32_t id, str bytes, bool fin); /* in pieces, as they come */
    void (*on_reset)(void *ctx, uint32_t id);
    void (*on_ping)(void *ctx, uint32_t id); /* to be sent back */
    void (*on_leave)(void *ctx);             /* the client opens no more */
    void *ctx;
    /* ---- its own */
    uint8_t head[8];
    uint8_t head_n;
    uint32_t left; /* of the frame's body */
    struct buf body;
    struct spdy_inflate *inflate; /* one for all headers of a connection; NULL: none yet */
};

/* -1: these are not frames; feed no more then. */
int spdy_parser_feed(struct spdy_parser *p, str in);
void spdy_parser_done(struct spdy_parser *p);

/* ---- frames out: added to a buffer */
void spdy_reply(struct buf *out, uint32_t id,
                bool first); /* without headers; first of all replies */
void spdy_data(struct buf *out, uint32_t id, str bytes, bool fin); /* less than 16 MB */
void spdy_reset(struct buf *out, uint32_t id, uint32_t why);
void spdy_ping(struct buf *out, uint32_t id);
void spdy_leave(struct buf *out, uint32_t last_id);

/* The text that headers are compressed with; the caller frees it. */
char *spdy_dictionary(size_t *n);
