/* A list that is kept up with, also when the server has forgotten what happened meanwhile. */

#include "cli/track.h"

#include "loop/loop.h"
#include "tap.h"

#include <uv.h>

struct kube_call {
    bool is_watch;
    kube_done *done;
    struct kube_watcher w;
    void *ctx;
};

static struct kube_call call;
static struct buf told;

static struct kube_call *answer_later(struct kube_api *api, const struct kube_request *r,
                                      kube_done *done, void *ctx)
{
    (void)api;
    (void)r;
    call = (struct kube_call){ .done = done, .ctx = ctx };
    return &call;
}

static struct kube_call *watch(struct kube_api *api, const struct kube_request *r,
                               const struct kube_watcher *w)
{
    (void)api;
    (void)r;
    call = (struct kube_call){ .is_watch = true, .w = *w };
    return &call;
}

static void cancel(struct kube_api *api, struct kube_call *c)
{
    (void)api;
    (void)c;
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    static const char *const words[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK" };

    (void)ctx;
    buf_printf(&told, "%s %" PRI_STR " %d, ", words[type],
               STR_ARG(jv_str(jv_at(obj, "metadata", "uid"), S("?"))),
               (int)jv_int(jv_at(obj, "x"), 0));
}

static void is_told(const char *want, const char *what)
{
    is_str(buf_str(&told), str_of(want), what);
    buf_clear(&told);
}

static void list(const char *quoted)
{
    AUTO(jdoc) struct jdoc *d = J(quoted);

    call.done(call.ctx, &(struct kube_answer){ .status = 200, .obj = jdoc_root(d) });
}

static void event(enum kube_event type, const char *quoted)
{
    AUTO(jdoc) struct jdoc *d = J(quoted);

    call.w.on_event(call.w.ctx, type, jdoc_root(d));
}

static void history_is_lost(struct loop *l)
{
    struct err e = { 0 };

    err_set(&e, ERR_EXPIRED, "too old");
    call.w.on_end(call.w.ctx, &e, 0);
    while (call.is_watch)
        uv_run(loop_uv(l), UV_RUN_ONCE);
}

int main(void)
{
    static const struct kube_api_ops ops = { .send = answer_later,
                                             .watch = watch,
                                             .cancel = cancel };
    struct kube_api api = { .ops = &ops };
    struct session s = { .loop = loop_new(), .api = &api };
    struct track *t = track_start(&s, &(struct track_opts){ .on_event = on_event });

    list("{'metadata': {'resourceVersion': '5'}, 'items': [{'metadata': {'uid': 'a'}, 'x': 1},"
         "{'metadata': {'uid': 'b'}, 'x': 1}, {'metadata': {'uid': 'c'}, 'x': 1}]}");
    is_told("ADDED a 1, ADDED b 1, ADDED c 1, ", "what the list has is new");
    ok(call.is_watch, "then it watches");
    event(KUBE_ADDED, "{'metadata': {'uid': 'd', 'resourceVersion': '6'}, 'x': 1}");
    event(KUBE_MODIFIED, "{'metadata': {'uid': 'b', 'resourceVersion': '7'}, 'x': 2}");
    event(KUBE_DELETED, "{'metadata': {'uid': 'c', 'resourceVersion': '8'}, 'x': 3}");
    event(KUBE_BOOKMARK, "{'metadata': {'resourceVersion': '9'}}");
    is_told("ADDED d 1, MODIFIED b 2, DELETED c 3, ", "and tells what happens");
    history_is_lost(s.loop);
    list("{'metadata': {'resourceVersion': '20'}, 'items': [{'metadata': {'uid': 'a'}, 'x': 4},"
         "{'metadata': {'uid': 'd'}, 'x': 1}, {'metadata': {'uid': 'e'}, 'x': 1}]}");
    is_told("MODIFIED a 4, MODIFIED d 1, ADDED e 1, DELETED b 2, ",
            "listed again: what is known is not new, and what is missing was deleted");
    history_is_lost(s.loop);
    list("{'metadata': {'resourceVersion': '30'}, 'items': []}");
    ok(str_contains(buf_str(&told), S("DELETED a 4, ")) &&
           str_contains(buf_str(&told), S("DELETED d 1, ")) &&
           str_contains(buf_str(&told), S("DELETED e 1, ")) &&
           told.n == 3 * strlen("DELETED a 4, "),
       "all may be gone");
    track_stop(t);
    loop_stop(s.loop);
    loop_run(s.loop);
    loop_free(s.loop);
    buf_done(&told);
    return tap_done();
}
