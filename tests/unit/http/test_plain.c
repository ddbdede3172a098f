/* Plain HTTP/1.1, for probes and metrics: no TLS, on all addresses. */

#include "client.h"
#include "tap.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fixture *f;

static void a_request_gets_its_answer(void)
{
    AUTO(buf) struct buf b = { 0 };
    bool closed = false;

    is_int(client_exchange(f, S("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), &b,
                           &closed),
           200, "an answer");
    ok(str_ends(buf_str(&b), S("\r\n\r\nok")), "with its body");
    ok(closed, "and the connection is closed");
}

static void a_connection_serves_many(void)
{
    bool closed = false;

    is_int(client_pipeline(f, 300, &closed), 300, "three hundred answers in order");
    ok(closed, "and an end");
}

static void large_bodies_go_both_ways(void)
{
    enum { N = 1000000 };
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    struct client *c = client_open(f, (struct client_opts){ 0 });
    bool sent = true;

    buf_printf(&in, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", N);
    for (int i = 0; i < N; i++)
        buf_addc(&in, (char)('a' + i % 23));
    for (size_t at = 0; at < in.n && sent; at += 65536)
        sent = client_write(c, str_sub(buf_str(&in), at, at + 65536));
    ok(sent, "a megabyte is taken");
    for (int got = 1; out.n < N && got > 0; out.n += got > 0 ? (size_t)got : 0)
        got = client_read(c, buf_room(&out, 16384), 16384, 60000);
    ok(str_ends(buf_str(&out), str_sub(buf_str(&in), in.n - N, in.n)), "and comes back");
    client_free(c);
}

static void tls_on_the_plain_port_is_refused(void)
{
    AUTO(buf) struct buf b = { 0 };
    bool closed = false;

    is_int(client_exchange(f, S("\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03"), &b, &closed), 400,
           "a ClientHello is a bad request");
    ok(closed, "and ends the connection");
}

static void ipv6_is_served_where_there_is_any(void)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)fixture_port(f)),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = probe >= 0 && bind(probe, (struct sockaddr *)&any, sizeof(any)) == 0;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    ok(!has || connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0, "[::1] answers%s",
       has ? "" : " # SKIP no IPv6 here");
    close(fd);
    close(probe);
}

static void a_taken_port_is_named(void)
{
    struct loop *l = loop_new();
    struct http_server_opts o = { .port = fixture_port(f) };
    struct http_server *s = NULL;
    struct err e = { 0 };
    char want[64];

    snprintf(want, sizeof(want), "listen on port %d: Address already in use", o.port);
    is_int(http_server_start(&s, l, &o, &e), -1, "a second server on the port fails");
    is_str(str_of(e.msg), str_of(want), "and says why");
    loop_free(l);
}

static void reply_ok(void *ctx, struct http_req *r)
{
    (void)ctx;
    http_reply(r, 200, NULL, 0, NULL);
}

static void set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static int listen_here(struct sockaddr_in *at)
{
    socklen_t n = sizeof(*at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    if (bind(fd, (struct sockaddr *)at, n) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)at, &n) < 0)
        printf("Bail out! listen\n"), exit(1);
    return fd;
}

static bool answers(struct loop *l, const struct sockaddr_in *at)
{
    static const char ask[] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    char got[256] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0) {
        close(fd);
        return false;
    }
    ssize_t n = write(fd, ask, sizeof(ask) - 1);
    for (n = 0; n <= 0; n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT))
        loop_turn(l);
    close(fd);
    return strncmp(got, "HTTP/1.1 200", 12) == 0;
}

static void a_socket_that_was_given_serves_too(void)
{
    struct loop *l = loop_new();
    struct http_server_opts o = { .host = "127.0.0.1", .on_request = reply_ok };
    struct http_server *s = NULL;
    struct err e = { 0 };
    struct sockaddr_in one, two;
    bool stopped = false;

    is_int(http_server_start(&s, l, &o, &e), 0, "a server");
    http_server_also(s, listen_here(&one));
    ok(answers(l, &one), "answers on the socket it was given");
    http_server_also(s, listen_here(&two));
    ok(answers(l, &two), "on the next one");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ok(connect(fd, (struct sockaddr *)&one, sizeof(one)) < 0, "and no more on the first");
    close(fd);
    http_server_stop(s, 1000, set_true, &stopped);
    while (!stopped)
        loop_turn(l);
    http_server_free(s);
    loop_free(l);
}

int main(void)
{
    f = fixture_start_plain((struct http_limits){ 0 });
    a_request_gets_its_answer();
    a_connection_serves_many();
    large_bodies_go_both_ways();
    tls_on_the_plain_port_is_refused();
    ipv6_is_served_where_there_is_any();
    a_taken_port_is_named();
    a_socket_that_was_given_serves_too();
    ok(fixture_await(&fixture_counts(f)->closed, fixture_counts(f)->opened),
       "all sources were closed");
    fixture_stop(f, 1000);
    return tap_done();
}
