/* The connections to one server, on one epoll. */

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HANDSHAKE_S = 10, ANSWER_S = 120 };

int64_t now_ns(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct net *net_new(const struct target *t)
{
    struct net *n = calloc(1, sizeof(*n));

    if (!n)
        abort();
    n->target = t;
    n->epoll = epoll_create1(EPOLL_CLOEXEC);
    return n;
}

void net_free(struct net *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->wires.n; i++)
        wire_free(n->wires.at[i]);
    vec_done(&n->wires);
    vec_done(&n->head);
    close(n->epoll);
    free(n);
}

static int dial(const struct target *t, struct err *e)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int fd = -1;

    if (getaddrinfo(t->host, t->port, &hints, &found) != 0)
        return err_set(e, ERR_IO, "no address for %s", t->host);
    for (struct addrinfo *i = found; i && fd < 0; i = i->ai_next) {
        fd = socket(i->ai_family, i->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, i->ai_addr, i->ai_addrlen) < 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        return err_sys(e, "connect to %s:%s", t->host, t->port);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    return fd;
}

/* Blocking, but for no longer than the socket's own time-outs. */
static int handshake(struct wire *w, struct err *e)
{
    const char *host = w->net->target->host;
    struct timeval limit = { .tv_sec = HANDSHAKE_S };

    setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(w->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    w->ssl = SSL_new(w->net->target->tls);
    SSL_set_fd(w->ssl, w->fd);
    if (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(w->ssl), host)) {
        SSL_set1_host(w->ssl, host);
        SSL_set_tlsext_host_name(w->ssl, host);
    }
    ERR_clear_error();
    if (SSL_connect(w->ssl) != 1) {
        unsigned long code = ERR_peek_error();
        return err_set(e, ERR_IO, "TLS handshake: %s",
                       code ? ERR_reason_error_string(code) : "connection closed");
    }
    const unsigned char *alpn = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(w->ssl, &alpn, &n);
    if (n != 2 || memcmp(alpn, "h2", 2) != 0)
        return err_set(e, ERR_IO, "the server speaks no HTTP/2");
    fcntl(w->fd, F_SETFL, fcntl(w->fd, F_GETFL) | O_NONBLOCK);
    return 0;
}

struct wire *net_connect(struct net *n, struct err *e)
{
    struct wire *w = calloc(1, sizeof(*w));

    if (!w)
        abort();
    w->net = n;
    w->fd = dial(n->target, e);
    if (w->fd < 0 || handshake(w, e) < 0) {
        wire_free(w);
        return NULL;
    }
    wire_h2_start(w);
    epoll_ctl(n->epoll, EPOLL_CTL_ADD, w->fd,
              &(struct epoll_event){ .events = EPOLLIN, .data.ptr = w });
    vec_push(&n->wires, w);
    while (!w->settled) /* the server's limits come first */
        if (net_step(n, HANDSHAKE_S * 1000, e) < 0)
            return NULL;
    return w;
}

int net_step(struct net *n, int timeout_ms, struct err *e)
{
    struct epoll_event evs[64];

    for (size_t i = 0; i < n->wires.n; i++)
        if (nghttp2_session_want_write(n->wires.at[i]->h2) && !n->wires.at[i]->wants_write &&
            wire_flush(n->wires.at[i], e) < 0)
            return -1;
    for (size_t i = 0; i < n->wires.n; i++)
        if (n->wires.at[i]->has_more) {
            timeout_ms = 0;
            if (wire_read(n->wires.at[i], e) < 0)
                return -1;
        }
    int got = epoll_wait(n->epoll, evs, COUNT(evs), timeout_ms);
    for (int i = 0; i < got; i++) {
        struct wire *w = evs[i].data.ptr;
        if ((evs[i].events & EPOLLOUT) && wire_flush(w, e) < 0)
            return -1;
        if ((evs[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && wire_read(w, e) < 0)
            return -1;
    }
    return 0;
}

static void keep(struct call *c, str bytes)
{
    if (c->ctx)
        buf_add(c->ctx, bytes);
}

int net_ask(struct net *n, struct wire *w, struct call *c, struct buf *out, struct err *e)
{
    c->ctx = out;
    c->on_data = keep;
    if (wire_call(w, c, e) < 0)
        return -1;
    while (!c->is_over) {
        if (net_step(n, ANSWER_S * 1000, e) < 0)
            return -1;
        if (now_ns() - c->sent_ns > ANSWER_S * 1000000000LL)
            return err_set(e, ERR_TIMEOUT, "no answer within %d s", ANSWER_S);
    }
    return c->is_cut ? err_set(e, ERR_IO, "the answer was cut off") : 0;
}
