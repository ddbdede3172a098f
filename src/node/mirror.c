/* One call or one timer at a time; what was not in a list is gone. */

#include "node/mirror.h"

#include "base/map.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"

enum { RETRY_MS = 200, RETRY_MAX_MS = 10 * 1000, PAGE = 500, WATCH_MS = 30 * 60 * 1000 };

struct entry {
    struct jdoc *doc;
    unsigned seen; /* number of the list it was in last */
    char key[];
};

struct mirror {
    struct mirror_opts o;
    struct map entries;
    struct kube_call *call;
    struct loop_timer *timer;
    struct buf version;
    struct kube_pages pages;
    unsigned lists;
    bool started, listed;
    int64_t retry_ms;
};

static void list(void *arg);
static void watch(void *arg);

static str key_of(struct arena *a, str ns, str name)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name));
}

static void later(struct mirror *f, int64_t ms, void (*fn)(void *arg))
{
    loop_timer_stop(f->timer);
    f->timer = loop_timer_start(f->o.loop, ms, 0, fn, f);
}

static int64_t next_retry(struct mirror *f, int64_t least)
{
    f->retry_ms = f->retry_ms ? f->retry_ms * 2 : RETRY_MS;
    if (f->retry_ms > RETRY_MAX_MS)
        f->retry_ms = RETRY_MAX_MS;
    return f->retry_ms > least ? f->retry_ms : least;
}

/* ---- entries */

static int64_t revision(jv obj)
{
    int64_t n = 0;

    str_to_int(meta_resource_version(obj), &n);
    return n;
}

static void put(struct mirror *f, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = key_of(a, meta_namespace(obj), meta_name(obj));
    struct entry *x = map_get(&f->entries, key);
    bool same = x && str_eq(meta_uid(jdoc_root(x->doc)), meta_uid(obj));

    if (same && revision(jdoc_root(x->doc)) >= revision(obj)) {
        x->seen = f->lists;
        return;
    }
    if (x && !same) { /* another one by the same name */
        struct jdoc *old = x->doc;
        map_remove(&f->entries, key);
        free(x);
        x = NULL;
        if (f->o.gone)
            f->o.gone(f->o.ctx, old);
        jdoc_unref(old);
    }
    /* Who wrote which field is nothing to us, and is much. */
    struct jdoc *doc = jdoc_copy(jv_without(a, obj, "metadata", "managedFields"));
    struct jdoc *old = x ? x->doc : NULL;
    if (!x) {
        x = mem_new(sizeof(*x) + key.n + 1);
        memcpy(x->key, key.p, key.n);
        map_put(&f->entries, (str){ x->key, key.n }, x);
    }
    x->doc = doc;
    x->seen = f->lists;
    if (f->o.put)
        f->o.put(f->o.ctx, doc, old);
    jdoc_unref(old);
}

static void drop(struct mirror *f, struct entry *x)
{
    struct jdoc *doc = x->doc;

    map_remove(&f->entries, str_of(x->key));
    free(x);
    if (f->o.gone)
        f->o.gone(f->o.ctx, doc);
    jdoc_unref(doc);
}

static void sweep(struct mirror *f)
{
    MAP_EACH (s, &f->entries) {
        struct entry *x = s->value;
        if (x->seen != f->lists)
            drop(f, x);
    }
}

/* ---- list and watch */

static void on_page(void *ctx, const struct kube_answer *ans)
{
    struct mirror *f = ctx;

    struct err e = ans->err;
    int more = 0;

    f->call = NULL;
    if (e.code == ERR_OK) {
        JV_EACH (it, jv_at(ans->obj, "items"))
            put(f, it.value);
        more = kube_pages_next(&f->pages, ans->obj, &e);
    }
    if (e.code != ERR_OK) {
        log_warn("cannot list, retrying", KVZ("resource", f->o.res->plural), KVZ("error", e.msg));
        later(f, next_retry(f, ans->retry_after_ms), list);
        return;
    }
    if (more) {
        struct kube_request r = { .verb = KUBE_LIST,
                                  .res = f->o.res,
                                  .fields = f->o.fields,
                                  .cont = buf_str(&f->pages.cont),
                                  .limit = PAGE };
        f->call = kube_send(f->o.api, &r, on_page, f);
        return;
    }
    buf_clear(&f->version);
    buf_add(&f->version, meta_resource_version(ans->obj));
    f->retry_ms = 0;
    f->listed = true;
    sweep(f);
    if (f->o.listed)
        f->o.listed(f->o.ctx);
    later(f, 0, watch);
}

static void list(void *arg)
{
    struct mirror *f = arg;
    struct kube_request r = {
        .verb = KUBE_LIST, .res = f->o.res, .fields = f->o.fields, .limit = PAGE
    };

    loop_timer_stop(f->timer);
    f->timer = NULL;
    f->lists++;
    kube_pages_done(&f->pages);
    f->call = kube_send(f->o.api, &r, on_page, f);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct mirror *f = ctx;

    f->retry_ms = 0;
    buf_clear(&f->version);
    buf_add(&f->version, meta_resource_version(obj));
    if (type == KUBE_DELETED) {
        AUTO(arena) struct arena *a = arena_new();
        struct entry *x = map_get(&f->entries, key_of(a, meta_namespace(obj), meta_name(obj)));
        if (x && str_eq(meta_uid(jdoc_root(x->doc)), meta_uid(obj)))
            drop(f, x);
    } else if (type != KUBE_BOOKMARK) {
        put(f, obj);
    }
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct mirror *f = ctx;
    bool again = e && (e->code == ERR_EXPIRED || e->code == ERR_NOT_FOUND);

    f->call = NULL;
    later(f, next_retry(f, retry_after_ms), again ? list : watch);
}

static void watch(void *arg)
{
    struct mirror *f = arg;
    struct kube_request r = { .verb = KUBE_WATCH,
                              .res = f->o.res,
                              .fields = f->o.fields,
                              .version = buf_str(&f->version),
                              .timeout_ms = WATCH_MS };
    struct kube_watcher w = { .on_event = on_event, .on_end = on_end, .ctx = f };

    loop_timer_stop(f->timer);
    f->timer = NULL;
    f->call = kube_watch(f->o.api, &r, &w);
}

/* ---- */

struct mirror *mirror_new(const struct mirror_opts *o)
{
    struct mirror *f = mem_new(sizeof(*f));
    char *p = mem_room(o->fields.n + 1);

    f->o = *o;
    memcpy(p, o->fields.p ? o->fields.p : "", o->fields.n);
    f->o.fields = (str){ p, o->fields.n };
    return f;
}

void mirror_start(struct mirror *f)
{
    if (!f->started)
        list(f);
    f->started = true;
}

void mirror_free(struct mirror *f)
{
    if (!f)
        return;
    if (f->call)
        kube_cancel(f->o.api, f->call);
    loop_timer_stop(f->timer);
    MAP_EACH (s, &f->entries) {
        struct entry *x = s->value;
        jdoc_unref(x->doc);
        free(x);
    }
    map_done(&f->entries);
    buf_done(&f->version);
    kube_pages_done(&f->pages);
    free((char *)(uintptr_t)f->o.fields.p);
    free(f);
}

bool mirror_is_listed(const struct mirror *f)
{
    return f->listed;
}

struct jdoc *mirror_get(const struct mirror *f, str ns, str name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct entry *x = map_get(&f->entries, key_of(a, ns, name));

    return x ? x->doc : NULL;
}

void mirror_learn(struct mirror *f, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    struct entry *x = map_get(&f->entries, key_of(a, meta_namespace(obj), meta_name(obj)));

    if (x && str_eq(meta_uid(jdoc_root(x->doc)), meta_uid(obj)))
        put(f, obj);
}

jv mirror_list(const struct mirror *f, struct arena *a, str ns)
{
    struct jbuild b = jb_arr(a);

    MAP_EACH (s, &f->entries) {
        jv obj = jdoc_root(((struct entry *)s->value)->doc);
        if (!ns.n || str_eq(meta_namespace(obj), ns))
            jb_push(&b, obj);
    }
    return jb_done(&b);
}
