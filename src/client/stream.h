/* A WebSocket to the API server: exec and its like. Pings by itself, and ends when nothing is heard
 * for a minute. */
#pragma once

#include "client/client.h"

struct client_stream;

struct client_stream_handler {
    void (*on_open)(void *ctx, str protocol); /* that the server chose */
    void (*on_message)(void *ctx, str payload);
    void (*on_drain)(void *ctx); /* all that was sent is out of our hands; may be NULL */
    /* Exactly once, unless it is freed before. e NULL: the server closed it in order; else why it
     * did not open, or was cut. */
    void (*on_end)(void *ctx, const struct err *e);
    void *ctx;
};

/* path: with query; protocols: those offered, "a, b". Connects before it returns, so it is for
 * commands, not for servers. c must have had an answer to a request: that is when who we are is
 * known. NULL: as e says. */
struct client_stream *client_stream_open(struct client *c, str path, const char *protocols,
                                         const struct client_stream_handler *h, struct err *e);
void client_stream_send(struct client_stream *s, str payload); /* one binary message */
size_t client_stream_queued(const struct client_stream *s);    /* bytes not sent yet */
void client_stream_free(struct client_stream *s); /* from anywhere; the memory goes later */
