/* kubectl's way: SPDY, since 1.31 within a WebSocket. Each connection to a port is a pair of
 * streams with the same request id, one for data and one for what goes wrong. */

#include "api/stream/forward.h"

#include "api/stream/spdy_upgrade.h"
#include "base/mem.h"
#include "http/spdy.h"

#include <stdio.h>

struct session;

struct pair {
    struct pair *next;
    struct session *s;
    char request[24];
    int port;
    uint32_t data, error; /* ids of streams; 0: not there, or the client is done with it */
    struct forward_link *link;
};

struct session {
    struct arena *a;
    struct forward_opts o;
    struct ws *ws; /* NULL: closed */
    struct spdy_parser parser;
    bool replied;
    bool broken;
    uint32_t last_id;
    struct pair *pairs;
    size_t n_pairs;
    struct buf out;
};

/* ---- to the client */

static void send_out(struct session *s)
{
    if (s->ws && s->out.n)
        ws_send(s->ws, true, buf_str(&s->out));
    if (s->out.cap > FORWARD_QUEUE_MOST)
        buf_done(&s->out);
    else
        buf_clear(&s->out);
}

static void pace(struct session *s)
{
    bool full = false;

    for (const struct pair *p = s->pairs; p && !full; p = p->next)
        full = p->link && forward_link_waiting(p->link) > FORWARD_WAITING_MOST;
    if (s->ws)
        ws_pause(s->ws, full);
}

static void pair_free(struct pair *p)
{
    struct pair **at = &p->s->pairs;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->s->n_pairs--;
    forward_link_free(p->link);
    free(p);
}

/* Both streams end; why: told before. */
static void pair_end(struct pair *p, str why)
{
    AUTO(arena) struct arena *a = arena_new();
    struct session *s = p->s;

    if (p->error && why.n)
        spdy_data(&s->out, p->error, forward_error(a, &s->o.pod, p->port, why), false);
    if (p->error)
        spdy_data(&s->out, p->error, STR_NONE, true);
    if (p->data)
        spdy_data(&s->out, p->data, STR_NONE, true);
    pair_free(p);
    send_out(s);
    pace(s);
}

/* ---- of a link */

static bool takes(void *ctx)
{
    const struct pair *p = ctx;

    return p->s->ws && ws_queued(p->s->ws) < FORWARD_QUEUE_MOST;
}

static void on_bytes(void *ctx, str bytes)
{
    struct pair *p = ctx;

    if (!p->data)
        return;
    spdy_data(&p->s->out, p->data, bytes, false);
    send_out(p->s);
}

static void on_room(void *ctx)
{
    const struct pair *p = ctx;

    pace(p->s);
}

static void on_link_end(void *ctx, str why)
{
    pair_end(ctx, why);
}

static void pair_start(struct pair *p)
{
    struct session *s = p->s;

    p->link = forward_link_new(&(struct forward_link_opts){ .loop = s->o.loop,
                                                            .pods = s->o.pods,
                                                            .pod = &s->o.pod,
                                                            .port = p->port,
                                                            .takes = takes,
                                                            .on_bytes = on_bytes,
                                                            .on_room = on_room,
                                                            .on_end = on_link_end,
                                                            .ctx = p });
}

/* ---- frames */

/* By one of its streams, or the request. */
static struct pair *find(const struct session *s, uint32_t id, const char *request)
{
    for (struct pair *p = s->pairs; p; p = p->next)
        if (request ? strcmp(p->request, request) == 0 : p->data == id || p->error == id)
            return p;
    return NULL;
}

/* Clients that send no request id open the stream of errors first, and that of data next. */
static bool request_of(const struct spdy_headers *h, uint32_t id, bool is_data, char out[24])
{
    str given = spdy_header(h, S("requestid"));

    if (given.n > 20)
        return false;
    if (given.n)
        snprintf(out, 24, "r%" PRI_STR, STR_ARG(given));
    else
        snprintf(out, 24, "s%u", is_data ? id - 2 : id);
    return true;
}

/* The pair that the new stream is of; NULL: that cannot be. */
static struct pair *join(struct session *s, uint32_t id, const struct spdy_headers *h)
{
    str type = spdy_header(h, S("streamtype"));
    bool is_data = str_eq(type, S("data"));
    char request[24];
    int64_t port = 0;

    if (!str_to_int(spdy_header(h, S("port")), &port) || port < 1 || port > UINT16_MAX ||
        (!is_data && !str_eq(type, S("error"))) || !request_of(h, id, is_data, request))
        return NULL;
    struct pair *p = find(s, 0, request);
    if (p && (p->port != port || p->link || (is_data ? p->data : p->error)))
        return NULL;
    if (!p) {
        if (s->n_pairs == FORWARD_LINKS)
            return NULL;
        p = mem_new(sizeof(*p));
        p->s = s;
        p->port = (int)port;
        snprintf(p->request, sizeof(p->request), "%s", request);
        p->next = s->pairs;
        s->pairs = p;
        s->n_pairs++;
    }
    *(is_data ? &p->data : &p->error) = id;
    return p;
}

static void on_open(void *ctx, uint32_t id, bool fin, const struct spdy_headers *h)
{
    struct session *s = ctx;

    (void)fin; /* streams of errors are never written to */
    if (id % 2 == 0 || id <= s->last_id) {
        spdy_reset(&s->out, id, SPDY_PROTOCOL_ERROR);
        return;
    }
    s->last_id = id;
    struct pair *p = join(s, id, h);
    if (!p) {
        spdy_reset(&s->out, id, SPDY_REFUSED_STREAM);
        return;
    }
    spdy_reply(&s->out, id, !s->replied);
    s->replied = true;
    if (p->data && p->error)
        pair_start(p);
}

static void on_data(void *ctx, uint32_t id, str bytes, bool fin)
{
    struct session *s = ctx;
    struct pair *p = find(s, id, NULL);

    if (!p || p->data != id || !p->link)
        return;
    forward_link_send(p->link, bytes);
    if (fin)
        forward_link_send_end(p->link);
    pace(s);
}

static void on_reset(void *ctx, uint32_t id)
{
    struct session *s = ctx;
    struct pair *p = id ? find(s, id, NULL) : NULL;

    if (!p)
        return;
    bool is_data = p->data == id;
    *(is_data ? &p->data : &p->error) = 0;
    if (is_data)
        pair_end(p, STR_NONE);
}

static void on_ping(void *ctx, uint32_t id)
{
    struct session *s = ctx;

    if (id % 2) /* others answer ours, of which there are none */
        spdy_ping(&s->out, id);
}

static void on_leave(void *ctx)
{
    (void)ctx; /* it closes the connection, too, when it has all it wants */
}

/* ---- the WebSocket */

static void on_message(void *ctx, bool binary, str payload)
{
    struct session *s = ctx;

    (void)binary;
    if (s->broken)
        return;
    if (spdy_parser_feed(&s->parser, payload) < 0) {
        s->broken = true;
        spdy_leave(&s->out, s->last_id);
        send_out(s);
        ws_close(s->ws, 1002, S("these are not SPDY/3.1 frames"));
        return;
    }
    send_out(s);
}

static void on_drain(void *ctx)
{
    const struct session *s = ctx;

    for (struct pair *p = s->pairs; p; p = p->next)
        if (p->link)
            forward_link_resume(p->link);
}

static void on_close(void *ctx, int code)
{
    struct session *s = ctx;

    (void)code;
    s->ws = NULL;
    for (struct pair *p = s->pairs, *next; p; p = next) {
        next = p->next;
        forward_link_free(p->link);
        free(p);
    }
    spdy_parser_done(&s->parser);
    buf_done(&s->out);
    arena_free(s->a);
    free(s);
}

void forward_spdy_start(struct http_req *r, str protocol, const struct forward_opts *o)
{
    struct session *s = mem_new(sizeof(*s));
    struct ws_handler h = {
        .on_message = on_message, .on_drain = on_drain, .on_close = on_close, .ctx = s
    };

    s->a = arena_new();
    s->o = *o;
    s->o.pod = api_pod_copy(s->a, &o->pod);
    s->parser = (struct spdy_parser){ .on_open = on_open,
                                      .on_data = on_data,
                                      .on_reset = on_reset,
                                      .on_ping = on_ping,
                                      .on_leave = on_leave,
                                      .ctx = s };
    s->ws = o->spdy ? spdy_accept(r, protocol, &h) : http_accept_websocket(r, protocol, &h);
}
