/* The server: listens, accepts, stops. */

#include "base/mem.h"
#include "http/internal.h"
#include "http/tls.h"
#include "loop/log.h"
#include "loop/watchdog.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ACCEPTS_A_TURN = 64, ACCEPT_PAUSE_MS = 100, HEADS_KEPT = 16, SLOW_CLIENT_FACTOR = 60 };

static struct http_limits limits_of(const struct http_limits *asked)
{
    struct http_limits l = *asked;

#define DEFAULT(field, value)  \
    do {                       \
        if (l.field == 0)      \
            l.field = (value); \
    } while (0)
    DEFAULT(handshake_ms, LIMIT_HANDSHAKE_MS);
    DEFAULT(header_ms, LIMIT_HEADER_MS);
    DEFAULT(body_ms, LIMIT_BODY_MS);
    DEFAULT(slow_client_ms, (int64_t)SLOW_CLIENT_FACTOR * LIMIT_BODY_MS);
    DEFAULT(idle_ms, LIMIT_IDLE_MS);
    DEFAULT(linger_ms, LIMIT_LINGER_MS);
    DEFAULT(body_bytes, LIMIT_BODY_BYTES);
    DEFAULT(bodies_bytes, LIMIT_OPEN_BODIES);
    DEFAULT(header_bytes, LIMIT_HEADER_BYTES);
    DEFAULT(url_bytes, LIMIT_URL_BYTES);
    DEFAULT(connections, LIMIT_CONNECTIONS);
    DEFAULT(streams, LIMIT_STREAMS);
    DEFAULT(requests, LIMIT_OPEN_REQUESTS);
#undef DEFAULT
    return l;
}

struct http_head *server_head_take(struct http_server *s)
{
    struct http_head *h = s->heads;

    if (h) {
        s->heads = h->next;
        s->n_heads--;
        return h;
    }
    h = mem_new(sizeof(*h));
    return h;
}

void server_head_give(struct http_server *s, struct http_head *h)
{
    if (!h)
        return;
    if (s->n_heads == HEADS_KEPT) {
        head_free(h);
        return;
    }
    head_clear(h);
    h->next = s->heads;
    s->heads = h;
    s->n_heads++;
}

void server_unref(struct http_server *s)
{
    if (--s->refs)
        return;
    while (s->heads)
        head_free(({
            struct http_head *h = s->heads;
            s->heads = h->next;
            h;
        }));
    SSL_CTX_free(s->tls);
    buf_done(&s->cipher);
    free(s);
}

str server_date(struct http_server *s)
{
    time_t now = (time_t)(wall_now_ms() / 1000);

    if (now != s->date_s) {
        struct tm tm;
        gmtime_r(&now, &tm);
        strftime(s->date, sizeof(s->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        s->date_s = now;
    }
    return str_of(s->date);
}

static void on_acceptable(uv_poll_t *h, int status, int events);

static void resume_accept(void *arg)
{
    struct http_server *s = arg;

    loop_timer_stop(TAKE(s->accept_pause));
    for (size_t i = 0; i < HTTP_DOORS; i++)
        if (s->doors[i])
            uv_poll_start(&s->doors[i]->poll, UV_READABLE, on_acceptable);
}

/* Out of file descriptors: wait for some to be closed, or the loop would spin. */
static void pause_accept(struct http_server *s)
{
    log_warn("cannot accept connections", KVI("errno", errno));
    for (size_t i = 0; i < HTTP_DOORS; i++)
        if (s->doors[i])
            uv_poll_stop(&s->doors[i]->poll);
    loop_timer_stop(s->accept_pause);
    s->accept_pause = loop_timer_start(s->loop, ACCEPT_PAUSE_MS, 0, resume_accept, s);
}

/* Peers that vanish without a word are noticed within two minutes. */
static void tune(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        { IPPROTO_TCP, TCP_NODELAY, 1 },
        { IPPROTO_TCP, TCP_NOTSENT_LOWAT, 128 * 1024 }, /* unsent bytes the kernel holds for us */
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, 60 },
        { IPPROTO_TCP, TCP_KEEPINTVL, 15 },
        { IPPROTO_TCP, TCP_KEEPCNT, 4 },
    };

    for (size_t i = 0; i < COUNT(options); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static void on_acceptable(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct http_door *d = h->data;
    struct http_server *s = d->s;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(d->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
            pause_accept(s);
        if (fd < 0)
            return;
        if (s->stats.connections_open >= s->limits.connections) {
            s->stats.refused_total++;
            close(fd);
            continue;
        }
        tune(fd);
        conn_start(s, fd);
    }
}

/* Is there IPv6 here that a socket could listen on? */
static bool has_ipv6(void)
{
    struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0;

    if (fd >= 0)
        close(fd);
    return has;
}

/* The descriptor, or -1. */
static int listen_on(struct http_server *s, const char *host, int port, struct err *e)
{
    struct sockaddr_storage at = { 0 };
    socklen_t n = sizeof(struct sockaddr_in);
    int on = 1;
    int off = 0;
    bool all = !host;

    if (all)
        host = has_ipv6() ? "::" : "0.0.0.0";

    if (uv_ip4_addr(host, port, (struct sockaddr_in *)&at) != 0) {
        if (uv_ip6_addr(host, port, (struct sockaddr_in6 *)&at) != 0)
            return err_set(e, ERR_BAD_REQUEST, "not an address: %s", host);
        n = sizeof(struct sockaddr_in6);
    }
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, "socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (all && at.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0) {
        if (all)
            err_sys(e, "listen on port %d", port);
        else
            err_sys(e, "listen on %s port %d", host, port);
        close(fd);
        return -1;
    }
    s->port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                             : ((struct sockaddr_in *)&at)->sin_port);
    return fd;
}

static void open_door(struct http_server *s, size_t i, int fd)
{
    struct http_door *d = mem_new(sizeof(*d));

    d->s = s;
    d->fd = fd;
    d->poll.data = d;
    if (uv_poll_init(loop_uv(s->loop), &d->poll, fd))
        abort();
    s->refs++;
    s->doors[i] = d;
    if (!s->accept_pause)
        uv_poll_start(&d->poll, UV_READABLE, on_acceptable);
}

static void on_door_closed(uv_handle_t *h)
{
    struct http_door *d = h->data;

    server_unref(d->s);
    free(d);
}

static void close_door(struct http_server *s, size_t i)
{
    struct http_door *d = TAKE(s->doors[i]);

    if (!d)
        return;
    uv_close((uv_handle_t *)&d->poll, on_door_closed);
    close(d->fd);
}

void http_server_also(struct http_server *s, int fd)
{
    assert_on_loop(s->loop);
    if (s->stopping) {
        close(fd);
        return;
    }
    close_door(s, 1);
    open_door(s, 1, fd);
}

int http_server_start(struct http_server **out, struct loop *l, const struct http_server_opts *o,
                      struct err *e)
{
    assert_on_loop(l);
    SSL_CTX *tls = o->cert_pem_path ? tls_new(o, e) : NULL;
    if (!tls && o->cert_pem_path)
        return -1;
    struct http_server *s = mem_new(sizeof(*s));
    s->refs = 1; /* the caller's */
    s->loop = l;
    s->tls = tls;
    s->limits = limits_of(&o->limits);
    s->on_request = o->on_request;
    s->ctx = o->ctx;
    s->dirty_tail = &s->dirty;
    int fd = listen_on(s, o->host, o->port, e);
    if (fd < 0) {
        server_unref(s);
        return -1;
    }
    open_door(s, 0, fd);
    *out = s;
    return 0;
}

int http_server_port(const struct http_server *s)
{
    return s->port;
}

struct http_stats http_server_stats(const struct http_server *s)
{
    return s->stats;
}

static void stopped(void *arg)
{
    struct http_server *s = arg;

    if (s->on_stopped)
        s->on_stopped(s->stopped_ctx);
    server_unref(s);
}

static void check_stopped(struct http_server *s)
{
    if (!s->stopping || s->stopped || s->conns)
        return;
    s->stopped = true;
    loop_timer_stop(TAKE(s->grace));
    s->refs++;
    loop_defer(s->loop, stopped, s);
}

void server_conn_closed(struct http_server *s)
{
    s->stats.connections_open--;
    check_stopped(s);
}

static void on_grace_over(void *arg)
{
    struct http_server *s = arg;

    while (s->conns)
        conn_close(s->conns);
}

void http_server_stop(struct http_server *s, int64_t grace_ms, void (*done)(void *ctx), void *ctx)
{
    assert_on_loop(s->loop);
    assert(!s->stopping);
    s->stopping = true;
    s->on_stopped = done;
    s->stopped_ctx = ctx;
    loop_timer_stop(TAKE(s->accept_pause));
    for (size_t i = 0; i < HTTP_DOORS; i++)
        close_door(s, i);
    s->grace = loop_timer_start(s->loop, grace_ms, 0, on_grace_over, s);
    for (struct conn *c = s->conns; c; c = c->next) {
        if (c->phase == CONN_OPEN)
            c->proto->stop(c);
        else if (c->phase == CONN_HANDSHAKE)
            conn_end(c, FATE_NOW);
    }
    check_stopped(s);
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    assert(s->stopped);
    server_unref(s);
}
