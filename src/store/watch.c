/* Watchers: places in the histories. What one costs is its struct, however far behind it is. */

#include "store/internal.h"

#include "base/mem.h"

#include <inttypes.h>

struct store_watch *store_watch_start(struct store_coll *c, int64_t after, void (*wake)(void *ctx),
                                      void *ctx, struct err *e)
{
    const struct history *h = &c->history;

    assert_on_loop(c->store->loop);
    if (after < h->floor) {
        err_set(e, ERR_EXPIRED, "too old resource version: %" PRId64 " (%" PRId64 ")", after,
                h->floor);
        return NULL;
    }
    struct store_watch *w = mem_new(sizeof(*w));
    *w = (struct store_watch){ .store = c->store,
                               .coll = c,
                               .next = history_find(h, after),
                               .rev = after,
                               .wake = wake,
                               .ctx = ctx,
                               .armed = true };
    link_append(&c->armed, &w->link);
    c->store->stats.watchers++;
    return w;
}

static void arm(struct store_watch *w)
{
    if (w->armed)
        return;
    w->armed = true;
    link_remove(&w->link);
    link_append(&w->coll->armed, &w->link);
}

struct store_event *store_watch_peek(struct store_watch *w, bool *lost)
{
    assert_on_loop(w->store->loop);
    w->lost = w->lost || w->next < w->coll->history.first;
    *lost = w->lost;
    if (w->lost)
        return NULL;
    const struct history *h = &w->coll->history;
    /* a watch from a revision yet to come passes over what comes before it */
    while (w->next < history_end(h) && history_at(h, w->next)->rev <= w->rev)
        w->next++;
    if (w->next < history_end(h))
        return history_at(h, w->next);
    arm(w);
    return NULL;
}

void store_watch_advance(struct store_watch *w)
{
    if (w->lost || w->next < w->coll->history.first || w->next >= history_end(&w->coll->history))
        return;
    w->rev = history_at(&w->coll->history, w->next)->rev;
    w->next++;
}

int64_t store_watch_rev(const struct store_watch *w)
{
    bool caught_up = !w->lost && w->next == history_end(&w->coll->history);

    return caught_up && w->store->rev > w->rev ? w->store->rev : w->rev;
}

void store_watch_stop(struct store_watch *w)
{
    if (!w)
        return;
    assert_on_loop(w->store->loop);
    w->store->stats.watchers--;
    link_remove(&w->link);
    free(w);
}

void watch_wake_all(struct store *s, struct link *armed)
{
    link_splice(&s->waking, armed);
    while (!link_is_empty(&s->waking)) {
        struct store_watch *w = (struct store_watch *)(void *)s->waking.next;
        link_remove(&w->link);
        link_append(w->coll ? &w->coll->reading : &s->lost, &w->link);
        w->armed = false;
        w->wake(w->ctx);
    }
}
