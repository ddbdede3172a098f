/* Curl's multi interface on the loop: a poll handle for each of its sockets, one timer. No callback
 * of a caller runs inside one of curl's: what comes is noted and told afterwards.
 *
 * Streams have connections of their own, HTTP/1.1, and calls share a few of HTTP/2. On a shared one
 * curl 7.88 reads what comes for any of them on behalf of whichever it runs; when it meets the last
 * frame of another's answer with that one's buffer full, it tells the end only once more bytes
 * come. Calls bring each other those: who reads still waits for an answer. Next to watches, which
 * wait for ever, a list would hang until it timed out. */

#include "client/internal.h"
#include "loop/watchdog.h"

struct watched {
    uv_poll_t uv;
    struct multi *m;
    curl_socket_t fd;
    int events;              /* curl waits for */
    struct loop_timer *rest; /* not looked at until it fires */
};

static void on_closed(uv_handle_t *h)
{
    struct watched *w = h->data;
    struct client *c = w->m->c;

    free(w);
    client_unref(c);
}

static void on_timer_closed(uv_handle_t *h)
{
    struct multi *m = h->data;
    struct client *c = m->c;

    free(h);
    client_unref(c);
}

static void limit_connections(struct client *c)
{
    curl_multi_setopt(c->for_calls.curl, CURLMOPT_MAX_HOST_CONNECTIONS,
                      (long)(c->http1 ? HOST_CONNECTIONS_H1 : HOST_CONNECTIONS));
}

static void see_version(struct kube_call *call)
{
    struct client *c = call->c;
    long version = 0;

    if (c->http1 || call->rc != CURLE_OK || call_is_stream(call))
        return;
    curl_easy_getinfo(call->line->easy, CURLINFO_HTTP_VERSION, &version);
    if (version != CURL_HTTP_VERSION_1_0 && version != CURL_HTTP_VERSION_1_1)
        return;
    c->http1 = true;
    limit_connections(c);
}

static void collect(struct multi *from)
{
    struct client *c = from->c;
    const CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(from->curl, &left))) {
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

static void act(struct multi *m, curl_socket_t fd, int what)
{
    struct client *c = m->c;
    int running;

    if (c->stopped)
        return;
    curl_multi_socket_action(m->curl, fd, what, &running);
    if (m == &c->for_calls && fd == CURL_SOCKET_TIMEOUT)
        c->begun = 0;
    collect(m);
    calls_deliver(c);
    calls_start_waiting(c);
}

static void on_poll(uv_poll_t *h, int status, int events);

static void on_rested(void *arg)
{
    struct watched *w = arg;

    loop_timer_stop(TAKE(w->rest));
    uv_poll_start(&w->uv, w->events, on_poll);
}

/* Whenever something comes, curl looks at each call on that connection. In a crowd it comes all the
 * time, and nobody has waited for less than this: take in several at once. */
static void rest(struct watched *w)
{
    const struct client *c = w->m->c;

    if (w->m != &c->for_calls || c->running < CROWD || w->rest || w->events & UV_WRITABLE)
        return; /* what waits to be sent is waited for */
    uv_poll_stop(&w->uv);
    w->rest = loop_timer_start(c->loop, REST_MS, 0, on_rested, w);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct watched *w = h->data;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);

    rest(w);
    act(w->m, w->fd, status < 0 ? CURL_CSELECT_ERR : what);
}

static void on_timer(uv_timer_t *h)
{
    LOOP_TURN();
    act(h->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_multi_timer(CURLM *curl, long ms, void *ctx)
{
    struct multi *m = ctx;

    (void)curl;
    if (ms < 0 || m->c->stopped)
        uv_timer_stop(m->timer);
    else
        uv_timer_start(m->timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

static int on_multi_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    struct multi *m = ctx;
    struct watched *w = of_socket;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            curl_multi_assign(m->curl, fd, NULL);
            loop_timer_stop(TAKE(w->rest));
            uv_poll_stop(&w->uv);
            uv_close((uv_handle_t *)&w->uv, on_closed);
        }
        return 0;
    }
    if (!w) {
        w = mem_new(sizeof(*w));
        w->m = m;
        w->fd = fd;
        if (uv_poll_init(loop_uv(m->c->loop), &w->uv, fd) < 0) {
            free(w);
            return -1;
        }
        w->uv.data = w;
        m->c->holds++;
        curl_multi_assign(m->curl, fd, w);
    }
    w->events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (!w->rest)
        uv_poll_start(&w->uv, w->events, on_poll);
    return 0;
}

static void start(struct multi *m, struct client *c)
{
    m->c = c;
    m->curl = mem_or_abort(curl_multi_init());
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_multi_socket);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_multi_timer);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    m->timer = mem_new(sizeof(*m->timer));
    uv_timer_init(loop_uv(c->loop), m->timer);
    m->timer->data = m;
    c->holds++;
}

void multi_init(struct client *c)
{
    start(&c->for_calls, c);
    start(&c->for_streams, c);
    curl_multi_setopt(c->for_calls.curl, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(c->for_calls.curl, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)HOST_STREAMS);
    limit_connections(c);
}

static void stop(struct multi *m)
{
    curl_multi_cleanup(m->curl); /* closes the connections, and so the poll handles */
    m->curl = NULL;
    uv_close((uv_handle_t *)m->timer, on_timer_closed);
}

void multi_done(struct client *c)
{
    struct line *l;

    while ((l = c->pool)) {
        c->pool = l->next;
        line_free(l);
    }
    c->pool_n = 0;
    stop(&c->for_calls);
    stop(&c->for_streams);
}

static struct multi *multi_of(struct kube_call *call)
{
    return call_is_stream(call) ? &call->c->for_streams : &call->c->for_calls;
}

void multi_begin(struct kube_call *call, struct headers *h)
{
    struct client *c = call->c;

    call->line = line_get(call, h);
    call->finished = false;
    call->last_byte_ms = loop_now_ms(c->loop);
    curl_multi_add_handle(multi_of(call)->curl, call->line->easy);
}

void multi_end(struct kube_call *call)
{
    if (!call->line)
        return;
    curl_multi_remove_handle(multi_of(call)->curl, call->line->easy);
    line_put(call->c, TAKE(call->line));
}
