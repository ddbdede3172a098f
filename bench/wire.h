/* Inside of net.c and wire.c. */
#pragma once

#include "kbench.h"

#include <nghttp2/nghttp2.h>

struct wire {
    struct net *net;
    int fd;
    SSL *ssl;
    nghttp2_session *h2;
    struct buf out; /* framed, yet to be encrypted */
    size_t out_at;
    size_t open;
    bool settled;     /* the server's settings are here */
    bool wants_write; /* the socket is full */
    bool has_more;    /* not all was read */
};

struct net {
    const struct target *target;
    int epoll;
    struct {
        VEC(struct wire *);
    } wires;
    struct {
        VEC(nghttp2_nv);
    } head; /* of the request being made */
};

void wire_h2_start(struct wire *w);
int wire_flush(struct wire *w, struct err *e);
int wire_read(struct wire *w, struct err *e);
void wire_free(struct wire *w);
