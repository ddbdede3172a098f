/* WebSocket frames alone: tables of frames, whole and byte by byte. */

#include "base/websocket.h"

#include "tap.h"

static struct buf seen;

static void on_message(void *ctx, bool binary, str payload)
{
    (void)ctx;
    buf_printf(&seen, "%s(%.*s)", binary ? "bin" : "text", STR_ARG(payload));
}

static void on_control(void *ctx, enum ws_opcode op, str payload)
{
    (void)ctx;
    buf_printf(&seen, "%s(%.*s)", op == WS_PING ? "ping" : "pong", STR_ARG(payload));
}

static void on_close(void *ctx, int code)
{
    (void)ctx;
    buf_printf(&seen, "close(%d)", code);
}

/* A client's frame: masked. */
static void add_frame(struct buf *b, int first, str payload)
{
    static const uint8_t mask[4] = { 0xa1, 0x02, 0xff, 0x47 };
    size_t head = b->n;

    ws_frame(b, WS_TEXT, payload);
    size_t start = b->n - payload.n;
    buf_add(b, S("1234")); /* room for the mask */
    memmove(b->p + start + 4, b->p + start, payload.n);
    memcpy(b->p + start, mask, 4);
    ws_unmask(b->p + start + 4, payload.n, mask, 0);
    b->p[head] = (char)first;
    b->p[head + 1] = (char)(b->p[head + 1] | 0x80);
}

static int feed(str in, size_t step)
{
    struct ws_parser p = {
        .on_message = on_message, .on_control = on_control, .on_close = on_close, .max = 100000
    };
    AUTO(buf) struct buf copy = { 0 };
    int rc = 0;

    buf_clear(&seen);
    buf_add(&copy, in);
    for (size_t at = 0; at < copy.n && rc == 0; at += step)
        rc = ws_parser_feed(&p, copy.p + at, copy.n - at < step ? copy.n - at : step);
    ws_parser_done(&p);
    return rc;
}

enum { FIN = 0x80 };

static const struct {
    const char *what;
    struct {
        int first;
        str payload;
    } frames[5];
    const char *out;
    int rc;
} rows[] = {
    { "a text", { { FIN | WS_TEXT, S_INIT("hello") } }, "text(hello)", 0 },
    { "an empty text", { { FIN | WS_TEXT, S_INIT("") } }, "text()", 0 },
    { "bytes", { { FIN | WS_BINARY, S_INIT("\xff\xfe") } }, "bin(\xff\xfe)", 0 },
    { "pieces",
      { { WS_TEXT, S_INIT("he") }, { 0, S_INIT("") }, { 0, S_INIT("l") }, { FIN, S_INIT("lo") } },
      "text(hello)",
      0 },
    { "a ping between pieces",
      { { WS_TEXT, S_INIT("a") }, { FIN | WS_PING, S_INIT("x") }, { FIN, S_INIT("b") } },
      "ping(x)text(ab)",
      0 },
    { "a pong", { { FIN | WS_PONG, S_INIT("") } }, "pong()", 0 },
    { "a character in two pieces",
      { { WS_TEXT, S_INIT("\xc3") }, { FIN, S_INIT("\xa4") } },
      "text(\xc3\xa4)",
      0 },
    { "a close",
      { { FIN | WS_CLOSE, S_INIT("\x03\xe8"
                                 "bye") } },
      "close(1000)",
      0 },
    { "a close without a code", { { FIN | WS_CLOSE, S_INIT("") } }, "close(1005)", 0 },
    { "nothing counts after a close",
      { { FIN | WS_CLOSE, S_INIT("") }, { FIN | WS_TEXT, S_INIT("x") } },
      "close(1005)",
      0 },
    { "a text that is not UTF-8", { { FIN | WS_TEXT, S_INIT("\xff") } }, "", WS_NOT_UTF8 },
    { "a piece without a start", { { FIN, S_INIT("x") } }, "", WS_PROTOCOL_ERROR },
    { "a start within pieces",
      { { WS_TEXT, S_INIT("x") }, { FIN | WS_TEXT, S_INIT("y") } },
      "",
      WS_PROTOCOL_ERROR },
    { "a ping in pieces", { { WS_PING, S_INIT("x") } }, "", WS_PROTOCOL_ERROR },
    { "an unknown opcode", { { FIN | 3, S_INIT("x") } }, "", WS_PROTOCOL_ERROR },
    { "an unknown control", { { FIN | 11, S_INIT("x") } }, "", WS_PROTOCOL_ERROR },
    { "an extension bit", { { FIN | 0x40 | WS_TEXT, S_INIT("x") } }, "", WS_PROTOCOL_ERROR },
    { "half a close code", { { FIN | WS_CLOSE, S_INIT("\x03") } }, "", WS_PROTOCOL_ERROR },
    { "a close code nobody may send",
      { { FIN | WS_CLOSE, S_INIT("\x03\xee") } },
      "",
      WS_PROTOCOL_ERROR },
    { "a close reason that is not UTF-8",
      { { FIN | WS_CLOSE, S_INIT("\x03\xe8\xff") } },
      "",
      WS_NOT_UTF8 },
};

static void every_row_comes_out_the_same_in_pieces(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(buf) struct buf b = { 0 };
        bool good = true;
        for (size_t k = 0; k < 5 && rows[i].frames[k].payload.p; k++)
            add_frame(&b, rows[i].frames[k].first, rows[i].frames[k].payload);
        static const size_t steps[] = { 1000, 1, 3 };
        for (size_t k = 0; k < COUNT(steps); k++) {
            int rc = feed(buf_str(&b), steps[k]);
            if (rc != rows[i].rc || !str_eqz(buf_str(&seen), rows[i].out)) {
                printf("# step %zu: %d %.*s\n", steps[k], rc, STR_ARG(buf_str(&seen)));
                good = false;
            }
        }
        ok(good, "%s", rows[i].what);
    }
}

static void bad_heads_are_refused(void)
{
    is_int(feed(S("\x81\x05hello"), 100), WS_PROTOCOL_ERROR, "a frame without a mask");
    is_int(feed(S("\x89\xfe\x00\x7e\x00\x00\x00\x00"), 100), WS_PROTOCOL_ERROR, "a long ping");
    is_int(feed(S("\x82\xfe\x00\x05\x00\x00\x00\x00"), 100), WS_PROTOCOL_ERROR,
           "a short length in two bytes");
    is_int(feed(S("\x82\xff\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00"), 100),
           WS_PROTOCOL_ERROR, "a short length in eight");
    is_int(feed(S("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"), 100),
           WS_PROTOCOL_ERROR, "a negative length");
    is_int(feed(S("\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00"), 100), WS_TOO_LARGE,
           "a length over the limit, before any of it comes");
}

static void pieces_share_the_limit(void)
{
    AUTO(buf) struct buf b = { 0 };
    static char x[60000];

    memset(x, 'x', sizeof(x));
    add_frame(&b, WS_BINARY, (str){ x, sizeof(x) });
    is_int(feed(buf_str(&b), 1000), 0, "60 KB are fine");
    add_frame(&b, FIN, (str){ x, sizeof(x) });
    is_int(feed(buf_str(&b), 1000), WS_TOO_LARGE, "twice 60 KB are over 100 KB");
}

static void unmasking_works_at_every_offset(void)
{
    static const uint8_t mask[4] = { 1, 2, 3, 4 };
    char plain[64], got[64];
    bool good = true;

    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * 37);
    for (size_t cut = 0; cut <= sizeof(plain); cut++) {
        for (size_t i = 0; i < sizeof(plain); i++)
            got[i] = (char)(plain[i] ^ mask[i & 3]);
        ws_unmask(got, cut, mask, 0);
        ws_unmask(got + cut, sizeof(got) - cut, mask, cut);
        good &= memcmp(got, plain, sizeof(got)) == 0;
    }
    ok(good, "cut anywhere, the same text comes out");
}

static void a_client_reads_what_a_server_sends_and_the_other_way_round(void)
{
    static const uint8_t mask[4] = { 1, 2, 3, 4 };
    static const size_t sizes[] = { 0, 5, 125, 126, 65535, 65536 };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        AUTO(buf) struct buf text = { 0 };
        for (int side = 0; side < 2; side++) {
            AUTO(buf) struct buf b = { 0 };
            struct ws_parser p = { .on_message = on_message,
                                   .on_control = on_control,
                                   .on_close = on_close,
                                   .max = 100000,
                                   .client = side == 1 };
            while (text.n < sizes[i])
                buf_addc(&text, 'x');
            if (p.client)
                ws_frame(&b, WS_TEXT, buf_str(&text));
            else
                ws_frame_masked(&b, WS_TEXT, buf_str(&text), mask);
            buf_clear(&seen);
            ok(ws_parser_feed(&p, b.p, b.n) == 0, "%zu bytes to a %s", sizes[i],
               p.client ? "client" : "server");
            is_int((int64_t)seen.n, (int64_t)sizes[i] + 6, "all of them");
            ws_parser_done(&p);
            p = (struct ws_parser){ .max = 10, .client = side == 0 };
            is_int(ws_parser_feed(&p, b.p, b.n), WS_PROTOCOL_ERROR, "but not to one of its kind");
            ws_parser_done(&p);
        }
    }
}

int main(void)
{
    a_client_reads_what_a_server_sends_and_the_other_way_round();
    every_row_comes_out_the_same_in_pieces();
    bad_heads_are_refused();
    pieces_share_the_limit();
    unmasking_works_at_every_offset();
    buf_done(&seen);
    return tap_done();
}
