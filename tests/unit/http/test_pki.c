/* Certificates at first start, at the next ones, and after accidents. */

#include "http/pki.h"

#include "base/buf.h"
#include "http/pki_x509.h"
#include "tap.h"

#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muster-pki-XXXXXX";
static const char *const names[] = { "ca.crt",     "ca.key",     "server.crt",
                                     "server.key", "client.crt", "client.key" };

static const char *path(const char *name)
{
    static char p[2][128];
    static int turn;

    turn ^= 1;
    snprintf(p[turn], sizeof(p[turn]), "%s/%s", dir, name);
    return p[turn];
}

static str slurp(struct buf *b, const char *name)
{
    FILE *file = fopen(path(name), "r");

    buf_clear(b);
    if (!file)
        return STR_NONE;
    b->n = fread(buf_room(b, 10000), 1, 10000, file);
    fclose(file);
    return buf_str(b);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path(name), "w");

    fputs(text, file);
    fclose(file);
}

static int ensure(const char *host, struct err *e)
{
    *e = (struct err){ 0 };
    return pki_ensure(dir, &host, host ? 1 : 0, e);
}

/* Which of the six files changed since the last call, as "ca.crt server.crt". */
static str changed(struct buf *out)
{
    static struct buf before[COUNT(names)];

    buf_clear(out);
    for (size_t i = 0; i < COUNT(names); i++) {
        struct buf now = { 0 };
        slurp(&now, names[i]);
        if (!str_eq(buf_str(&now), buf_str(&before[i])))
            buf_printf(out, "%s%s", out->n ? " " : "", names[i]);
        buf_done(&before[i]);
        before[i] = now;
    }
    return buf_str(out);
}

static X509 *cert(const char *name)
{
    X509 *x = NULL;
    struct err e = { 0 };

    if (pki_read_cert(path(name), &x, &e) < 0)
        printf("# %s\n", e.msg);
    return x;
}

static void the_first_start_makes_a_set(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };
    struct stat st;

    is_int(ensure("10.1.2.3", &e), 0, "it works");
    is_str(changed(&b), S("ca.crt ca.key server.crt server.key client.crt client.key"),
           "six files");
    for (size_t i = 1; i < COUNT(names); i += 2) {
        stat(path(names[i]), &st);
        is_int(st.st_mode & 0777, 0600, names[i]);
    }
    X509 *ca = cert("ca.crt");
    X509 *server = cert("server.crt");
    X509 *client = cert("client.crt");
    is_int(X509_verify(server, X509_get0_pubkey(ca)), 1, "the CA signed the server");
    is_int(X509_verify(client, X509_get0_pubkey(ca)), 1, "and the client");
    is_int(X509_check_purpose(server, X509_PURPOSE_SSL_SERVER, 0), 1, "the server may serve");
    is_int(X509_check_purpose(client, X509_PURPOSE_SSL_CLIENT, 0), 1, "the client may ask");
    is_int(X509_check_purpose(client, X509_PURPOSE_SSL_SERVER, 0), 0, "but not serve");
    static const char *const hosts[] = { "localhost", "kubernetes", "kubernetes.default",
                                         "kubernetes.default.svc" };
    for (size_t i = 0; i < COUNT(hosts); i++)
        is_int(X509_check_host(server, hosts[i], 0, 0, NULL), 1, hosts[i]);
    static const char *const ips[] = { "127.0.0.1", "::1", "10.1.2.3" };
    for (size_t i = 0; i < COUNT(ips); i++)
        is_int(X509_check_ip_asc(server, ips[i], 0), 1, ips[i]);
    int days = 0;
    int secs = 0;
    ASN1_TIME_diff(&days, &secs, NULL, X509_get0_notAfter(ca));
    ok(days >= 3649, "the CA holds for ten years");
    X509_free(ca);
    X509_free(server);
    X509_free(client);
}

static void later_starts_change_only_what_they_must(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    is_int(ensure("10.1.2.3", &e), 0, "another start");
    is_str(changed(&b), S(""), "changes nothing");
    is_int(ensure(NULL, &e), 0, "fewer names");
    is_str(changed(&b), S(""), "change nothing");
    is_int(ensure("box.example.org", &e), 0, "another name");
    is_str(changed(&b), S("server.crt"), "gives a new server certificate");
    is_int(ensure("a,b", &e), -1, "a name that is none is an error");
    is_str(changed(&b), S(""), "and changes nothing");
}

static void incomplete_sets_heal(void)
{
    static const struct {
        const char *lost[3];
        const char *made;
    } rows[] = {
        { { "server.crt" }, "server.crt" },
        { { "client.crt", "client.key" }, "client.crt client.key" },
        { { "server.crt", "server.key", "client.crt" }, "server.crt server.key client.crt" },
        { { "ca.crt" }, "ca.crt" }, /* the same key and name: what it signed still holds */
    };
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < 3 && rows[i].lost[k]; k++)
            unlink(path(rows[i].lost[k]));
        write_file("server.key.tmp", "left by a crash");
        is_int(ensure(NULL, &e), 0, "it heals");
        is_str(changed(&b), str_of(rows[i].made), "by making what was lost");
        is_int(ensure(NULL, &e), 0, "and is whole");
    }
    unlink(path("ca.crt"));
    unlink(path("ca.key"));
    is_int(ensure(NULL, &e), 0, "without a CA");
    is_str(changed(&b), S("ca.crt ca.key server.crt client.crt"), "all is signed anew");
}

static void what_cannot_be_used_is_named_and_kept(void)
{
    AUTO(buf) struct buf saved = { 0 };
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    for (size_t i = 0; i < COUNT(names); i++) {
        slurp(&saved, names[i]);
        buf_addc(&saved, 0);
        write_file(names[i], "-----BEGIN garbage-----\n");
        is_int(ensure(NULL, &e), -1, "garbage is an error");
        ok(str_contains(str_of(e.msg), str_of(path(names[i]))), "%s", e.msg);
        is_str(slurp(&b, names[i]), S("-----BEGIN garbage-----\n"), "it is kept");
        write_file(names[i], saved.p);
    }
    slurp(&saved, "server.key");
    buf_addc(&saved, 0);
    slurp(&b, "client.key");
    buf_addc(&b, 0);
    write_file("server.key", b.p);
    is_int(ensure(NULL, &e), -1, "a key of another certificate is an error");
    ok(str_contains(str_of(e.msg), S("server.key")), "%s", e.msg);
    write_file("server.key", saved.p);
    is_int(ensure(NULL, &e), 0, "put right, it works again");
    unlink(path("ca.key"));
    is_int(ensure(NULL, &e), -1, "a CA without its key is an error");
    ok(str_contains(str_of(e.msg), S("ca.key")), "%s", e.msg);
}

static void certificates_near_their_end_are_renewed(void)
{
    AUTO(pki_pair) struct pki_pair ca = { 0 };
    AUTO(pki_pair) struct pki_pair old = { 0 };
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    unlink(path("ca.crt"));
    is_int(ensure(NULL, &e), 0, "a fresh set");
    pki_read_key(path("ca.key"), &ca.key, &e);
    pki_read_cert(path("ca.crt"), &ca.cert, &e);
    pki_read_key(path("client.key"), &old.key, &e);
    struct pki_request q = { .cn = "muster-admin", .ca = &ca, .seconds = 10 * 24 * 3600 };
    old.cert = pki_make_cert(old.key, &q);
    pki_write_cert(path("client.crt"), old.cert, &e);
    changed(&b);
    is_int(ensure(NULL, &e), 0, "ten days before its end");
    is_str(changed(&b), S("client.crt"), "a certificate is made anew");
}

int main(void)
{
    char command[64];

    if (!mkdtemp(dir))
        abort();
    the_first_start_makes_a_set();
    later_starts_change_only_what_they_must();
    incomplete_sets_heal();
    what_cannot_be_used_is_named_and_kept();
    certificates_near_their_end_are_renewed();
    snprintf(command, sizeof(command), "rm -r %s", dir);
    is_int(system(command), 0, "cleaned up");
    return tap_done();
}
