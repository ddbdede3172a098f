/* What the files of this room share: server, connection, request; not for other rooms.
 *
 * Bytes go one way at a time through buffers of the server: recv() -> TLS -> proto->feed(), and
 * proto->pull() -> TLS -> send(). A connection keeps bytes of its own only where a peer stops in
 * the middle: `out`, and what its protocol holds. Whatever happens to a connection inside callbacks
 * is noted and carried out by conn_flush(), once per turn of the loop. */
#pragma once

#include "base/buf.h"
#include "base/limits.h"
#include "http/head.h"
#include "http/server.h"

#include <openssl/ssl.h>
#include <uv.h>

enum {
    IN_BYTES = 64 * 1024,    /* one recv() */
    PLAIN_BYTES = 16 * 1024, /* one TLS record */
    FEED_BYTES = 2 * 1024,   /* given to a protocol at once: room for about 100 requests */
    FEED_LEAST_BYTES = 128,  /* ... where they were FEED_HEADER_BYTES and more when decoded */
    FEED_HEADER_BYTES = 32 * 1024,
    OUT_HIGH = 64 * 1024,      /* ciphertext a connection may have in flight, and makes in a turn */
    SQUEEZE_HIGH = 128 * 1024, /* bytes gzipped in a turn: about a millisecond */
};

struct conn;

struct proto { /* what HTTP/1.1, HTTP/2 and WebSocket do differently */
    void (*start)(struct conn *c);
    void (*feed)(struct conn *c, char *p, size_t n);
    size_t (*pull)(struct conn *c, char *to, size_t room); /* 0: nothing to send now */
    void (*reply)(struct http_req *r, const struct http_header *h, size_t n); /* r->reply is set */
    void (*wake)(struct http_req *r);
    void (*expire)(struct conn *c); /* the deadline passed */
    void (*stop)(struct conn *c);   /* the server stops: end gracefully */
    void (*end)(struct conn *c);    /* frees c->state; the requests are looked after by conn */
};

enum conn_phase { CONN_HANDSHAKE, CONN_OPEN, CONN_LINGER, CONN_CLOSED };
enum conn_fate { FATE_NONE, FATE_END /* once all is sent */, FATE_NOW };

struct conn {
    struct http_server *s;
    struct conn *prev;
    struct conn *next;
    struct conn *next_dirty;
    const struct proto *proto;
    void *state; /* of the protocol */
    SSL *ssl;    /* NULL: plain HTTP */
    char *in;    /* what came in this turn, for TLS to take */
    size_t in_n;
    struct buf held;          /* received, left for the next turn */
    size_t turn_heads;        /* requests read in this turn */
    size_t turn_header_bytes; /* of their heads, decoded */
    size_t feed_bytes;        /* the next share for the protocol */
    struct buf out;           /* ciphertext that the socket has not taken */
    size_t out_at;
    struct http_req *reqs; /* all that are not freed */
    size_t n_reqs;
    size_t n_active; /* answers that have more to send, as far as we know */
    uv_poll_t poll;
    uv_timer_t timer;
    int64_t deadline_ms; /* 0: none */
    int64_t armed_ms;    /* when the timer fires: not after the deadline */
    int64_t stalled_ms;  /* since when the socket takes nothing; 0: it does */
    unsigned refs;       /* open, handles, requests, dirty list */
    int fd;
    int unacked; /* while it lingers: when last looked at */
    int events;  /* that are polled for */
    enum conn_phase phase;
    enum conn_fate fate;
    bool dirty;
    bool paused;       /* protocol wants no more input now */
    bool full;         /* it had its share of this turn: conn_resume goes on in the next */
    bool slow_allowed; /* it carries, or carried, an answer of http_allow_slow_client */
    struct http_identity who;
    struct arena *who_memory;
};

struct reply {
    int status;
    struct http_source src;
    int64_t left;      /* of a known length; -1: not known */
    struct blob *blob; /* the body, where it came whole */
    size_t blob_at;
    bool bodyless; /* HEAD, 204 and so on: the source is not read */
    bool chunked;  /* HTTP/1.1 framing */
    bool endless;  /* the source was of unknown length: ended when the server stops */
    bool refused;  /* answered before the request was all there */
};

struct http_req {
    struct conn *c;      /* or */
    struct local *local; /* it came from within */
    struct http_req *prev;
    struct http_req *next;
    struct arena *a; /* made when asked for */
    str method, path, query, host;
    const struct http_header *headers;
    size_t n_headers;
    struct buf body;
    struct buf head_out; /* HTTP/1.1: the answer's head */
    size_t head_at;
    struct reply reply;
    int64_t born_ms;
    int64_t pulled_ms;              /* when the client last had room for more of the answer */
    struct http_req *next_incoming; /* HTTP/2: whose body is on the way, oldest first */
    struct http_req *prev_incoming;
    size_t read_over; /* bytes that came after it was refused */
    int32_t stream;
    uint8_t version;
    bool incoming;     /* not yet given to the handler */
    bool listed;       /* HTTP/2: among those whose body is on the way */
    bool answered;     /* http_reply or so was called */
    bool gone;         /* nobody is there to read an answer */
    bool waiting;      /* the source said HTTP_WAIT */
    bool active;       /* counted in n_active */
    bool is_head;      /* method HEAD */
    bool keep_alive;   /* HTTP/1.1 */
    bool old;          /* HTTP/1.0 */
    bool slow_allowed; /* see http_allow_slow_client */
    bool kept;         /* as long as the WebSocket it became, which finishes it */
};

/* Where connections come in. */
struct http_door {
    uv_poll_t poll;
    struct http_server *s;
    int fd;
};

enum { HTTP_DOORS = 2 }; /* the server's own, and one that it was given */

struct http_server {
    struct loop *loop;
    struct http_limits limits;
    void (*on_request)(void *ctx, struct http_req *r);
    void *ctx;
    SSL_CTX *tls;                        /* NULL: plain HTTP */
    struct http_door *doors[HTTP_DOORS]; /* NULL: none */
    int port;
    unsigned refs;
    struct conn *conns;
    struct conn *dirty;
    struct conn **dirty_tail;
    bool flush_queued;
    struct http_head *heads; /* to be used again */
    size_t n_heads;
    size_t bodies;   /* bytes held */
    size_t gzips;    /* running */
    size_t squeezed; /* bytes that went into gzip for the connection at work in this turn */
    struct loop_timer *accept_pause;
    struct loop_timer *grace;
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
    bool stopping;
    bool stopped;
    struct http_stats stats;
    int64_t date_s;
    char date[32];
    struct buf cipher; /* made by TLS for the connection at work */
    char in[IN_BYTES];
    char plain_in[PLAIN_BYTES];
    char plain_out[PLAIN_BYTES];
};

/* ---- server.c */
void server_unref(struct http_server *s);
void server_conn_closed(struct http_server *s); /* one less; finishes a stop */
str server_date(struct http_server *s);         /* as HTTP writes it */
struct http_head *server_head_take(struct http_server *s);
void server_head_give(struct http_server *s, struct http_head *h);

/* ---- conn.c */
struct conn *conn_start(struct http_server *s, int fd);
void conn_unref(struct conn *c);
void conn_touch(struct conn *c); /* there may be something to send or to carry out this turn */
void conn_flush(struct conn *c);
void conn_close(struct conn *c);                      /* not from callbacks of a protocol */
void conn_end(struct conn *c, enum conn_fate fate);   /* from anywhere */
void conn_deadline(struct conn *c, int64_t in_ms);    /* from now; 0: none */
void conn_deadline_at(struct conn *c, int64_t at_ms); /* loop time; 0: none */
void conn_pause(struct conn *c, bool paused);         /* read no more from the socket */
void conn_poll(struct conn *c);                       /* asks for the events that are of use now */

/* ---- conn_io.c: between a connection's socket and its TLS */
void conn_established(struct conn *c); /* the protocol starts */
bool conn_recv(struct conn *c);        /* false: the connection is over */
bool conn_resume(struct conn *c);      /* reads what is held; false: the connection is over */
bool conn_send(struct conn *c);        /* s->cipher and c->out; false: the connection is over */

/* ---- local.c */
void local_reply(struct http_req *r, const struct http_header *h, size_t n); /* r->reply is set */
void local_wake(struct http_req *r);
struct http_identity local_identity(const struct http_req *r);

/* ---- req.c */
struct http_req *req_new(struct conn *c, const struct http_head *h);
void req_set_target(struct http_req *r, str target);
int req_add_body(struct http_req *r, const char *p, size_t n); /* 0, or a status to refuse with */
void req_free_body(struct http_req *r);
void req_set_active(struct http_req *r, bool active);
void req_dispatch(struct http_req *r);
void req_refuse(struct http_req *r, int status);          /* answers by itself */
ssize_t req_pull(struct http_req *r, char *to, size_t n); /* HTTP_WAIT and so on, as a source */
void req_lost(struct http_req *r);         /* the client left: frees it, or waits for the answer */
void req_finish(struct http_req *r);       /* the answer is over: closes its source, frees it */
void req_finish_later(struct http_req *r); /* once the handler has returned */

/* ---- gzip.c */
bool gzip_is_wanted(const struct http_req *r);
void gzip_wrap(struct http_req *r); /* puts itself before r->reply.src */

/* ---- refuse.c */
str refuse_body(int status, str *content_type);
const char *status_phrase(int status);

extern const struct proto h1_proto;
extern const struct proto h2_proto;
extern const struct proto ws_proto;
