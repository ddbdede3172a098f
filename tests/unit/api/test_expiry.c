/* Events go by themselves once they are old, and only those that were not written again. */

#include "api/api.h"
#include "tap.h"

enum { TTL_MS = 300, GIVE_UP_MS = 60000 };

struct world {
    struct loop *loop;
    struct store *store;
    struct store_coll *events;
    struct store_watch *watch;
    struct loop_timer *late;
    bool gone;
    bool gave_up;
};

static void on_written(void *ctx, const struct err *e)
{
    (void)ctx;
    ok(!e, "an event is written");
}

static void on_ready(void *ctx, const struct err *e)
{
    struct world *w = ctx;
    static const char text[] =
        "{\"metadata\":{\"name\":\"e\",\"namespace\":\"default\",\"uid\":\"u\"},"
        "\"message\":\"hello\"}";

    ok(!e, "the server has what every cluster has");
    struct store_op op = { .coll = w->events,
                           .key = S("default/e"),
                           .rev = store_take_rev(w->store),
                           .value = blob_new(str_of(text)) };
    store_commit(w->store, &op, 1, on_written, w);
}

static void on_news(void *ctx)
{
    struct world *w = ctx;
    bool lost = false;
    struct store_event *ev;

    while ((ev = store_watch_peek(w->watch, &lost))) {
        w->gone = w->gone || (ev->is_delete && str_eq(ev->key, S("default/e")));
        store_watch_advance(w->watch);
    }
    if (w->gone)
        loop_stop(w->loop);
}

static void on_late(void *ctx)
{
    struct world *w = ctx;

    w->gave_up = true;
    loop_stop(w->loop);
}

int main(void)
{
    struct world w = { .loop = loop_new() };
    struct err e = { 0 };

    if (store_open(&w.store, w.loop, ":memory:", NULL, &e) < 0) {
        printf("Bail out! %s\n", e.msg);
        return 1;
    }
    w.events = store_coll(w.store, S("events"));
    w.watch = store_watch_start(w.events, store_rev(w.store), on_news, &w, &e);
    w.late = loop_timer_start(w.loop, GIVE_UP_MS, 0, on_late, &w);
    struct api_opts o = {
        .loop = w.loop, .store = w.store, .token = S("secret"), .event_ttl_ms = TTL_MS
    };
    struct api *api = api_new(&o, on_ready, &w);
    loop_run(w.loop);
    ok(w.gone && !w.gave_up, "and is gone once its time is over");
    is_int((int64_t)store_coll_count(w.events), 0, "nothing of it is left");
    loop_timer_stop(w.late);
    store_watch_stop(w.watch);
    api_stop(api);
    store_close(w.store);
    api_free(api);
    loop_free(w.loop);
    return tap_done();
}
