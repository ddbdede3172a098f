/* A request: made from a head, filled with a body, given to the handler, freed when both the
 * handler and the connection are done with it. Head and texts are one piece of memory, since
 * thousands of watches stay for hours. */

#include "http/internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void req_set_target(struct http_req *r, str target)
{
    ptrdiff_t mark = str_find(target, '?');

    r->path = mark < 0 ? target : str_sub(target, 0, (size_t)mark);
    r->query = mark < 0 ? STR_NONE : str_sub(target, (size_t)mark + 1, target.n);
}

struct http_req *req_new(struct conn *c, const struct http_head *h)
{
    size_t fields = h->n * sizeof(struct http_header);
    struct http_req *r = mem_new(sizeof(*r) + fields + h->text.n);

    struct http_header *headers = (struct http_header *)(r + 1);
    char *text = (char *)(headers + h->n);
    if (h->text.n)
        memcpy(text, h->text.p, h->text.n);
    for (size_t i = 0; i < h->n; i++)
        headers[i] = (struct http_header){
            { text + h->fields[i].name.at, h->fields[i].name.n },
            { text + h->fields[i].value.at, h->fields[i].value.n },
        };
    r->headers = headers;
    r->n_headers = h->n;
    r->method = (str){ text + h->method.at, h->method.n };
    r->host = (str){ text + h->authority.at, h->authority.n };
    req_set_target(r, (str){ text + h->target.at, h->target.n });
    r->is_head = str_eq(r->method, S("HEAD"));
    r->c = c;
    r->incoming = true;
    r->born_ms = loop_now_ms(c->s->loop);
    r->next = c->reqs;
    if (r->next)
        r->next->prev = r;
    c->reqs = r;
    c->n_reqs++;
    c->refs++;
    c->s->stats.streams_open++;
    return r;
}

void req_free_body(struct http_req *r)
{
    if (r->c)
        r->c->s->bodies -= r->body.n;
    buf_done(&r->body);
}

int req_add_body(struct http_req *r, const char *p, size_t n)
{
    struct http_server *s = r->c->s;

    if (r->body.n + n > s->limits.body_bytes)
        return 413;
    if (s->bodies + n > s->limits.bodies_bytes)
        return 429;
    buf_add(&r->body, (str){ p, n });
    s->bodies += n;
    return 0;
}

void req_set_active(struct http_req *r, bool active)
{
    if (active == r->active)
        return;
    r->active = active;
    r->pulled_ms = loop_now_ms(r->c->s->loop);
    if (active)
        r->c->n_active++;
    else
        r->c->n_active--;
}

static void leave(struct conn *c, struct http_req *r)
{
    if (r->next)
        r->next->prev = r->prev;
    if (r->prev)
        r->prev->next = r->next;
    else
        c->reqs = r->next;
    c->n_reqs--;
    c->s->stats.streams_open--;
    req_set_active(r, false);
}

static void req_free(struct http_req *r)
{
    struct conn *c = r->c;

    if (c)
        leave(c, r);
    req_free_body(r);
    buf_done(&r->head_out);
    blob_unref(r->reply.blob);
    arena_free(r->a);
    free(r);
    if (!c)
        return;
    if (c->n_reqs == 0)
        conn_touch(c); /* idle from now on, or to be ended */
    conn_unref(c);
}

void req_dispatch(struct http_req *r)
{
    struct http_server *s = r->c->s;

    r->incoming = false;
    s->stats.requests_total++;
    s->on_request(s->ctx, r);
}

void req_finish(struct http_req *r)
{
    assert(r->answered);
    if (r->reply.src.close)
        r->reply.src.close(r->reply.src.ctx);
    req_free(r);
}

void req_lost(struct http_req *r)
{
    r->gone = true;
    r->stream = 0;
    if (r->answered)
        req_finish(r);
    else if (r->incoming)
        req_free(r);
}

ssize_t req_pull(struct http_req *r, char *to, size_t n)
{
    struct reply *p = &r->reply;

    if (p->left == 0 || (p->endless && r->c->s->stopping))
        return HTTP_END;
    if (p->left > 0 && (int64_t)n > p->left)
        n = (size_t)p->left;
    ssize_t got = p->src.read(p->src.ctx, to, n);
    assert(got <= (ssize_t)n);
    if (got > 0 && p->left > 0)
        p->left -= got;
    if (got == HTTP_END && p->left > 0)
        return HTTP_ABORT; /* more was promised */
    r->pulled_ms = loop_now_ms(r->c->s->loop);
    r->waiting = got == HTTP_WAIT;
    if (r->waiting)
        req_set_active(r, false);
    return got;
}

str http_method(const struct http_req *r)
{
    return r->method;
}

str http_path(const struct http_req *r)
{
    return r->path;
}

str http_query(const struct http_req *r)
{
    return r->query;
}

str http_host(const struct http_req *r)
{
    return r->host;
}

str http_get_header(const struct http_req *r, str lower_name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq(r->headers[i].name, lower_name))
            return r->headers[i].value;
    return STR_NONE;
}

size_t http_headers(const struct http_req *r, const struct http_header **out)
{
    *out = r->headers;
    return r->n_headers;
}

str http_body(const struct http_req *r)
{
    return buf_str(&r->body);
}

struct http_identity http_identity(const struct http_req *r)
{
    return r->c ? r->c->who : local_identity(r);
}

struct arena *http_arena(struct http_req *r)
{
    if (!r->a)
        r->a = arena_new();
    return r->a;
}

bool http_is_gone(const struct http_req *r)
{
    return r->gone;
}

int http_version(const struct http_req *r)
{
    return r->version;
}
