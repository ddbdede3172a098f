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

/* Whether the connection has had its share of this turn; one read can hold thousands of requests.
 */
static bool is_full(struct conn *c)
{
    c->full = c->turn_heads >= LIMIT_TURN_HEADS || c->turn_header_bytes >= LIMIT_TURN_HEADER_BYTES;
    return c->full;
}

/* What decodes to much comes in small shares; what does not, in larger and larger ones. */
static void feed(struct conn *c, char *p, size_t n)
{
    size_t before = c->turn_header_bytes;

    c->proto->feed(c, p, n);
    if (c->turn_header_bytes - before >= FEED_HEADER_BYTES)
        c->feed_bytes = FEED_LEAST_BYTES;
    else if (c->feed_bytes < FEED_BYTES)
        c->feed_bytes += FEED_LEAST_BYTES;
}

/* Gives what is decrypted to the protocol. */
static bool read_plain(struct conn *c)
{
    struct http_server *s = c->s;

    while (c->fate == FATE_NONE && !is_full(c)) {
        int n = SSL_read(c->ssl, s->plain_in, (int)c->feed_bytes);
        if (n > 0) {
            feed(c, s->plain_in, (size_t)n);
            continue;
        }
        return SSL_get_error(c->ssl, n) == SSL_ERROR_WANT_READ;
    }
    return true;
}

/* Without TLS what came is what was said. */
static void feed_plain(struct conn *c)
{
    while (c->in_n > 0 && c->fate == FATE_NONE && !is_full(c)) {
        size_t n = c->in_n < c->feed_bytes ? c->in_n : c->feed_bytes;
        char *p = c->in;
        c->in += n;
        c->in_n -= n;
        feed(c, p, n);
    }
}

static bool take(struct conn *c, char *p, size_t n)
{
    c->in = p;
    c->in_n = n;
    c->turn_heads = c->turn_header_bytes = 0;
    ERR_clear_error();
    bool alive = !c->ssl || c->phase != CONN_HANDSHAKE || handshake(c);
    if (!c->ssl)
        feed_plain(c);
    else if (alive && c->phase == CONN_OPEN)
        alive = read_plain(c);
    if (c->full)
        buf_add(&c->held, (str){ c->in, c->in_n });
    c->in_n = 0;
    if (c->s->cipher.n) /* what TLS itself had to say */
        return conn_send(c) && alive;
    return alive;
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
    /* what comes while it lingers is thrown away: it only must not be answered by a reset */
    return c->phase == CONN_LINGER || take(c, s->in, (size_t)n);
}

bool conn_resume(struct conn *c)
{
    AUTO(buf) struct buf held = c->held;

    c->held = (struct buf){ 0 };
    return take(c, held.p, held.n);
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
