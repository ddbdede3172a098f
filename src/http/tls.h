/* TLS for the server: its settings, the pipe between OpenSSL and a connection, and who the peer
 * is. */
#pragma once

#include "base/err.h"
#include "http/server.h"

#include <openssl/ssl.h>

struct conn;

SSL_CTX *tls_new(const struct http_server_opts *o, struct err *e);
/* Reads from c->in, writes to c->s->cipher. */
SSL *tls_start(SSL_CTX *tls, struct conn *c);
bool tls_is_h2(const SSL *ssl); /* what was agreed on */
/* Empty when there was no certificate, or none that our CA vouches for. Lives in *a, which is made
 * if there is something to say. */
struct http_identity tls_identity(const SSL *ssl, struct arena **a);
