/* HTTP/2: requests, limits, floods, many streams. */

#include "client.h"
#include "tap.h"

#include <nghttp2/nghttp2.h>

static struct fixture *f;

static void a_request_gets_its_answer(void)
{
    struct h2c *h = h2c_open(f);
    int32_t id = h2c_request(h, "GET", "/", STR_NONE);

    ok(h2c_run_stream(h, id), "the stream ends");
    is_int(h2c_stream(h, id)->status, 200, "with 200");
    is_str(buf_str(&h2c_stream(h, id)->body), S("ok"), "and the body");
    h2c_free(h);
}

static void bodies_are_echoed(void)
{
    AUTO(buf) struct buf big = { 0 };
    struct h2c *h = h2c_open(f);

    for (int i = 0; i < 200000; i++)
        buf_addc(&big, (char)('a' + i % 23));
    int32_t a = h2c_request(h, "POST", "/echo", buf_str(&big));
    int32_t b = h2c_request(h, "POST", "/echo", S("small"));
    int32_t c = h2c_request(h, "POST", "/echo", S(""));
    ok(h2c_run_stream(h, a) && h2c_run_stream(h, b) && h2c_run_stream(h, c), "three at once");
    is_str(buf_str(&h2c_stream(h, a)->body), buf_str(&big), "a large one");
    is_str(buf_str(&h2c_stream(h, b)->body), S("small"), "a small one");
    is_int((int64_t)h2c_stream(h, c)->n, 0, "an empty one");
    h2c_free(h);
}

static bool all_closed(struct h2c *h, void *ctx)
{
    return h2c_closed(h) >= *(size_t *)ctx;
}

static void thousands_of_streams_on_one_connection(void)
{
    struct h2c *h = h2c_open(f);
    size_t n = 10000;
    size_t good = 0;

    for (size_t i = 0; i < n; i++)
        h2c_request(h, "GET", "/bytes?300", STR_NONE);
    ok(h2c_run(h, all_closed, &n), "ten thousand requests end");
    for (size_t i = 0; i < n; i++)
        good += h2c_stream(h, (int32_t)(2 * i + 1))->status == 200 &&
                h2c_stream(h, (int32_t)(2 * i + 1))->n == 300;
    is_int((int64_t)good, (int64_t)n, "all of them well");
    h2c_free(h);
}

static bool has_bytes(struct h2c *h, void *ctx)
{
    return h2c_total(h) >= *(size_t *)ctx;
}

static bool are_watching(struct h2c *h, void *ctx)
{
    (void)h;
    return fixture_counts(f)->watches >= *(int *)ctx;
}

static void two_thousand_watches_hear_every_event(void)
{
    struct h2c *h = h2c_open(f);
    int n = 2000;
    size_t want = 0;

    for (int i = 0; i < n; i++)
        h2c_request(h, "GET", "/watch", STR_NONE);
    ok(h2c_run(h, are_watching, &n), "two thousand watches are open");
    for (int i = 0; i < 5; i++) {
        AUTO(buf) struct buf out = { 0 };
        bool closed = false;
        want += 2000 * 10;
        client_exchange(f,
                        S("POST /event HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                          "Content-Length: 10\r\n\r\n123456789\n"),
                        &out, &closed);
        ok(h2c_run(h, has_bytes, &want), "event %d reached all of them", i);
    }
    is_int((int64_t)h2c_total(h), (int64_t)want, "and nothing else did");
    h2c_free(h);
    ok(fixture_await(&fixture_counts(f)->closed, fixture_counts(f)->opened) &&
           fixture_counts(f)->watches == 0,
       "when the client goes, all are closed");
}

static const struct {
    const char *what;
    const char *pairs[12];
    int status; /* 0: reset */
} rows[] = {
    { "a tunnel is refused", { ":method", "CONNECT", ":authority", "b:443" }, 400 },
    { "a target without a slash",
      { ":method", "GET", ":scheme", "https", ":path", "x", ":authority", "a" },
      0 },
    { "the star",
      { ":method", "OPTIONS", ":scheme", "https", ":path", "*", ":authority", "a" },
      400 },
    { "no authority and no host", { ":method", "GET", ":scheme", "https", ":path", "/" }, 0 },
    { "a host instead of an authority",
      { ":method", "GET", ":scheme", "https", ":path", "/", "host", "a" },
      200 },
    { "two that differ",
      { ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a", "host", "b" },
      400 },
    { "two that agree",
      { ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a", "host", "a" },
      200 },
    { "a connection header",
      { ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a", "connection", "x" },
      0 },
    { "a transfer-encoding",
      { ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a", "transfer-encoding",
        "chunked" },
      0 },
    { "a line break in a value",
      { ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "a", "x", "b\r\nc: d" },
      0 },
    { "a length that says too much",
      { ":method", "POST", ":scheme", "https", ":path", "/echo", ":authority", "a",
        "content-length", "99999999" },
      413 },
};

static void heads_are_checked(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct h2c *h = h2c_open(f);
        size_t n = 0;
        while (n < 6 && rows[i].pairs[2 * n])
            n++;
        int32_t id = h2c_request_headers(h, rows[i].pairs, n, rows[i].status != 413);
        if (rows[i].status == 413)
            h2c_run(h, has_bytes, &(size_t){ 10 });
        else
            h2c_run_stream(h, id);
        struct h2c_stream *s = h2c_stream(h, id);
        ok(s->status == rows[i].status && (s->status || s->error), "%s: %d", rows[i].what,
           rows[i].status);
        int32_t again = h2c_request(h, "GET", "/", STR_NONE);
        ok(h2c_run_stream(h, again) && h2c_stream(h, again)->status == 200,
           "%s: the connection goes on", rows[i].what);
        h2c_free(h);
    }
}

static void limits_have_their_statuses(void)
{
    AUTO(buf) struct buf big = { 0 };
    struct h2c *h = h2c_open(f);
    char path[17000] = "/";

    memset(path + 1, 'a', sizeof(path) - 2);
    int32_t id = h2c_request(h, "GET", path, STR_NONE);
    ok(h2c_run_stream(h, id), "a long path ends");
    is_int(h2c_stream(h, id)->status, 414, "with 414");
    const char *pairs[2 * 110] = { ":method", "GET", ":scheme",    "https",
                                   ":path",   "/",   ":authority", "a" };
    for (size_t i = 4; i < 110; i++) {
        pairs[2 * i] = "x";
        pairs[2 * i + 1] = "y";
    }
    id = h2c_request_headers(h, pairs, 110, true);
    ok(h2c_run_stream(h, id), "many headers end");
    is_int(h2c_stream(h, id)->status, 431, "with 431");
    for (int i = 0; i < 3500000; i++)
        buf_addc(&big, 'x');
    id = h2c_request(h, "POST", "/echo", buf_str(&big));
    ok(h2c_run_stream(h, id), "a large body ends");
    is_int(h2c_stream(h, id)->status, 413, "with 413");
    ok(str_contains(buf_str(&h2c_stream(h, id)->body), S("RequestEntityTooLarge")), "as a Status");
    h2c_free(h);
}

/* A frame of HTTP/2, whose length is filled in. */
static void add_frame(struct buf *b, char type, char flags, str payload)
{
    char head[9] = { (char)(payload.n >> 16),
                     (char)(payload.n >> 8),
                     (char)payload.n,
                     type,
                     flags,
                     0,
                     0,
                     0,
                     type == 1 };

    buf_add(b, (str){ head, sizeof(head) });
    buf_add(b, payload);
}

static void references_to_one_header_end_the_connection(void)
{
    AUTO(buf) struct buf head = { 0 };
    AUTO(buf) struct buf out = { 0 };
    AUTO(buf) struct buf in = { 0 };
    struct client *c = client_open(f, (struct client_opts){ .alpn = "h2" });

    buf_add(&head, S("\x82\x87\x84\x41\x01"
                     "a")); /* GET https / a */
    buf_add(&head, S("\x40\x01"
                     "x"
                     "\x7f\xa1\x1e")); /* x: 4000 bytes, into the table */
    for (int i = 0; i < 4000; i++)
        buf_addc(&head, 'y');
    for (int i = 0; i < 12000; i++) /* and again: 48 MB */
        buf_addc(&head, '\xbe');
    buf_add(&out, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    add_frame(&out, 4, 0, S(""));
    add_frame(&out, 1, 5, buf_str(&head));
    ok(client_write(c, buf_str(&out)), "a head of references is sent");
    ok(client_read_all(c, &in, 5000), "the connection ends");
    str last = str_sub(buf_str(&in), in.n > 4 ? in.n - 4 : 0, in.n);
    is_int(last.n ? last.p[3] : -1, NGHTTP2_ENHANCE_YOUR_CALM, "with ENHANCE_YOUR_CALM");
    client_free(c);
}

static void expectations_and_trailers_work(void)
{
    struct h2c *h = h2c_open(f);
    const char *pairs[] = { ":method", "POST",       ":scheme", "https",  ":path",
                            "/echo",   ":authority", "a",       "expect", "100-continue" };
    nghttp2_nv trailer = { (uint8_t *)(uintptr_t) "t", (uint8_t *)(uintptr_t) "u", 1, 1, 0 };

    int32_t id = h2c_request_headers(h, pairs, 5, false);
    h2c_run_stream(h, h2c_request(h, "GET", "/", STR_NONE)); /* what came before it is there too */
    is_int(h2c_stream(h, id)->n_interim, 1, "100 comes first");
    nghttp2_submit_trailer(h2c_session(h), id, &trailer, 1);
    ok(h2c_run_stream(h, id), "trailers end the request");
    is_int(h2c_stream(h, id)->status, 200, "and it is answered");
    h2c_free(h);
}

static void resets_in_a_row_end_the_connection(void)
{
    struct h2c *h = h2c_open(f);

    for (int i = 0; i < 3000; i++) {
        int32_t id = h2c_request(h, "GET", "/held", STR_NONE);
        h2c_send(h);
        nghttp2_submit_rst_stream(h2c_session(h), 0, id, NGHTTP2_CANCEL);
        if (i % 100 == 99)
            h2c_run_stream(h, h2c_request(h, "GET", "/", STR_NONE));
        if (h2c_is_over(h) || h2c_goaways(h))
            break;
    }
    h2c_run(h, all_closed, &(size_t){ 100000 });
    ok(h2c_is_over(h), "three thousand resets are too many");
    ok(h2c_goaways(h) > 0, "and the client is told");
    h2c_free(h);
    fixture_release(f);
    fixture_stats(f);
    is_int(fixture_counts(f)->held, 0, "the handler answered them all into the void");
}

static void pings_and_settings_cannot_fill_memory(void)
{
    struct h2c *h = h2c_open(f);
    uint8_t data[8] = { 0 };

    for (int i = 0; i < 5000; i++)
        nghttp2_submit_ping(h2c_session(h), 0, data);
    int32_t id = h2c_request(h, "GET", "/", STR_NONE);
    h2c_run_stream(h, id);
    ok(h2c_is_over(h) || h2c_stream(h, id)->status == 200, "pings: answered or cut off");
    h2c_free(h);
    struct http_stats st = fixture_stats(f);
    ok(st.bytes_out < 100u * 1024 * 1024, "the server is still there");
}

static void a_slow_body_is_refused(void)
{
    struct fixture *g = fixture_start((struct http_limits){ .body_ms = 200, .idle_ms = 1000 });
    struct h2c *h = h2c_open(g);
    const char *pairs[] = { ":method", "POST",  ":scheme",    "https",
                            ":path",   "/echo", ":authority", "a" };

    int32_t id = h2c_request_headers(h, pairs, 4, false);
    ok(h2c_run_stream(h, id), "the stream is ended by the server");
    is_int(h2c_stream(h, id)->status, 408, "with 408");
    h2c_run(h, all_closed, &(size_t){ 100 });
    ok(h2c_is_over(h), "an idle connection is ended");
    ok(h2c_goaways(h) > 0, "after a GOAWAY");
    h2c_free(h);
    fixture_stop(g, 1000);
}

static void streams_are_limited(void)
{
    struct fixture *g = fixture_start((struct http_limits){ .streams = 1000, .requests = 5 });
    struct h2c *h = h2c_open(g);
    size_t refused = 0;

    for (int i = 0; i < 8; i++)
        h2c_request(h, "GET", "/watch", STR_NONE);
    h2c_run(h, all_closed, &(size_t){ 3 });
    for (int i = 0; i < 8; i++)
        refused += h2c_stream(h, 2 * i + 1)->error == NGHTTP2_REFUSED_STREAM;
    is_int((int64_t)refused, 3, "those over the server's limit are refused, safe to try again");
    is_int(fixture_counts(g)->watches, 5, "the others are served");
    h2c_free(h);
    fixture_stop(g, 1000);
}

static bool two_held(struct h2c *h, void *ctx)
{
    (void)h;
    return fixture_counts(ctx)->held >= 2;
}

static void bodies_of_all_requests_share_a_limit(void)
{
    AUTO(buf) struct buf big = { 0 };
    struct fixture *g = fixture_start((struct http_limits){ .bodies_bytes = 250000 });
    struct h2c *h = h2c_open(g);
    size_t good = 0;
    size_t full = 0;

    for (int i = 0; i < 100000; i++)
        buf_addc(&big, 'x');
    for (int i = 0; i < 5; i++)
        h2c_request(h, "POST", "/held", buf_str(&big));
    h2c_run(h, all_closed, &(size_t){ 3 });
    h2c_run(h, two_held, g);
    fixture_release(g);
    h2c_run(h, all_closed, &(size_t){ 5 });
    for (int i = 0; i < 5; i++) {
        good += h2c_stream(h, 2 * i + 1)->status == 200;
        full += h2c_stream(h, 2 * i + 1)->status == 429;
    }
    ok(good > 0 && full > 0 && good + full == 5, "some are held, the rest may come later");
    h2c_free(h);
    fixture_stop(g, 1000);
}

int main(void)
{
    f = fixture_start((struct http_limits){ 0 });
    a_request_gets_its_answer();
    bodies_are_echoed();
    thousands_of_streams_on_one_connection();
    two_thousand_watches_hear_every_event();
    heads_are_checked();
    limits_have_their_statuses();
    references_to_one_header_end_the_connection();
    expectations_and_trailers_work();
    resets_in_a_row_end_the_connection();
    pings_and_settings_cannot_fill_memory();
    ok(fixture_await(&fixture_counts(f)->closed, fixture_counts(f)->opened),
       "all sources were closed");
    is_int(fixture_counts(f)->closed_twice, 0, "none twice");
    fixture_stop(f, 1000);
    a_slow_body_is_refused();
    streams_are_limited();
    bodies_of_all_requests_share_a_limit();
    return tap_done();
}
