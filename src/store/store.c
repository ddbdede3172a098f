/* Opening, closing, and what is told to the one on call. */

#include "base/mem.h"
#include "loop/log.h"
#include "store/internal.h"

enum { HISTORY_BYTES = 16 * 1024 * 1024, HISTORY_EVENTS = 20000 };

static bool on_row(void *ctx, const struct db_row *r)
{
    struct store *s = ctx;
    struct store_coll *c = store_coll(s, r->coll);

    if (index_get(&c->index, r->key))
        return false;
    struct obj *o = obj_new(r->key);
    o->id = r->id;
    o->pub.rev = r->rev;
    o->pub.create_rev = r->create_rev;
    o->pub.value = value_new(blob_new(r->value));
    young_add(&s->young, &c->packer, o->pub.value);
    index_insert(&c->index, o);
    s->next_id = r->id + 1;
    s->stats.objects++;
    s->stats.object_bytes += r->value.n;
    return true;
}

static void on_damage(void *ctx, const struct db_row *r, const char *what)
{
    struct store *s = ctx;
    struct store_damage d = { .coll = arena_str(s->damage_arena, r->coll),
                              .key = arena_str(s->damage_arena, r->key),
                              .rev = r->rev,
                              .what = arena_z(s->damage_arena, str_of(what)) };

    log_error("stored object damaged", KV("collection", d.coll), KV("key", d.key),
              KVI("revision", d.rev), KVZ("what", d.what));
    vec_push(&s->damages, d);
}

static struct store *store_new(struct loop *l, const struct store_opts *o)
{
    struct store *s = mem_new(sizeof(*s));
    struct store_handle *h = mem_new(sizeof(*h));

    h->store = s;
    s->handle = h;
    s->loop = l;
    s->opts = o ? *o : (struct store_opts){ 0 };
    if (!s->opts.history_bytes)
        s->opts.history_bytes = HISTORY_BYTES;
    if (!s->opts.history_events)
        s->opts.history_events = HISTORY_EVENTS;
    s->free_end = &s->free_first;
    s->next_id = 1;
    s->damage_arena = arena_new();
    link_init(&s->lost_armed);
    link_init(&s->lost);
    link_init(&s->waking);
    return s;
}

static void store_free(struct store *s)
{
    assert(link_is_empty(&s->lost) && link_is_empty(&s->lost_armed));
    young_done(&s->young);
    for (size_t i = 0; i < s->colls.n; i++)
        coll_free(s->colls.at[i]);
    vec_done(&s->colls);
    vec_done(&s->touched);
    vec_done(&s->damages);
    map_done(&s->by_name);
    arena_free(s->damage_arena);
    s->handle->store = NULL;
    if (!s->handle->calls)
        free(s->handle);
    free(s);
}

/* Once: opens and reads all. 1: damaged, to be salvaged first. */
static int try_open(struct store *s, struct db *db, const char *path, struct err *e)
{
    struct db_reader reader = { on_row, on_damage, s };
    bool damaged = false;

    if (db_open(db, path, &damaged, e) < 0)
        return damaged ? 1 : -1;
    int rc = db_load(db, &reader, &s->rev, &damaged, e);
    if (rc == 0 && !damaged)
        return 0;
    db_close(db);
    return damaged ? 1 : -1;
}

int store_open(struct store **out, struct loop *l, const char *path, const struct store_opts *o,
               struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct store *s = store_new(l, o);
    struct db *db = mem_new(sizeof(*db));
    struct changes_past past = changes_read(a, path);

    int rc = db_salvage_finish(path, e) < 0 || missing_check_file(path, &past, &s->opts, e) < 0
                 ? -1
                 : try_open(s, db, path, e);
    bool damaged = rc > 0;
    if (damaged) {
        store_free(s); /* what was read so far does not count */
        s = store_new(l, o);
        rc = db_salvage(path, e) < 0 ? -1 : try_open(s, db, path, e);
    }
    if (rc == 0 && missing_check(s, db, &past, damaged, e) < 0) {
        db_close(db);
        rc = -1;
    }
    if (rc != 0) {
        if (rc > 0)
            err_set(e, ERR_IO, "%s is damaged again as soon as it is rebuilt", path);
        free(db);
        store_free(s);
        return -1;
    }
    s->taken_rev = s->queued_rev = s->new_floor = s->rev;
    for (size_t i = 0; i < s->colls.n; i++)
        s->colls.at[i]->history.floor = s->rev;
    s->writer = writer_start(db, s, past.end);
    *out = s;
    return 0;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    assert_on_loop(s->loop);
    assert(!s->stats.watchers);
    busy_run_free(s);
    while (s->in_flight)
        commit_deliver(s, writer_wait(s->writer));
    writer_stop(s->writer);
    s->handle->calls += s->is_deferred;
    store_free(s);
}

static void on_deferred(void *arg)
{
    struct store_handle *h = arg;

    if (!h->store) {
        if (--h->calls == 0)
            free(h);
        return;
    }
    h->store->is_deferred = false;
    busy_run_free(h->store);
    watch_wake_all(h->store, &h->store->lost_armed);
}

void store_defer(struct store *s)
{
    if (s->is_deferred)
        return;
    s->is_deferred = true;
    loop_defer(s->loop, on_deferred, s->handle);
}

int64_t store_rev(const struct store *s)
{
    return s->rev;
}

void store_on_event(struct store *s,
                    void (*fn)(void *ctx, struct store_coll *c, struct store_event *ev), void *ctx)
{
    s->on_event = fn;
    s->on_event_ctx = ctx;
}

size_t store_damaged(const struct store *s, const struct store_damage **out)
{
    *out = s->damages.at;
    return s->damages.n;
}

struct store_stats store_stats(const struct store *s)
{
    struct store_stats st = s->stats;

    st.history_bytes = s->history_bytes;
    for (size_t i = 0; i < s->colls.n; i++)
        st.history_events += s->colls.at[i]->history.n;
    return st;
}
