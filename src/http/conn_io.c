/* Between a connection's socket and its TLS, if it has any: one recv() and one send() a turn. */

#include "http/internal.h"
#include "http/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

void conn_established(struct conn *c)
{
    if (c->ssl)
        c->who = tls_identity(c->ssl, &c->who_memory);
    c->proto = c->ssl && tls_is_h2(c->ssl) ? &h2_proto : &h1_proto;
    c->phase = CONN_OPEN;
    c->proto->start(c);
    if (c->s->stopping)
        c->proto->stop(c);
}

static bool handshake(struct conn *c)
{
    int rc = SSL_do_handshake(c->ssl);

    if (rc == 1) {
        conn_established(c);
        return true;
    }
    if (SSL_get_error(c->ssl, rc) == SSL_ERROR_WANT_READ)
        return true;
    c->s->stats.refused_total++;
    conn_send(c); /* the alert, if it goes out at once */
    return false;
}

/* Gives all that is decrypted to the protocol. */
static bool read_plain(struct conn *c)
{
    struct http_server *s = c->s;

    while (c->fate == FATE_NONE) {
        int n = SSL_read(c->ssl, s->plain_in, PLAIN_BYTES);
        if (n > 0) {
            c->proto->feed(c, s->plain_in, (size_t)n);
            continue;
        }
        return SSL_get_error(c->ssl, n) == SSL_ERROR_WANT_READ;
    }
    return true;
}

/* Without TLS what came is what was said. */
static void feed_plain(struct conn *c, char *p, size_t n)
{
    for (size_t k; n > 0 && c->fate == FATE_NONE; p += k, n -= k) {
        k = n < PLAIN_BYTES ? n : PLAIN_BYTES;
        c->proto->feed(c, p, k);
    }
}

bool conn_recv(struct conn *c)
{
    struct http_server *s = c->s;
    ssize_t n = recv(c->fd, s->in, IN_BYTES, 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    s->stats.bytes_in += (uint64_t)n;
    if (c->phase == CONN_LINGER)
        return true; /* thrown away: it only must not be answered by a reset */
    if (!c->ssl) {
        feed_plain(c, s->in, (size_t)n);
        return true;
    }
    c->in = s->in;
    c->in_n = (size_t)n;
    ERR_clear_error();
    bool alive = c->phase != CONN_HANDSHAKE || handshake(c);
    if (alive && c->phase == CONN_OPEN)
        alive = read_plain(c);
    c->in_n = 0;
    if (s->cipher.n) /* what TLS itself had to say */
        return conn_send(c) && alive;
    return alive;
}

/* How many of n bytes the socket takes now, -1: it is broken. */
static ssize_t send_some(struct conn *c, const char *p, size_t n)
{
    size_t sent = 0;

    while (sent < n) {
        ssize_t k = send(c->fd, p + sent, n - sent, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EAGAIN)
            break;
        if (k < 0)
            return -1;
        sent += (size_t)k;
    }
    c->s->stats.bytes_out += sent;
    return (ssize_t)sent;
}

static bool send_pending(struct conn *c)
{
    ssize_t k = send_some(c, c->out.p + c->out_at, c->out.n - c->out_at);

    if (k < 0)
        return false;
    c->out_at += (size_t)k;
    if (k > 0)
        c->stalled_ms = loop_now_ms(c->s->loop);
    if (c->out_at == c->out.n) {
        buf_done(&c->out); /* idle connections hold no buffer */
        c->out_at = 0;
        c->stalled_ms = 0;
    }
    return true;
}

bool conn_send(struct conn *c)
{
    struct buf *cipher = &c->s->cipher;

    if (c->out.n) {
        buf_add(&c->out, buf_str(cipher));
        buf_clear(cipher);
        /* Only TLS's own answers come while out is full; a peer that makes many is up to no good.
         */
        return c->out.n - c->out_at <= (size_t)4 * OUT_HIGH && send_pending(c);
    }
    ssize_t k = send_some(c, cipher->p, cipher->n);
    if (k >= 0 && (size_t)k < cipher->n) {
        buf_add(&c->out, (str){ cipher->p + k, cipher->n - (size_t)k });
        c->stalled_ms = loop_now_ms(c->s->loop);
    }
    buf_clear(cipher);
    return k >= 0;
}
