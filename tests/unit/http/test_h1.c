/* HTTP/1.1 over real sockets: framing, order, deadlines, limits. */

#include "client.h"
#include "tap.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fixture *f;

/* Sends requests, the last one with Connection: close; gives all that came back. */
static str talk(struct buf *b, str in, bool *closed)
{
    buf_clear(b);
    client_exchange(f, in, b, closed);
    return buf_str(b);
}

static void a_request_gets_its_answer(void)
{
    AUTO(buf) struct buf b = { 0 };
    bool closed = false;
    str got = talk(&b, S("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), &closed);

    ok(str_starts(got, S("HTTP/1.1 200 OK\r\n")), "status line");
    ok(str_contains(got, S("\r\ndate: ")), "a date");
    ok(str_contains(got, S("\r\ncontent-length: 2\r\n")), "a length");
    ok(str_contains(got, S("\r\nconnection: close\r\n")), "the end is announced");
    ok(str_ends(got, S("\r\n\r\nok")), "the body");
    ok(closed, "and the connection is closed");
}

static void pipelined_requests_are_answered_in_order(void)
{
    bool closed = false;

    is_int(client_pipeline(f, 300, &closed), 300, "three hundred answers, in order");
    ok(closed, "and an end");
}

static void a_slow_answer_holds_back_those_behind_it(void)
{
    AUTO(buf) struct buf out = { 0 };
    struct client *c = client_open(f, (struct client_opts){ 0 });

    client_write(c, S("GET /held HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    ok(fixture_await(&fixture_counts(f)->held, 1), "the first waits for its handler");
    ok(!client_read_all(c, &out, 50) && out.n == 0, "nothing is sent before it");
    fixture_release(f);
    ok(client_read_until(c, &out, S("\r\n\r\nok")), "both come");
    const char *first = memmem(out.p, out.n, "released", 8);
    const char *second = memmem(out.p, out.n, "\r\n\r\nok", 6);
    ok(first && second && first < second, "the held one first");
    client_free(c);
}

static void bodies_come_whole_however_they_are_sent(void)
{
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    str got = talk(&out,
                   S("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                     "Connection: close\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: u\r\n\r\n"),
                   &closed);
    ok(str_ends(got, S("\r\n\r\nhello world")), "chunks are put together");

    struct client *c = client_open(f, (struct client_opts){ 0 });
    str slow = S("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    for (size_t i = 0; i < slow.n; i++)
        client_write(c, str_sub(slow, i, i + 1));
    buf_clear(&out);
    ok(client_read_until(c, &out, S("\r\n\r\nabc")), "one byte a record");
    client_free(c);
}

static void an_expectation_is_met_before_the_body(void)
{
    AUTO(buf) struct buf out = { 0 };
    struct client *c = client_open(f, (struct client_opts){ 0 });

    client_write(c, S("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                      "Content-Length: 3\r\n\r\n"));
    ok(client_read_until(c, &out, S("HTTP/1.1 100 Continue\r\n\r\n")), "100 Continue comes");
    client_write(c, S("abc"));
    ok(client_read_until(c, &out, S("\r\n\r\nabc")), "then the answer");
    client_free(c);
    buf_clear(&out);
    c = client_open(f, (struct client_opts){ 0 });
    client_write(c, S("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                      "Content-Length: 9999999\r\n\r\n"));
    ok(client_read_all(c, &out, 60000), "a body that is too large is not asked for");
    ok(str_starts(buf_str(&out), S("HTTP/1.1 413 ")), "but refused at once");
    client_free(c);
}

static void head_has_no_body(void)
{
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    str got = talk(
        &out,
        S("HEAD /bytes?77 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /stream?9 HTTP/1.1\r\nHost: a\r\n\r\n"
          "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        &closed);
    ok(str_contains(got, S("content-length: 77\r\n")), "its length is told");
    ok(!str_contains(got, S("aaa")) && str_ends(got, S("\r\n\r\nok")),
       "and the next answer follows");
    ok(str_contains(got, S("\r\n\r\nHTTP/1.1 200 OK")), "head after head");
}

static void http_1_0_gets_answers_it_understands(void)
{
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    str got = talk(&out, S("GET /stream?5 HTTP/1.0\r\n\r\n"), &closed);

    ok(!str_contains(got, S("chunked")), "no chunks");
    ok(closed && str_ends(got, S("\r\n\r\nfedcb")), "the end of the connection ends the body");
    got = talk(&out, S("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n"),
               &closed);
    ok(str_contains(got, S("connection: keep-alive\r\n")), "keep-alive if asked for");
}

static const struct {
    const char *what;
    const char *in;
    int status;
} refused[] = {
    { "both lengths",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\nG",
      400 },
    { "a doubled length",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n", 400 },
    { "folding", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400 },
    { "a space before the colon",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400 },
    { "a bare CR", "GET / HTTP/1.1\r\nHost: a\r\nX:\rY: z\r\n\r\n", 400 },
    { "a bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400 },
    { "an absolute target", "GET https://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
    { "two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
    { "no host", "GET / HTTP/1.1\r\n\r\n", 400 },
    { "HTTP/3.0", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505 },
    { "gzipped chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501 },
    { "a broken chunk",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX", 400 },
};

static void what_is_refused_is_refused_for_good(void)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        AUTO(buf) struct buf in = { 0 };
        AUTO(buf) struct buf out = { 0 };
        bool closed = false;
        buf_add(&in, str_of(refused[i].in));
        buf_add(&in, S("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"));
        int status = client_exchange(f, buf_str(&in), &out, &closed);
        ok(status == refused[i].status && closed, "%s: %d and close", refused[i].what,
           refused[i].status);
        ok(!memmem(out.p + 12, out.n - 12, "HTTP/1.1 ", 9), "%s: nothing after it is answered",
           refused[i].what);
    }
}

static void limits_have_their_statuses(void)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;

    buf_add(&in, S("GET /"));
    for (int i = 0; i < 20000; i++)
        buf_addc(&in, 'a');
    is_int(client_exchange(f, buf_str(&in), &out, &closed), 414, "a long URL: 414");
    ok(closed, "and close");
    buf_clear(&in);
    buf_clear(&out);
    buf_add(&in, S("GET / HTTP/1.1\r\nHost: a\r\nX: "));
    for (int i = 0; i < 70000; i++)
        buf_addc(&in, 'a');
    is_int(client_exchange(f, buf_str(&in), &out, &closed), 431, "a long head: 431");
    buf_clear(&in);
    buf_clear(&out);
    buf_add(&in, S("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 200; i++) {
        buf_add(&in, S("4000\r\n"));
        memset(buf_room(&in, 0x4000), 'x', 0x4000);
        in.n += 0x4000;
        buf_add(&in, S("\r\n"));
    }
    is_int(client_exchange(f, buf_str(&in), &out, &closed), 413, "a body of 3.2 MB: 413");
    ok(str_contains(buf_str(&out), S("\"reason\":\"RequestEntityTooLarge\"")), "as a Status");
}

static void injected_lines_stay_in_their_header(void)
{
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    str got =
        talk(&out, S("GET /inject HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), &closed);

    ok(!str_contains(got, S("\r\nset-cookie")), "no header of its own");
}

static int connect_plain(struct fixture *to)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)fixture_port(to)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = { .tv_sec = 60 };

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
        abort();
    return fd;
}

static void slow_clients_are_shown_the_door(void)
{
    struct fixture *g = fixture_start((struct http_limits){
        .handshake_ms = 3000, .header_ms = 2000, .body_ms = 2000, .idle_ms = 2000 });
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    char c = 0;

    int fd = connect_plain(g);
    is_int(recv(fd, &c, 1, 0), 0, "no handshake: closed");
    close(fd);
    is_int(client_exchange(g, S(""), &out, &closed), 0, "no request: no answer");
    ok(closed, "and close");
    is_int(client_exchange(g, S("GET / HT"), &out, &closed), 408, "half a head: 408");
    ok(closed, "and close");
    buf_clear(&out);
    is_int(client_exchange(g, S("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"),
                           &out, &closed),
           408, "half a body: 408");
    ok(closed, "and close");
    buf_clear(&out);
    is_int(client_exchange(g, S("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), &out, &closed), 200,
           "an idle connection is closed after its answer");
    ok(closed && !str_contains(buf_str(&out), S("408")), "without another word");

    struct client *drip = client_open(g, (struct client_opts){ 0 });
    client_write(drip, S("GET / HTTP/1.1\r\nHost: a\r\n"));
    bool alive = true;
    for (int i = 0; i < 6000 && alive; i++) {
        alive = client_write(drip, S("X: y\r\n"));
        alive = alive && client_read(drip, &c, 1, 10) < 0;
    }
    ok(!alive, "a head that comes in drops is cut off");
    client_free(drip);
    struct http_stats st = fixture_stats(g);
    ok(st.refused_total >= 4, "they are counted");
    fixture_stop(g, 1000);
}

static void connections_are_limited(void)
{
    struct fixture *g = fixture_start((struct http_limits){ .connections = 2 });
    struct client *a = client_open(g, (struct client_opts){ 0 });
    struct client *b = client_open(g, (struct client_opts){ 0 });
    struct client *c = client_open(g, (struct client_opts){ 0 });

    ok(a && b && !c, "the third of two is refused");
    client_free(a);
    client_free(b);
    fixture_stop(g, 1000);
}

static void plain_http_on_the_tls_port_harms_nobody(void)
{
    int fd = connect_plain(f);
    char buf[64];

    if (write(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27) != 27)
        abort();
    while (recv(fd, buf, sizeof(buf), 0) > 0)
        ;
    close(fd);
    ok(true, "the connection ended");
}

int main(void)
{
    f = fixture_start((struct http_limits){ 0 });
    a_request_gets_its_answer();
    pipelined_requests_are_answered_in_order();
    a_slow_answer_holds_back_those_behind_it();
    bodies_come_whole_however_they_are_sent();
    an_expectation_is_met_before_the_body();
    head_has_no_body();
    http_1_0_gets_answers_it_understands();
    what_is_refused_is_refused_for_good();
    limits_have_their_statuses();
    injected_lines_stay_in_their_header();
    plain_http_on_the_tls_port_harms_nobody();
    is_int(fixture_counts(f)->closed_twice, 0, "no source was closed twice");
    ok(fixture_await(&fixture_counts(f)->closed, fixture_counts(f)->opened), "and all were closed");
    fixture_stop(f, 1000);
    slow_clients_are_shown_the_door();
    connections_are_limited();
    return tap_done();
}
