/* Frames are checked as soon as their head is there, so that a bad one costs nothing. */

#include "base/websocket.h"

enum { MASKED = 0x80 }; /* in the second byte of a frame */

void ws_unmask(char *p, size_t n, const uint8_t mask[4], size_t at)
{
    uint8_t turned[8];
    uint64_t word = 0;

    for (size_t i = 0; i < sizeof(turned); i++)
        turned[i] = mask[(at + i) & 3];
    memcpy(&word, turned, sizeof(word));
    for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
        uint64_t x = 0;
        memcpy(&x, p, sizeof(x));
        x ^= word;
        memcpy(p, &x, sizeof(x));
    }
    for (size_t i = 0; i < n; i++)
        p[i] = (char)((uint8_t)p[i] ^ turned[i]);
}

static void add_head(struct buf *out, enum ws_opcode op, size_t n, int mask_bit)
{
    buf_addc(out, (char)(0x80 | op));
    if (n < 126) {
        buf_addc(out, (char)(mask_bit | (int)n));
    } else if (n < 65536) {
        buf_addc(out, (char)(mask_bit | 126));
        buf_addc(out, (char)(n >> 8));
        buf_addc(out, (char)n);
    } else {
        buf_addc(out, (char)(mask_bit | 127));
        for (int shift = 56; shift >= 0; shift -= 8)
            buf_addc(out, (char)(n >> shift));
    }
}

void ws_frame(struct buf *out, enum ws_opcode op, str payload)
{
    add_head(out, op, payload.n, 0);
    buf_add(out, payload);
}

void ws_frame_masked(struct buf *out, enum ws_opcode op, str payload, const uint8_t mask[4])
{
    add_head(out, op, payload.n, MASKED);
    buf_add(out, (str){ (const char *)mask, 4 });
    buf_add(out, payload);
    ws_unmask(out->p + out->n - payload.n, payload.n, mask, 0);
}

void ws_parser_done(struct ws_parser *p)
{
    buf_done(&p->text);
}

/* Bytes of the head, as far as those that are there tell. */
static size_t head_size(const struct ws_parser *p)
{
    if (p->head_n < 2)
        return 2;
    uint8_t len = p->head[1] & 0x7f;
    return 2 + (size_t)(p->client ? 0 : 4) + (len == 126 ? 2 : len == 127 ? 8 : 0);
}

/* The first two bytes are there. */
static int check_start(const struct ws_parser *p)
{
    uint8_t op = p->head[0] & 0x0f;
    bool fin = p->head[0] & 0x80;

    if ((p->head[0] & 0x70) || !(p->head[1] & MASKED) != p->client) /* extensions; the mask */
        return WS_PROTOCOL_ERROR;
    switch (op) {
    case WS_CONTINUATION:
        return p->message ? 0 : WS_PROTOCOL_ERROR;
    case WS_TEXT:
    case WS_BINARY:
        return p->message ? WS_PROTOCOL_ERROR : 0;
    case WS_CLOSE:
    case WS_PING:
    case WS_PONG:
        return fin && (p->head[1] & 0x7f) <= 125 ? 0 : WS_PROTOCOL_ERROR;
    default:
        return WS_PROTOCOL_ERROR;
    }
}

static int take_head(struct ws_parser *p)
{
    uint8_t len = p->head[1] & 0x7f;
    size_t extra = len == 126 ? 2 : len == 127 ? 8 : 0;

    p->left = extra ? 0 : len;
    for (size_t i = 0; i < extra; i++)
        p->left = p->left << 8 | p->head[2 + i];
    if ((extra == 2 && p->left < 126) || (extra == 8 && (p->left < 65536 || p->left >> 63)))
        return WS_PROTOCOL_ERROR; /* not the shortest form */
    if (!p->client)               /* else it stays 0 */
        memcpy(p->mask, p->head + 2 + extra, 4);
    p->opcode = p->head[0] & 0x0f;
    p->fin = p->head[0] & 0x80;
    p->mask_at = 0;
    p->head_n = 0;
    p->in_payload = true;
    if (p->opcode >= WS_CLOSE) {
        p->control_n = 0;
        return 0;
    }
    if (p->opcode != WS_CONTINUATION)
        p->message = p->opcode;
    return p->left > p->max - p->text.n ? WS_TOO_LARGE : 0;
}

static int deliver(struct ws_parser *p, str payload)
{
    bool binary = p->message == WS_BINARY;

    p->message = 0;
    if (!binary && !str_is_utf8(payload))
        return WS_NOT_UTF8;
    p->on_message(p->ctx, binary, payload);
    return 0;
}

static bool is_close_code(int code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != WS_NO_CODE &&
            code != WS_ABNORMAL) ||
           (code >= 3000 && code <= 4999);
}

static int take_control(struct ws_parser *p)
{
    str payload = { p->control, p->control_n };

    if (p->opcode != WS_CLOSE) {
        p->on_control(p->ctx, p->opcode, payload);
        return 0;
    }
    int code = payload.n == 0 ? WS_NO_CODE : 0;
    if (payload.n == 1)
        return WS_PROTOCOL_ERROR;
    if (payload.n >= 2) {
        code = (uint8_t)payload.p[0] << 8 | (uint8_t)payload.p[1];
        if (!is_close_code(code))
            return WS_PROTOCOL_ERROR;
        if (!str_is_utf8(str_sub(payload, 2, payload.n)))
            return WS_NOT_UTF8;
    }
    p->closed = true;
    p->on_close(p->ctx, code);
    return 0;
}

/* n bytes of the frame's payload are at `in`; it may be complete with them. */
static int take_payload(struct ws_parser *p, char *in, size_t n)
{
    bool whole = p->mask_at == 0 && n == p->left;

    ws_unmask(in, n, p->mask, p->mask_at);
    p->mask_at += n;
    p->left -= n;
    p->in_payload = p->left > 0;
    if (p->opcode >= WS_CLOSE) {
        memcpy(p->control + p->control_n, in, n);
        p->control_n = (uint8_t)(p->control_n + n);
        return p->left ? 0 : take_control(p);
    }
    if (whole && p->fin && p->text.n == 0)
        return deliver(p, (str){ in, n }); /* the usual case: no copy */
    buf_add(&p->text, (str){ in, n });
    if (p->left || !p->fin)
        return 0;
    struct buf text = p->text; /* the callback may take its time with it */
    p->text = (struct buf){ 0 };
    int rc = deliver(p, buf_str(&text));
    buf_done(&text);
    return rc;
}

int ws_parser_feed(struct ws_parser *p, char *in, size_t n)
{
    size_t at = 0;
    int rc = 0;

    while (rc == 0 && !p->closed && (at < n || (p->in_payload && p->left == 0))) {
        if (p->in_payload) {
            size_t k = p->left < n - at ? (size_t)p->left : n - at;
            rc = take_payload(p, in + at, k);
            at += k;
            continue;
        }
        p->head[p->head_n++] = (uint8_t)in[at++];
        if (p->head_n == 2)
            rc = check_start(p);
        if (rc == 0 && p->head_n >= 2 && p->head_n == head_size(p))
            rc = take_head(p);
    }
    return rc;
}
