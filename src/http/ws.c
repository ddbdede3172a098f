/* A WebSocket on a connection that was HTTP/1.1: the handshake, what is queued, and the end. Or
 * another protocol's bytes, as they are, with the same queue and end. */

#include "base/mem.h"
#include "base/websocket.h"
#include "http/h1.h"
#include "http/internal.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct ws {
    struct conn *c;
    struct ws_handler h;
    struct ws_parser parser;
    struct buf out;
    size_t out_at;
    uint64_t frame_left; /* at out_at; 0: another begins */
    int code;            /* what on_close is told */
    bool raw;            /* bytes, no frames */
    bool close_sent;     /* nothing goes out behind it */
    bool told;           /* on_close was called */
    bool drained;        /* nothing was queued since on_drain */
};

static bool has_token(str list, str token)
{
    while (list.p)
        if (str_eq_nocase(str_trim(str_cut(&list, ',')), token))
            return true;
    return false;
}

bool http_wants_websocket(const struct http_req *r)
{
    str key = http_get_header(r, S("sec-websocket-key"));

    return r->version == 1 && !r->old && str_eq(r->method, S("GET")) && r->body.n == 0 &&
           has_token(http_get_header(r, S("upgrade")), S("websocket")) &&
           has_token(http_get_header(r, S("connection")), S("upgrade")) &&
           str_eq(http_get_header(r, S("sec-websocket-version")), S("13")) && key.n == 24 &&
           str_ends(key, S("=="));
}

bool http_wants_upgrade(const struct http_req *r, str protocol)
{
    return r->version == 1 && !r->old && r->body.n == 0 &&
           has_token(http_get_header(r, S("upgrade")), protocol) &&
           has_token(http_get_header(r, S("connection")), S("upgrade"));
}

static void add_accept(struct buf *b, str key)
{
    AUTO(buf) struct buf text = { 0 };
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned char code[64];

    buf_add(&text, key);
    buf_add(&text, S("258EAFA5-E914-47DA-95CA-C5AB0DC85B11")); /* RFC 6455, 1.3 */
    if (EVP_Digest(text.p, text.n, sum, NULL, EVP_sha1(), NULL) != 1)
        abort();
    int n = EVP_EncodeBlock(code, sum, 20);
    buf_add(b, (str){ (const char *)code, (size_t)n });
}

static void tell(struct ws *w)
{
    if (w->told)
        return;
    w->told = true;
    if (w->h.on_close)
        w->h.on_close(w->h.ctx, w->code);
}

static void on_message(void *ctx, bool binary, str payload)
{
    struct ws *w = ctx;

    if (!w->close_sent && w->h.on_message)
        w->h.on_message(w->h.ctx, binary, payload);
}

/* A pong costs what a ping cost; but who sends pings and reads nothing is cut off. */
static void check_queue(struct ws *w)
{
    w->drained = false;
    if (ws_queued(w) > LIMIT_WS_QUEUE_BYTES)
        conn_end(w->c, FATE_NOW);
    conn_touch(w->c);
}

static void on_control(void *ctx, enum ws_opcode op, str payload)
{
    struct ws *w = ctx;

    if (op != WS_PING || w->close_sent)
        return;
    ws_frame(&w->out, WS_PONG, payload);
    check_queue(w);
}

static void send_close(struct ws *w, int code, str reason)
{
    char payload[125];

    if (w->close_sent)
        return;
    reason = str_clip(reason, sizeof(payload) - 2);
    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    if (reason.n)
        memcpy(payload + 2, reason.p, reason.n);
    if (!w->raw) /* else the client knows its end by what it was told */
        ws_frame(&w->out, WS_CLOSE, (str){ payload, code == WS_NO_CODE ? 0 : reason.n + 2 });
    w->close_sent = true;
    w->drained = false;
    if (w->c->paused) /* its answer is behind what it said before */
        conn_pause(w->c, false);
    conn_deadline(w->c, w->c->s->limits.linger_ms);
    conn_touch(w->c);
}

static void on_close(void *ctx, int code)
{
    struct ws *w = ctx;

    w->code = code;
    send_close(w, code, STR_NONE);
    conn_end(w->c, FATE_END);
}

static void ws_free(struct ws *w)
{
    tell(w);
    ws_parser_done(&w->parser);
    buf_done(&w->out);
    free(w);
}

static void abandon(void *arg)
{
    ws_free(arg);
}

static struct ws *ws_new(struct http_req *r, const struct ws_handler *h)
{
    struct ws *w = mem_new(sizeof(*w));

    w->c = r->c;
    w->h = *h;
    w->code = WS_ABNORMAL;
    w->parser.on_message = on_message;
    w->parser.on_control = on_control;
    w->parser.on_close = on_close;
    w->parser.ctx = w;
    w->parser.max = LIMIT_WS_MESSAGE_BYTES;
    return w;
}

/* With the answer's head in w->out; or nobody is there any more. */
static struct ws *ws_begin(struct http_req *r, struct ws *w)
{
    if (r->gone) {
        loop_defer(r->c->s->loop, abandon, w);
        r->answered = true;
        req_finish_later(r);
        return w;
    }
    w->frame_left = w->out.n;
    h1_upgrade(r, &ws_proto, w);
    return w;
}

struct ws *http_accept_websocket(struct http_req *r, str subprotocol, const struct ws_handler *h)
{
    struct ws *w = ws_new(r, h);

    buf_add(&w->out, S("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
                       "connection: Upgrade\r\nsec-websocket-accept: "));
    add_accept(&w->out, http_get_header(r, S("sec-websocket-key")));
    if (subprotocol.n) {
        buf_add(&w->out, S("\r\nsec-websocket-protocol: "));
        buf_add(&w->out, subprotocol);
    }
    buf_add(&w->out, S("\r\n\r\n"));
    return ws_begin(r, w);
}

struct ws *http_accept_upgrade(struct http_req *r, str protocol, struct http_header more,
                               const struct ws_handler *h)
{
    struct ws *w = ws_new(r, h);

    w->raw = true;
    buf_printf(&w->out,
               "HTTP/1.1 101 Switching Protocols\r\nupgrade: %" PRI_STR "\r\n"
               "connection: Upgrade\r\n%" PRI_STR ": %" PRI_STR "\r\n\r\n",
               STR_ARG(protocol), STR_ARG(more.name), STR_ARG(more.value));
    return ws_begin(r, w);
}

void ws_send(struct ws *w, bool binary, str payload)
{
    if (w->close_sent || w->told)
        return;
    if (w->raw)
        buf_add(&w->out, payload);
    else
        ws_frame(&w->out, binary ? WS_BINARY : WS_TEXT, payload);
    check_queue(w);
}

size_t ws_queued(const struct ws *w)
{
    return w->out.n - w->out_at;
}

void ws_pause(struct ws *w, bool paused)
{
    if (!w->told && !w->close_sent && w->c->paused != paused)
        conn_pause(w->c, paused);
}

void ws_close(struct ws *w, int code, str reason)
{
    if (w->close_sent || w->told)
        return;
    w->code = code;
    send_close(w, code, reason);
}

static void ws_start(struct conn *c)
{
    conn_deadline(c, 0); /* it may be silent for as long as it likes */
}

static void ws_feed(struct conn *c, char *p, size_t n)
{
    struct ws *w = c->state;

    if (w->raw) {
        on_message(w, true, (str){ p, n });
        return;
    }
    int rc = ws_parser_feed(&w->parser, p, n);
    if (rc == 0)
        return;
    c->s->stats.refused_total++;
    w->code = rc;
    send_close(w, rc, STR_NONE);
    conn_end(c, FATE_END);
}

/* Bytes of the frame that begins there; a server's has no mask. */
static uint64_t frame_bytes(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;
    uint64_t n = 0;
    unsigned more = b[1] < 126 ? 0 : b[1] == 126 ? 2 : 8;

    for (unsigned i = 0; i < more; i++)
        n = n << 8 | b[2 + i];
    return 2 + more + (more ? n : b[1]);
}

/* No two frames in one TLS record: there are clients, older releases of the Python one among them,
 * that wait for the socket while the second lies in their TLS library. */
static size_t ws_pull(struct conn *c, char *to, size_t room)
{
    struct ws *w = c->state;
    size_t n = ws_queued(w) < room ? ws_queued(w) : room;

    if (n && !w->frame_left)
        w->frame_left = w->raw ? n : frame_bytes(w->out.p + w->out_at);
    if (n > w->frame_left)
        n = w->frame_left;
    if (n)
        memcpy(to, w->out.p + w->out_at, n);
    w->out_at += n;
    w->frame_left -= n;
    if (ws_queued(w) == 0) {
        buf_done(&w->out);
        w->out_at = 0;
    } else if (w->out_at > OUT_HIGH && w->out_at > w->out.n / 2) {
        memmove(w->out.p, w->out.p + w->out_at, w->out.n - w->out_at);
        w->out.n -= w->out_at;
        w->out_at = 0;
    }
    if (n == 0 && c->fate == FATE_END)
        tell(w); /* the last word is out; do not wait for the socket to close */
    if (n == 0 && !w->drained && !w->told) {
        w->drained = true;
        if (w->h.on_drain)
            w->h.on_drain(w->h.ctx);
        if (ws_queued(w))
            return ws_pull(c, to, room);
    }
    return n;
}

/* The source of a kept request has news: it is asked when nothing is queued. */
static void ws_wake(struct http_req *r)
{
    struct ws *w = r->c->state;

    w->drained = false;
}

/* No answer to our close. It may still be on its way out to a client that reads slowly: one that
 * reads nothing is noticed as on any connection. */
static void ws_expire(struct conn *c)
{
    bool is_out = !ws_queued(c->state) && !c->out.n;

    if (!is_out && !c->s->stopping)
        conn_deadline(c, c->s->limits.linger_ms);
    else
        conn_end(c, is_out ? FATE_END : FATE_NOW);
}

static void ws_stop(struct conn *c)
{
    ws_close(c->state, WS_GOING_AWAY, S("server is stopping"));
}

static void ws_end(struct conn *c)
{
    ws_free(c->state);
}

const struct proto ws_proto = {
    .start = ws_start,
    .feed = ws_feed,
    .pull = ws_pull,
    .wake = ws_wake,
    .expire = ws_expire,
    .stop = ws_stop,
    .end = ws_end,
};
