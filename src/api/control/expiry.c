/* A queue in the order of writing, and one timer for its head. An event that was written again is
 * in the queue twice; its older entry finds another revision and does nothing. */

#include "api/control/expiry.h"

#include "api/delete.h"
#include "base/mem.h"
#include "base/time.h"
#include "kube/meta.h"

#include <stdlib.h>

enum { BATCH = 500 };

struct entry {
    struct entry *next;
    int64_t due_ms; /* wall clock */
    int64_t rev;
    str key;
};

struct expiry {
    struct api *api;
    struct resource *res;
    int64_t ttl_ms;
    struct entry *first, **last;
    struct loop_timer *timer;
};

struct expiry *expiry_new(struct api *api, int64_t ttl_ms)
{
    struct expiry *x = mem_new(sizeof(*x));

    x->api = api;
    x->ttl_ms = ttl_ms;
    x->last = &x->first;
    x->res = registry_find(&api->registry, S(""), S("v1"), S("events"));
    return x;
}

void expiry_free(struct expiry *x)
{
    if (!x)
        return;
    loop_timer_stop(x->timer);
    for (struct entry *e = x->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    free(x);
}

static void on_due(void *ctx);

static void schedule(struct expiry *x)
{
    if (x->timer || !x->first)
        return;
    int64_t wait = x->first->due_ms - wall_now_ms();
    /* at least a second, so that a crowd goes in batches */
    x->timer = loop_timer_start(x->api->loop, wait > 1000 ? wait : 1000, 0, on_due, x);
}

static void on_due(void *ctx)
{
    struct expiry *x = ctx;
    int64_t now = wall_now_ms();

    loop_timer_stop(x->timer);
    x->timer = NULL;
    for (int i = 0; i < BATCH && x->first && x->first->due_ms <= now; i++) {
        struct entry *e = x->first;
        struct store_obj *o = store_get(x->res->coll, e->key);
        x->first = e->next;
        if (!x->first)
            x->last = &x->first;
        if (o && o->rev == e->rev)
            delete_in_background(x->api, x->res, e->key);
        free(e);
    }
    schedule(x);
}

static void push(struct expiry *x, str key, int64_t rev, int64_t due_ms)
{
    struct entry *e = mem_room(sizeof(*e) + key.n);

    char *text = (char *)(e + 1);
    memcpy(text, key.p, key.n);
    *e = (struct entry){ NULL, due_ms, rev, { text, key.n } };
    *x->last = e;
    x->last = &e->next;
    schedule(x);
}

/* After a restart an event lives on from when it was last written, as far as it says. */
void expiry_load(struct expiry *x)
{
    for (struct store_obj *o = store_seek(x->res->coll, STR_NONE); o;
         o = store_next(x->res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        jv ev = json_parse(a, value_text(a, o->value), NULL, NULL);
        int64_t at = wall_now_ms();
        int64_t then_us;
        if (time_parse(meta_str(ev, S("creationTimestamp")), &then_us, NULL) == 0)
            at = then_us / 1000;
        if (time_parse(jv_str(jv_at(ev, "lastTimestamp"), STR_NONE), &then_us, NULL) == 0 &&
            then_us / 1000 > at)
            at = then_us / 1000;
        push(x, o->key, o->rev, at + x->ttl_ms);
    }
}

void expiry_on_event(struct expiry *x, struct store_coll *c, const struct store_event *ev)
{
    if (c == x->res->coll && !ev->is_delete)
        push(x, ev->key, ev->rev, wall_now_ms() + x->ttl_ms);
}
