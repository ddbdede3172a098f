/* The head is gathered whole and checked line by line before llhttp sees it in one piece; so its
 * spans are never split, and what llhttp lets pass (line folding, HTTP/0.9, other protocols'
 * request lines) never gets there. The body goes through llhttp as it comes. */

#include "http/h1_parse.h"

#include <stdlib.h>

enum { CHUNK_OVERHEAD = 64 * 1024 }; /* bytes of chunk framing that need no body to go with them */

static struct h1_parser *parser_of(llhttp_t *ll)
{
    return ll->data;
}

static struct span span_of(const struct h1_parser *p, const char *at, size_t n)
{
    return (struct span){ (uint32_t)(at - p->head->text.p), (uint32_t)n };
}

static int on_url(llhttp_t *ll, const char *at, size_t n)
{
    struct h1_parser *p = parser_of(ll);

    p->head->target = span_of(p, at, n);
    return 0;
}

static int on_field(llhttp_t *ll, const char *at, size_t n)
{
    struct h1_parser *p = parser_of(ll);
    struct http_head *h = p->head;

    if (p->in_body) /* trailers: read over */
        return 0;
    if (h->n == LIMIT_HEADER_COUNT) {
        p->status = 431;
        return HPE_USER;
    }
    h->fields[h->n].name = span_of(p, at, n);
    p->value = (struct span){ 0 };
    for (char *c = h->text.p + h->fields[h->n].name.at; n > 0; n--, c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c | 0x20);
    return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
    struct h1_parser *p = parser_of(ll);

    if (p->in_body || n == 0)
        return 0;
    struct span piece = span_of(p, at, n);
    if (p->value.n) /* llhttp may hand out a value in pieces, one after the other */
        piece = (struct span){ p->value.at, piece.at + piece.n - p->value.at };
    p->value = piece;
    return 0;
}

static int on_value_complete(llhttp_t *ll)
{
    struct h1_parser *p = parser_of(ll);
    struct http_head *h = p->head;

    if (p->in_body)
        return 0;
    str v = str_trim(head_str(h, p->value));
    h->fields[h->n++].value = (struct span){ v.n ? (uint32_t)(v.p - h->text.p) : 0, (uint32_t)v.n };
    return 0;
}

static int on_headers_complete(llhttp_t *ll)
{
    struct h1_parser *p = parser_of(ll);

    p->head_done = true;
    p->keep_alive = llhttp_should_keep_alive(ll);
    ll->upgrade = 0; /* an upgrade is an offer; whether it is taken is not the parser's business */
    return 0;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
    struct h1_parser *p = parser_of(ll);

    p->decoded += n;
    p->status = p->decoded > p->max_body ? 413 : p->on_body(p->ctx, at, n);
    return p->status ? HPE_USER : 0;
}

static int on_message_complete(llhttp_t *ll)
{
    parser_of(ll)->message_done = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void h1_parser_begin(struct h1_parser *p)
{
    head_clear(p->head);
    p->line_at = 0;
    p->raw = p->decoded = 0;
    p->status = 0;
    p->in_body = p->head_done = p->message_done = p->skipped = false;
    p->keep_alive = p->expects = p->old = false;
}

bool h1_parser_is_idle(const struct h1_parser *p)
{
    return !p->in_body && p->head->text.n == 0;
}

static enum h1_event bad(struct h1_parser *p, int status)
{
    p->status = status;
    return H1_BAD;
}

static bool is_clean(str line)
{
    for (size_t i = 0; i < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* "GET /x HTTP/1.1": the method and target are llhttp's to judge; returns a status or 0. */
static int check_request_line(struct h1_parser *p, str line)
{
    ptrdiff_t first = str_find(line, ' ');
    ptrdiff_t last = str_rfind(line, ' ');

    if (first <= 0 || last == first || str_rfind(str_sub(line, 0, (size_t)last), ' ') != first)
        return 400;
    if ((size_t)(last - first) > p->max_url)
        return 414;
    str version = str_sub(line, (size_t)last + 1, line.n);
    p->old = str_eq(version, S("HTTP/1.0"));
    if (!p->old && !str_eq(version, S("HTTP/1.1")))
        return str_starts(version, S("HTTP/")) ? 505 : 400;
    p->head->method = (struct span){ 0, (uint32_t)first };
    return 0;
}

/* "Name: value": the name is a token. That excludes folded lines too: they start with a blank. */
static int check_field_line(str line)
{
    ptrdiff_t colon = str_find(line, ':');

    for (ptrdiff_t i = 0; i < colon; i++) {
        char c = line.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && !strchr("!#$%&'*+-.^_`|~", c))
            return 400;
    }
    return colon > 0 ? 0 : 400;
}

static int check_line(struct h1_parser *p, str line)
{
    if (!is_clean(line))
        return 400;
    return p->line_at == 0 ? check_request_line(p, line) : check_field_line(line);
}

static bool is_digits(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static int check_framing(struct h1_parser *p)
{
    size_t n_te = 0;
    size_t n_cl = 0;
    str te = head_find(p->head, S("transfer-encoding"), &n_te);
    str cl = head_find(p->head, S("content-length"), &n_cl);

    if (n_te + n_cl > 1 || (n_te && p->old))
        return 400;
    if (n_te && !str_eq_nocase(te, S("chunked")))
        return 501;
    if (n_cl && !is_digits(cl))
        return 400;
    return n_cl && p->ll.content_length > p->max_body ? 413 : 0;
}

static int check_head(struct h1_parser *p)
{
    size_t n_host = 0;
    size_t n_expect = 0;
    str host = head_find(p->head, S("host"), &n_host);
    str expect = head_find(p->head, S("expect"), &n_expect);

    if (n_host > 1 || (n_host == 0 && !p->old))
        return 400;
    for (size_t i = 0; i < host.n; i++)
        if (strchr(" \t/?#@\\,", host.p[i]))
            return 400;
    p->head->authority =
        (struct span){ host.n ? (uint32_t)(host.p - p->head->text.p) : 0, (uint32_t)host.n };
    str method = head_str(p->head, p->head->method);
    if (str_eq(method, S("CONNECT")) || !target_is_plain(head_str(p->head, p->head->target)))
        return 400;
    int framing = check_framing(p);
    if (framing)
        return framing;
    if (n_expect && !str_eq_nocase(expect, S("100-continue")))
        return 417;
    p->expects = n_expect && !p->old;
    return 0;
}

static enum h1_event head_complete(struct h1_parser *p)
{
    llhttp_init(&p->ll, HTTP_REQUEST, &settings);
    p->ll.data = p;
    llhttp_errno_t rc = llhttp_execute(&p->ll, p->head->text.p, p->head->text.n);
    if ((rc != HPE_OK && rc != HPE_PAUSED) || !p->head_done)
        return bad(p, p->status ? p->status : 400);
    int status = check_head(p);
    if (status)
        return bad(p, status);
    p->in_body = true;
    return H1_HEAD;
}

/* Takes bytes up to the empty line that ends the head. */
static enum h1_event feed_head(struct h1_parser *p, const char *in, size_t n, size_t *used)
{
    struct buf *t = &p->head->text;

    *used = 0;
    while (*used < n) {
        const char *at = in + *used;
        if (t->n == 0 && *at != '\r' && (*at < 'A' || *at > 'Z'))
            return bad(p, 400); /* not HTTP: do not wait for a line of it */
        const char *end = memchr(at, '\n', n - *used);
        size_t take = end ? (size_t)(end - at) + 1 : n - *used;
        if (t->n + take > p->max_head)
            return bad(p, p->line_at == 0 ? 414 : 431);
        buf_add(t, (str){ at, take });
        *used += take;
        if (!end)
            return p->line_at == 0 && t->n > p->max_url + 64 ? bad(p, 414) : H1_MORE;
        str line = { t->p + p->line_at, t->n - p->line_at - 1 };
        if (line.n == 0 || line.p[line.n - 1] != '\r')
            return bad(p, 400);
        line.n--;
        if (line.n == 0 && p->line_at > 0)
            return head_complete(p);
        if (line.n == 0 && !p->skipped) {
            p->skipped = true;
            buf_clear(t);
            continue;
        }
        int status = line.n ? check_line(p, line) : 400;
        if (status)
            return bad(p, status);
        p->line_at = t->n;
    }
    return H1_MORE;
}

static enum h1_event feed_body(struct h1_parser *p, const char *in, size_t n, size_t *used)
{
    *used = 0;
    if (p->message_done)
        return H1_DONE;
    if (n == 0)
        return H1_MORE;
    llhttp_errno_t rc = llhttp_execute(&p->ll, in, n);
    *used = rc == HPE_PAUSED ? (size_t)(llhttp_get_error_pos(&p->ll) - in) : n;
    if (p->message_done && rc == HPE_PAUSED)
        return H1_DONE;
    if (rc != HPE_OK)
        return bad(p, p->status ? p->status : 400);
    p->raw += n;
    if (p->raw - p->decoded > CHUNK_OVERHEAD + 8 * p->decoded)
        return bad(p, 400); /* mostly framing: somebody wants us to work */
    return H1_MORE;
}

enum h1_event h1_parser_feed(struct h1_parser *p, const char *in, size_t n, size_t *used)
{
    return p->in_body ? feed_body(p, in, n, used) : feed_head(p, in, n, used);
}
