/* pods/exec over SPDY: the streams of a client, as kubectl before 1.31 opens them. */

#include "api/stream/channels.h"
#include "spdy_client.h"
#include "tap.h"

struct seen {
    struct buf log;
};

static void on_all(void *ctx)
{
    struct seen *s = ctx;

    buf_printf(&s->log, "all; ");
}

static void on_said(void *ctx, const struct channel_message *m)
{
    struct seen *s = ctx;

    switch (m->what) {
    case CHANNEL_NOTHING:
        buf_printf(&s->log, "nothing; ");
        break;
    case CHANNEL_INPUT:
        buf_printf(&s->log, "input %" PRI_STR "; ", STR_ARG(m->bytes));
        break;
    case CHANNEL_INPUT_ENDS:
        buf_printf(&s->log, "ends; ");
        break;
    case CHANNEL_SIZE:
        buf_printf(&s->log, "%d rows, %d columns; ", m->rows, m->cols);
        break;
    }
}

static void open_stream(struct buf *b, uint32_t id, const char *type)
{
    const char *const pairs[] = { "streamtype", type };

    spdy_add_open(b, id, pairs, 1);
}

static struct channel_streams *streams(struct seen *s, bool tty)
{
    struct channel_streams_opts o = { .in = true,
                                      .out = true,
                                      .err = !tty,
                                      .tty = tty,
                                      .on_all = on_all,
                                      .on_said = on_said,
                                      .ctx = s };

    return channel_streams_new(&o);
}

static void heard(struct seen *s, str want, const char *what)
{
    is_str(buf_str(&s->log), want, what);
    buf_done(&s->log);
}

/* What is for the client, as the stream and the bytes of each frame of data. */
static void told(struct channel_streams *c, str want, const char *what)
{
    AUTO(buf) struct buf log = { 0 };
    struct buf *out = channel_streams_out(c);
    const uint8_t *p = (const uint8_t *)out->p;

    for (size_t at = 0; at + 8 <= out->n;) {
        size_t n = (size_t)p[at + 5] << 16 | (size_t)p[at + 6] << 8 | p[at + 7];
        if (p[at] & 0x80)
            buf_printf(&log, "control %d; ", p[at + 3]);
        else
            buf_printf(&log, "%d:%.*s%s; ", p[at + 3], (int)n, out->p + at + 8,
                       p[at + 4] & 1 ? " fin" : "");
        at += 8 + n;
    }
    is_str(buf_str(&log), want, what);
    buf_done(out);
}

static void a_program_starts_when_all_streams_are_there(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct seen s = { 0 };
    struct channel_streams *c = streams(&s, false);

    spdy_client_start();
    open_stream(&b, 1, "error");
    spdy_data(&b, 1, STR_NONE, true); /* which it never writes to */
    open_stream(&b, 3, "stdin");
    open_stream(&b, 5, "stdout");
    for (size_t i = 0; i < b.n; i++) /* in whatever pieces they come */
        is_int(channel_streams_feed(c, (str){ b.p + i, 1 }), 0, "frames");
    heard(&s, STR_NONE, "one is missing");
    buf_clear(&b);
    open_stream(&b, 7, "stderr");
    spdy_data(&b, 3, S("words"), false);
    spdy_data(&b, 3, S("!"), true);
    channel_streams_feed(c, buf_str(&b));
    heard(&s, S("all; input words; input !; ends; "), "all, and what is said then");
    told(c, S("control 2; control 2; control 2; control 2; "), "each was replied to");
    channel_streams_tell(c, CHANNEL_STDOUT, S("out"), false);
    channel_streams_tell(c, CHANNEL_STDERR, S("err"), false);
    channel_streams_tell(c, CHANNEL_RESIZE, S("no such stream"), true);
    channel_streams_tell(c, CHANNEL_STDOUT, STR_NONE, true);
    channel_streams_tell(c, CHANNEL_STDOUT, S("over"), true);
    channel_streams_tell(c, CHANNEL_ERROR, S("{}"), true);
    told(c, S("5:out; 7:err; 5: fin; 1:{} fin; "), "what the program says");
    channel_streams_free(c);
    spdy_client_done();
}

static void a_terminal_has_sizes(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct seen s = { 0 };
    struct channel_streams *c = streams(&s, true);

    spdy_client_start();
    open_stream(&b, 1, "error");
    open_stream(&b, 3, "stdin");
    open_stream(&b, 5, "stdout");
    open_stream(&b, 7, "resize");
    spdy_data(&b, 7, S("{\"Width\":80,\"Hei"), false);
    spdy_data(&b, 7, S("ght\":24}\n{\"Width\":99,\"Height\":33}\n"), false);
    for (int i = 0; i < 100; i++)
        spdy_data(&b, 7, S("nonsense without an end "), false);
    spdy_data(&b, 7, S("\n{\"Width\":1,\"Height\":2}\n"), false);
    channel_streams_feed(c, buf_str(&b));
    heard(&s, S("all; 24 rows, 80 columns; 33 rows, 99 columns; nothing; 2 rows, 1 columns; "),
          "line by line");
    buf_clear(&b);
    spdy_reset(&b, 3, SPDY_CANCEL);
    spdy_ping(&b, 9);
    spdy_ping(&b, 4);
    channel_streams_feed(c, buf_str(&b));
    heard(&s, S("ends; "), "input that is broken off has ended");
    channel_streams_free(c);
    spdy_client_done();
}

static void what_was_not_asked_for_is_refused(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct seen s = { 0 };
    struct channel_streams *c = streams(&s, false);

    spdy_client_start();
    open_stream(&b, 1, "resize");
    open_stream(&b, 3, "error");
    open_stream(&b, 5, "error");
    open_stream(&b, 4, "stdin");
    open_stream(&b, 3, "stdin");
    open_stream(&b, 7, "other");
    channel_streams_feed(c, buf_str(&b));
    told(c, S("control 3; control 2; control 3; control 3; control 3; control 3; "),
         "resets, and one reply");
    is_int(channel_streams_feed(c, S("\x80\3\0\6\0\0\0\0")), -1, "a ping without number");
    told(c, S("control 7; "), "we leave then");
    heard(&s, STR_NONE, "nothing began");
    channel_streams_free(c);
    spdy_client_done();
}

int main(void)
{
    a_program_starts_when_all_streams_are_there();
    a_terminal_has_sizes();
    what_was_not_asked_for_is_refused();
    return tap_done();
}
