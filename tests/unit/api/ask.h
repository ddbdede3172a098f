/* Requests as bytes, in the name of any user, without a connection. */
#pragma once

#include "box.h"

#include "http/local.h"

struct reply {
    bool done;
    bool is_open; /* it goes on, as a watch does; it was given up */
    int status;
    struct arena *a;
    str type; /* content-type */
    struct buf body;
};

static void reply_auto(struct reply *r)
{
    buf_done(&r->body);
    arena_free(r->a);
}

static void reply_on_head(void *ctx, int status, const struct http_header *h, size_t n)
{
    struct reply *r = ctx;

    r->status = status;
    for (size_t i = 0; i < n; i++)
        if (str_eqz(h[i].name, "content-type"))
            r->type = arena_str(r->a, h[i].value);
}

static void reply_on_piece(void *ctx, struct arena *a, str piece, enum http_piece how)
{
    struct reply *r = ctx;

    (void)a;
    buf_add(&r->body, piece);
    r->done = how != PIECE_MORE;
}

/* user: "name" or "name,group,group". head: "GET /path?query", then lines "name: value". */
static struct reply ask(struct box *b, const char *user, const char *head, str body)
{
    enum { MOST = 32, TURNS_OPEN = 50 };
    struct arena *a = arena_new();
    struct http_header *h = ARENA_ARRAY(a, struct http_header, MOST);
    str *groups = ARENA_ARRAY(a, str, MOST);
    str lines = arena_str(a, str_of(head)), rest = arena_str(a, str_of(user));
    str first = str_cut(&lines, '\n');
    struct http_ask q = { .a = a, .headers = h };
    struct reply r = { .a = arena_new() };
    struct http_local l = { .loop = b->loop,
                            .on_request = api_on_request,
                            .ctx = b->api,
                            .to = { reply_on_head, reply_on_piece, &r } };

    l.who.user = str_cut(&rest, ',');
    l.who.groups = groups;
    while (rest.p && l.who.n_groups < MOST)
        groups[l.who.n_groups++] = str_cut(&rest, ',');
    q.method = str_cut(&first, ' ');
    q.target = first.p ? first : S("/");
    while (lines.p && q.n_headers < MOST) {
        str value = str_cut(&lines, '\n'), name = str_cut(&value, ':');
        h[q.n_headers++] = (struct http_header){ name, str_trim(value) };
    }
    buf_add(&q.body, body);
    struct http_req *req = http_local_start(&l, &q);
    for (int turns = 0; !r.done; box_turn(b)) {
        if (r.status && turns++ > TURNS_OPEN) {
            http_local_cancel(req);
            r.is_open = true;
            break;
        }
        if (!r.status)
            usleep(50);
    }
    return r;
}

__attribute__((unused)) static int ask_status(struct box *b, const char *user, const char *head,
                                              const char *body)
{
    AUTO(reply) struct reply r = ask(b, user, head, str_of(body));

    return r.status;
}
