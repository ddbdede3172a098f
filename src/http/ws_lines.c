/* An answer over a WebSocket: each line of its source is a text message, as watches go there. The
 * source is read when all before it is out, so a slow client holds it up as it does elsewhere. */

#include "base/websocket.h"
#include "http/internal.h"

#include <assert.h>
#include <stdlib.h>

struct lines {
    struct http_req *r; /* lives until the WebSocket is closed */
    struct ws *ws;
    struct buf part; /* of a line whose end has not been read */
};

static void send_lines(struct lines *l, str s)
{
    for (ptrdiff_t end; (end = str_find(s, '\n')) >= 0; s = str_sub(s, (size_t)end + 1, s.n)) {
        buf_add(&l->part, str_sub(s, 0, (size_t)end + 1));
        ws_send(l->ws, false, buf_str(&l->part));
        buf_clear(&l->part);
    }
    buf_add(&l->part, s);
}

static void on_drain(void *ctx)
{
    struct lines *l = ctx;
    char bytes[4096];
    ssize_t n = HTTP_WAIT;

    while (ws_queued(l->ws) < OUT_HIGH && (n = req_pull(l->r, bytes, sizeof(bytes))) > 0)
        send_lines(l, (str){ bytes, (size_t)n });
    if (n == HTTP_WAIT && !l->part.n)
        buf_done(&l->part); /* an idle watcher keeps no buffer */
    if (n == HTTP_END && l->part.n)
        ws_send(l->ws, false, buf_str(&l->part));
    if (n < 0)
        ws_close(l->ws, n == HTTP_END ? WS_NORMAL : WS_GOING_AWAY, STR_NONE);
}

static void on_close(void *ctx, int code)
{
    struct lines *l = ctx;

    (void)code;
    req_finish(l->r);
    buf_done(&l->part);
    free(l);
}

void http_reply_lines(struct http_req *r, struct http_source src)
{
    str offered = http_get_header(r, S("sec-websocket-protocol"));
    struct lines *l = NULL;

    assert(!r->answered);
    r->reply.src = src;
    r->reply.left = -1;
    r->reply.endless = true;
    if (r->gone) {
        r->answered = true;
        req_finish_later(r);
        return;
    }
    l = calloc(1, sizeof(*l));
    if (!l)
        abort();
    l->r = r;
    r->kept = true;
    l->ws = http_accept_websocket(r, str_trim(str_cut(&offered, ',')),
                                  &(struct ws_handler){ NULL, on_drain, on_close, l });
}
