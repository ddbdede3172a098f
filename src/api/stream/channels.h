/* remotecommand as kubelet has it (v4 and v5.channel.k8s.io), between the client and a program's
 * descriptors. Over a WebSocket the first byte of a message says of which stream it is; over SPDY
 * each is a stream of its own. */
#pragma once

#include "api/api.h"

enum channel {
    CHANNEL_STDIN = 0,
    CHANNEL_STDOUT = 1,
    CHANNEL_STDERR = 2,
    CHANNEL_ERROR = 3,
    CHANNEL_RESIZE = 4,
    CHANNEL_CLOSE = 255, /* v5: the next byte says which */
};

struct channel_message { /* what a client says */
    enum { CHANNEL_NOTHING, CHANNEL_INPUT, CHANNEL_INPUT_ENDS, CHANNEL_SIZE } what;
    str bytes;
    int rows, cols;
};
/* Messages that mean nothing are CHANNEL_NOTHING: they are passed over. */
void channel_read(str message, bool v5, struct channel_message *out);

/* The subprotocol to use of those offered; STR_NONE: none is known. */
str channels_choose(str offered);

struct channels_opts {
    struct loop *loop;
    const struct api_pods *pods;
    struct api_pod pod;
    struct api_exec exec; /* container, argv and tty are read */
    bool in, out, err;    /* the streams that are wanted */
    bool spdy;            /* not a WebSocket */
};

/* Answers r, a WebSocket's or SPDY's, starts the program, and is gone by itself when it has ended
 * or the client left. */
void channels_start(struct http_req *r, str protocol, const struct channels_opts *o);
/* How it ended, as a Status on CHANNEL_ERROR. */
str channels_status(struct arena *a, jv argv, int code, str why);

/* ---- channels_spdy.c: the streams of a client, without any I/O */

struct channel_streams;

struct channel_streams_opts {
    bool in, out, err, tty;    /* which there are to be */
    void (*on_all)(void *ctx); /* they are: the program may start */
    void (*on_said)(void *ctx, const struct channel_message *m);
    void *ctx;
};

struct channel_streams *channel_streams_new(const struct channel_streams_opts *o);
/* -1: these are not frames; feed no more then. */
int channel_streams_feed(struct channel_streams *s, str bytes);
void channel_streams_tell(struct channel_streams *s, enum channel channel, str bytes, bool fin);
struct buf *
channel_streams_out(struct channel_streams *s); /* for the client; the caller empties it */
void channel_streams_free(struct channel_streams *s);
