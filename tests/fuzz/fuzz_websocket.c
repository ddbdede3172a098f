/* Bytes into the WebSocket parser, of a server and of a client: whole and byte by byte, which must
 * agree. */

#include "base/websocket.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_MESSAGE = 1000 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void on_message(void *ctx, bool binary, str payload)
{
    check(payload.n <= MAX_MESSAGE && (binary || str_is_utf8(payload)));
    buf_addc(ctx, binary ? 'b' : 't');
    buf_add(ctx, payload);
}

static void on_control(void *ctx, enum ws_opcode op, str payload)
{
    check(payload.n <= 125 && (op == WS_PING || op == WS_PONG));
    buf_addc(ctx, 'c');
    buf_add(ctx, payload);
}

static void on_close(void *ctx, int code)
{
    check(code >= 1000 && code < 5000);
    buf_printf(ctx, "close %d", code);
}

static int feed(const uint8_t *data, size_t size, size_t step, bool client, struct buf *out)
{
    struct ws_parser p = { .on_message = on_message,
                           .on_control = on_control,
                           .on_close = on_close,
                           .ctx = out,
                           .client = client,
                           .max = MAX_MESSAGE };
    struct buf copy = { 0 };
    int rc = 0;

    buf_add(&copy, (str){ (const char *)data, size });
    for (size_t at = 0; at < size && rc == 0; at += step)
        rc = ws_parser_feed(&p, copy.p + at, size - at < step ? size - at : step);
    ws_parser_done(&p);
    buf_done(&copy);
    return rc;
}

static void both_ways(const uint8_t *data, size_t size, bool client)
{
    struct buf whole = { 0 };
    struct buf bytes = { 0 };
    int a = feed(data, size, size ? size : 1, client, &whole);
    int b = feed(data, size, 1, client, &bytes);

    check(a == b && str_eq(buf_str(&whole), buf_str(&bytes)));
    buf_done(&whole);
    buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    both_ways(data, size, false);
    both_ways(data, size, true);
    return 0;
}
