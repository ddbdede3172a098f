/* A cache that reads itself in by list and watch. Changes to what is not kept are no changes, so
 * that heartbeats and the status of running pods wake nobody. */

#include "binder/internal.h"

#include "base/mem.h"

static str key_of(struct arena *a, str ns, str name)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name));
}

struct held *shelf_find(const struct shelf *s, str ns, str name)
{
    char key[512]; /* names are shorter */

    if (ns.n + 1 + name.n > sizeof(key))
        return NULL;
    if (ns.n)
        memcpy(key, ns.p, ns.n);
    key[ns.n] = '/';
    if (name.n)
        memcpy(key + ns.n + 1, name.p, name.n);
    return map_get(&s->items, (str){ key, ns.n + 1 + name.n });
}

static void drop(struct shelf *s, struct held *h)
{
    map_remove(&s->items, str_of(h->key));
    s->ops->gone(s, h);
    arena_free(h->a);
    free(h->key);
    free(h);
}

static void put(void *ctx, jv obj)
{
    struct shelf *s = ctx;
    struct held *h = shelf_find(s, meta_namespace(obj), meta_name(obj));
    struct arena *a = arena_new();
    jv slim = s->ops->slim(a, obj);

    if (h && !str_eq(meta_uid(h->obj), meta_uid(obj))) {
        drop(s, h); /* deleted and made again, unseen */
        h = NULL;
    }
    if (!jv_exists(slim) || (h && jv_equal(slim, h->obj))) {
        if (h && jv_exists(slim))
            h->number = informer_number(s->inf);
        else if (h)
            drop(s, h);
        arena_free(a);
        return;
    }
    bool is_new = !h;
    if (is_new) {
        str key = key_of(a, meta_namespace(obj), meta_name(obj));
        h = mem_new(s->ops->entry_bytes);
        h->key = mem_or_abort(strndup(key.p, key.n));
        map_put(&s->items, str_of(h->key), h);
    }
    struct arena *kept = arena_new();
    arena_free(h->a);
    h->obj = jv_copy(kept, slim);
    h->a = kept;
    h->number = informer_number(s->inf);
    s->ops->changed(s, h, obj, is_new);
    arena_free(a);
}

static void gone(void *ctx, jv obj)
{
    struct shelf *s = ctx;
    struct held *h = shelf_find(s, meta_namespace(obj), meta_name(obj));

    if (h)
        drop(s, h);
}

static void listed(void *ctx, unsigned n, uint64_t rev)
{
    struct shelf *s = ctx;

    (void)rev;
    MAP_EACH (slot, &s->items) {
        struct held *h = slot->value;
        if (h->number != n)
            drop(s, h);
    }
}

static void changed(void *ctx)
{
    struct shelf *s = ctx;

    binder_work(s->b);
}

void shelf_init(struct shelf *s, struct binder *b, const struct shelf_ops *ops)
{
    static const struct informer_ops reads = { put, gone, listed, changed };
    enum { PAGE = 500, RETRY_MAX_MS = 10 * 1000 };
    struct informer_opts o = { .loop = b->loop,
                               .api = b->api,
                               .turns = &b->turns,
                               .res = ops->res,
                               .page = PAGE,
                               .retry_max_ms = RETRY_MAX_MS,
                               .ops = &reads,
                               .ctx = s };

    s->b = b;
    s->ops = ops;
    s->inf = informer_new(&o);
}

void shelf_done(struct shelf *s)
{
    informer_free(s->inf);
    MAP_EACH (slot, &s->items)
        drop(s, slot->value);
    map_done(&s->items);
}
