/* A collection as it was: the live objects, with what happened since taken back. */

#include "store/internal.h"

#include <inttypes.h>

struct found {
    VEC(struct store_item);
};

static void release(void *snapshot)
{
    const struct store_snapshot *s = snapshot;

    for (size_t i = 0; i < s->n; i++)
        value_unref(s->items[i].value);
    free(s->items);
}

/* Keys are borrowed from the objects, so what the arena keeps are copies. */
static void add(struct found *to, struct arena *a, str key, int64_t rev, struct value *value)
{
    vec_push(to, (struct store_item){ arena_str(a, key), rev, value_ref(value) });
}

static int by_key(const void *a, const void *b)
{
    const struct store_event *const *x = a;
    const struct store_event *const *y = b;

    return str_cmp((*x)->key, (*y)->key);
}

struct undo {
    VEC(struct store_event *);
};

/* The first event after rev of each key in range, ordered by key. */
static struct undo undo_since(struct store_coll *c, int64_t rev, str prefix, str after)
{
    const struct history *h = &c->history;
    struct undo u = { 0 };
    struct map seen = { 0 };

    for (uint64_t i = history_find(h, rev); i < history_end(h); i++) {
        struct store_event *ev = history_at(h, i);
        if (!str_starts(ev->key, prefix) || (after.p && str_cmp(ev->key, after) <= 0) ||
            map_get(&seen, ev->key))
            continue;
        map_put(&seen, ev->key, ev);
        vec_push(&u, ev);
    }
    map_done(&seen);
    if (u.n)
        qsort(u.at, u.n, sizeof(struct store_event *), by_key);
    return u;
}

/* The first object in range: prefix and after both are lower bounds. */
static struct obj *first_in_range(struct store_coll *c, str prefix, str after)
{
    if (!after.p || str_cmp(prefix, after) > 0)
        return index_seek(&c->index, prefix);
    struct obj *o = index_seek(&c->index, after);
    return o && str_eq(o->pub.key, after) ? index_next(o) : o;
}

static struct obj *next_in_range(struct obj *o, str prefix)
{
    o = o ? index_next(o) : NULL;
    return o && str_starts(o->pub.key, prefix) ? o : NULL;
}

/* The end of the commit that rev is within, so that nobody sees a part of one. */
static int64_t commit_end(const struct store_coll *c, int64_t rev)
{
    const struct history *h = &c->history;
    uint64_t next = history_find(h, rev);
    const struct store_event *ev = next < history_end(h) ? history_at(h, next) : NULL;

    return ev && ev->commit_first <= rev ? ev->commit_last : rev;
}

int store_snapshot(struct store_coll *c, struct arena *a, int64_t rev, str prefix, str after,
                   struct store_snapshot *out, struct err *e)
{
    struct store *s = c->store;
    struct found found = { 0 };

    assert_on_loop(s->loop);
    if (rev > s->rev)
        return err_set(e, ERR_BAD_REQUEST,
                       "Too large resource version: %" PRId64 ", current: %" PRId64, rev, s->rev);
    if (rev && rev < c->history.floor)
        return err_set(e, ERR_EXPIRED, "too old resource version: %" PRId64 " (%" PRId64 ")", rev,
                       c->history.floor);
    rev = rev ? commit_end(c, rev) : 0;
    struct undo undo = rev ? undo_since(c, rev, prefix, after) : (struct undo){ 0 };
    struct obj *o = first_in_range(c, prefix, after);
    size_t i = 0;

    if (o && !str_starts(o->pub.key, prefix))
        o = NULL;
    while (o || i < undo.n) {
        int cmp = !o ? 1 : i == undo.n ? -1 : str_cmp(o->pub.key, undo.at[i]->key);
        if (cmp < 0) {
            add(&found, a, o->pub.key, o->pub.rev, o->pub.value);
        } else {
            const struct store_event *ev = undo.at[i++];
            if (ev->prev)
                add(&found, a, ev->key, ev->prev_rev, ev->prev);
        }
        o = cmp <= 0 ? next_in_range(o, prefix) : o;
    }
    vec_done(&undo);
    struct store_snapshot *kept = ARENA_NEW(a, struct store_snapshot);
    *kept = (struct store_snapshot){ found.at, found.n, rev ? rev : s->rev };
    arena_defer(a, release, kept);
    *out = *kept;
    return 0;
}
