/* HTTP/2 on a connection: what its two files share. */
#pragma once

#include "http/internal.h"

#include <nghttp2/nghttp2.h>

struct h2 {
    nghttp2_session *ng;
    struct http_head *head;    /* of the header block on its way; HTTP/2 has one at a time */
    int64_t head_ms;           /* when it began */
    struct http_req *incoming; /* the oldest whose body is on the way */
    struct http_req *newest;
    int64_t check_ms;     /* when to look for answers that the client takes nothing of; 0: never */
    const uint8_t *frame; /* made by nghttp2, not yet pulled */
    size_t frame_n;
};

/* ---- h2_recv.c: from frames to requests */
void h2_set_callbacks(nghttp2_session_callbacks *cb);
void h2_incoming_add(struct h2 *h, struct http_req *r);
void h2_incoming_remove(struct h2 *h, struct http_req *r);

static inline nghttp2_nv h2_nv(str name, str value)
{
    nghttp2_nv nv = { .namelen = name.n, .valuelen = value.n, .flags = NGHTTP2_NV_FLAG_NONE };

    memcpy(&nv.name, &name.p, sizeof(nv.name)); /* nghttp2 copies both and changes neither */
    memcpy(&nv.value, &value.p, sizeof(nv.value));
    return nv;
}
