/* Curl's multi interface on the loop: a poll handle for each of its sockets, one timer. No callback
 * of a caller runs inside one of curl's: what comes is noted and told afterwards. */

#include "client/inner.h"

struct watched {
    uv_poll_t uv;
    struct client *c;
    curl_socket_t fd;
};

static void on_closed(uv_handle_t *h)
{
    struct watched *w = h->data;
    struct client *c = w->c;

    free(w);
    client_let_go(c);
}

static void on_timer_closed(uv_handle_t *h)
{
    struct client *c = h->data;

    free(h);
    client_let_go(c);
}

static void see_version(struct kube_call *call)
{
    struct client *c = call->c;
    long version = 0;

    if (c->http1 || call->rc != CURLE_OK)
        return;
    curl_easy_getinfo(call->line->easy, CURLINFO_HTTP_VERSION, &version);
    if (version != CURL_HTTP_VERSION_1_0 && version != CURL_HTTP_VERSION_1_1)
        return;
    c->http1 = true;
    multi_watches(c);
}

static void collect(struct client *c)
{
    const CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(c->multi, &left))) {
        struct kube_call *call = NULL;
        long status = 0;
        curl_off_t after = 0;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
        curl_easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(m->easy_handle, CURLINFO_RETRY_AFTER, &after);
        call->rc = m->data.result;
        call->status = (int)status;
        call->retry_after_s = (int64_t)after;
        call->finished = true;
        see_version(call);
        if (!call->queue)
            queue_push(&c->ready, call);
    }
}

static void act(struct client *c, curl_socket_t fd, int what)
{
    int running;

    if (c->stopped)
        return;
    curl_multi_socket_action(c->multi, fd, what, &running);
    collect(c);
    calls_deliver(c);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    struct watched *w = h->data;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);

    act(w->c, w->fd, status < 0 ? CURL_CSELECT_ERR : what);
}

static void on_timer(uv_timer_t *h)
{
    act(h->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_multi_timer(CURLM *m, long ms, void *ctx)
{
    struct client *c = ctx;

    (void)m;
    if (ms < 0 || c->stopped)
        uv_timer_stop(c->timer);
    else
        uv_timer_start(c->timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

static int on_multi_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    struct client *c = ctx;
    struct watched *w = of_socket;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            curl_multi_assign(c->multi, fd, NULL);
            uv_poll_stop(&w->uv);
            uv_close((uv_handle_t *)&w->uv, on_closed);
        }
        return 0;
    }
    if (!w) {
        w = mem_new(sizeof(*w));
        w->c = c;
        w->fd = fd;
        if (uv_poll_init(loop_uv(c->loop), &w->uv, fd) < 0) {
            free(w);
            return -1;
        }
        w->uv.data = w;
        c->holds++;
        curl_multi_assign(c->multi, fd, w);
    }
    uv_poll_start(
        &w->uv, (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
        on_poll);
    return 0;
}

/* Over HTTP/1 each watch needs a connection of its own, and the server may turn out to speak no
 * other; over HTTP/2 what is allowed beyond a few is not used. */
void multi_watches(struct client *c)
{
    long watches = (long)c->stats.watches;
    long most =
        c->http1 ? HOST_CONNECTIONS_H1 + watches : HOST_CONNECTIONS + (watches < 32 ? watches : 32);

    curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, most);
}

int multi_init(struct client *c, struct err *e)
{
    c->multi = curl_multi_init();
    if (!c->multi)
        return err_set(e, ERR_INTERNAL, "libcurl does not start");
    curl_multi_setopt(c->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(c->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)HOST_STREAMS);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_multi_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_multi_timer);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    multi_watches(c);
    c->timer = mem_new(sizeof(*c->timer));
    uv_timer_init(loop_uv(c->loop), c->timer);
    c->timer->data = c;
    c->holds++;
    return 0;
}

void multi_done(struct client *c)
{
    struct line *l;

    while ((l = c->pool)) {
        c->pool = l->next;
        line_free(l);
    }
    c->pool_n = 0;
    curl_multi_cleanup(c->multi); /* closes the connections, and so the poll handles */
    c->multi = NULL;
    uv_close((uv_handle_t *)c->timer, on_timer_closed);
}

void multi_begin(struct kube_call *call, struct headers *h)
{
    struct client *c = call->c;

    call->line = line_get(call, h);
    call->finished = false;
    call->last_byte_ms = loop_now_ms(c->loop);
    curl_multi_add_handle(c->multi, call->line->easy);
}

void multi_end(struct kube_call *call)
{
    if (!call->line)
        return;
    curl_multi_remove_handle(call->c->multi, call->line->easy);
    line_put(call->c, TAKE(call->line));
}
