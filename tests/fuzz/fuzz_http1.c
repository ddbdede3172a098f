/* Bytes of a connection into the HTTP/1.1 parser, as a server would feed it: in two ways of
 * cutting, which must agree, and with everything it says checked against what was let in. */

#include "http/h1_parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct buf text; /* all that came out */
    int status;
    int requests;
};

static int on_body(void *ctx, const char *p, size_t n)
{
    struct seen *s = ctx;

    buf_add(&s->text, (str){ p, n });
    return 0;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void note_head(struct seen *s, const struct h1_parser *p)
{
    const struct http_head *h = p->head;
    str target = head_str(h, h->target);

    check(h->method.n > 0 && target.n > 0 && target.p[0] == '/');
    check(h->text.n <= p->max_head && target.n <= p->max_url);
    buf_add(&s->text, head_str(h, h->method));
    buf_add(&s->text, target);
    for (size_t i = 0; i < h->n; i++) {
        str name = head_str(h, h->fields[i].name);
        str value = head_str(h, h->fields[i].value);
        check(name.n > 0 && str_find(name, ' ') < 0 && str_find(name, ':') < 0);
        check(str_find(value, '\r') < 0 && str_find(value, '\n') < 0 && str_find(value, 0) < 0);
        buf_add(&s->text, name);
        buf_add(&s->text, value);
    }
}

static struct seen parse(str in, size_t step)
{
    static struct http_head head;
    struct seen s = { 0 };
    struct h1_parser p = { .head = &head,
                           .on_body = on_body,
                           .ctx = &s,
                           .max_head = 2048,
                           .max_url = 512,
                           .max_body = 1024 };

    h1_parser_begin(&p);
    for (size_t at = 0; at < in.n;) {
        size_t n = in.n - at < step ? in.n - at : step;
        enum h1_event ev = H1_MORE;
        do {
            size_t used = 0;
            ev = h1_parser_feed(&p, in.p + at, n, &used);
            check(used <= n && (ev != H1_MORE || used == n));
            at += used;
            n -= used;
            if (ev == H1_HEAD)
                note_head(&s, &p);
            if (ev == H1_BAD) {
                check(p.status >= 400 && p.status < 600);
                s.status = p.status;
                return s;
            }
            if (ev == H1_DONE) {
                check(p.decoded <= p.max_body);
                s.requests++;
                h1_parser_begin(&p);
            }
        } while (n > 0 || ev == H1_HEAD);
    }
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str in = { (const char *)data, size };
    struct seen whole = parse(in, size ? size : 1);
    struct seen bytes = parse(in, 1);

    check(whole.requests == bytes.requests);
    if (whole.status == 0 && bytes.status == 0)
        check(str_eq(buf_str(&whole.text), buf_str(&bytes.text)));
    buf_done(&whole.text);
    buf_done(&bytes.text);
    return 0;
}
