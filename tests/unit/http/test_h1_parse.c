/* The HTTP/1.1 parser alone: each request whole and byte by byte must come out the same. */

#include "http/h1_parse.h"

#include "tap.h"

struct seen {
    int status;   /* 0: complete */
    int requests; /* complete ones */
    bool keep_alive, expects;
    struct buf text; /* of all requests: method, target, fields, body */
};

static int on_body(void *ctx, const char *p, size_t n)
{
    struct seen *s = ctx;

    buf_add(&s->text, (str){ p, n });
    return 0;
}

static void note_head(struct seen *s, const struct h1_parser *p)
{
    const struct http_head *h = p->head;

    s->keep_alive = p->keep_alive;
    s->expects = p->expects;
    buf_printf(&s->text, "%.*s %.*s", STR_ARG(head_str(h, h->method)),
               STR_ARG(head_str(h, h->target)));
    for (size_t i = 0; i < h->n; i++)
        buf_printf(&s->text, " %.*s=%.*s", STR_ARG(head_str(h, h->fields[i].name)),
                   STR_ARG(head_str(h, h->fields[i].value)));
    buf_add(&s->text, S(" "));
}

/* Feeds `in` in pieces of `step` bytes. */
static struct seen parse(str in, size_t step)
{
    static struct http_head head;
    struct seen s = { 0 };
    struct h1_parser p = { .head = &head,
                           .on_body = on_body,
                           .ctx = &s,
                           .max_head = 1000,
                           .max_url = 100,
                           .max_body = 200 };

    h1_parser_begin(&p);
    for (size_t at = 0; at < in.n;) {
        size_t n = in.n - at < step ? in.n - at : step;
        enum h1_event ev = H1_MORE;
        do {
            size_t used = 0;
            ev = h1_parser_feed(&p, in.p + at, n, &used);
            at += used;
            n -= used;
            if (ev == H1_HEAD)
                note_head(&s, &p);
            if (ev == H1_BAD) {
                s.status = p.status;
                return s;
            }
            if (ev == H1_DONE) {
                s.requests++;
                buf_add(&s.text, S(";"));
                h1_parser_begin(&p);
            }
        } while (n > 0 || ev == H1_HEAD);
    }
    buf_done(&head.text);
    return s;
}

#define HOST "Host: a\r\n"

static const struct {
    const char *what;
    const char *in;
    const char *out; /* NULL: refused */
    int status;
} cases[] = {
    { "a plain request", "GET / HTTP/1.1\r\n" HOST "\r\n", "GET / host=a ;", 0 },
    { "an empty value", "GET / HTTP/1.1\r\n" HOST "X:\r\n\r\n", "GET / host=a x= ;", 0 },
    { "white space around a value", "GET / HTTP/1.1\r\n" HOST "X: \t b c \t \r\n\r\n",
      "GET / host=a x=b c ;", 0 },
    { "one empty line before", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "GET / host=a ;", 0 },
    { "a body", "POST /x HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc",
      "POST /x host=a content-length=3 abc;", 0 },
    { "a chunked body",
      "POST /x HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n",
      "POST /x host=a transfer-encoding=chunked abcde;", 0 },
    { "trailers, read over",
      "POST /x HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n0\r\nHost: b\r\nX: y\r\n\r\n",
      "POST /x host=a transfer-encoding=Chunked ;", 0 },
    { "two in a row", "GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n",
      "GET /1 host=a ;GET /2 host=a ;", 0 },
    { "a body and another",
      "PUT /1 HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhiGET /2 HTTP/1.1\r\n" HOST "\r\n",
      "PUT /1 host=a content-length=2 hi;GET /2 host=a ;", 0 },
    { "an upgrade is a request like any other",
      "GET / HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
      "GET /2 HTTP/1.1\r\n" HOST "\r\n",
      "GET / host=a connection=Upgrade upgrade=websocket ;GET /2 host=a ;", 0 },
    { "HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n", "GET / ;", 0 },
    { "bytes above 127 in a value", "GET / HTTP/1.1\r\n" HOST "X: \xc3\xa4\r\n\r\n",
      "GET / host=a x=\xc3\xa4 ;", 0 },

    { "no host", "GET / HTTP/1.1\r\n\r\n", NULL, 400 },
    { "two hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", NULL, 400 },
    { "two hosts in one", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", NULL, 400 },
    { "a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", NULL, 400 },
    { "a host with a user", "GET / HTTP/1.1\r\nHost: u@b\r\n\r\n", NULL, 400 },
    { "space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", NULL, 400 },
    { "tab before the colon", "GET / HTTP/1.1\r\n" HOST "X\t: a\r\n\r\n", NULL, 400 },
    { "no colon", "GET / HTTP/1.1\r\n" HOST "X\r\n\r\n", NULL, 400 },
    { "no name", "GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n", NULL, 400 },
    { "a folded line", "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", NULL, 400 },
    { "a line folded with a tab", "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", NULL, 400 },
    { "a fold right after the request line", "GET / HTTP/1.1\r\n " HOST "\r\n", NULL, 400 },
    { "a folded transfer-encoding",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", NULL, 400 },
    { "a bare LF", "GET / HTTP/1.1\n" HOST "\r\n", NULL, 400 },
    { "a bare LF between fields", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", NULL, 400 },
    { "a bare LF at the end", "GET / HTTP/1.1\r\n" HOST "\n", NULL, 400 },
    { "a bare CR in a value", "GET / HTTP/1.1\r\n" HOST "X: a\rY: b\r\n\r\n", NULL, 400 },
    { "a bare CR hiding a field (CVE-2023-30589)",
      "GET / HTTP/1.1\r\n" HOST "X-Abc:\rxTransfer-Encoding: chunked\r\n\r\n", NULL, 400 },
    { "a control character", "GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n\r\n", NULL, 400 },
    { "DEL", "GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n\r\n", NULL, 400 },
    { "a length and chunks",
      "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      NULL, 400 },
    { "chunks and a length",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      NULL, 400 },
    { "two lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      NULL, 400 },
    { "the same length twice",
      "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", NULL, 400 },
    { "a list of lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\na", NULL, 400 },
    { "a signed length", "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\na", NULL, 400 },
    { "a negative length", "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", NULL, 400 },
    { "a hexadecimal length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\na", NULL,
      400 },
    { "an empty length", "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", NULL, 400 },
    { "a length beyond 64 bits",
      "POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551617\r\n\r\n", NULL, 400 },
    { "an encoding we cannot undo",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", NULL, 501 },
    { "chunked not last",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", NULL,
      400 },
    { "almost chunked", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      NULL, 400 },
    { "chunked twice",
      "POST / HTTP/1.1\r\n" HOST
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      NULL, 400 },
    { "chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", NULL,
      400 },
    { "a bad chunk size", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
      NULL, 400 },
    { "a negative chunk size",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", NULL, 400 },
    { "a chunk size beyond 64 bits",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n",
      NULL, 400 },
    { "a chunk that ends in a bare LF",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n", NULL, 400 },
    { "a chunk longer than it says",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", NULL,
      400 },
    { "a target of another host", "GET http://b/ HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a target without a slash", "GET x HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "the star", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a tunnel", "CONNECT b:443 HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a fragment", "GET /a#b HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "bytes above 127 in the target", "GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a space in the target", "GET /a b HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "two spaces", "GET  / HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a tab for a space", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a space at the end", "GET / HTTP/1.1 \r\n" HOST "\r\n", NULL, 400 },
    { "an unknown method", "FROB / HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "a method in lower case", "get / HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "HTTP/0.9", "GET /\r\n\r\n", NULL, 400 },
    { "HTTP/2.0 in words", "GET / HTTP/2.0\r\n" HOST "\r\n", NULL, 505 },
    { "HTTP/1.2", "GET / HTTP/1.2\r\n" HOST "\r\n", NULL, 505 },
    { "another protocol", "GET / RTSP/1.0\r\n" HOST "\r\n", NULL, 400 },
    { "HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", NULL, 505 },
    { "TLS in TLS", "\x16\x03\x01\x02\x00\x01\x0d\x0a", NULL, 400 },
    { "two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", NULL, 400 },
    { "an unknown expectation", "POST / HTTP/1.1\r\n" HOST "Expect: gold\r\n\r\n", NULL, 417 },
    { "a body that says it is too large", "POST / HTTP/1.1\r\n" HOST "Content-Length: 201\r\n\r\n",
      NULL, 413 },
    { "chunks that are too large",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
      "64\r\n"
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
      "890123456789\r\n65\r\n"
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
      "8901234567890\r\n0\r\n\r\n",
      NULL, 413 },
};

static void every_case_comes_out_the_same_in_pieces(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        str in = str_of(cases[i].in);
        static const size_t steps[] = { 100000, 1, 2, 7 };
        bool same = true;
        for (size_t k = 0; k < COUNT(steps); k++) {
            struct seen s = parse(in, steps[k]);
            bool good = s.status == cases[i].status &&
                        (!cases[i].out || str_eqz(buf_str(&s.text), cases[i].out));
            if (!good)
                printf("# step %zu: status %d, want %d; got %.*s\n", steps[k], s.status,
                       cases[i].status, STR_ARG(buf_str(&s.text)));
            same &= good;
            buf_done(&s.text);
        }
        ok(same, "%s", cases[i].what);
    }
}

static void expect(struct seen s, int status, const char *what)
{
    is_int(s.status, status, what);
    buf_done(&s.text);
}

static void limits_hold_before_memory_is_used(void)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("GET /"));
    for (int i = 0; i < 200; i++)
        buf_addc(&b, 'a');
    expect(parse(buf_str(&b), 1), 414, "a long target is refused before its line ends");
    buf_add(&b, S(" HTTP/1.1\r\nHost: a\r\n\r\n"));
    expect(parse(buf_str(&b), 100000), 414, "and after");
    buf_clear(&b);
    buf_add(&b, S("GET / HTTP/1.1\r\nHost: a\r\n"));
    for (int i = 0; i < 1000; i++)
        buf_addc(&b, 'x');
    expect(parse(buf_str(&b), 1), 431, "a long head is refused before it ends");
    buf_clear(&b);
    buf_add(&b, S("GET / HTTP/1.1\r\nHost: a\r\n"));
    for (int i = 0; i < 100; i++)
        buf_add(&b, S("a:\r\n"));
    buf_add(&b, S("\r\n"));
    expect(parse(buf_str(&b), 100000), 431, "a hundred fields and one are too many");
    buf_clear(&b);
    buf_add(&b, S("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;"));
    for (int i = 0; i < 70000; i++)
        buf_addc(&b, 'x');
    expect(parse(buf_str(&b), 1000), 400, "a chunk extension cannot go on for ever");
}

static void connection_headers_are_understood(void)
{
    static const struct {
        const char *in;
        bool keep;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true },
        { "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false },
        { "GET / HTTP/1.0\r\nHost: a\r\n\r\n", false },
        { "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct seen s = parse(str_of(rows[i].in), 100000);
        ok(s.requests == 1 && s.keep_alive == rows[i].keep, "keep-alive of case %zu", i);
        buf_done(&s.text);
    }
    struct seen s =
        parse(S("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n"),
              100000);
    ok(s.expects && s.status == 0, "an expectation is seen");
    buf_done(&s.text);
}

int main(void)
{
    every_case_comes_out_the_same_in_pieces();
    limits_hold_before_memory_is_used();
    connection_headers_are_understood();
    return tap_done();
}
