/* SPDY frames, in whatever pieces they come; headers are compressed as kubectl does it. */

#include "base/mem.h"
#include "http/spdy.h"
#include "spdy_client.h"
#include "tap.h"

struct seen {
    struct buf log;
};

static void on_open(void *ctx, uint32_t id, bool fin, const struct spdy_headers *h)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "open %u%s", id, fin ? " fin" : "");
    for (size_t i = 0; i < h->n; i++)
        buf_printf(&s->log, " %" PRI_STR "=%" PRI_STR, STR_ARG(h->at[i].name),
                   STR_ARG(h->at[i].value));
    buf_printf(&s->log, "; ");
}

static void on_data(void *ctx, uint32_t id, str bytes, bool fin)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "%u:%" PRI_STR "%s; ", id, STR_ARG(bytes), fin ? " fin" : "");
}

static void on_reset(void *ctx, uint32_t id)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "reset %u; ", id);
}

static void on_ping(void *ctx, uint32_t id)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "ping %u; ", id);
}

static void on_leave(void *ctx)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "leave; ");
}

static struct spdy_parser parser(struct seen *s)
{
    return (struct spdy_parser){ .on_open = on_open,
                                 .on_data = on_data,
                                 .on_reset = on_reset,
                                 .on_ping = on_ping,
                                 .on_leave = on_leave,
                                 .ctx = s };
}

static const char *const error_stream[] = { "port", "80", "requestid", "0", "streamtype", "error" };
static const char *const data_stream[] = { "port", "80", "requestid", "0", "streamtype", "data" };

static void client_bytes(struct buf *b)
{
    spdy_client_start();
    spdy_add_open(b, 1, error_stream, 3);
    spdy_data(b, 1, STR_NONE, true);
    spdy_add_open(b, 3, data_stream, 3);
    spdy_data(b, 3, S("GET /"), false);
    spdy_ping(b, 7);
    spdy_data(b, 3, S("!"), true);
    spdy_reset(b, 3, SPDY_CANCEL);
    spdy_leave(b, 0);
    spdy_client_done();
}

static void dictionary_is_the_one_of_the_draft(void)
{
    size_t n;
    char *text = spdy_dictionary(&n);

    is_int((int64_t)n, 1423, "its length");
    is_int((int64_t)adler32(adler32(0, NULL, 0), (const Bytef *)text, (uInt)n), 0xe3c6a7c2,
           "its sum");
    free(text);
}

static void frames_are_read(void)
{
    AUTO(buf) struct buf bytes = { 0 };
    struct seen s = { 0 };
    struct spdy_parser p = parser(&s);

    client_bytes(&bytes);
    is_int(spdy_parser_feed(&p, buf_str(&bytes)), 0, "frames, all at once");
    is_str(buf_str(&s.log),
           S("open 1 port=80 requestid=0 streamtype=error; 1: fin; "
             "open 3 port=80 requestid=0 streamtype=data; 3:GET /; ping 7; 3:! fin; reset 3; "
             "leave; "),
           "are what was sent");
    spdy_parser_done(&p);
    buf_done(&s.log);
}

static void frames_may_come_byte_by_byte(void)
{
    AUTO(buf) struct buf bytes = { 0 };
    struct seen s = { 0 };
    struct spdy_parser p = parser(&s);
    int rc = 0;

    client_bytes(&bytes);
    for (size_t i = 0; i < bytes.n; i++)
        rc |= spdy_parser_feed(&p, (str){ bytes.p + i, 1 });
    is_int(rc, 0, "frames, byte by byte");
    is_str(buf_str(&s.log),
           S("open 1 port=80 requestid=0 streamtype=error; 1: fin; "
             "open 3 port=80 requestid=0 streamtype=data; 3:G; 3:E; 3:T; 3: ; 3:/; ping 7; "
             "3:! fin; reset 3; leave; "),
           "are the same");
    spdy_parser_done(&p);
    buf_done(&s.log);
}

/* Replies are read by any inflate that has the dictionary. */
static void replies_have_no_headers(void)
{
    AUTO(buf) struct buf out = { 0 };
    size_t n;
    char *dictionary = spdy_dictionary(&n);
    char plain[100];
    z_stream in = { 0 };

    inflateInit(&in);
    for (int i = 0; i < 3; i++) {
        buf_clear(&out);
        spdy_reply(&out, 5, i == 0);
        ok(memcmp(out.p, "\x80\3\0\2\0\0\0", 7) == 0 && memcmp(out.p + 8, "\0\0\0\5", 4) == 0 &&
               (uint8_t)out.p[7] == out.n - 8,
           "a reply");
        in.next_in = (Bytef *)out.p + 12;
        in.avail_in = (uInt)(out.n - 12);
        in.next_out = (Bytef *)plain;
        in.avail_out = sizeof(plain);
        int rc = inflate(&in, Z_SYNC_FLUSH);
        if (i == 0) {
            is_int(rc, Z_NEED_DICT, "the first asks for the dictionary");
            inflateSetDictionary(&in, (const Bytef *)dictionary, (uInt)n);
            rc = inflate(&in, Z_SYNC_FLUSH);
        }
        ok(rc == Z_OK && in.avail_in == 0 && in.avail_out == sizeof(plain) - 4 &&
               memcmp(plain, "\0\0\0\0", 4) == 0,
           "says that there are none");
    }
    inflateEnd(&in);
    free(dictionary);
}

static int fed(str bytes)
{
    struct seen s = { 0 };
    struct spdy_parser p = parser(&s);
    int rc = spdy_parser_feed(&p, bytes);

    spdy_parser_done(&p);
    buf_done(&s.log);
    return rc;
}

static void what_is_no_frame_is_refused(void)
{
    AUTO(buf) struct buf many = { 0 };
    AUTO(buf) struct buf huge = { 0 };
    const char *pairs[2 * 40];

    is_int(fed(S("GET / HTTP/1.1\r\n\r\n")), 0, "HTTP looks like data for some stream");
    is_int(fed(S("\0\0\0\0\0\0\0\0")), -1, "data for no stream");
    is_int(fed(S("\x80\2\0\6\0\0\0\4\0\0\0\1")), -1, "another version");
    is_int(fed(S("\x80\3\0\1\0\1\0\0")), -1, "a control frame that is too long");
    is_int(fed(S("\x80\3\0\1\0\0\0\4\0\0\0\1")), -1, "one that is too short");
    is_int(fed(S("\x80\3\0\1\0\0\0\x0e\0\0\0\1\0\0\0\0\0\0ABCD")), -1, "headers that are none");
    is_int(fed(S("\x80\3\0\3\0\0\0\2\0\1")), -1, "half a reset");
    is_int(fed(S("\x80\3\0\6\0\0\0\0")), -1, "a ping without number");
    is_int(fed(S("\x80\3\0\4\0\0\0\4\0\0\0\0")), 0, "settings are passed over");
    is_int(fed(S("\x80\3\0\x63\0\0\0\1x")), 0, "as is what is not known");
    for (size_t i = 0; i < COUNT(pairs); i++)
        pairs[i] = "x";
    spdy_client_start();
    spdy_add_open(&many, 1, pairs, 40);
    spdy_client_done();
    is_int(fed(buf_str(&many)), -1, "too many headers");
    char *long_text = mem_new(20001);
    memset(long_text, 'x', 20000);
    pairs[1] = long_text;
    spdy_client_start();
    spdy_add_open(&huge, 1, pairs, 1);
    spdy_client_done();
    ok(huge.n < 500, "few bytes can hold many");
    is_int(fed(buf_str(&huge)), -1, "and are refused");
    free(long_text);
}

int main(void)
{
    dictionary_is_the_one_of_the_draft();
    frames_are_read();
    frames_may_come_byte_by_byte();
    replies_have_no_headers();
    what_is_no_frame_is_refused();
    return tap_done();
}
