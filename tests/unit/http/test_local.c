/* Requests without a connection: how their answers come, break and are given up. */

#include "http/local.h"
#include "tap.h"

#include <uv.h>

struct play {
    struct loop *loop;
    struct http_req *req; /* as the handler has it */
    const char *script;   /* what read() says: letters are bytes, '.' wait, '!' abort */
    int64_t length;
    bool answers_later;
    size_t reads, closes;
    char got[64];
    char ends[8];
    int status;
};

static ssize_t play_read(void *ctx, char *buf, size_t n)
{
    struct play *p = ctx;

    p->reads++;
    if (!*p->script)
        return HTTP_END;
    char c = *p->script++;
    if (c == '.')
        return HTTP_WAIT;
    if (c == '!')
        return HTTP_ABORT;
    buf[0] = n ? c : 0;
    return 1;
}

static void play_close(void *ctx)
{
    struct play *p = ctx;

    p->closes++;
}

static void answer(struct play *p)
{
    struct http_header h = { S("x"), S("y") };

    http_reply_source(p->req, 200, &h, 1,
                      (struct http_source){ play_read, play_close, p, p->length });
}

static void on_request(void *ctx, struct http_req *r)
{
    struct play *p = ctx;

    p->req = r;
    if (str_eqz(http_path(r), "/blob"))
        http_reply(r, 201, NULL, 0, blob_new(http_body(r)));
    else if (str_eqz(http_path(r), "/nothing"))
        http_reply(r, 204, NULL, 0, NULL);
    else if (!p->answers_later)
        answer(p);
}

static void on_head(void *ctx, int status, const struct http_header *h, size_t n)
{
    struct play *p = ctx;

    (void)h, (void)n;
    p->status = status;
}

static void on_piece(void *ctx, struct arena *a, str piece, enum http_piece how)
{
    struct play *p = ctx;

    ok(a != NULL, "there is an arena");
    strncat(p->got, piece.n ? piece.p : "", piece.n);
    if (how != PIECE_MORE)
        strcat(p->ends, how == PIECE_LAST ? "L" : "B");
}

static struct http_req *ask(struct play *p, const char *target, const char *body)
{
    static const str groups[] = { S_INIT("them") };
    struct http_local l = { .loop = p->loop,
                            .on_request = on_request,
                            .ctx = p,
                            .who = { S("me"), groups, 1 },
                            .to = { on_head, on_piece, p } };
    struct http_ask q = { .method = S("GET"), .a = arena_new() };

    q.target = arena_str(q.a, str_of(target));
    buf_add(&q.body, str_of(body));
    struct http_req *r = http_local_start(&l, &q);
    is_str(str_of(p->got), S(""), "nothing comes from within");
    return r;
}

static void turn(struct play *p)
{
    for (int i = 0; i < 10; i++)
        uv_run(loop_uv(p->loop), UV_RUN_NOWAIT);
}

static void answers_come_whole_or_broken(struct loop *l)
{
    static const struct {
        const char *target, *script;
        int64_t length;
        const char *got, *ends, *what;
    } rows[] = {
        { "/blob", "", 0, "body", "L", "an answer that is there" },
        { "/nothing", "", 0, "", "L", "an answer without a body" },
        { "/", "abc", 3, "abc", "L", "one of known length" },
        { "/", "abcdef", 3, "abc", "L", "no more of it than was said" },
        { "/", "abc", 5, "abc", "B", "one that ends too soon" },
        { "/", "abc", -1, "abc", "L", "one of unknown length" },
        { "/", "ab!c", -1, "ab", "B", "one that is broken off" },
        { "/", "abcdefghijklmnopqrstuvwxyz", -1, "abcdefghijklmnopqrstuvwxyz", "L",
          "one of many turns" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct play p = { .loop = l, .script = rows[i].script, .length = rows[i].length };
        ask(&p, rows[i].target, "body");
        turn(&p);
        is_str(str_of(p.got), str_of(rows[i].got), rows[i].what);
        is_str(str_of(p.ends), str_of(rows[i].ends), "and its end, once");
        is_int((int64_t)p.closes, rows[i].target[1] ? 0 : 1, "its source is closed");
    }
}

static void sources_are_woken(struct loop *l)
{
    struct play p = { .loop = l, .script = "a.b", .length = -1 };

    ask(&p, "/", "");
    turn(&p);
    is_str(str_of(p.got), S("a"), "it waits");
    is_int((int64_t)p.reads, 2, "and is not asked");
    is_str(http_identity(p.req).user, S("me"), "who asks is known");
    http_wake(p.req);
    http_wake(p.req);
    turn(&p);
    is_str(str_of(p.got), S("ab"), "until it is woken");
    is_str(str_of(p.ends), S("L"), "to its end");
}

static void given_up_in_any_state(struct loop *l)
{
    struct play p = { .loop = l, .script = "abc", .length = -1 };

    http_local_cancel(ask(&p, "/", ""));
    turn(&p);
    is_int((int64_t)p.reads, 0, "before the first piece");
    is_int((int64_t)p.closes, 1, "closed all the same");

    p = (struct play){ .loop = l, .script = "a.b", .length = -1 };
    struct http_req *r = ask(&p, "/", "");
    turn(&p);
    http_local_cancel(r);
    is_int((int64_t)p.closes, 1, "while it waits: closed at once");

    p = (struct play){ .loop = l, .script = "abc", .length = -1, .answers_later = true };
    r = ask(&p, "/", "");
    http_local_cancel(r);
    ok(http_is_gone(p.req), "while the answer is owed: the handler can know");
    answer(&p);
    is_int((int64_t)p.closes, 0, "its answer is taken");
    turn(&p);
    is_int((int64_t)(p.closes * 10 + p.reads), 10, "and closed unread");
    is_str(str_of(p.ends), S(""), "nobody is told");
}

int main(void)
{
    struct loop *l = loop_new();

    answers_come_whole_or_broken(l);
    sources_are_woken(l);
    given_up_in_any_state(l);
    loop_free(l);
    return tap_done();
}
