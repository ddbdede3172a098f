/* Answers: what both versions of HTTP have in common before their framing. */

#include "http/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { OWN_HEADERS = 4, FEW_HEADERS = 24 };

static ssize_t read_blob(void *ctx, char *to, size_t n)
{
    struct http_req *r = ctx;
    str all = blob_str(r->reply.blob);
    size_t take = all.n - r->reply.blob_at < n ? all.n - r->reply.blob_at : n;

    if (take == 0)
        return HTTP_END;
    memcpy(to, all.p + r->reply.blob_at, take);
    r->reply.blob_at += take;
    return (ssize_t)take;
}

/* Texts of users end up in headers (Warning); none may start a line of its own. */
static str clean_value(struct http_req *r, str v)
{
    size_t i = 0;

    while (i < v.n && ((unsigned char)v.p[i] >= ' ' || v.p[i] == '\t') && v.p[i] != 0x7f)
        i++;
    if (i == v.n)
        return v;
    char *copy = arena_alloc(http_arena(r), v.n);
    for (i = 0; i < v.n; i++)
        copy[i] = (char)((unsigned char)v.p[i] < ' ' || v.p[i] == 0x7f ? ' ' : v.p[i]);
    return (str){ copy, v.n };
}

static bool has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void finish(void *arg)
{
    req_finish(arg);
}

void req_finish_later(struct http_req *r)
{
    loop_defer(r->c->s->loop, finish, r);
}

/* r->reply.src is set. */
static void answer(struct http_req *r, int status, const struct http_header *h, size_t n_h)
{
    struct http_header few[FEW_HEADERS + OWN_HEADERS];
    struct http_header *all = few;
    struct reply *p = &r->reply;
    char length[24];
    size_t n = 0;

    assert(!r->answered);
    r->answered = true;
    p->status = status;
    p->endless = p->src.length == -1;
    p->bodyless = r->is_head || !has_body(status) || p->src.length == 0;
    if (p->endless)
        req_free_body(r);
    if (r->local) {
        local_reply(r, h, n_h);
        return;
    }
    if (r->gone) { /* not from within: the handler may not be ready for close() yet */
        req_finish_later(r);
        return;
    }
    if (n_h > FEW_HEADERS)
        all = ARENA_ARRAY(http_arena(r), struct http_header, n_h + OWN_HEADERS);
    for (size_t i = 0; i < n_h; i++)
        all[n++] = (struct http_header){ h[i].name, clean_value(r, h[i].value) };
    all[n++] = (struct http_header){ S("date"), server_date(r->c->s) };
    if (!p->bodyless && gzip_is_wanted(r)) {
        all[n++] = (struct http_header){ S("content-encoding"), S("gzip") };
        all[n++] = (struct http_header){ S("vary"), S("accept-encoding") };
        gzip_wrap(r);
    } else if (p->src.length >= 0 && has_body(status)) {
        int k = snprintf(length, sizeof(length), "%" PRId64, p->src.length);
        all[n++] = (struct http_header){ S("content-length"), { length, (size_t)k } };
    }
    p->left = p->src.length;
    req_set_active(r, !p->bodyless);
    r->c->proto->reply(r, all, n);
    conn_touch(r->c);
}

void http_reply(struct http_req *r, int status, const struct http_header *h, size_t n_h,
                struct blob *body)
{
    r->reply.blob = body;
    r->reply.src = (struct http_source){ .read = read_blob, .ctx = r };
    r->reply.src.length = (int64_t)blob_str(body).n;
    answer(r, status, h, n_h);
}

void http_reply_source(struct http_req *r, int status, const struct http_header *h, size_t n_h,
                       struct http_source src)
{
    r->reply.src = src;
    answer(r, status, h, n_h);
}

void http_allow_slow_client(struct http_req *r)
{
    r->slow_allowed = true;
    if (r->c)
        r->c->slow_allowed = true;
}

void req_refuse(struct http_req *r, int status)
{
    str type = STR_NONE;
    str body = refuse_body(status, &type);
    struct http_header h[] = { { S("content-type"), type }, { S("retry-after"), S("1") } };

    r->c->s->stats.refused_total++;
    r->incoming = false;
    r->keep_alive = false;
    req_free_body(r);
    http_reply(r, status, h, status == 429 ? 2 : 1, blob_new(body));
}

void http_wake(struct http_req *r)
{
    if (!r->waiting || r->gone)
        return;
    if (r->local) {
        local_wake(r);
        return;
    }
    r->waiting = false;
    req_set_active(r, true);
    r->c->proto->wake(r);
    conn_touch(r->c);
}
