/* Keys and certificates: making, reading, writing, judging one. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

struct pki_pair {
    EVP_PKEY *key;
    X509 *cert;
};
static inline void pki_pair_auto(struct pki_pair *p)
{
    EVP_PKEY_free(p->key);
    X509_free(p->cert);
}

struct pki_request { /* what a certificate is to say */
    const char *cn;
    const char *org;          /* NULL: none */
    const char *const *hosts; /* names and addresses: then it is a server's */
    size_t n_hosts;
    const struct pki_pair *ca; /* who signs; NULL: itself */
    long seconds;              /* from now */
    bool is_ca;
};

EVP_PKEY *pki_make_key(void);                                    /* P-256 */
X509 *pki_make_cert(EVP_PKEY *key, const struct pki_request *q); /* NULL: a host is no name */
/* Does it say all that, for at least so long, signed by that CA? */
bool pki_is_good(X509 *cert, const struct pki_request *q, long seconds_left);

int pki_read_key(const char *path, EVP_PKEY **out, struct err *e);
int pki_read_cert(const char *path, X509 **out, struct err *e);
/* Atomically: a reader sees the old file or the new one, also after a crash. */
int pki_write_key(const char *path, EVP_PKEY *key, struct err *e); /* mode 0600 */
int pki_write_cert(const char *path, X509 *cert, struct err *e);
