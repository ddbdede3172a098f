/* OpenSSL, held at arm's length: it never touches a socket. */

#include "http/tls.h"

#include "http/internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>

static int bio_read(BIO *bio, char *to, int n)
{
    struct conn *c = BIO_get_data(bio);
    size_t take = (size_t)n < c->in_n ? (size_t)n : c->in_n;

    BIO_clear_retry_flags(bio);
    if (take == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, c->in, take);
    c->in += take;
    c->in_n -= take;
    return (int)take;
}

static int bio_write(BIO *bio, const char *from, int n)
{
    struct conn *c = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    buf_add(&c->s->cipher, (str){ from, (size_t)n });
    return n;
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
    (void)bio;
    (void)num;
    (void)ptr;
    return cmd == BIO_CTRL_FLUSH;
}

static BIO_METHOD *pipe_method;

static void make_pipe_method(void)
{
    pipe_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "connection");
    if (!pipe_method)
        abort();
    BIO_meth_set_read(pipe_method, bio_read);
    BIO_meth_set_write(pipe_method, bio_write);
    BIO_meth_set_ctrl(pipe_method, bio_ctrl);
}

static int fail(struct err *e, const char *what, const char *path)
{
    char text[160];
    unsigned long code = ERR_peek_last_error();

    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return err_set(e, ERR_IO, "%s %s: %s", what, path, code ? text : "failed");
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *n,
                           const unsigned char *offered, unsigned int n_offered, void *arg)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";

    (void)ssl;
    (void)arg;
    unsigned char *chosen = NULL;
    if (SSL_select_next_proto(&chosen, n, ours, sizeof(ours) - 1, offered, n_offered) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* A certificate that does not hold does not end the handshake, as in kube-apiserver: the peer is
 * merely nobody. verify_result keeps what was found, through resumed sessions too. */
static int verify_peer(X509_STORE_CTX *x, void *arg)
{
    (void)arg;
    if (X509_verify_cert(x) <= 0 && X509_STORE_CTX_get_error(x) == X509_V_OK)
        X509_STORE_CTX_set_error(x, X509_V_ERR_UNSPECIFIED);
    return 1;
}

static int load_files(SSL_CTX *tls, const struct http_server_opts *o, struct err *e)
{
    if (SSL_CTX_use_certificate_chain_file(tls, o->cert_pem_path) != 1)
        return fail(e, "certificate", o->cert_pem_path);
    if (SSL_CTX_use_PrivateKey_file(tls, o->key_pem_path, SSL_FILETYPE_PEM) != 1)
        return fail(e, "private key", o->key_pem_path);
    if (SSL_CTX_check_private_key(tls) != 1)
        return fail(e, "private key does not fit the certificate", o->key_pem_path);
    if (!o->client_ca_pem_path)
        return 0;
    if (SSL_CTX_load_verify_file(tls, o->client_ca_pem_path) != 1)
        return fail(e, "client CA", o->client_ca_pem_path);
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(o->client_ca_pem_path);
    if (!names)
        return fail(e, "client CA", o->client_ca_pem_path);
    SSL_CTX_set_client_CA_list(tls, names);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(tls, verify_peer, NULL);
    return 0;
}

SSL_CTX *tls_new(const struct http_server_opts *o, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const unsigned char context[] = "muster";
    char groups[] = "X25519:P-256:P-384"; /* OpenSSL's macro wants it writable */

    pthread_once(&once, make_pipe_method);
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (!tls)
        abort();
    SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    /* AES-128 first: the processor does it, and it is the cheapest that nobody can break. */
    if (SSL_CTX_set_cipher_list(tls, "ECDHE+AES128+AESGCM:ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
        SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                      "TLS_CHACHA20_POLY1305_SHA256") != 1 ||
        SSL_CTX_set1_groups_list(tls, groups) != 1)
        abort();
    SSL_CTX_set_options(tls, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                 SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF); /* tickets need no memory here */
    SSL_CTX_set_session_id_context(tls, context, sizeof(context) - 1);
    SSL_CTX_set_num_tickets(tls, 1);
    SSL_CTX_set_alpn_select_cb(tls, choose_protocol, NULL);
    if (load_files(tls, o, e) < 0) {
        SSL_CTX_free(tls);
        return NULL;
    }
    return tls;
}

SSL *tls_start(SSL_CTX *tls, struct conn *c)
{
    SSL *ssl = SSL_new(tls);
    BIO *bio = BIO_new(pipe_method);

    if (!ssl || !bio)
        abort();
    BIO_set_data(bio, c);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return ssl;
}

bool tls_is_h2(const SSL *ssl)
{
    const unsigned char *name = NULL;
    unsigned int n = 0;

    SSL_get0_alpn_selected(ssl, &name, &n);
    return n == 2 && memcmp(name, "h2", 2) == 0;
}

static str name_text(struct arena *a, X509_NAME_ENTRY *entry)
{
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    str s = STR_NONE;

    if (n > 0 && !memchr(utf8, 0, (size_t)n))
        s = arena_str(a, (str){ (const char *)utf8, (size_t)n });
    OPENSSL_free(utf8);
    return s;
}

struct http_identity tls_identity(const SSL *ssl, struct arena **a)
{
    struct http_identity who = { 0 };
    X509 *cert = SSL_get0_peer_certificate(ssl);

    if (!cert || SSL_get_verify_result(ssl) != X509_V_OK)
        return who;
    *a = arena_new();
    X509_NAME *subject = X509_get_subject_name(cert);
    int n = X509_NAME_entry_count(subject);
    str *groups = ARENA_ARRAY(*a, str, (size_t)n);
    for (int i = 0; i < n; i++) {
        X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
        int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (nid == NID_commonName)
            who.user = name_text(*a, entry); /* the last one counts, as in Go */
        else if (nid == NID_organizationName)
            groups[who.n_groups++] = name_text(*a, entry);
    }
    who.groups = groups;
    return who.user.n ? who : (struct http_identity){ 0 };
}
