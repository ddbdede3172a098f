/* Collections: made on first use, read in key order, forgotten when a resource is no more. */

#include "store/internal.h"

#include "base/mem.h"

struct store_coll *store_coll(struct store *s, str name)
{
    struct store_coll *c = map_get(&s->by_name, name);

    assert_on_loop(s->loop);
    if (c)
        return c;
    c = mem_new(sizeof(*c) + name.n + 1);
    c->store = s;
    c->name_n = name.n;
    memcpy(c->name, name.p, name.n);
    c->history.floor = s->new_floor;
    link_init(&c->armed);
    link_init(&c->reading);
    c->place = s->colls.n;
    vec_push(&s->colls, c);
    map_put(&s->by_name, store_coll_name(c), c);
    return c;
}

str store_coll_name(const struct store_coll *c)
{
    return (str){ c->name, c->name_n };
}

struct store_coll *store_coll_next(struct store *s, struct store_coll *after)
{
    size_t i = after ? after->place + 1 : 0;

    return i < s->colls.n ? s->colls.at[i] : NULL;
}

size_t store_coll_count(const struct store_coll *c)
{
    return c->index.n;
}

bool store_coll_is_busy(const struct store_coll *c)
{
    return c->busy.n != 0;
}

void coll_free(struct store_coll *c)
{
    assert(!c->pending);
    c->store->history_bytes -= c->history.bytes;
    history_done(&c->history);
    index_done(&c->index);
    young_forget(&c->store->young, &c->packer);
    packer_done(&c->packer);
    map_done(&c->busy);
    free(c);
}

/* Tells those of the list that watch c that it is gone. */
static void lose(const struct store_coll *c, const struct link *list)
{
    for (struct link *l = list->next; l != list; l = l->next) {
        struct store_watch *w = (struct store_watch *)(void *)l;
        w->lost = w->lost || w->coll == c;
        w->coll = w->coll == c ? NULL : w->coll;
    }
}

bool store_coll_forget(struct store_coll *c)
{
    struct store *s = c->store;

    assert_on_loop(s->loop);
    if (c->index.n || c->busy.n)
        return false;
    lose(c, &c->armed);
    lose(c, &c->reading);
    lose(c, &s->waking);
    link_splice(&s->lost_armed, &c->armed);
    link_splice(&s->lost, &c->reading);
    s->new_floor = s->rev; /* what it has seen is not told under the same name */
    map_remove(&s->by_name, store_coll_name(c));
    s->colls.n--;
    for (size_t i = c->place; i < s->colls.n; i++) {
        s->colls.at[i] = s->colls.at[i + 1];
        s->colls.at[i]->place = i;
    }
    for (size_t i = 0; i < s->touched.n; i++)
        if (s->touched.at[i] == c)
            s->touched.at[i] = NULL;
    coll_free(c);
    store_defer(s);
    return true;
}

struct store_obj *store_get(struct store_coll *c, str key)
{
    assert_on_loop(c->store->loop);
    struct obj *o = index_get(&c->index, key);

    return o ? &o->pub : NULL;
}

struct store_obj *store_seek(struct store_coll *c, str from)
{
    assert_on_loop(c->store->loop);
    struct obj *o = index_seek(&c->index, from);

    return o ? &o->pub : NULL;
}

struct store_obj *store_next(struct store_coll *c, const struct store_obj *o)
{
    (void)c;
    struct obj *next = index_next((const struct obj *)(const void *)o);

    return next ? &next->pub : NULL;
}

static struct store_coll *biggest_history(struct store *s)
{
    struct store_coll *most = NULL;

    for (size_t i = 0; i < s->colls.n; i++)
        if (s->colls.at[i]->history.n &&
            (!most || s->colls.at[i]->history.bytes > most->history.bytes))
            most = s->colls.at[i];
    return most;
}

static void drop_first(struct store_coll *c)
{
    size_t before = c->history.bytes;

    history_drop_first(&c->history);
    c->store->history_bytes -= before - c->history.bytes;
}

void coll_trim_history(struct store_coll *c)
{
    struct store *s = c->store;

    while (c->history.n > s->opts.history_events)
        drop_first(c);
    if (s->history_bytes <= s->opts.history_bytes)
        return;
    /* a little more than needed, so that the biggest is not looked for at every event */
    size_t goal = s->opts.history_bytes - s->opts.history_bytes / 64;
    while (s->history_bytes > goal) {
        struct store_coll *most = biggest_history(s);
        if (!most)
            return;
        size_t share = most->history.bytes / 2;
        while (s->history_bytes > goal && most->history.n && most->history.bytes > share)
            drop_first(most);
    }
}
