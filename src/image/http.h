/* GET, and POST for tokens, for registries: HTTPS, or plain HTTP to this machine. Redirects are
 * followed; what says who we are goes to the registry alone. Blocks. */
#pragma once

#include "image/image.h"

struct image_http;

struct image_get {
    const char *url;
    const char *authorization; /* whole header; NULL: none */
    const char *accept;        /* whole header; NULL: any */
    const char *form;          /* a form to POST, which no redirect gets; NULL: GET */
    int64_t most_bytes;
    /* Called with the body of an answer 200, as it comes. -1: it cannot go on, and e says why. */
    int (*on_bytes)(void *ctx, str bytes, struct err *e);
    void *ctx;
    /* the answer */
    int status;
    str challenge; /* WWW-Authenticate, in the arena; empty: none */
    bool broken;   /* -1 because the connection failed: worth another try */
};

struct image_http *image_http_new(struct arena *a, struct err *e);
void image_http_free(struct image_http *h);
static inline void image_http_auto(struct image_http **h)
{
    image_http_free(*h);
}
/* 0: there is an answer, of any status. */
int image_http_get(struct image_http *h, struct image_get *g, struct err *e);
