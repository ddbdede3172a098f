/* A message of a client on pods/exec, or what it sends over SPDY, and the list of subprotocols it
 * offers. */

#include "api/stream/channels.h"
#include "base/buf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_all(void *ctx)
{
    (void)ctx;
}

static void on_said(void *ctx, const struct channel_message *m)
{
    size_t *bytes = ctx;

    *bytes += m->bytes.n;
}

static void feed_streams(str text)
{
    size_t bytes = 0;
    struct channel_streams *s =
        channel_streams_new(&(struct channel_streams_opts){ .in = true,
                                                            .out = true,
                                                            .tty = true,
                                                            .on_all = on_all,
                                                            .on_said = on_said,
                                                            .ctx = &bytes });

    if (channel_streams_feed(s, str_sub(text, 0, text.n / 2)) == 0)
        channel_streams_feed(s, str_sub(text, text.n / 2, text.n));
    channel_streams_tell(s, CHANNEL_STDOUT, text, true);
    channel_streams_free(s);
    if (bytes > text.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = { (const char *)data, size };

    for (int v5 = 0; v5 < 2; v5++) {
        struct channel_message m;
        channel_read(text, v5, &m);
        if ((m.what == CHANNEL_INPUT && m.bytes.n + 1 != size) ||
            (m.what == CHANNEL_SIZE && (m.rows <= 0 || m.cols <= 0 || m.rows > UINT16_MAX)) ||
            (m.what == CHANNEL_INPUT_ENDS && (!v5 || size != 2)))
            abort();
    }
    feed_streams(text);
    str chosen = channels_choose(text);
    if (chosen.n && !str_contains(text, chosen))
        abort();
    return 0;
}
