/* Keys with a write under way, and those who wait to look at them again: first come, first served,
 * one at a time. Whoever comes while others wait goes to the end of the line, so that a key that is
 * written without a pause still serves all. */

#include "store/internal.h"

#include "base/mem.h"

struct waiter {
    struct waiter *next;
    void (*fn)(void *ctx);
    void *ctx;
};

struct busy {
    struct busy *next; /* in store.free_first */
    struct store_coll *coll;
    struct obj *holder;      /* its text is the key of this entry */
    struct obj *now;         /* what the writes under way make of it */
    const struct commit *by; /* whose writes these are */
    struct waiter *first;
    struct waiter **end;
    unsigned writes; /* under way */
    bool is_queued;  /* in store.free_first */
    bool is_running; /* a waiter is being called: it is its turn */
};

static struct busy *find(struct store_coll *c, str key)
{
    return map_get(&c->busy, key);
}

static struct busy *add(struct store_coll *c, str key)
{
    struct busy *b = mem_new(sizeof(*b));
    struct obj *o = index_get(&c->index, key);

    b->coll = c;
    b->holder = o ? obj_ref(o) : obj_new(key);
    b->now = o;
    b->end = &b->first;
    map_put(&c->busy, b->holder->pub.key, b);
    return b;
}

static void drop(struct busy *b)
{
    map_remove(&b->coll->busy, b->holder->pub.key);
    obj_unref(b->holder);
    free(b);
}

bool store_is_busy(struct store_coll *c, str key)
{
    const struct busy *b = find(c, key);

    return b && (b->writes || (b->first && !b->is_running));
}

struct busy *busy_begin(struct store_coll *c, str key, const struct commit *by)
{
    struct busy *b = find(c, key);

    if (!b)
        b = add(c, key);
    else if (!b->writes)
        b->now = index_get(&c->index, key);
    assert(!b->writes || b->by == by); /* else the caller did not look whether it was busy */
    b->by = by;
    b->writes++;
    c->pending++;
    return b;
}

struct obj **busy_obj(struct busy *b)
{
    return &b->now;
}

static void queue(struct busy *b)
{
    struct store *s = b->coll->store;

    if (b->is_queued)
        return;
    b->is_queued = true;
    b->next = NULL;
    *s->free_end = b;
    s->free_end = &b->next;
}

void busy_end(struct busy *b)
{
    b->coll->pending--;
    if (--b->writes)
        return;
    b->now = NULL;
    if (b->first)
        queue(b);
    else if (!b->is_queued && !b->is_running)
        drop(b);
}

void store_hold(struct store_coll *c, str key)
{
    busy_begin(c, key, NULL);
}

void store_release(struct store_coll *c, str key)
{
    struct busy *b = find(c, key);
    bool waited_for = b->first != NULL;

    busy_end(b);
    if (waited_for)
        store_defer(c->store);
}

void store_when_free(struct store_coll *c, str key, void (*fn)(void *ctx), void *ctx)
{
    struct busy *b = find(c, key);
    struct waiter *w = mem_new(sizeof(*w));

    if (!b)
        b = add(c, key);
    *w = (struct waiter){ .fn = fn, .ctx = ctx };
    *b->end = w;
    b->end = &w->next;
    if (b->writes)
        return;
    queue(b);
    store_defer(c->store);
}

static void run_waiters(struct busy *b)
{
    b->is_running = true;
    while (b->first && !b->writes) {
        struct waiter *w = b->first;
        b->first = w->next;
        if (!b->first)
            b->end = &b->first;
        w->fn(w->ctx);
        free(w);
    }
    b->is_running = false;
    if (!b->writes && !b->first && !b->is_queued)
        drop(b);
}

void busy_run_free(struct store *s)
{
    while (s->free_first) {
        struct busy *b = s->free_first;
        s->free_first = b->next;
        if (!s->free_first)
            s->free_end = &s->free_first;
        b->is_queued = false;
        run_waiters(b);
    }
}
