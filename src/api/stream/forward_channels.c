/* The way of the Python client (v4.channel.k8s.io), as kubelet has it: for each port of the query
 * one connection, and two channels, data and errors; a channel's first message is the port. */

#include "api/stream/forward.h"

#include "base/mem.h"
#include "base/websocket.h"

struct session;

struct line { /* a port */
    struct session *s;
    int port;
    unsigned char channel; /* of data; the next is for errors */
    struct forward_link *link;
};

struct session {
    struct arena *a;
    struct forward_opts o;
    struct ws *ws; /* NULL: closed */
    struct line *lines;
    size_t open;
};

static void tell(const struct session *s, unsigned channel, str bytes)
{
    AUTO(buf) struct buf b = { 0 };

    if (!s->ws)
        return;
    buf_addc(&b, (char)channel);
    buf_add(&b, bytes);
    ws_send(s->ws, true, buf_str(&b));
}

static void pace(const struct session *s)
{
    bool full = false;

    for (size_t i = 0; i < s->o.n_ports; i++)
        full = full ||
               (s->lines[i].link && forward_link_waiting(s->lines[i].link) > FORWARD_WAITING_MOST);
    if (s->ws)
        ws_pause(s->ws, full);
}

/* ---- of a link */

static bool takes(void *ctx)
{
    const struct line *l = ctx;

    return l->s->ws && ws_queued(l->s->ws) < FORWARD_QUEUE_MOST;
}

static void on_bytes(void *ctx, str bytes)
{
    const struct line *l = ctx;

    tell(l->s, l->channel, bytes);
}

static void on_room(void *ctx)
{
    const struct line *l = ctx;

    pace(l->s);
}

/* There is no message for the end of one port: the connection goes with the last. */
static void on_link_end(void *ctx, str why)
{
    AUTO(arena) struct arena *a = arena_new();
    struct line *l = ctx;
    struct session *s = l->s;

    if (why.n)
        tell(s, l->channel + 1U, forward_error(a, &s->o.pod, l->port, why));
    forward_link_free(TAKE(l->link));
    pace(s);
    if (--s->open == 0 && s->ws)
        ws_close(s->ws, WS_NORMAL, STR_NONE);
}

/* ---- the WebSocket */

static void on_message(void *ctx, bool binary, str payload)
{
    const struct session *s = ctx;
    unsigned channel = payload.n ? (unsigned char)payload.p[0] : 1;
    struct line *l = channel % 2 == 0 && channel / 2 < s->o.n_ports ? &s->lines[channel / 2] : NULL;

    (void)binary;
    if (!l || !l->link)
        return;
    forward_link_send(l->link, str_sub(payload, 1, payload.n));
    pace(s);
}

static void on_drain(void *ctx)
{
    const struct session *s = ctx;

    for (size_t i = 0; i < s->o.n_ports; i++)
        if (s->lines[i].link)
            forward_link_resume(s->lines[i].link);
}

static void on_close(void *ctx, int code)
{
    struct session *s = ctx;

    (void)code;
    s->ws = NULL;
    for (size_t i = 0; i < s->o.n_ports; i++)
        forward_link_free(s->lines[i].link);
    arena_free(s->a);
    free(s->lines);
    free(s);
}

static void start(struct session *s, struct line *l)
{
    const char port[2] = { (char)l->port, (char)(l->port >> 8) };

    tell(s, l->channel, (str){ port, sizeof(port) });
    tell(s, l->channel + 1U, (str){ port, sizeof(port) });
    l->link = forward_link_new(&(struct forward_link_opts){ .loop = s->o.loop,
                                                            .pods = s->o.pods,
                                                            .pod = &s->o.pod,
                                                            .port = l->port,
                                                            .takes = takes,
                                                            .on_bytes = on_bytes,
                                                            .on_room = on_room,
                                                            .on_end = on_link_end,
                                                            .ctx = l });
}

void forward_channels_start(struct http_req *r, str protocol, const struct forward_opts *o)
{
    struct session *s = mem_new(sizeof(*s));
    struct ws_handler h = {
        .on_message = on_message, .on_drain = on_drain, .on_close = on_close, .ctx = s
    };

    s->a = arena_new();
    s->o = *o;
    s->o.pod = api_pod_copy(s->a, &o->pod);
    s->lines = mem_array(o->n_ports, sizeof(*s->lines));
    s->open = o->n_ports;
    for (size_t i = 0; i < o->n_ports; i++)
        s->lines[i] =
            (struct line){ .s = s, .port = o->ports[i], .channel = (unsigned char)(2 * i) };
    s->o.ports = NULL;
    bool gone = http_is_gone(r);
    s->ws = http_accept_websocket(r, protocol, &h);
    for (size_t i = 0; !gone && i < o->n_ports; i++) /* else on_close comes at once */
        start(s, &s->lines[i]);
}
