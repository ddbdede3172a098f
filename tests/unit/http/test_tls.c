/* Who the peer is, and which TLS is spoken. */

#include "client.h"
#include "http/pki.h"
#include "tap.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <unistd.h>

static struct fixture *f;

static void whoami(const char *what, struct client_opts o, int status, str want)
{
    AUTO(buf) struct buf out = { 0 };
    struct client *c = client_open(f, o);

    ok(c != NULL, "%s: the handshake goes through", what);
    if (!c)
        return;
    client_write(c, S("GET /whoami HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    client_read_all(c, &out, 60000);
    client_free(c);
    is_int(out.n > 12 ? atoi(out.p + 9) : 0, status, what);
    ok(str_ends(buf_str(&out), want), "%s: and the right name, or none", what);
}

static void a_certificate_of_our_ca_is_an_identity(void)
{
    char other[] = "/tmp/muster-pki-XXXXXX";
    struct err e = { 0 };

    whoami("no certificate", (struct client_opts){ 0 }, 401, S("\r\n\r\n"));
    whoami("our client", (struct client_opts){ .cert = "client" }, 200,
           S("muster-admin system:masters"));
    whoami("our client over TLS 1.2",
           (struct client_opts){ .cert = "client", .max_tls = TLS1_2_VERSION }, 200,
           S("muster-admin system:masters"));
    whoami("a server's certificate is none of a client", (struct client_opts){ .cert = "server" },
           401, S("\r\n\r\n"));
    if (!mkdtemp(other) || pki_ensure(other, NULL, 0, &e) < 0)
        abort();
    whoami("a client of another CA", (struct client_opts){ .cert = "client", .certs_dir = other },
           401, S("\r\n\r\n"));
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", other);
    is_int(system(command), 0, "cleaned up");
}

static void old_tls_is_refused(void)
{
    ok(!client_open(f, (struct client_opts){ .max_tls = TLS1_1_VERSION }), "TLS 1.1 is refused");
    ok(!client_open(f, (struct client_opts){ .alpn = "spdy/3" }), "unknown protocols are refused");
}

static void unusable_files_are_named(void)
{
    struct loop *l = loop_new();
    struct http_server *s = NULL;
    struct err e = { 0 };
    struct http_server_opts o = { .host = "127.0.0.1",
                                  .cert_pem_path = "/nonexistent/a.crt",
                                  .key_pem_path = "/nonexistent/a.key" };

    is_int(http_server_start(&s, l, &o, &e), -1, "no certificate, no server");
    ok(str_contains(str_of(e.msg), S("/nonexistent/a.crt")), "%s", e.msg);
    char crt[128], key[128];
    snprintf(crt, sizeof(crt), "%s/server.crt", fixture_dir(f));
    snprintf(key, sizeof(key), "%s/client.key", fixture_dir(f));
    o.cert_pem_path = crt;
    o.key_pem_path = key;
    is_int(http_server_start(&s, l, &o, &e), -1, "a key that does not fit, no server");
    ok(str_contains(str_of(e.msg), S("client.key")), "%s", e.msg);
    snprintf(key, sizeof(key), "%s/server.key", fixture_dir(f));
    o.port = fixture_port(f);
    is_int(http_server_start(&s, l, &o, &e), -1, "a port that is taken, no server");
    ok(str_contains(str_of(e.msg), S("Address already in use")), "%s", e.msg);
    o.host = "localhost.invalid";
    is_int(http_server_start(&s, l, &o, &e), -1, "a host that is no address, no server");
    loop_free(l);
}

int main(void)
{
    f = fixture_start((struct http_limits){ 0 });
    a_certificate_of_our_ca_is_an_identity();
    old_tls_is_refused();
    unusable_files_are_named();
    fixture_stop(f, 1000);
    return tap_done();
}
