/* WebSockets over a real connection. */

#include "base/websocket.h"
#include "client.h"
#include "tap.h"

#include <time.h>

static struct fixture *f;

#define ASK                                                                                    \
    "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/* Masked with zeros: the payload stays readable. */
static void add_frame(struct buf *b, int first, str payload)
{
    AUTO(buf) struct buf t = { 0 };

    ws_frame(&t, WS_TEXT, payload);
    size_t head = t.n - payload.n;
    t.p[0] = (char)first;
    t.p[1] = (char)(t.p[1] | 0x80);
    buf_add(b, (str){ t.p, head });
    buf_add(b, S("\0\0\0\0"));
    buf_add(b, payload);
}

static struct client *open_ws(struct buf *out, str with_it)
{
    struct client *c = client_open(f, (struct client_opts){ 0 });
    AUTO(buf) struct buf in = { 0 };

    buf_add(&in, S(ASK "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n"));
    buf_add(&in, with_it);
    client_write(c, buf_str(&in));
    client_read_until(c, out, S("\r\n\r\n"));
    return c;
}

static void the_handshake_is_as_in_the_rfc(void)
{
    AUTO(buf) struct buf out = { 0 };
    struct client *c = open_ws(&out, STR_NONE);
    str got = buf_str(&out);

    ok(str_starts(got, S("HTTP/1.1 101 ")), "101");
    ok(str_contains(got, S("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")),
       "the key is answered");
    ok(str_contains(got, S("sec-websocket-protocol: v5.channel.k8s.io\r\n")),
       "the protocol is named");
    client_free(c);
    ok(fixture_await(&fixture_counts(f)->ws_closed, 1), "a client that just leaves is noticed");
    is_int(fixture_counts(f)->ws_code, WS_ABNORMAL, "as an abnormal end");
}

static void other_requests_are_not_taken_for_one(void)
{
    static const char *const asks[] = {
        "GET /ws HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
        "POST /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    };

    for (size_t i = 0; i < COUNT(asks); i++) {
        AUTO(buf) struct buf out = { 0 };
        AUTO(buf) struct buf in = { 0 };
        bool closed = false;
        buf_add(&in, str_of(asks[i]));
        buf_add(&in, S("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        is_int(client_exchange(f, buf_str(&in), &out, &closed), 400, "no WebSocket");
        ok(str_ends(buf_str(&out), S("\r\n\r\nok")), "and HTTP goes on");
    }
}

static void messages_are_echoed(void)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    static char big[300000];

    memset(big, 'b', sizeof(big));
    add_frame(&in, 0x81, S("first"));
    struct client *c = open_ws(&out, buf_str(&in)); /* sent before the 101 came */
    ok(client_read_until(c, &out,
                         S("\x81\x05"
                           "first")),
       "a message right behind the handshake");
    buf_clear(&in);
    buf_clear(&out);
    add_frame(&in, 0x01, S("in "));
    add_frame(&in, 0x89, S("ping"));
    add_frame(&in, 0x80, S("pieces"));
    client_write(c, buf_str(&in));
    ok(client_read_until(c, &out, S("\x81\x09in pieces")), "pieces are put together");
    ok(str_starts(buf_str(&out), S("\x8a\x04ping")), "a ping is answered in between");
    buf_clear(&in);
    buf_clear(&out);
    add_frame(&in, 0x82, (str){ big, sizeof(big) });
    add_frame(&in, 0x81, S("end"));
    client_write(c, buf_str(&in));
    ok(client_read_until(c, &out,
                         S("\x81\x03"
                           "end")),
       "a large one");
    is_int((int64_t)out.n, 10 + 300000 + 5, "comes back whole");
    ok(fixture_counts(f)->ws_drained > 0, "the handler hears when all is out");
    client_free(c);
}

static void both_sides_can_close(void)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    struct fixture_counts *n = fixture_counts(f);
    int before = n->ws_closed;

    struct client *c = open_ws(&out, STR_NONE);
    add_frame(&in, 0x88, S("\x0f\xa1"));
    client_write(c, buf_str(&in));
    buf_clear(&out);
    ok(client_read_all(c, &out, 60000), "the client closes, then the server");
    is_str(buf_str(&out), S("\x88\x02\x0f\xa1"), "after it has answered with the same code");
    client_free(c);
    ok(fixture_await(&n->ws_closed, before + 1) && n->ws_code == 4001, "the handler is told");

    buf_clear(&in);
    buf_clear(&out);
    c = open_ws(&out, STR_NONE);
    add_frame(&in, 0x81, S("close"));
    client_write(c, buf_str(&in));
    buf_clear(&out);
    ok(client_read_until(c, &out,
                         S("\x88\x05\x0f\xa0"
                           "bye")),
       "the server closes");
    buf_clear(&in);
    add_frame(&in, 0x88, S("\x0f\xa0"));
    client_write(c, buf_str(&in));
    ok(client_read_all(c, &out, 60000), "and ends when the client has answered");
    client_free(c);
    ok(fixture_await(&n->ws_closed, before + 2) && n->ws_code == 4000, "the handler is told");
}

static void bad_frames_end_it(void)
{
    static const struct {
        const char *what;
        str in;
        str out;
    } rows[] = {
        { "no mask", S_INIT("\x81\x05hello"), S_INIT("\x88\x02\x03\xea") },
        { "not UTF-8", S_INIT("\x81\x81\0\0\0\0\xff"), S_INIT("\x88\x02\x03\xef") },
        { "too large", S_INIT("\x82\xff\0\0\0\0\x7f\xff\xff\xff\0\0\0\0"),
          S_INIT("\x88\x02\x03\xf1") },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(buf) struct buf out = { 0 };
        int before = fixture_counts(f)->ws_closed;
        struct client *c = open_ws(&out, STR_NONE);
        client_write(c, rows[i].in);
        buf_clear(&out);
        ok(client_read_all(c, &out, 60000), "%s: closed", rows[i].what);
        is_str(buf_str(&out), rows[i].out, "with the code for it");
        client_free(c);
        ok(fixture_await(&fixture_counts(f)->ws_closed, before + 1), "the handler is told");
    }
}

#define ASK_FOR(path)                                                                   \
    "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static void post_event(str lines)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;

    buf_printf(&in, "POST /event HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
    buf_printf(&in, "Content-Length: %zu\r\n\r\n", lines.n);
    buf_add(&in, lines);
    is_int(client_exchange(f, buf_str(&in), &out, &closed), 200, "an event happens");
}

static void a_source_goes_out_line_by_line(void)
{
    AUTO(buf) struct buf out = { 0 };
    AUTO(buf) struct buf long_line = { 0 };
    struct fixture_counts *n = fixture_counts(f);
    int closed = n->closed;
    struct client *c = client_open(f, (struct client_opts){ 0 });

    client_write(c, S(ASK_FOR("/watch")));
    ok(client_read_until(c, &out, S("\r\n\r\n")), "the handshake comes before there is a line");
    ok(str_starts(buf_str(&out), S("HTTP/1.1 101 ")), "101");
    ok(fixture_await(&n->watches, 1), "the source is open");
    buf_clear(&out);
    post_event(S("one\ntwo\n"));
    ok(client_read_until(c, &out, S("two\n")), "lines come when there is news");
    is_str(buf_str(&out), S("\x81\x04one\n\x81\x04two\n"), "each as a message");
    for (int i = 0; i < 200000; i++)
        buf_addc(&long_line, 'x');
    buf_add(&long_line, S("end\n"));
    buf_clear(&out);
    post_event(buf_str(&long_line));
    ok(client_read_until(c, &out, S("end\n")), "a long one");
    is_int((int64_t)out.n, 10 + 200004, "is one message too");
    is_int(n->closed, closed, "the source stays open");
    client_free(c);
    ok(fixture_await(&n->closed, closed + 1), "until the client leaves");
    is_int(n->watches, 0, "which ends the watch");
    is_int(n->closed_twice, 0, "once");
}

static void the_end_of_a_source_closes(void)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    struct fixture_counts *n = fixture_counts(f);
    int closed = n->closed;
    struct client *c = client_open(f, (struct client_opts){ 0 });

    client_write(c, S(ASK_FOR("/stream?3")));
    ok(client_read_until(c, &out, S("\x88\x02\x03\xe8")), "with 1000");
    ok(str_contains(buf_str(&out), S("\r\n\r\n\x81\x03"
                                     "dcb")),
       "after what it had");
    add_frame(&in, 0x88, S("\x03\xe8"));
    client_write(c, buf_str(&in));
    ok(client_read_all(c, &out, 60000), "and the connection ends");
    ok(fixture_await(&n->closed, closed + 1), "the source is closed");
    is_int(n->closed_twice, 0, "once");
    client_free(c);
}

/* Makes the server say much more than the sockets hold, and then close. */
enum { MUCH = 12, MUCH_BYTES = 1000 * 1000 };
static const size_t all_of_it = MUCH * (10 + MUCH_BYTES) + 7;

static struct client *ask_for_much(struct fixture *of)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    static char big[MUCH_BYTES];
    struct client *c = client_open(of, (struct client_opts){ .receive_buffer = 65536 });

    client_write(c, S(ASK "\r\n"));
    client_read_until(c, &out, S("\r\n\r\n"));
    memset(big, 'b', sizeof(big));
    for (int i = 0; i < MUCH; i++)
        add_frame(&in, 0x82, (str){ big, sizeof(big) });
    add_frame(&in, 0x81, S("close"));
    ok(client_write(c, buf_str(&in)), "it has taken all");
    return c;
}

static void nap(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* kubectl does so whose own output goes to a pager, or that is one of many on a busy machine. */
static void a_client_that_reads_late_gets_all(void)
{
    struct fixture *hasty = fixture_start((struct http_limits){ .linger_ms = 1 });
    AUTO(buf) struct buf out = { 0 };
    struct client *c = ask_for_much(hasty);

    nap(300); /* far more than it waits for an answer to its close */
    ok(client_read_all(c, &out, 60000), "the end comes");
    is_int((int64_t)out.n, (int64_t)all_of_it, "after every byte");
    ok(str_ends(buf_str(&out), S("\x88\x05\x0f\xa0"
                                 "bye")),
       "and the close");
    client_free(c);
    fixture_stop(hasty, 1000);
}

/* A socket that is closed answers what still comes by a reset, which ends what is on its way. */
static void a_client_that_goes_on_talking_gets_all(void)
{
    struct fixture *hasty = fixture_start_plain((struct http_limits){ .linger_ms = 1 });
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    struct client *c = ask_for_much(hasty);
    int got = 1;

    add_frame(&in, 0x81, S("more"));
    for (size_t next = 0; got > 0; out.n += (size_t)got) {
        if (out.n >= next) {
            next += 500000;
            nap(10);
            client_write(c, buf_str(&in));
        }
        got = client_read(c, buf_room(&out, 16384), 16384, 60000);
        if (got < 0)
            break;
    }
    is_int(got, 0, "the end comes");
    is_int((int64_t)out.n, (int64_t)all_of_it, "after every byte");
    client_free(c);
    fixture_stop(hasty, 1000);
}

static void a_pause_ends_with_the_close(void)
{
    struct fixture *patient = fixture_start((struct http_limits){ .linger_ms = 60000 });
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    static char big[MUCH_BYTES];
    struct client *c = client_open(patient, (struct client_opts){ 0 });
    bool all = true;

    client_write(c, S(ASK "\r\n"));
    client_read_until(c, &out, S("\r\n\r\n"));
    add_frame(&in, 0x81, S("pause"));
    add_frame(&in, 0x81, S("close"));
    client_write(c, buf_str(&in));
    buf_clear(&in);
    add_frame(&in, 0x82, (str){ big, sizeof(big) });
    for (int i = 0; i < 2 * MUCH; i++)
        all = all && client_write(c, buf_str(&in));
    ok(all, "what the client still has to say is taken");
    buf_clear(&in);
    add_frame(&in, 0x88, S("\x0f\xa0"));
    client_write(c, buf_str(&in));
    buf_clear(&out);
    ok(client_read_all(c, &out, 30000), "and its close is seen behind it");
    is_str(buf_str(&out),
           S("\x88\x05\x0f\xa0"
             "bye"),
           "it was told ours");
    client_free(c);
    fixture_stop(patient, 1000);
}

static void a_stop_says_going_away(void)
{
    AUTO(buf) struct buf out = { 0 };
    AUTO(buf) struct buf in = { 0 };
    struct client *c = open_ws(&out, STR_NONE);

    fixture_begin_stop(f, 60000);
    buf_clear(&out);
    ok(client_read_until(c, &out, S("\x03\xe9server is stopping")), "1001");
    add_frame(&in, 0x88, S("\x03\xe9"));
    client_write(c, buf_str(&in));
    ok(client_read_all(c, &out, 60000), "and the end");
    client_free(c);
}

int main(void)
{
    f = fixture_start((struct http_limits){ 0 });
    the_handshake_is_as_in_the_rfc();
    other_requests_are_not_taken_for_one();
    messages_are_echoed();
    both_sides_can_close();
    bad_frames_end_it();
    a_source_goes_out_line_by_line();
    the_end_of_a_source_closes();
    a_client_that_reads_late_gets_all();
    a_client_that_goes_on_talking_gets_all();
    a_pause_ends_with_the_close();
    a_stop_says_going_away();
    fixture_stop(f, 1000);
    return tap_done();
}
