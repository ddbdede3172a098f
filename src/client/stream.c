/* The connection is curl's, with all it knows of TLS, proxies and names; the bytes on it are ours:
 * one request, its answer, then frames. */

#include "client/stream.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/websocket.h"
#include "client/internal.h"
#include "client/upgrade.h"
#include "loop/watchdog.h"

enum {
    HEAD_MOST = 64 * 1024,
    BODY_MOST = 1024 * 1024,
    PIECE = 32 * 1024,
    PING_MS = 20 * 1000,
    SILENCE_MS = 60 * 1000,
};

enum state { STATE_HEAD, STATE_REFUSED, STATE_OPEN, STATE_ENDED };

struct client_stream {
    struct client *c;
    struct line *line;
    struct client_stream_handler h;
    enum state state;
    bool freed;
    uv_poll_t poll;
    bool polls_out;
    struct arena *a;
    str accept; /* that the server must say */
    struct upgrade up;
    struct buf in; /* before it is open */
    struct ws_parser parser;
    struct buf out;
    size_t out_at;
    struct loop_timer *beat;
    int64_t heard_ms;
};

/* ---- the end */

static void on_closed(uv_handle_t *handle)
{
    struct client_stream *s = handle->data;

    headers_unref(s->line->headers);
    line_free(s->line);
    ws_parser_done(&s->parser);
    buf_done(&s->in);
    buf_done(&s->out);
    arena_free(s->a);
    client_unref(s->c);
    free(s);
}

void client_stream_free(struct client_stream *s)
{
    if (!s || s->freed)
        return;
    s->freed = true;
    s->state = STATE_ENDED;
    loop_timer_stop(TAKE(s->beat));
    uv_close((uv_handle_t *)&s->poll, on_closed);
}

static void end(struct client_stream *s, const struct err *e)
{
    if (s->state == STATE_ENDED)
        return;
    s->state = STATE_ENDED;
    uv_poll_stop(&s->poll);
    loop_timer_stop(TAKE(s->beat));
    s->h.on_end(s->h.ctx, e);
}

static void cut(struct client_stream *s, const char *why)
{
    struct err e = { 0 };

    err_set(&e, ERR_UNAVAILABLE, "%s: %s", s->c->host, why);
    end(s, &e);
}

/* ---- out */

static void on_ready(uv_poll_t *poll, int status, int events);

static void poll_for(struct client_stream *s, bool out)
{
    if (s->state == STATE_ENDED || (s->polls_out == out && uv_is_active((uv_handle_t *)&s->poll)))
        return;
    s->polls_out = out;
    uv_poll_start(&s->poll, UV_READABLE | (out ? UV_WRITABLE : 0), on_ready);
}

static void flush(struct client_stream *s)
{
    bool had = s->out.n > 0;

    while (s->out_at < s->out.n) {
        size_t n = 0;
        CURLcode rc = curl_easy_send(s->line->easy, s->out.p + s->out_at, s->out.n - s->out_at, &n);
        if (rc != CURLE_OK && rc != CURLE_AGAIN) {
            cut(s, curl_easy_strerror(rc));
            return;
        }
        s->out_at += n;
        if (rc == CURLE_AGAIN || !n)
            break;
    }
    if (s->out_at == s->out.n) {
        buf_clear(&s->out);
        s->out_at = 0;
    }
    poll_for(s, s->out.n > 0);
    if (had && !s->out.n && s->state == STATE_OPEN && s->h.on_drain)
        s->h.on_drain(s->h.ctx);
}

static void add_frame(struct client_stream *s, enum ws_opcode op, str payload)
{
    uint8_t mask[4];

    random_bytes(mask, sizeof(mask));
    ws_frame_masked(&s->out, op, payload, mask);
}

void client_stream_send(struct client_stream *s, str payload)
{
    if (s->state != STATE_OPEN)
        return;
    add_frame(s, WS_BINARY, payload);
    poll_for(s, true);
}

size_t client_stream_queued(const struct client_stream *s)
{
    return s->out.n - s->out_at;
}

static void on_beat(void *arg)
{
    struct client_stream *s = arg;

    if (loop_now_ms(s->c->loop) - s->heard_ms > SILENCE_MS) {
        cut(s, "received no data for a minute");
        return;
    }
    if (s->state == STATE_OPEN) {
        add_frame(s, WS_PING, S(""));
        poll_for(s, true);
    }
}

/* ---- in */

static void on_message(void *ctx, bool binary, str payload)
{
    struct client_stream *s = ctx;

    (void)binary;
    if (s->state == STATE_OPEN)
        s->h.on_message(s->h.ctx, payload);
}

static void on_control(void *ctx, enum ws_opcode op, str payload)
{
    struct client_stream *s = ctx;

    if (op != WS_PING || s->state != STATE_OPEN)
        return;
    add_frame(s, WS_PONG, payload);
    if (client_stream_queued(s) > LIMIT_WS_QUEUE_BYTES)
        cut(s, "it sends data but does not read");
    else
        poll_for(s, true);
}

static void on_close(void *ctx, int code)
{
    struct client_stream *s = ctx;
    struct err e = { 0 };

    if (code == WS_NORMAL || code == WS_NO_CODE || code == WS_GOING_AWAY) {
        end(s, NULL);
        return;
    }
    err_set(&e, ERR_UNAVAILABLE, "%s: closed with code %d", s->c->host, code);
    end(s, &e);
}

static void take_frames(struct client_stream *s, char *p, size_t n)
{
    int code = ws_parser_feed(&s->parser, p, n);
    struct err e = { 0 };

    if (code == 0 || s->state != STATE_OPEN)
        return;
    err_set(&e, ERR_INTERNAL, "%s: invalid frames (%d)", s->c->host, code);
    end(s, &e);
}

/* The server said no, and why. */
static void refused(struct client_stream *s)
{
    struct kube_answer ans = { 0 };

    kube_answer_read(s->a, s->up.status, upgrade_body(s->a, &s->up, buf_str(&s->in)), NULL, S(""),
                     &ans);
    if (ans.err.code == ERR_OK)
        err_set(&ans.err, ERR_INTERNAL, "%s: does not open a WebSocket (it answered %d)",
                s->c->host, s->up.status);
    end(s, &ans.err);
}

static void opened(struct client_stream *s)
{
    s->state = STATE_OPEN;
    s->h.on_open(s->h.ctx, s->up.protocol);
    if (s->state == STATE_OPEN && s->in.n)
        take_frames(s, s->in.p, s->in.n);
}

static void take_head(struct client_stream *s)
{
    size_t n = upgrade_head_size(buf_str(&s->in));
    struct err e = { 0 };

    if (!n) {
        if (s->in.n > HEAD_MOST)
            cut(s, "its answer is too long");
        return;
    }
    str head = arena_str(s->a, str_sub(buf_str(&s->in), 0, n));
    memmove(s->in.p, s->in.p + n, s->in.n - n);
    s->in.n -= n;
    if (upgrade_read(head, &s->up, &e) < 0) {
        err_wrap(&e, "%s", s->c->host);
        end(s, &e);
    } else if (s->up.status != 101) {
        s->state = STATE_REFUSED;
    } else if (!s->up.websocket || !str_eq(s->up.accept, s->accept)) {
        cut(s, "it switched to a protocol other than WebSocket");
    } else {
        opened(s);
    }
}

static void take(struct client_stream *s, char *p, size_t n)
{
    s->heard_ms = loop_now_ms(s->c->loop);
    if (s->state == STATE_OPEN) {
        take_frames(s, p, n);
        return;
    }
    buf_add(&s->in, (str){ p, n });
    if (s->state == STATE_HEAD)
        take_head(s);
    if (s->state == STATE_REFUSED &&
        (upgrade_body_is_whole(&s->up, buf_str(&s->in)) || s->in.n > BODY_MOST))
        refused(s);
}

static void read_all(struct client_stream *s)
{
    char piece[PIECE];

    while (s->state != STATE_ENDED) {
        size_t n = 0;
        CURLcode rc = curl_easy_recv(s->line->easy, piece, sizeof(piece), &n);
        if (rc == CURLE_AGAIN)
            return;
        if (rc == CURLE_OK && n) {
            take(s, piece, n);
        } else if (s->state == STATE_REFUSED) {
            refused(s);
        } else {
            cut(s, "the connection was cut");
        }
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    LOOP_TURN();
    struct client_stream *s = poll->data;

    if (status < 0) {
        cut(s, uv_strerror(status));
        return;
    }
    if (events & UV_READABLE)
        read_all(s);
    if (s->state != STATE_ENDED && s->out.n)
        flush(s);
}

/* ---- the beginning */

static void add_request(struct client_stream *s, str path, const char *protocols)
{
    str base = str_of(s->c->base), rest = str_sub(base, (size_t)str_find(base, '/') + 2, base.n);
    ptrdiff_t slash = str_find(rest, '/');
    str host = slash < 0 ? rest : str_sub(rest, 0, (size_t)slash);
    str prefix = slash < 0 ? S("") : str_sub(rest, (size_t)slash, rest.n);
    uint8_t noise[16];

    random_bytes(noise, sizeof(noise));
    str key = base64_encode(s->a, (str){ (const char *)noise, sizeof(noise) });
    s->accept = upgrade_accept(s->a, key);
    buf_printf(&s->out, "GET %" PRI_STR "%" PRI_STR " HTTP/1.1\r\n", STR_ARG(prefix),
               STR_ARG(path));
    if (!s->c->connect_to) /* else it is among the headers */
        buf_printf(&s->out, "Host: %" PRI_STR "\r\n", STR_ARG(host));
    buf_printf(&s->out,
               "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: %" PRI_STR "\r\nSec-WebSocket-Protocol: %s\r\n",
               STR_ARG(key), protocols);
    buf_printf(&s->out, "User-Agent: muster/%s (%s)\r\n", MUSTER_VERSION,
               s->c->cfg->component ? s->c->cfg->component : "client");
    for (const struct curl_slist *h = s->line->headers->list; h; h = h->next)
        if (!str_ends(str_of(h->data), S(":"))) /* that is for curl */
            buf_printf(&s->out, "%s\r\n", h->data);
    buf_add(&s->out, S("\r\n"));
}

struct client_stream *client_stream_open(struct client *c, str path, const char *protocols,
                                         const struct client_stream_handler *h, struct err *e)
{
    struct err why = { 0 };
    curl_socket_t fd = CURL_SOCKET_BAD;

    assert_on_loop(c->loop);
    struct headers *who = credential_get(c, &why);
    if (!who)
        return err_set(e, ERR_UNAUTHORIZED, "%s",
                       why.msg[0] ? why.msg : "the credential has to be renewed first"),
               NULL;
    struct line *line = line_connect(c, who, e);
    if (!line)
        return NULL;
    struct client_stream *s = mem_new(sizeof(*s));
    s->c = c;
    s->line = line;
    s->h = *h;
    s->a = arena_new();
    s->parser = (struct ws_parser){ .on_message = on_message,
                                    .on_control = on_control,
                                    .on_close = on_close,
                                    .ctx = s,
                                    .max = LIMIT_WS_QUEUE_BYTES,
                                    .client = true };
    s->heard_ms = loop_now_ms(c->loop);
    curl_easy_getinfo(line->easy, CURLINFO_ACTIVESOCKET, &fd);
    c->holds++;
    uv_poll_init_socket(loop_uv(c->loop), &s->poll, fd);
    s->poll.data = s;
    s->beat = loop_timer_start(c->loop, PING_MS, PING_MS, on_beat, s);
    add_request(s, path, protocols);
    poll_for(s, true);
    return s;
}
