/* Blocking clients for tests: bytes over TLS, and HTTP/2 on top. */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "fixture.h"

struct client;

struct client_opts {
    const char *alpn;      /* NULL: "http/1.1" */
    const char *cert;      /* "client" and so on, in certs_dir; NULL: none */
    const char *certs_dir; /* NULL: the fixture's */
    int receive_buffer;    /* 0: the system's */
    int max_tls;           /* 0: the newest */
};
struct client *client_open(struct fixture *f, struct client_opts o); /* NULL: refused */
void client_free(struct client *c);
bool client_write(struct client *c, str bytes);
/* Reads what comes within wait_ms: > 0 bytes, 0 the server closed, -1 nothing came. */
int client_read(struct client *c, char *to, size_t n, int wait_ms);
/* Reads until the server closes (true) or nothing comes for wait_ms. */
bool client_read_all(struct client *c, struct buf *to, int wait_ms);
/* Reads until `mark` has come. */
bool client_read_until(struct client *c, struct buf *to, str mark);
int client_fd(const struct client *c);

/* Opens, writes, reads all until the server closes; returns the first status, 0: none. */
int client_exchange(struct fixture *f, str request, struct buf *answer, bool *closed);

/* Sends n requests on one connection, each with its number as the body, and reads until the server
 * closes. Returns how many answers came with the numbers in order, -1 if another came. */
int client_pipeline(struct fixture *f, int n, bool *closed);

/* ---- HTTP/2 */
struct nghttp2_session;
struct h2c;

struct h2c_stream {
    int status; /* of the last header block */
    bool closed;
    uint32_t error;
    size_t n;        /* bytes of body */
    struct buf body; /* as far as kept */
    int n_interim;
    char encoding[16];
};

struct h2c *h2c_open(struct fixture *f);
void h2c_free(struct h2c *h);
struct nghttp2_session *h2c_session(struct h2c *h);
/* body STR_NONE: none; not_last: the stream stays open. */
int32_t h2c_request(struct h2c *h, const char *method, const char *path, str body);
int32_t h2c_request_headers(struct h2c *h, const char *const *pairs, size_t n, bool is_last);
struct h2c_stream *h2c_stream(struct h2c *h, int32_t id);
/* Sends and receives until done() says so (true), the connection is over, or 5 s are gone. */
bool h2c_run(struct h2c *h, bool (*done)(struct h2c *h, void *ctx), void *ctx);
bool h2c_run_stream(struct h2c *h, int32_t id); /* until it is closed */
void h2c_send(struct h2c *h);                   /* what is queued */
bool h2c_is_over(const struct h2c *h);
int h2c_goaways(const struct h2c *h);
size_t h2c_total(const struct h2c *h);  /* bytes of all bodies */
size_t h2c_closed(const struct h2c *h); /* streams */
