/* Decides which files of the set are good, and makes those that are not. */

#include "http/pki.h"

#include "base/arena.h"
#include "http/pki_x509.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 24 * 3600, CA_DAYS = 3650, CERT_DAYS = 365, RENEW_DAYS = 30 };

static const char *const own_hosts[] = {
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
    "::1",
    "10.96.0.1", /* the service `kubernetes`, where pods find the API */
};

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Reads what is there: 0 and *out NULL when a file is missing, -1 when one is unusable. */
static int load(struct arena *a, const char *dir, const char *name, struct pki_pair *out,
                struct err *e)
{
    const char *crt = arena_printf(a, "%s/%s.crt", dir, name).p;
    const char *key = arena_printf(a, "%s/%s.key", dir, name).p;

    if (exists(key) && pki_read_key(key, &out->key, e) < 0)
        return -1;
    if (exists(crt) && pki_read_cert(crt, &out->cert, e) < 0)
        return -1;
    if (out->key && out->cert && X509_check_private_key(out->cert, out->key) != 1) {
        ERR_clear_error();
        return err_set(e, ERR_IO, "%s: does not belong to %s", key, crt);
    }
    return 0;
}

/* The key goes first: a certificate is only ever there when its key is. */
static int store(struct arena *a, const char *dir, const char *name, const struct pki_pair *p,
                 bool with_key, struct err *e)
{
    if (with_key && pki_write_key(arena_printf(a, "%s/%s.key", dir, name).p, p->key, e) < 0)
        return -1;
    return pki_write_cert(arena_printf(a, "%s/%s.crt", dir, name).p, p->cert, e);
}

/* Makes what is missing of a pair. A key without its certificate is what a crash between the two
 * leaves; it serves. A certificate without its key does not come from us. */
static int complete(struct arena *a, const char *dir, const char *name, struct pki_pair *p,
                    const struct pki_request *q, struct err *e)
{
    bool with_key = !p->key;

    if (with_key && p->cert)
        return err_set(e, ERR_IO, "%s/%s.key: missing, but %s.crt exists", dir, name, name);
    if (with_key)
        p->key = pki_make_key();
    X509_free(p->cert);
    p->cert = pki_make_cert(p->key, q);
    if (!p->cert)
        return err_set(e, ERR_BAD_REQUEST, "cannot make a certificate for these names");
    return store(a, dir, name, p, with_key, e);
}

static int ensure_pair(struct arena *a, const char *dir, const char *name,
                       const struct pki_request *q, struct err *e)
{
    AUTO(pki_pair) struct pki_pair p = { 0 };

    if (load(a, dir, name, &p, e) < 0)
        return -1;
    if (p.key && p.cert && pki_is_good(p.cert, q, RENEW_DAYS * (long)DAY_S))
        return 0;
    return complete(a, dir, name, &p, q, e);
}

static int ensure_ca(struct arena *a, const char *dir, struct pki_pair *ca, struct err *e)
{
    struct pki_request q = { .cn = "muster-ca", .is_ca = true, .seconds = CA_DAYS * (long)DAY_S };

    if (load(a, dir, "ca", ca, e) < 0)
        return -1;
    if (ca->key && ca->cert) {
        if (pki_is_good(ca->cert, &q, 0))
            return 0;
        return err_set(e, ERR_IO, "%s/ca.crt: expired, or not the certificate of a CA", dir);
    }
    return complete(a, dir, "ca", ca, &q, e);
}

int pki_ensure(const char *dir, const char *const *san_hosts, size_t n, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(pki_pair) struct pki_pair ca = { 0 };
    const char **hosts = ARENA_ARRAY(a, const char *, n + COUNT(own_hosts));
    size_t n_hosts = 0;

    for (size_t i = 0; i < COUNT(own_hosts); i++)
        hosts[n_hosts++] = own_hosts[i];
    for (size_t i = 0; i < n; i++)
        hosts[n_hosts++] = san_hosts[i];
    if (ensure_ca(a, dir, &ca, e) < 0)
        return -1;
    struct pki_request server = { .cn = "muster",
                                  .hosts = hosts,
                                  .n_hosts = n_hosts,
                                  .ca = &ca,
                                  .seconds = CERT_DAYS * (long)DAY_S };
    struct pki_request client = {
        .cn = "muster-admin", .org = "system:masters", .ca = &ca, .seconds = CERT_DAYS * (long)DAY_S
    };
    if (ensure_pair(a, dir, "server", &server, e) < 0)
        return -1;
    return ensure_pair(a, dir, "client", &client, e);
}
