/* A connection: its phases, deadlines and end. */

#include "base/mem.h"
#include "http/internal.h"
#include "http/tls.h"
#include "loop/watchdog.h"

#include <linux/sockios.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void conn_unref(struct conn *c)
{
    if (--c->refs)
        return;
    struct http_server *s = c->s;
    arena_free(c->who_memory);
    buf_done(&c->out);
    buf_done(&c->held);
    free(c);
    server_unref(s);
}

static void on_handle_closed(uv_handle_t *h)
{
    conn_unref(h->data);
}

static void conn_hold(struct conn *c);

/* The timer is moved only to come earlier; when it comes too early it is set anew. */
static void on_timer(uv_timer_t *h);

static void arm(struct conn *c, int64_t at_ms)
{
    int64_t now = loop_now_ms(c->s->loop);

    if (at_ms == 0 || (c->armed_ms && c->armed_ms <= at_ms))
        return;
    c->armed_ms = at_ms > now ? at_ms : now;
    uv_timer_start(&c->timer, on_timer, (uint64_t)(c->armed_ms - now), 0);
}

void conn_deadline_at(struct conn *c, int64_t at_ms)
{
    c->deadline_ms = at_ms;
    if (c->phase != CONN_CLOSED)
        arm(c, at_ms);
}

void conn_deadline(struct conn *c, int64_t in_ms)
{
    conn_deadline_at(c, in_ms ? loop_now_ms(c->s->loop) + in_ms : 0);
}

/* Whether the peer's kernel has yet to take some of what we said: a reset would end that, and to
 * close makes one of whatever the peer still sends. It counts as stalled while it takes nothing. */
static bool is_on_its_way(struct conn *c)
{
    int n = 0;

    if (c->s->stopping || ioctl(c->fd, SIOCOUTQ, &n) < 0 || n == 0)
        return false;
    if (!c->stalled_ms || n < c->unacked)
        c->stalled_ms = loop_now_ms(c->s->loop);
    c->unacked = n;
    return true;
}

static void expire(struct conn *c)
{
    if (c->phase == CONN_OPEN) {
        c->proto->expire(c);
        conn_touch(c);
        return;
    }
    if (c->phase == CONN_HANDSHAKE)
        c->s->stats.refused_total++;
    if (c->phase == CONN_LINGER && is_on_its_way(c))
        conn_deadline(c, c->s->limits.linger_ms);
    else
        conn_close(c);
}

/* When a client that reads nothing is cut off. The rest of an answer with slow_allowed counts as
 * such after its request has ended, unless other answers, which may hold much, wait beside it. */
static int64_t stall_end_of(const struct conn *c)
{
    bool slow_allowed = c->slow_allowed;

    for (const struct http_req *r = c->reqs; r && slow_allowed; r = r->next)
        slow_allowed = r->slow_allowed || !r->active;
    return c->stalled_ms + (slow_allowed ? c->s->limits.slow_client_ms : c->s->limits.body_ms);
}

static void on_timer(uv_timer_t *h)
{
    LOOP_TURN();
    struct conn *c = h->data;
    int64_t now = loop_now_ms(c->s->loop);
    int64_t stall_end = c->stalled_ms ? stall_end_of(c) : 0;

    c->armed_ms = 0;
    if (stall_end && now >= stall_end) {
        c->s->stats.refused_total++;
        conn_close(c);
        return;
    }
    if (c->deadline_ms && now >= c->deadline_ms) {
        c->deadline_ms = 0;
        expire(c);
    }
    if (c->phase != CONN_CLOSED) {
        arm(c, c->deadline_ms);
        arm(c, stall_end);
    }
}

static void on_resume(void *arg)
{
    struct conn *c = arg;

    c->full = false;
    if (c->phase == CONN_OPEN && !conn_resume(c))
        conn_close(c);
    else if (c->fate != FATE_NONE)
        conn_touch(c);
    conn_hold(c);
    conn_poll(c);
    conn_unref(c);
}

/* One connection's requests wait for the next turn where there are too many for one. */
static void conn_hold(struct conn *c)
{
    if (!c->full || c->phase != CONN_OPEN)
        return;
    c->refs++;
    loop_post(c->s->loop, on_resume, c);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct conn *c = h->data;

    if (status < 0) {
        conn_close(c);
        return;
    }
    if ((events & UV_READABLE) && !conn_recv(c)) {
        conn_close(c);
        return;
    }
    if (!(events & UV_READABLE) && (events & UV_DISCONNECT)) {
        conn_close(c);
        return;
    }
    if (events & UV_WRITABLE)
        conn_touch(c);
    if (c->fate != FATE_NONE)
        conn_touch(c);
    if (events & UV_READABLE)
        conn_hold(c);
    conn_poll(c);
}

/* A connection that wants no input still wants to hear when the peer is gone. */
void conn_poll(struct conn *c)
{
    int events = c->paused || c->full ? UV_DISCONNECT : UV_READABLE;

    if (c->phase == CONN_CLOSED)
        return;
    if (c->out.n) {
        events |= UV_WRITABLE;
        arm(c, stall_end_of(c));
    }
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(&c->poll, events, on_poll);
}

void conn_pause(struct conn *c, bool paused)
{
    c->paused = paused;
    conn_poll(c);
}

struct conn *conn_start(struct http_server *s, int fd)
{
    struct conn *c = mem_new(sizeof(*c));

    c->s = s;
    c->feed_bytes = FEED_LEAST_BYTES;
    s->refs++;
    c->fd = fd;
    c->refs = 3; /* open, poll, timer */
    c->ssl = s->tls ? tls_start(s->tls, c) : NULL;
    if (uv_poll_init(loop_uv(s->loop), &c->poll, fd) || uv_timer_init(loop_uv(s->loop), &c->timer))
        abort();
    c->poll.data = c->timer.data = c;
    c->next = s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    s->stats.connections_open++;
    s->stats.connections_total++;
    conn_poll(c);
    conn_deadline(c, s->limits.handshake_ms);
    if (!s->tls)
        conn_established(c);
    return c;
}

void conn_end(struct conn *c, enum conn_fate fate)
{
    if (c->fate >= fate)
        return;
    c->fate = fate;
    conn_touch(c);
}

void conn_close(struct conn *c)
{
    struct http_server *s = c->s;

    if (c->phase == CONN_CLOSED)
        return;
    c->phase = CONN_CLOSED;
    if (c->state)
        c->proto->end(c);
    c->state = NULL;
    for (struct http_req *r = c->reqs, *next; r; r = next) {
        next = r->next;
        req_lost(r);
    }
    SSL_free(c->ssl);
    c->ssl = NULL;
    buf_done(&c->out);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
    uv_close((uv_handle_t *)&c->poll, on_handle_closed);
    close(c->fd);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    server_conn_closed(s);
    conn_unref(c);
}

static void flush_all(void *arg)
{
    struct http_server *s = arg;
    struct conn *list = s->dirty;

    s->flush_queued = false;
    s->dirty = NULL;
    s->dirty_tail = &s->dirty;
    for (struct conn *c = list, *next; c; c = next) {
        next = c->next_dirty;
        c->dirty = false;
        conn_flush(c);
        conn_unref(c); /* NOLINT(clang-analyzer-unix.Malloc): the list held a reference */
    }
    server_unref(s);
}

void conn_touch(struct conn *c)
{
    struct http_server *s = c->s;

    if (c->dirty || c->phase == CONN_CLOSED)
        return;
    c->dirty = true;
    c->refs++;
    c->next_dirty = NULL;
    *s->dirty_tail = c;
    s->dirty_tail = &c->next_dirty;
    if (s->flush_queued)
        return;
    s->flush_queued = true;
    s->refs++;
    loop_defer(s->loop, flush_all, s);
}

/* All is sent: say so, and wait until the peer has read it. Closing at once, with bytes of the
 * peer unread, would make the kernel throw our last answer away. */
static void linger(struct conn *c)
{
    if (c->ssl)
        SSL_shutdown(c->ssl);
    if (!conn_send(c)) {
        conn_close(c);
        return;
    }
    c->phase = CONN_LINGER;
    conn_pause(c, false);
    conn_deadline(c, c->s->limits.linger_ms);
}

static bool pull(struct conn *c)
{
    struct http_server *s = c->s;

    s->squeezed = 0;
    while (c->fate != FATE_NOW) {
        size_t n = c->proto->pull(c, s->plain_out, PLAIN_BYTES);
        if (n == 0)
            break;
        if (!c->ssl)
            buf_add(&s->cipher, (str){ s->plain_out, n });
        else if (SSL_write(c->ssl, s->plain_out, (int)n) <= 0)
            return false;
        if (s->cipher.n >= OUT_HIGH || s->squeezed >= SQUEEZE_HIGH) {
            conn_touch(c); /* others first */
            break;
        }
    }
    return true;
}

void conn_flush(struct conn *c)
{
    if (c->phase == CONN_CLOSED)
        return;
    ERR_clear_error();
    bool alive = c->fate != FATE_NOW && (!c->out.n || conn_send(c));
    if (alive && !c->out.n && c->phase == CONN_OPEN)
        alive = pull(c) && conn_send(c) && c->fate != FATE_NOW;
    if (!alive) {
        buf_clear(&c->s->cipher);
        conn_close(c);
        return;
    }
    if (c->phase == CONN_LINGER && !c->out.n)
        shutdown(c->fd, SHUT_WR);
    if (c->phase == CONN_OPEN && c->fate == FATE_END && !c->out.n && !c->dirty) {
        linger(c);
        if (c->phase == CONN_LINGER && !c->out.n)
            shutdown(c->fd, SHUT_WR);
    }
    conn_poll(c);
}
