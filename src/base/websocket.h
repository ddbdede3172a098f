/* WebSocket frames (RFC 6455) in and out of bytes, without any I/O; for both sides. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

enum { /* why a connection ends */
       WS_NORMAL = 1000,
       WS_GOING_AWAY = 1001,
       WS_PROTOCOL_ERROR = 1002,
       WS_NO_CODE = 1005,
       WS_ABNORMAL = 1006, /* never sent */
       WS_NOT_UTF8 = 1007,
       WS_TOO_LARGE = 1009,
};

struct ws_parser {
    void (*on_message)(void *ctx, bool binary, str payload);
    void (*on_control)(void *ctx, enum ws_opcode op, str payload); /* ping, pong */
    void (*on_close)(void *ctx, int code);                         /* WS_NO_CODE: none was given */
    void *ctx;
    size_t max;  /* bytes of a message */
    bool client; /* reads what a server sends, which is not masked */
    /* ---- its own */
    uint8_t head[14];
    uint8_t head_n;
    uint8_t opcode;
    bool fin;
    bool in_payload;
    bool closed;     /* nothing may follow */
    uint8_t message; /* opcode of the message at work; 0: none */
    uint8_t control_n;
    char control[125];
    uint8_t mask[4];
    uint64_t left; /* of the frame */
    size_t mask_at;
    struct buf text; /* of a message that came in pieces */
};

/* Unmasks in place. 0, or the code to close with; feed no more then. */
int ws_parser_feed(struct ws_parser *p, char *in, size_t n);
void ws_parser_done(struct ws_parser *p);
void ws_unmask(char *p, size_t n, const uint8_t mask[4], size_t at); /* at: offset in the frame */
void ws_frame(struct buf *out, enum ws_opcode op, str payload);      /* adds a whole frame */
/* The same as a client sends it; the mask is to be random, and another each time. */
void ws_frame_masked(struct buf *out, enum ws_opcode op, str payload, const uint8_t mask[4]);
