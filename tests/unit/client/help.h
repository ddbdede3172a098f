/* A loop driven by hand, and calls whose answers are kept. */
#pragma once

#include "base/mem.h"
#include "client/client.h"
#include "loop/loop.h"
#include "tap.h"

#include <uv.h>

/* ---- the loop */

__attribute__((unused)) static void on_late(void *arg)
{
    *(bool *)arg = true;
}

/* Runs the loop until *n >= want, or for limit_ms; whether it was so. */
__attribute__((unused)) static bool run_until(struct loop *l, const int *n, int want,
                                              int64_t limit_ms)
{
    bool late = false;
    struct loop_timer *t = loop_timer_start(l, limit_ms, 0, on_late, &late);

    while (*n < want && !late)
        uv_run(loop_uv(l), UV_RUN_ONCE);
    loop_timer_stop(t);
    return *n >= want;
}

/* ---- answers */

struct got {
    int n;
    int status;
    struct err err;
    int64_t retry_after_ms;
    struct jdoc *obj;
    char message[512];
    /* run by the callback, once */
    void (*then)(void *ctx);
    void *ctx;
};

__attribute__((unused)) static void on_got(void *ctx, const struct kube_answer *ans)
{
    struct got *g = ctx;
    AUTO(arena) struct arena *a = arena_new();

    g->n++;
    g->status = ans->status;
    g->err = ans->err;
    g->retry_after_ms = ans->retry_after_ms;
    snprintf(g->message, sizeof(g->message), "%" PRI_STR, STR_ARG(ans->message));
    jdoc_unref(g->obj);
    g->obj = jv_exists(ans->obj) ? jdoc_parse(json_text(a, ans->obj), NULL, NULL) : NULL;
    if (g->then)
        g->then(g->ctx);
}

__attribute__((unused)) static void got_done(struct got *g)
{
    jdoc_unref(g->obj);
    *g = (struct got){ 0 };
}

struct seen {
    int events;
    int bookmarks;
    int ends;
    bool failed;
    struct err err;
    int64_t retry_after_ms;
    struct buf text; /* "ADDED a, " */
    struct kube_api *cancel_in;
    struct kube_call *cancel; /* from within the first event */
};

__attribute__((unused)) static void on_seen(void *ctx, enum kube_event type, jv obj)
{
    static const char *const words[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK" };
    struct seen *s = ctx;

    if (type == KUBE_BOOKMARK) {
        s->bookmarks++;
        return;
    }
    buf_printf(&s->text, "%s %" PRI_STR ", ", words[type],
               STR_ARG(jv_str(jv_at(obj, "metadata", "name"), S("?"))));
    s->events++;
    if (s->cancel)
        kube_cancel(s->cancel_in, TAKE(s->cancel));
}

__attribute__((unused)) static void on_seen_end(void *ctx, const struct err *e, int64_t after_ms)
{
    struct seen *s = ctx;

    s->ends++;
    s->failed = e != NULL;
    s->retry_after_ms = after_ms;
    if (e)
        s->err = *e;
}

__attribute__((unused)) static struct kube_watcher watcher(struct seen *s)
{
    return (struct kube_watcher){ on_seen, on_seen_end, s };
}

__attribute__((unused)) static void seen_done(struct seen *s)
{
    buf_done(&s->text);
    *s = (struct seen){ 0 };
}
