/* HTTP/2 and HTTP/1.1 over TLS on one port, or plain HTTP/1.1. Everything here runs on the loop
 * thread. A handler gets a request when its head and whole body are there, owes it exactly one
 * answer, and may take its time: the request stays valid until it was answered and the answer is
 * through, whatever the connection does meanwhile. */
#pragma once

#include "base/arena.h"
#include "base/blob.h"
#include "base/err.h"
#include "loop/loop.h"

#include <sys/types.h>

struct http_server;
struct http_req;

struct http_header {
    str name; /* lower case */
    str value;
};

struct http_identity { /* from a client certificate that our CA signed */
    str user;          /* common name; empty: no certificate */
    const str *groups; /* organisations */
    size_t n_groups;
};

struct http_limits {        /* 0: the one of base/limits.h */
    int64_t handshake_ms;   /* TLS */
    int64_t header_ms;      /* a request's head, from its first byte */
    int64_t body_ms;        /* a request's body; a client that takes nothing of an answer */
    int64_t slow_client_ms; /* instead of body_ms, after http_allow_slow_client */
    int64_t idle_ms;        /* a connection without a request */
    int64_t linger_ms;      /* for a client to answer our end with its own, when it has all */
    size_t body_bytes;
    size_t bodies_bytes; /* of all requests together */
    size_t header_bytes;
    size_t url_bytes;
    size_t connections;
    size_t streams;  /* of an HTTP/2 connection */
    size_t requests; /* of the server, idle watches too */
};

struct http_server_opts {
    const char *host;          /* numeric address; NULL: all of them, IPv6 too where there is any */
    int port;                  /* 0: any free one */
    const char *cert_pem_path; /* NULL: plain HTTP/1.1, the other two are not read */
    const char *key_pem_path;
    const char *client_ca_pem_path; /* certificates are asked for, not required */
    void (*on_request)(void *ctx, struct http_req *r);
    void *ctx;
    struct http_limits limits;
};

int http_server_start(struct http_server **out, struct loop *l, const struct http_server_opts *o,
                      struct err *e);
int http_server_port(const struct http_server *s);
/* Also takes connections from fd (taken), a socket that listens and does not block; instead of the
 * one it was given before. */
void http_server_also(struct http_server *s, int fd);
/* No new connections or requests; what is in flight gets grace_ms; sources are told to end
 * (closed with HTTP_END at their next read); then done(ctx). */
void http_server_stop(struct http_server *s, int64_t grace_ms, void (*done)(void *ctx), void *ctx);
/* After done; requests that are still owed an answer stay valid and may be answered later. */
void http_server_free(struct http_server *s);

struct http_stats {
    uint64_t connections_open, connections_total, streams_open, requests_total;
    uint64_t refused_total; /* malformed, over a limit, too slow; failed handshakes */
    uint64_t bytes_in, bytes_out;
};
struct http_stats http_server_stats(const struct http_server *s);

/* ---- the request; all texts live as long as it does */
str http_method(const struct http_req *r); /* "GET" */
str http_path(const struct http_req *r);   /* as sent, still percent-encoded, without the query */
str http_query(const struct http_req *r);  /* after '?', still encoded */
str http_host(const struct http_req *r);   /* Host or :authority */
str http_get_header(const struct http_req *r, str lower_name); /* the first; STR_NONE: none */
size_t http_headers(const struct http_req *r, const struct http_header **out);
/* Released early, when an answer of unknown length starts: a watch may stay for hours. */
str http_body(const struct http_req *r);
struct http_identity http_identity(const struct http_req *r);
struct arena *http_arena(struct http_req *r); /* freed with the request */
/* The client left, but an answer is still owed; a source given then is closed without a read. */
bool http_is_gone(const struct http_req *r);
int http_version(const struct http_req *r); /* 1 or 2 */

/* ---- the answer. Headers are copied. content-length, date and framing are added. */
void http_reply(struct http_req *r, int status, const struct http_header *h, size_t n_h,
                struct blob *body /* taken; NULL: none */);

enum { HTTP_WAIT = 0, HTTP_END = -1, HTTP_ABORT = -2 };

/* An answer that is pulled as the client takes it. read() writes up to n bytes to buf and returns
 * how many; HTTP_WAIT: nothing now, http_wake() will be called; HTTP_END; HTTP_ABORT: break the
 * stream off. close() is called exactly once, always, when the answer is over for any reason;
 * after it neither r nor the source is used again. */
struct http_source {
    ssize_t (*read)(void *ctx, char *buf, size_t n);
    void (*close)(void *ctx);
    void *ctx;
    int64_t length; /* -1: not known; HTTP_LARGE: not known, but large, and it has an end */
};
enum { HTTP_LARGE = -2 };
void http_reply_source(struct http_req *r, int status, const struct http_header *h, size_t n_h,
                       struct http_source src);
void http_wake(struct http_req *r); /* cheap; may be called in any state until close() */

/* Call before answering. A client that reads nothing of this answer, or of the WebSocket that r
 * becomes, is cut off after slow_client_ms instead of body_ms: a person may read it and pause, and
 * a waiting answer of this kind holds little memory. */
void http_allow_slow_client(struct http_req *r);

/* Both replies are gzipped on the way when the client accepts it and the length is known and at
 * least 128 KB, as kube-apiserver does, or HTTP_LARGE; sources of unknown length are not. */

/* ---- WebSocket (RFC 6455) on HTTP/1.1 requests that ask for it */
struct ws;
struct ws_handler {
    void (*on_message)(void *ctx, bool binary, str payload);
    void (*on_drain)(void *ctx);           /* what was queued is out */
    void (*on_close)(void *ctx, int code); /* exactly once; w is gone after it */
    void *ctx;
};
bool http_wants_websocket(const struct http_req *r);
/* Answers 101 with that subprotocol (STR_NONE: none). Consumes r as a reply would. */
struct ws *http_accept_websocket(struct http_req *r, str subprotocol, const struct ws_handler *h);
/* Another protocol than HTTP from now on, by the same words: the client asks for it by name; it is
 * answered 101 with one header more, and then messages are bytes, in pieces as they come. */
bool http_wants_upgrade(const struct http_req *r, str protocol);
struct ws *http_accept_upgrade(struct http_req *r, str protocol, struct http_header more,
                               const struct ws_handler *h);
void ws_send(struct ws *w, bool binary, str payload); /* copied */
size_t ws_queued(const struct ws *w);
/* Reads no more from the client, but for what is here already; its end is still seen. */
void ws_pause(struct ws *w, bool paused);
/* Answers 101 with the first subprotocol offered and sends each line of src, its end included, as
 * a text message; what the client sends is ignored. As http_reply_source in all else. */
void http_reply_lines(struct http_req *r, struct http_source src);
void ws_close(struct ws *w, int code, str reason);
