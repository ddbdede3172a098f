/* What was acknowledged and is not in the database: found at the start, from `changes`. */

#include "loop/log.h"
#include "store/internal.h"

#include <inttypes.h>
#include <sys/stat.h>

enum { TOLD = 100 }; /* by name, in the log */

#define WHAT_NOW "restore it, or continue without it with 'muster up --accept-data-loss'"

static const char *what_is_missing(struct store *s, const struct changed *c)
{
    struct store_obj *o = store_get(store_coll(s, c->coll), c->key);

    if (c->is_delete)
        return o && o->rev < c->rev ? "its deletion is lost, so it exists again" : NULL;
    if (!o)
        return "acknowledged, but missing";
    return o->rev < c->rev ? "its last change is lost, so an older state is back" : NULL;
}

/* By salvage, that is: the first n. */
static bool is_named(const struct store *s, size_t n, const struct changed *c)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(s->damages.at[i].coll, c->coll) && str_eq(s->damages.at[i].key, c->key))
            return true;
    return false;
}

/* Each object once, by its last change. */
static void name_missing(struct store *s, const struct changes_past *past)
{
    AUTO(arena) struct arena *a = arena_new();
    struct map last = { 0 };
    size_t before = s->damages.n;
    size_t told = 0;

    for (size_t i = past->n; i-- > 0;) {
        const struct changed *c = &past->at[i];
        str name = arena_printf(a, "%" PRI_STR "%c%" PRI_STR, STR_ARG(c->coll), 0, STR_ARG(c->key));
        if (map_get(&last, name))
            continue;
        map_put(&last, name, &past->at[i]);
        const char *what = what_is_missing(s, c);
        if (!what || is_named(s, before, c))
            continue;
        vec_push(&s->damages,
                 ((struct store_damage){ arena_str(s->damage_arena, c->coll),
                                         arena_str(s->damage_arena, c->key), c->rev, what }));
        if (told < TOLD)
            log_error("acknowledged change missing", KV("collection", c->coll), KV("key", c->key),
                      KVI("revision", c->rev), KVZ("what", what));
        told++;
    }
    if (told > TOLD)
        log_error("more acknowledged changes missing", KVI("objects", (int64_t)(told - TOLD)));
    map_done(&last);
}

int missing_check_file(const char *path, const struct changes_past *past,
                       const struct store_opts *o, struct err *e)
{
    struct stat st = { 0 };
    bool is_gone = stat(path, &st) < 0;

    if (past->rev <= 1 || o->accept_loss || (!is_gone && st.st_size > 0))
        return 0;
    for (size_t i = 0; i < past->n && i < TOLD; i++)
        log_error("acknowledged change missing", KV("collection", past->at[i].coll),
                  KV("key", past->at[i].key), KVI("revision", past->at[i].rev));
    return err_set(e, ERR_IO,
                   "the database is %s, but revision %" PRId64 " was acknowledged (%s); " WHAT_NOW,
                   is_gone ? "gone" : "empty", past->rev, path);
}

int missing_check(struct store *s, struct db *db, const struct changes_past *past,
                  bool was_salvaged, struct err *e)
{
    int64_t rev = s->rev;

    if (rev >= past->rev && !was_salvaged)
        return 0;
    name_missing(s, past);
    if (rev >= past->rev)
        return 0;
    if (!s->opts.accept_loss && !was_salvaged)
        return err_set(e, ERR_IO,
                       "muster.db ends at revision %" PRId64 ", but revision %" PRId64
                       " was acknowledged: its log (-wal) was cut off or removed, or it is an "
                       "older copy; " WHAT_NOW,
                       rev, past->rev);
    log_error("continuing without acknowledged changes", KVZ("path", db->path),
              KVI("revision", rev), KVI("acknowledged", past->rev));
    s->rev = past->rev;
    return db_begin(db, e) < 0 || db_commit(db, s->rev, e) < 0 ? -1 : 0;
}
