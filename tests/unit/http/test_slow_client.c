/* A client that reads nothing is cut off soon, but not one that reads a log or a program's output
 * and pauses. Each test has one client of either kind and starts the allowed one first: when the
 * other is cut off, the allowed one would have been, too. */

#include "base/websocket.h"
#include "client.h"
#include "tap.h"

#include <time.h>

enum { BODY_MS = 300, LOG_BYTES = 50 * 1000 * 1000, MESSAGES = 12, MESSAGE_BYTES = 1000 * 1000 };

static struct fixture *start(void)
{
    return fixture_start((struct http_limits){ .body_ms = BODY_MS });
}

/* Nothing more is made for the client: all that there is room for is full. */
static void await_stall(struct fixture *f)
{
    long long last = -1;

    for (int same = 0; same < 5;) {
        fixture_stats(f); /* a round trip through the loop */
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
        long long now = fixture_counts(f)->produced;
        same = now == last && now > 0 ? same + 1 : 0;
        last = now;
    }
}

static struct client *ask(struct fixture *f, const char *path)
{
    AUTO(buf) struct buf in = { 0 };
    struct client *c = client_open(f, (struct client_opts){ .receive_buffer = 4096 });

    buf_printf(&in, "GET %s?%d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path, LOG_BYTES);
    client_write(c, buf_str(&in));
    return c;
}

static void of_http_1(void)
{
    struct fixture *f = start();
    AUTO(buf) struct buf out = { 0 };
    struct client *log = ask(f, "/patient");

    await_stall(f);
    struct client *other = ask(f, "/stream");
    ok(fixture_await(&fixture_counts(f)->closed, 1), "HTTP/1.1: one is cut off");
    ok(client_read_all(log, &out, 60000), "the log is read to its end");
    ok(out.n > LOG_BYTES && str_ends(buf_str(&out), S("0\r\n\r\n")), "all of it");
    client_free(log);
    client_free(other);
    fixture_stop(f, 1000);
}

static void of_http_2(void)
{
    struct fixture *f = start();
    struct h2c *h = h2c_open(f);
    int32_t log = h2c_request(h, "GET", "/patient?1000000", STR_NONE);

    h2c_send(h);
    await_stall(f);
    h2c_request(h, "GET", "/stream?1000000", STR_NONE);
    h2c_send(h);
    ok(fixture_await(&fixture_counts(f)->closed, 1), "HTTP/2: one is reset");
    ok(h2c_run_stream(h, log) && h2c_stream(h, log)->error == 0, "the log is read to its end");
    is_int((int64_t)h2c_stream(h, log)->n, 1000000, "all of it");
    h2c_free(h);
    fixture_stop(f, 1000);
}

/* Has much more sent to it than the sockets hold, and then the close. */
static struct client *open_ws(struct fixture *f, const char *path)
{
    AUTO(buf) struct buf in = { 0 };
    AUTO(buf) struct buf out = { 0 };
    AUTO(buf) struct buf frame = { 0 };
    static char big[MESSAGE_BYTES];
    struct client *c = client_open(f, (struct client_opts){ .receive_buffer = 65536 });

    buf_printf(&in,
               "GET %s HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
               path);
    client_write(c, buf_str(&in));
    client_read_until(c, &out, S("\r\n\r\n"));
    ws_frame(&frame, WS_BINARY, (str){ big, sizeof(big) });
    frame.p[1] = (char)(frame.p[1] | 0x80); /* masked, with zeros */
    for (int i = 0; i < MESSAGES; i++) {
        client_write(c, (str){ frame.p, 10 });
        client_write(c, S("\0\0\0\0"));
        client_write(c, (str){ frame.p + 10, frame.n - 10 });
    }
    client_write(c, S("\x81\x85\0\0\0\0"
                      "close"));
    return c;
}

static void of_a_websocket(void)
{
    struct fixture *f = start();
    AUTO(buf) struct buf out = { 0 };
    struct client *exec = open_ws(f, "/ws?patient");
    struct client *other = open_ws(f, "/ws");

    ok(fixture_await(&fixture_counts(f)->ws_closed, 1), "WebSocket: one is cut off");
    ok(client_read_all(exec, &out, 60000), "the other is read to its end");
    is_int((int64_t)out.n, MESSAGES * (10 + MESSAGE_BYTES) + 7, "all of it");
    client_free(exec);
    client_free(other);
    fixture_stop(f, 1000);
}

int main(void)
{
    of_http_1();
    of_http_2();
    of_a_websocket();
    return tap_done();
}
