/* What a server answers to a request for a WebSocket: texts in, facts out. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct upgrade {
    int status;
    bool websocket; /* Upgrade and Connection say so */
    str accept;     /* Sec-WebSocket-Accept */
    str protocol;   /* that the server chose; empty: none */
    int64_t length; /* of a body; -1: not said */
    bool chunked;
};

/* Bytes of the head with its empty line; 0: it is not whole yet. */
size_t upgrade_head_size(str text);
int upgrade_read(str head, struct upgrade *out, struct err *e); /* shares head */
/* Of an answer that is none of our kind: whether all of its body is there. */
bool upgrade_body_is_whole(const struct upgrade *u, str body);
/* What it says, chunked or not. */
str upgrade_body(struct arena *a, const struct upgrade *u, str body);
/* What Sec-WebSocket-Accept must be. */
str upgrade_accept(struct arena *a, str key);
