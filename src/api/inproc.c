/* The Kubernetes API from within: a call is a local HTTP request to api_on_request and what becomes
 * of its answer. An answer that comes in one piece, as most do, is read where it lies. */

#include "api/inproc.h"

#include "api/request.h"
#include "base/mem.h"
#include "http/local.h"

#include <stdlib.h>

enum { MAX_HEADERS = 3 };

struct inproc {
    struct kube_api base; /* first */
    struct loop *loop;
    struct api *api;
    const char *component;
    char *user;
    const char *group; /* NULL: none */
    struct kube_call *calls;
    struct kube_call *telling; /* whose bytes are being told; NULL: none, or it is gone */
};

struct kube_call {
    struct inproc *in;
    struct kube_call *next, *prev;
    struct http_req *req;
    bool is_watch;
    kube_done *done; /* of a plain request */
    void (*on_bytes)(void *ctx, str bytes);
    void *ctx;
    struct kube_watcher watcher; /* of a watch */
    struct kube_lines *lines;    /* of one that was accepted */
    int status;
    char retry_after[24];
    struct buf body; /* pieces so far */
    struct loop_timer *timer;
};

/* It is over for its owner; whoever calls this looks after the request. */
static void call_free(struct inproc *in, struct kube_call *c)
{
    if (in->telling == c)
        in->telling = NULL;
    if (c->next)
        c->next->prev = c->prev;
    if (in->calls == c)
        in->calls = c->next;
    else
        c->prev->next = c->next;
    loop_timer_stop(c->timer);
    kube_lines_free(c->lines);
    buf_done(&c->body);
    free(c);
}

/* ---- how calls end: the owner is told last, when the call is gone */

static void end_plain(struct kube_call *c, const struct kube_answer *ans)
{
    kube_done *done = c->done;
    void *ctx = c->ctx;
    struct buf body = c->body; /* what the answer points into */

    c->body = (struct buf){ 0 };
    call_free(c->in, c);
    done(ctx, ans);
    buf_done(&body);
}

static void end_watch(struct kube_call *c, const struct err *e, int64_t retry_after_ms)
{
    struct kube_watcher w = c->watcher;

    call_free(c->in, c);
    w.on_end(w.ctx, e, retry_after_ms);
}

static void end_without_answer(struct kube_call *c, enum err_code code, const char *why)
{
    struct kube_answer ans = { 0 };

    err_set(&ans.err, code, "%s", why);
    ans.message = str_of(why);
    if (c->is_watch)
        end_watch(c, &ans.err, 0);
    else
        end_plain(c, &ans);
}

static void on_late(void *arg)
{
    struct kube_call *c = arg;

    http_local_cancel(c->req);
    end_without_answer(c, ERR_TIMEOUT, "the server did not answer in time");
}

/* ---- answers */

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct kube_call *c = ctx;

    c->watcher.on_event(c->watcher.ctx, type, obj);
}

static void on_head(void *ctx, int status, const struct http_header *h, size_t n)
{
    struct kube_call *c = ctx;

    c->status = status;
    for (size_t i = 0; i < n; i++)
        if (str_eqz(h[i].name, "retry-after") && h[i].value.n < sizeof(c->retry_after))
            memcpy(c->retry_after, h[i].value.p, h[i].value.n);
    if (c->is_watch && status == 200)
        c->lines = kube_lines_new(NULL, on_event, c);
}

static void on_lines(struct kube_call *c, str piece, enum http_piece how)
{
    struct err e = { 0 };
    int rc = kube_lines_feed(c->lines, piece, &e);

    if (rc > 0)
        return; /* cancelled by who was told of an event; c is gone */
    if (rc < 0) {
        if (how == PIECE_MORE)
            http_local_cancel(c->req);
        end_watch(c, &e, 0);
    } else if (how != PIECE_MORE) {
        end_watch(c, NULL, 0); /* broken off: to be resumed all the same */
    }
}

static void on_bytes(struct kube_call *c, str piece, enum http_piece how)
{
    struct kube_answer ans = { .status = c->status };
    struct inproc *in = c->in;

    in->telling = c;
    if (piece.n)
        c->on_bytes(c->ctx, piece);
    bool gone = in->telling != c;
    in->telling = NULL;
    if (gone || how == PIECE_MORE)
        return;
    if (how == PIECE_BROKEN)
        end_without_answer(c, ERR_UNAVAILABLE, "the server cut its answer off");
    else
        end_plain(c, &ans);
}

static void on_piece(void *ctx, struct arena *a, str piece, enum http_piece how)
{
    struct kube_call *c = ctx;
    struct kube_answer ans;

    if (c->lines) {
        on_lines(c, piece, how);
        return;
    }
    if (c->on_bytes && c->status / 100 == 2) {
        on_bytes(c, piece, how);
        return;
    }
    if (how == PIECE_BROKEN) {
        end_without_answer(c, ERR_UNAVAILABLE, "the server cut its answer off");
        return;
    }
    if (how == PIECE_MORE || c->body.n) {
        buf_add(&c->body, piece);
        piece = buf_str(&c->body);
    }
    if (how == PIECE_MORE)
        return;
    kube_answer_read(a, c->status, piece, NULL, str_of(c->retry_after), &ans);
    if (c->is_watch)
        end_watch(c, &ans.err, ans.retry_after_ms);
    else
        end_plain(c, &ans);
}

/* ---- requests */

/* ask: with arena, method and target. */
static void start(struct kube_call *c, struct http_ask *ask, const char *accept, const char *type)
{
    struct inproc *in = c->in;
    struct arena *a = ask->a;
    str *group = ARENA_NEW(a, str);
    struct http_header *h = ARENA_ARRAY(a, struct http_header, MAX_HEADERS);
    struct http_local l = { .loop = in->loop,
                            .on_request = api_on_request,
                            .ctx = in->api,
                            .who = { arena_str(a, str_of(in->user)), group, in->group != NULL },
                            .to = { on_head, on_piece, c } };

    *group = str_of(in->group);
    ask->headers = h;
    h[ask->n_headers++] =
        (struct http_header){ S("user-agent"),
                              arena_printf(a, "muster/" MUSTER_VERSION " (%s)", in->component) };
    if (accept)
        h[ask->n_headers++] = (struct http_header){ S("accept"), arena_str(a, str_of(accept)) };
    if (type)
        h[ask->n_headers++] = (struct http_header){ S("content-type"), str_of(type) };
    c->req = http_local_start(&l, ask);
}

static void start_verb(struct kube_call *c, const struct kube_request *r)
{
    struct arena *a = arena_new();
    struct http_ask ask = { .a = a, .method = str_of(kube_method(r)), .target = kube_path(a, r) };
    bool has_body = jv_exists(r->body);

    if (has_body)
        json_print(&ask.body, r->body);
    start(c, &ask, r->accept, has_body ? kube_content_type(r) : NULL);
}

static struct kube_call *call_new(struct kube_api *api, bool is_watch)
{
    struct inproc *in = (struct inproc *)api;
    struct kube_call *c = mem_new(sizeof(*c));

    assert_on_loop(in->loop);
    c->in = in;
    c->is_watch = is_watch;
    c->next = in->calls;
    if (c->next)
        c->next->prev = c;
    in->calls = c;
    return c;
}

static struct kube_call *inproc_send(struct kube_api *api, const struct kube_request *r,
                                     kube_done *done, void *ctx)
{
    struct kube_call *c = call_new(api, false);

    c->done = done;
    c->ctx = ctx;
    if (r->timeout_ms > 0)
        c->timer = loop_timer_start(c->in->loop, r->timeout_ms, 0, on_late, c);
    start_verb(c, r);
    return c;
}

static struct kube_call *inproc_watch(struct kube_api *api, const struct kube_request *r,
                                      const struct kube_watcher *w)
{
    struct kube_call *c = call_new(api, true);
    struct kube_request watch = *r;

    watch.verb = KUBE_WATCH;
    c->watcher = *w;
    start_verb(c, &watch);
    return c;
}

static struct kube_call *inproc_get(struct kube_api *api, const struct kube_get *g, kube_done *done,
                                    void *ctx)
{
    struct kube_call *c = call_new(api, false);
    struct arena *a = arena_new();
    struct http_ask ask = { .a = a, .method = S("GET"), .target = arena_str(a, g->path) };

    c->done = done;
    c->ctx = ctx;
    c->on_bytes = g->on_bytes;
    start(c, &ask, g->accept, NULL);
    return c;
}

static void inproc_cancel(struct kube_api *api, struct kube_call *c)
{
    http_local_cancel(c->req);
    call_free((struct inproc *)api, c);
}

struct kube_api *api_inproc_new(struct api *api, const char *component, const char *user,
                                const char *group)
{
    static const struct kube_api_ops ops = { inproc_send, inproc_watch, inproc_cancel, inproc_get };
    struct inproc *in = mem_new(sizeof(*in));

    in->base.ops = &ops;
    in->api = api;
    in->loop = api->loop;
    in->component = component;
    in->user = mem_or_abort(strdup(user));
    in->group = group;
    return &in->base;
}

void api_inproc_free(struct kube_api *api)
{
    struct inproc *in = (struct inproc *)api;

    if (!in)
        return;
    while (in->calls)
        inproc_cancel(api, in->calls);
    free(in->user);
    free(in);
}
