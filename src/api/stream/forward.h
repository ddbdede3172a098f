/* pods/portforward: connections to ports of a pod, and the two ways in which clients carry them
 * over one WebSocket, or one connection that speaks SPDY alone. Both wait for a slow side by
 * reading no further from the other. */
#pragma once

#include "api/api.h"
#include "api/target.h"

/* ---- forward_link.c: one connection, between a socket and whoever speaks with the client */

struct forward_link;

struct forward_link_opts {
    struct loop *loop;
    const struct api_pods *pods;
    const struct api_pod *pod; /* lives as long as the link */
    int port;
    bool (*takes)(void *ctx);               /* the client takes more; forward_link_resume, later */
    void (*on_bytes)(void *ctx, str bytes); /* from the pod */
    void (*on_room)(void *ctx);             /* the pod has taken some of what waited */
    /* The last call, and never from within another. why: it could not be made; empty: it ended. */
    void (*on_end)(void *ctx, str why);
    void *ctx;
};

struct forward_link *forward_link_new(const struct forward_link_opts *o);
void forward_link_send(struct forward_link *f, str bytes);
void forward_link_send_end(struct forward_link *f);        /* the client sends no more */
size_t forward_link_waiting(const struct forward_link *f); /* bytes the pod has not taken */
void forward_link_resume(struct forward_link *f);
void forward_link_free(struct forward_link *f); /* at any time; nothing is told any more */

/* ---- for both protocols */

struct forward_opts {
    struct loop *loop;
    const struct api_pods *pods;
    struct api_pod pod;
    const int *ports; /* of channels */
    size_t n_ports;
    bool spdy; /* not in a WebSocket */
};

enum {
    FORWARD_LINKS = 512,               /* of one client at a time */
    FORWARD_PORTS = 64,                /* of channels */
    FORWARD_QUEUE_MOST = 256 * 1024,   /* for the client: no more is read from pods */
    FORWARD_WAITING_MOST = 512 * 1024, /* for a pod: no more is read from the client */
};

/* Both answer r and are gone by themselves when the client is. */
void forward_channels_start(struct http_req *r, str protocol, const struct forward_opts *o);
void forward_spdy_start(struct http_req *r, str protocol, const struct forward_opts *o);
/* What is told on a stream of errors, as kubelet does. */
str forward_error(struct arena *a, const struct api_pod *pod, int port, str why);
/* The ports of a query; -1: e says what is wrong. out has room for FORWARD_PORTS. */
int forward_ports(const struct target *t, int *out, size_t *n, struct err *e);
