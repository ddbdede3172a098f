/* Answers as they are pulled: pressure from slow clients, lost clients, gzip, and the end of the
 * server. */

#include "client.h"
#include "tap.h"

#include <zlib.h>

static struct fixture *f;

static long long produced(void)
{
    return fixture_counts(f)->produced;
}

/* Waits until the server makes no more bytes for this client; returns how many it made. */
static long long settled(long long before)
{
    long long last = -1;

    for (int same = 0; same < 5;) {
        fixture_stats(f); /* a round trip through the loop */
        fixture_await(&fixture_counts(f)->held, 0);
        struct timespec pause = { .tv_nsec = 5000000 };
        nanosleep(&pause, NULL);
        long long now = produced() - before;
        same = now == last ? same + 1 : 0;
        last = now;
    }
    return last;
}

static void a_client_that_does_not_read_stops_the_source(void)
{
    static const char *const paths[] = { "/stream?50000000", "/known?50000000" };

    for (size_t i = 0; i < COUNT(paths); i++) {
        AUTO(buf) struct buf in = { 0 };
        AUTO(buf) struct buf out = { 0 };
        struct client *c = client_open(f, (struct client_opts){ .receive_buffer = 4096 });
        long long before = produced();
        buf_printf(&in, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", paths[i]);
        client_write(c, buf_str(&in));
        long long made = settled(before);
        ok(made > 0 && made < 8 * 1024 * 1024, "HTTP/1.1 %s: %lld bytes are made, then no more",
           paths[i], made);
        ok(client_read_all(c, &out, 60000), "%s: the rest comes when it is read", paths[i]);
        ok(out.n > 50000000, "%s: all of it", paths[i]);
        client_free(c);
    }
}

static void h2_windows_stop_the_source(void)
{
    struct h2c *h = h2c_open(f);
    long long before = produced();
    int32_t id = h2c_request(h, "GET", "/stream?10000000", STR_NONE);

    h2c_send(h); /* and read nothing: the client's window is 64 KB */
    long long made = settled(before);
    ok(made > 0 && made <= 65535 + 16384, "HTTP/2: %lld bytes are made, one window's worth", made);
    ok(h2c_run_stream(h, id), "the rest comes when it is read");
    is_int((int64_t)h2c_stream(h, id)->n, 10000000, "all of it");
    h2c_free(h);
}

static void a_stream_without_a_window_is_reset(void)
{
    struct fixture *g = fixture_start((struct http_limits){ .body_ms = 500 });
    struct h2c *h = h2c_open(g);
    int32_t watch = h2c_request(h, "GET", "/watch", STR_NONE);

    h2c_request(h, "GET", "/stream?10000000", STR_NONE);
    h2c_send(h); /* and read nothing */
    ok(fixture_await(&fixture_counts(g)->closed, 1), "its source is closed");
    int32_t id = h2c_request(h, "GET", "/", STR_NONE);
    ok(h2c_run_stream(h, id) && h2c_stream(h, id)->status == 200, "the connection goes on");
    ok(!h2c_stream(h, watch)->closed, "a watch that just waits does too");
    h2c_free(h);
    fixture_stop(g, 1000);
}

static void small_answers_pass_large_ones(void)
{
    struct h2c *h = h2c_open(f);
    int32_t big = h2c_request(h, "GET", "/stream?20000000", STR_NONE);

    h2c_run_stream(h, h2c_request(h, "GET", "/", STR_NONE));
    for (int i = 0; i < 5; i++)
        h2c_run_stream(h, h2c_request(h, "GET", "/bytes?40000", STR_NONE));
    ok(!h2c_stream(h, big)->closed, "six small ones are through while a large one runs");
    ok(h2c_run_stream(h, big) && h2c_stream(h, big)->n == 20000000, "which then ends as well");
    h2c_free(h);
}

static void a_client_that_never_reads_is_dropped(void)
{
    struct fixture *g = fixture_start((struct http_limits){ .body_ms = 500 });
    struct client *c = client_open(g, (struct client_opts){ .receive_buffer = 4096 });

    client_write(c, S("GET /stream?500000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
    ok(fixture_await(&fixture_counts(g)->closed, 1), "its source is closed");
    while (fixture_stats(g).connections_open > 0)
        ;
    ok(true, "and the connection with it");
    client_free(c);
    fixture_stop(g, 1000);
}

static void a_lost_client_does_not_hurt_its_handler(void)
{
    static const char *const requests[] = { "GET /held HTTP/1.1\r\nHost: a\r\n\r\n",
                                            "GET /held?source HTTP/1.1\r\nHost: a\r\n\r\n" };
    struct fixture_counts *n = fixture_counts(f);

    for (size_t i = 0; i < COUNT(requests); i++) {
        struct client *c = client_open(f, (struct client_opts){ 0 });
        int gone = n->held_gone;
        int closed = n->closed;
        client_write(c, str_of(requests[i]));
        ok(fixture_await(&n->held, 1), "HTTP/1.1: a request is being handled");
        client_free(c);
        while (fixture_stats(f).connections_open > 0)
            ;
        fixture_release(f);
        ok(fixture_await(&n->held_gone, gone + 1), "it learns that the client is gone");
        ok(fixture_await(&n->closed, closed + (int)i), "and its source is closed");
    }
    struct h2c *h = h2c_open(f);
    int gone = n->held_gone;
    h2c_request(h, "GET", "/held", STR_NONE);
    h2c_request(h, "GET", "/held?source", STR_NONE);
    h2c_send(h);
    ok(fixture_await(&n->held, 2), "HTTP/2: two requests are being handled");
    h2c_free(h);
    while (fixture_stats(f).connections_open > 0)
        ;
    fixture_release(f);
    ok(fixture_await(&n->held_gone, gone + 2), "both learn that the client is gone");
}

static void sources_that_fail_break_the_answer_off(void)
{
    static const char *const paths[] = { "/abort?1000", "/short" };

    for (size_t i = 0; i < COUNT(paths); i++) {
        AUTO(buf) struct buf in = { 0 };
        AUTO(buf) struct buf out = { 0 };
        bool closed = false;
        buf_printf(&in, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", paths[i]);
        is_int(client_exchange(f, buf_str(&in), &out, &closed) & ~200, 0, "HTTP/1.1 begins or not");
        ok(closed && !str_ends(buf_str(&out), S("0\r\n\r\n")), "%s: and is cut off", paths[i]);
        struct h2c *h = h2c_open(f);
        int32_t id = h2c_request(h, "GET", paths[i], STR_NONE);
        h2c_run_stream(h, id);
        ok(h2c_stream(h, id)->error != 0, "HTTP/2 %s: is reset", paths[i]);
        h2c_free(h);
    }
}

static void slow_sources_are_woken(void)
{
    struct h2c *h = h2c_open(f);
    AUTO(buf) struct buf out = { 0 };
    bool closed = false;
    int32_t id = h2c_request(h, "GET", "/slow-source?20000", STR_NONE);

    ok(h2c_run_stream(h, id), "HTTP/2: ends");
    is_int((int64_t)h2c_stream(h, id)->n, 20000, "with all its bytes");
    h2c_free(h);
    client_exchange(f, S("GET /slow-source?20000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
                    &out, &closed);
    const char *body = memmem(out.p, out.n, "\r\n\r\n", 4);
    ok(body && out.p + out.n - body - 4 == 20000, "HTTP/1.1 too");
}

static size_t gunzip(str in, struct buf *out)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)in.p, .avail_in = (uInt)in.n };
    int rc = inflateInit2(&z, 15 + 16);

    while (rc == Z_OK) {
        z.next_out = (Bytef *)buf_room(out, 65536);
        z.avail_out = 65536;
        rc = inflate(&z, Z_NO_FLUSH);
        out->n += 65536 - z.avail_out;
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END ? out->n : 0;
}

static bool is_pattern(str s) /* what /bytes makes */
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != (char)('a' + (i * 7 + i / 1000) % 26))
            return false;
    return true;
}

static struct h2c_stream *get_accepting(struct h2c *h, const char *path, const char *encoding)
{
    const char *pairs[] = { ":method", "GET",        ":scheme", "https",           ":path",
                            path,      ":authority", "a",       "accept-encoding", encoding };
    int32_t id = h2c_request_headers(h, pairs, 5, true);

    h2c_run_stream(h, id);
    return h2c_stream(h, id);
}

static void large_answers_are_gzipped_for_who_accepts_it(void)
{
    static const struct {
        const char *path, *encoding;
        bool zipped;
    } rows[] = {
        { "/bytes?3000000", "gzip", true },     { "/bytes?131072", "deflate, gzip;q=0.5", true },
        { "/bytes?131072", "*", true },         { "/bytes?131071", "gzip", false },
        { "/bytes?200000", "gzip;q=0", false }, { "/bytes?200000", "gzip;q=0.000", false },
        { "/bytes?200000", "identity", false }, { "/bytes?200000", "xgzip", false },
        { "/known?200000", "gzip", true },      { "/slow-source?200000", "gzip", true },
        { "/stream?200000", "gzip", false },
    };
    struct h2c *h = h2c_open(f);

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(buf) struct buf plain = { 0 };
        struct h2c_stream *s = get_accepting(h, rows[i].path, rows[i].encoding);
        size_t want = (size_t)atol(strchr(rows[i].path, '?') + 1);
        ok((strcmp(s->encoding, "gzip") == 0) == rows[i].zipped, "%s, %s: %s", rows[i].path,
           rows[i].encoding, rows[i].zipped ? "gzipped" : "as it is");
        size_t n = rows[i].zipped ? gunzip(buf_str(&s->body), &plain) : s->n;
        ok(n == want, "%zu of %zu bytes", n, want);
        if (rows[i].zipped && strstr(rows[i].path, "/bytes"))
            ok(is_pattern(buf_str(&plain)), "the right ones");
    }
    h2c_free(h);
}

static void stop_answers_what_is_in_flight(void)
{
    struct fixture *g = fixture_start((struct http_limits){ 0 });
    struct fixture_counts *n = fixture_counts(g);
    AUTO(buf) struct buf held = { 0 };
    AUTO(buf) struct buf watch = { 0 };
    struct client *idle = client_open(g, (struct client_opts){ 0 });
    struct client *busy = client_open(g, (struct client_opts){ 0 });
    struct client *watcher = client_open(g, (struct client_opts){ 0 });
    struct h2c *h = h2c_open(g);
    char c = 0;

    client_write(busy, S("GET /held HTTP/1.1\r\nHost: a\r\n\r\n"));
    client_write(watcher, S("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n"));
    int32_t id = h2c_request(h, "GET", "/held", STR_NONE);
    int32_t w = h2c_request(h, "GET", "/watch", STR_NONE);
    h2c_send(h);
    ok(fixture_await(&n->held, 2) && fixture_await(&n->watches, 2), "two are held, two watch");
    fixture_begin_stop(g, 60000);
    is_int(client_read(idle, &c, 1, 60000), 0, "an idle connection is closed");
    ok(client_read_all(watcher, &watch, 60000) && str_ends(buf_str(&watch), S("0\r\n\r\n")),
       "HTTP/1.1: a watch ends properly");
    ok(h2c_run_stream(h, w) && h2c_stream(h, w)->error == 0, "HTTP/2: a watch ends properly");
    ok(h2c_goaways(h) > 0, "and the client is told to go");
    fixture_release(g);
    ok(client_read_all(busy, &held, 60000), "the held answer is the last");
    ok(str_contains(buf_str(&held), S("connection: close\r\n")) &&
           str_ends(buf_str(&held), S("released")),
       "and says so");
    ok(h2c_run_stream(h, id) && h2c_stream(h, id)->status == 200, "HTTP/2: answered as well");
    client_free(idle);
    client_free(busy);
    client_free(watcher);
    h2c_free(h);
    fixture_stop(g, 0);
    ok(true, "the server is gone");
}

static void stop_does_not_wait_for_ever(void)
{
    struct fixture *g = fixture_start((struct http_limits){ 0 });
    struct client *c = client_open(g, (struct client_opts){ 0 });
    AUTO(buf) struct buf out = { 0 };

    client_write(c, S("GET /held HTTP/1.1\r\nHost: a\r\n\r\n"));
    ok(fixture_await(&fixture_counts(g)->held, 1), "a request is held");
    fixture_begin_stop(g, 50);
    ok(client_read_all(c, &out, 60000) && out.n == 0, "its connection is cut when time is up");
    fixture_release(g); /* answered after the server was freed */
    ok(fixture_await(&fixture_counts(g)->held_gone, 1), "and the answer still has somewhere to go");
    client_free(c);
    fixture_stop(g, 0);
}

int main(void)
{
    f = fixture_start((struct http_limits){ 0 });
    a_client_that_does_not_read_stops_the_source();
    h2_windows_stop_the_source();
    a_lost_client_does_not_hurt_its_handler();
    sources_that_fail_break_the_answer_off();
    slow_sources_are_woken();
    small_answers_pass_large_ones();
    large_answers_are_gzipped_for_who_accepts_it();
    ok(fixture_await(&fixture_counts(f)->closed, fixture_counts(f)->opened),
       "all sources were closed");
    is_int(fixture_counts(f)->closed_twice, 0, "none twice");
    fixture_stop(f, 1000);
    a_client_that_never_reads_is_dropped();
    a_stream_without_a_window_is_reset();
    stop_answers_what_is_in_flight();
    stop_does_not_wait_for_ever();
    return tap_done();
}
