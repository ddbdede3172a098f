/* A kubeconfig's current context, as far as a load generator needs it. */

#include "kbench.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/yaml.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>

static int read_file(struct arena *a, const char *path, str *out, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(path, "re");

    if (!f)
        return err_sys(e, "open %s", path);
    size_t got = 0;
    while ((got = fread(buf_room(&b, 4096), 1, 4096, f)) > 0)
        b.n += got;
    fclose(f);
    *out = arena_str(a, buf_str(&b));
    return 0;
}

static jv named(jv list, str name, const char *inner)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(jv_at(it.value, "name"), STR_NONE), name))
            return jv_at(it.value, inner);
    return JV_ABSENT;
}

/* A field given as base64 in "KEY-data" or as a file named by KEY; STR_NONE: neither. */
static int field_bytes(struct arena *a, jv of, const char *key, str dir, str *out, struct err *e)
{
    str data = jv_str(jv_get(of, arena_printf(a, "%s-data", key)), STR_NONE);
    str path = jv_str(jv_at(of, key), STR_NONE);

    *out = STR_NONE;
    if (data.n)
        return base64_decode(a, data, out, e);
    if (!path.n)
        return 0;
    if (path.p[0] != '/')
        path = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(dir), STR_ARG(path));
    return read_file(a, arena_z(a, path), out, e);
}

static int tls_error(struct err *e, const char *what)
{
    char why[160] = "";

    ERR_error_string_n(ERR_get_error(), why, sizeof(why));
    return err_set(e, ERR_IO, "%s: %s", what, why);
}

static int trust(SSL_CTX *tls, str pem, struct err *e)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    size_t n = 0;

    for (X509 *x = NULL; (x = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), x);
        X509_free(x);
    }
    BIO_free(bio);
    ERR_clear_error(); /* the end of the text is reported as one */
    return n ? 0 : err_set(e, ERR_INVALID, "the kubeconfig has no CA certificate");
}

static int identify(SSL_CTX *tls, str cert, str key, struct err *e)
{
    BIO *c = BIO_new_mem_buf(cert.p, (int)cert.n);
    BIO *k = BIO_new_mem_buf(key.p, (int)key.n);
    X509 *x = PEM_read_bio_X509(c, NULL, NULL, NULL);
    EVP_PKEY *pk = PEM_read_bio_PrivateKey(k, NULL, NULL, NULL);
    bool ok =
        x && pk && SSL_CTX_use_certificate(tls, x) == 1 && SSL_CTX_use_PrivateKey(tls, pk) == 1;

    X509_free(x);
    EVP_PKEY_free(pk);
    BIO_free(c);
    BIO_free(k);
    return ok ? 0 : tls_error(e, "client certificate");
}

static int make_tls(struct target *t, str ca, str cert, str key, struct err *e)
{
    t->tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(t->tls, TLS1_2_VERSION);
    SSL_CTX_set_verify(t->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(t->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_protos(t->tls, (const unsigned char *)"\x02h2", 3);
    /* what a Go server prefers, so that each server encrypts with the same */
    SSL_CTX_set_ciphersuites(t->tls, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384");
    SSL_CTX_set_read_ahead(t->tls, 1); /* many records a read() */
    SSL_CTX_set_default_read_buffer_len(t->tls, (size_t)128 * 1024);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(t->tls), X509_V_FLAG_PARTIAL_CHAIN);
    if (trust(t->tls, ca, e) < 0)
        return -1;
    return cert.n ? identify(t->tls, cert, key, e) : 0;
}

static int split_server(struct arena *a, str url, struct target *t, struct err *e)
{
    if (!str_starts(url, S("https://")))
        return err_set(e, ERR_INVALID, "server is not an https:// address");
    str rest = str_sub(url, 8, url.n);
    str host = str_cut(&rest, '/');
    t->authority = host;
    ptrdiff_t colon = str_rfind(host, ':');
    t->host = arena_z(a, colon < 0 ? host : str_sub(host, 0, (size_t)colon));
    t->port = colon < 0 ? "443" : arena_z(a, str_sub(host, (size_t)colon + 1, host.n));
    return 0;
}

int target_open(struct arena *a, const char *kubeconfig, struct target *out, struct err *e)
{
    str text = STR_NONE;
    struct yaml_docs docs = { 0 };
    struct target t = { 0 };
    str ca = STR_NONE;
    str cert = STR_NONE;
    str key = STR_NONE;

    if (read_file(a, kubeconfig, &text, e) < 0 ||
        yaml_parse(a, str_of(kubeconfig), text, NULL, &docs, e) < 0)
        return -1;
    if (docs.n != 1)
        return err_set(e, ERR_INVALID, "%s holds no kubeconfig", kubeconfig);
    jv root = docs.at[0].root;
    ptrdiff_t slash = str_rfind(str_of(kubeconfig), '/');
    str dir = slash < 0 ? S(".") : str_sub(str_of(kubeconfig), 0, (size_t)slash);
    jv context =
        named(jv_at(root, "contexts"), jv_str(jv_at(root, "current-context"), STR_NONE), "context");
    jv cluster =
        named(jv_at(root, "clusters"), jv_str(jv_at(context, "cluster"), STR_NONE), "cluster");
    jv user = named(jv_at(root, "users"), jv_str(jv_at(context, "user"), STR_NONE), "user");
    str token = jv_str(jv_at(user, "token"), STR_NONE);

    if (split_server(a, jv_str(jv_at(cluster, "server"), S("")), &t, e) < 0 ||
        field_bytes(a, cluster, "certificate-authority", dir, &ca, e) < 0 ||
        field_bytes(a, user, "client-certificate", dir, &cert, e) < 0 ||
        field_bytes(a, user, "client-key", dir, &key, e) < 0)
        return -1;
    if (token.n)
        t.authorization = arena_printf(a, "Bearer %" PRI_STR, STR_ARG(token));
    if (make_tls(&t, ca, cert, key, e) < 0) {
        target_done(&t);
        return -1;
    }
    *out = t;
    return 0;
}

void target_done(struct target *t)
{
    SSL_CTX_free(t->tls);
    t->tls = NULL;
}
