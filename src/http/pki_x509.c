/* Certificates with OpenSSL: P-256 keys, SHA-256, X.509 version 3. */

#include "http/pki_x509.h"

#include "loop/loop.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

enum { BACKDATE_S = 300 }; /* clocks of clients may be a little behind */

EVP_PKEY *pki_make_key(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");

    if (!key)
        abort();
    return key;
}

static bool is_address(const char *host)
{
    unsigned char raw[16];

    return inet_pton(AF_INET, host, raw) == 1 || inet_pton(AF_INET6, host, raw) == 1;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = x && X509_add_ext(cert, x, -1) == 1;
    X509_EXTENSION_free(x);
    return ok;
}

/* Built as values, never as configuration text: a host with a comma must not add another. */
static bool add_hosts(X509 *cert, const struct pki_request *q)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool ok = names != NULL;

    for (size_t i = 0; ok && i < q->n_hosts; i++) {
        GENERAL_NAME *g = GENERAL_NAME_new();
        if (!g)
            abort();
        if (is_address(q->hosts[i])) {
            GENERAL_NAME_set0_value(g, GEN_IPADD, a2i_IPADDRESS(q->hosts[i]));
        } else {
            ASN1_IA5STRING *text = ASN1_IA5STRING_new();
            ASN1_STRING_set(text, q->hosts[i], -1);
            GENERAL_NAME_set0_value(g, GEN_DNS, text);
            ok = q->hosts[i][0] != 0 && !strpbrk(q->hosts[i], " ,/:\t\r\n");
        }
        sk_GENERAL_NAME_push(names, g);
    }
    ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return ok;
}

static void set_name(X509_NAME *name, const struct pki_request *q)
{
    if (q->org)
        X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8,
                                   (const unsigned char *)q->org, -1, -1, 0);
    X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)q->cn,
                               -1, -1, 0);
}

static void set_serial(X509 *cert)
{
    unsigned char raw[16];

    random_bytes(raw, sizeof(raw));
    raw[0] &= 0x7f; /* positive */
    BIGNUM *n = BN_bin2bn(raw, sizeof(raw), NULL);
    BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
}

static bool add_extensions(X509 *cert, X509 *issuer, const struct pki_request *q)
{
    if (!add_extension(cert, issuer, NID_subject_key_identifier, "hash") ||
        !add_extension(cert, issuer, NID_authority_key_identifier, "keyid"))
        return false;
    if (q->is_ca)
        return add_extension(cert, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(cert, issuer, NID_key_usage,
                             "critical,digitalSignature,keyCertSign,cRLSign");
    return add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, issuer, NID_ext_key_usage, q->hosts ? "serverAuth" : "clientAuth") &&
           (!q->hosts || add_hosts(cert, q));
}

X509 *pki_make_cert(EVP_PKEY *key, const struct pki_request *q)
{
    X509 *cert = X509_new();

    if (!cert)
        abort();
    X509 *issuer = q->ca ? q->ca->cert : cert;
    X509_set_version(cert, X509_VERSION_3);
    set_serial(cert);
    X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATE_S);
    X509_gmtime_adj(X509_getm_notAfter(cert), q->seconds);
    X509_set_pubkey(cert, key);
    set_name(X509_get_subject_name(cert), q);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer));
    if (!add_extensions(cert, issuer, q) ||
        X509_sign(cert, q->ca ? q->ca->key : key, EVP_sha256()) == 0) {
        ERR_clear_error();
        X509_free(cert);
        return NULL;
    }
    return cert;
}

static bool has_host(X509 *cert, const char *host)
{
    return is_address(host) ? X509_check_ip_asc(cert, host, 0) == 1
                            : X509_check_host(cert, host, 0, 0, NULL) == 1;
}

bool pki_is_good(X509 *cert, const struct pki_request *q, long seconds_left)
{
    time_t then = (time_t)(wall_now_ms() / 1000 + seconds_left);

    if (X509_cmp_time(X509_get0_notAfter(cert), &then) <= 0)
        return false;
    if (q->is_ca)
        return X509_check_ca(cert) == 1;
    EVP_PKEY *ca_key = X509_get0_pubkey(q->ca->cert);
    if (X509_verify(cert, ca_key) != 1) {
        ERR_clear_error();
        return false;
    }
    for (size_t i = 0; i < q->n_hosts; i++)
        if (!has_host(cert, q->hosts[i]))
            return false;
    return true;
}
