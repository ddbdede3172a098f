/* remotecommand over SPDY/3.1 (v4.channel.k8s.io), as kubectl before 1.31 and programs in Go have
 * it: each channel is a stream, which the client opens and names in a header. */

#include "api/stream/channels.h"

#include "base/mem.h"
#include "http/spdy.h"

enum { CHANNELS = CHANNEL_RESIZE + 1, SIZE_MOST = 256 };

struct channel_streams {
    struct channel_streams_opts o;
    struct spdy_parser parser;
    bool wanted[CHANNELS];
    uint32_t ids[CHANNELS]; /* 0: not there, or over */
    size_t missing;
    uint32_t last_id;
    bool replied;
    struct buf size; /* a terminal's, until the end of its line */
    struct buf out;
};

static int channel_of(const struct channel_streams *s, uint32_t id)
{
    for (int i = 0; i < CHANNELS; i++)
        if (s->ids[i] == id)
            return i;
    return -1;
}

static int channel_named(str type)
{
    static const char *const names[CHANNELS] = { [CHANNEL_STDIN] = "stdin",
                                                 [CHANNEL_STDOUT] = "stdout",
                                                 [CHANNEL_STDERR] = "stderr",
                                                 [CHANNEL_ERROR] = "error",
                                                 [CHANNEL_RESIZE] = "resize" };

    for (int i = 0; i < CHANNELS; i++)
        if (str_eqz(type, names[i]))
            return i;
    return -1;
}

static void on_open(void *ctx, uint32_t id, bool fin, const struct spdy_headers *h)
{
    struct channel_streams *s = ctx;
    int channel = channel_named(spdy_header(h, S("streamtype")));

    (void)fin; /* of those that the client never writes to */
    if (id % 2 == 0 || id <= s->last_id) {
        spdy_reset(&s->out, id, SPDY_PROTOCOL_ERROR);
        return;
    }
    s->last_id = id;
    if (channel < 0 || !s->wanted[channel]) {
        spdy_reset(&s->out, id, SPDY_REFUSED_STREAM);
        return;
    }
    s->wanted[channel] = false; /* once */
    s->ids[channel] = id;
    spdy_reply(&s->out, id, !s->replied);
    s->replied = true;
    if (--s->missing == 0)
        s->o.on_all(s->o.ctx);
}

static void input_ends(struct channel_streams *s)
{
    s->o.on_said(s->o.ctx, &(struct channel_message){ .what = CHANNEL_INPUT_ENDS });
}

/* Each size is a line of JSON. */
static void resize(struct channel_streams *s, str bytes)
{
    struct channel_message m;

    while (bytes.n) {
        ptrdiff_t end = str_find(bytes, '\n');
        size_t n = end < 0 ? bytes.n : (size_t)end + 1;
        if (!s->size.n)
            buf_addc(&s->size, CHANNEL_RESIZE);
        if (s->size.n + n <= SIZE_MOST)
            buf_add(&s->size, str_sub(bytes, 0, n));
        bytes = str_sub(bytes, n, bytes.n);
        if (end < 0)
            return;
        channel_read(buf_str(&s->size), false, &m);
        buf_clear(&s->size);
        s->o.on_said(s->o.ctx, &m);
    }
}

static void on_data(void *ctx, uint32_t id, str bytes, bool fin)
{
    struct channel_streams *s = ctx;
    int channel = id ? channel_of(s, id) : -1;

    if (channel == CHANNEL_RESIZE)
        resize(s, bytes);
    if (channel != CHANNEL_STDIN)
        return;
    if (bytes.n)
        s->o.on_said(s->o.ctx, &(struct channel_message){ .what = CHANNEL_INPUT, .bytes = bytes });
    if (fin)
        input_ends(s);
}

static void on_reset(void *ctx, uint32_t id)
{
    struct channel_streams *s = ctx;
    int channel = id ? channel_of(s, id) : -1;

    if (channel < 0)
        return;
    s->ids[channel] = 0;
    if (channel == CHANNEL_STDIN)
        input_ends(s);
}

static void on_ping(void *ctx, uint32_t id)
{
    struct channel_streams *s = ctx;

    if (id % 2) /* others answer ours, of which there are none */
        spdy_ping(&s->out, id);
}

static void on_leave(void *ctx)
{
    (void)ctx; /* it closes the connection, too */
}

struct channel_streams *channel_streams_new(const struct channel_streams_opts *o)
{
    struct channel_streams *s = mem_new(sizeof(*s));
    const bool wanted[CHANNELS] = { [CHANNEL_STDIN] = o->in,
                                    [CHANNEL_STDOUT] = o->out,
                                    [CHANNEL_STDERR] = o->err,
                                    [CHANNEL_ERROR] = true,
                                    [CHANNEL_RESIZE] = o->tty };

    s->o = *o;
    for (int i = 0; i < CHANNELS; i++) {
        s->wanted[i] = wanted[i];
        s->missing += wanted[i];
    }
    s->parser = (struct spdy_parser){ .on_open = on_open,
                                      .on_data = on_data,
                                      .on_reset = on_reset,
                                      .on_ping = on_ping,
                                      .on_leave = on_leave,
                                      .ctx = s };
    return s;
}

int channel_streams_feed(struct channel_streams *s, str bytes)
{
    if (spdy_parser_feed(&s->parser, bytes) == 0)
        return 0;
    spdy_leave(&s->out, s->last_id);
    return -1;
}

void channel_streams_tell(struct channel_streams *s, enum channel channel, str bytes, bool fin)
{
    if (s->ids[channel] && (bytes.n || fin))
        spdy_data(&s->out, s->ids[channel], bytes, fin);
    if (fin)
        s->ids[channel] = 0;
}

struct buf *channel_streams_out(struct channel_streams *s)
{
    return &s->out;
}

void channel_streams_free(struct channel_streams *s)
{
    if (!s)
        return;
    spdy_parser_done(&s->parser);
    buf_done(&s->size);
    buf_done(&s->out);
    free(s);
}
