/* See client.h. */

#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct client {
    int fd;
    SSL_CTX *tls;
    SSL *ssl;
};

static void use_cert(SSL_CTX *tls, const char *dir, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s.crt", dir, name);
    SSL_CTX_use_certificate_file(tls, path, SSL_FILETYPE_PEM);
    snprintf(path, sizeof(path), "%s/%s.key", dir, name);
    SSL_CTX_use_PrivateKey_file(tls, path, SSL_FILETYPE_PEM);
}

struct client *client_open(struct fixture *f, struct client_opts o)
{
    struct client *c = calloc(1, sizeof(*c));
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)fixture_port(f)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    unsigned char alpn[32] = { 0 };
    const char *name = o.alpn ? o.alpn : "http/1.1";
    char ca[128];

    if (!c)
        abort();
    signal(SIGPIPE, SIG_IGN);
    snprintf(ca, sizeof(ca), "%s/ca.crt", fixture_dir(f));
    c->tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_load_verify_file(c->tls, ca);
    SSL_CTX_set_verify(c->tls, SSL_VERIFY_PEER, NULL);
    if (o.max_tls)
        SSL_CTX_set_max_proto_version(c->tls, o.max_tls);
    if (o.cert)
        use_cert(c->tls, o.certs_dir ? o.certs_dir : fixture_dir(f), o.cert);
    c->ssl = SSL_new(c->tls);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (o.receive_buffer)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &o.receive_buffer, sizeof(int));
    alpn[0] = (unsigned char)strlen(name);
    memcpy(alpn + 1, name, alpn[0]);
    SSL_set_alpn_protos(c->ssl, alpn, alpn[0] + 1u);
    SSL_set1_host(c->ssl, "127.0.0.1");
    SSL_clear_mode(c->ssl, SSL_MODE_AUTO_RETRY); /* a ticket is no answer to wait for */
    SSL_set_fd(c->ssl, c->fd);
    bool failed = connect(c->fd, (struct sockaddr *)&at, sizeof(at)) < 0;
    if (!failed && fixture_is_plain(f)) {
        SSL_free(c->ssl);
        c->ssl = NULL;
    }
    if (failed || (c->ssl && SSL_connect(c->ssl) != 1)) {
        ERR_clear_error();
        client_free(c);
        return NULL;
    }
    return c;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    SSL_free(c->ssl);
    SSL_CTX_free(c->tls);
    close(c->fd);
    free(c);
}

int client_fd(const struct client *c)
{
    return c->fd;
}

bool client_write(struct client *c, str bytes)
{
    if (!c->ssl)
        return send(c->fd, bytes.p, bytes.n, 0) == (ssize_t)bytes.n;
    bool ok = bytes.n == 0 || SSL_write(c->ssl, bytes.p, (int)bytes.n) > 0;

    ERR_clear_error();
    return ok;
}

int client_read(struct client *c, char *to, size_t n, int wait_ms)
{
    struct pollfd p = { c->fd, POLLIN, 0 };

    if ((!c->ssl || !SSL_pending(c->ssl)) && poll(&p, 1, wait_ms) <= 0)
        return -1;
    if (!c->ssl) {
        ssize_t k = recv(c->fd, to, n, 0);
        return k > 0 ? (int)k : 0;
    }
    int got = SSL_read(c->ssl, to, (int)n);
    int why = got > 0 ? 0 : SSL_get_error(c->ssl, got);
    ERR_clear_error();
    return got > 0 ? got : why == SSL_ERROR_WANT_READ ? client_read(c, to, n, wait_ms) : 0;
}

bool client_read_all(struct client *c, struct buf *to, int wait_ms)
{
    for (;;) {
        int got = client_read(c, buf_room(to, 16384), 16384, wait_ms);
        if (got <= 0)
            return got == 0;
        to->n += (size_t)got;
    }
}

bool client_read_until(struct client *c, struct buf *to, str mark)
{
    while (!str_contains(buf_str(to), mark)) {
        int got = client_read(c, buf_room(to, 16384), 16384, 60000);
        if (got <= 0)
            return false;
        to->n += (size_t)got;
    }
    return true;
}

int client_exchange(struct fixture *f, str request, struct buf *answer, bool *closed)
{
    struct client *c = client_open(f, (struct client_opts){ 0 });
    int status = 0;

    if (!c)
        return -1;
    client_write(c, request);
    *closed = client_read_all(c, answer, 30000);
    client_free(c);
    if (answer->n > 12 && str_starts(buf_str(answer), S("HTTP/1.1 ")))
        status = atoi(answer->p + 9);
    return status;
}

int client_pipeline(struct fixture *f, int n, bool *closed)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    int answers = 0;

    for (int i = 0; i < n; i++)
        buf_printf(&in, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n%s\r\n%04d",
                   i == n - 1 ? "Connection: close\r\n" : "", i);
    client_exchange(f, buf_str(&in), &out, closed);
    str got = buf_str(&out);
    for (size_t i = 0; i + 8 <= got.n; i++) {
        int64_t number = 0;

        if (memcmp(got.p + i, "\r\n\r\n", 4) != 0)
            continue;
        if (!str_to_int(str_sub(got, i + 4, i + 8), &number) || number != answers++)
            return -1;
    }
    return answers;
}
