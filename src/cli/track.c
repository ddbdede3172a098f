/* See track.h. */

#include "cli/track.h"

#include "base/map.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/loop.h"

#include <stdlib.h>

enum { AGAIN_MS = 1000, TRIES = 30 };

/* What was told last of an object. */
struct known {
    struct jdoc *doc;
    unsigned list; /* the last that had it */
};

struct track {
    struct session *s;
    struct track_opts o;
    struct kube_call *call;
    struct loop_timer *again;
    char version[64]; /* last seen; empty: list first */
    bool listed;
    unsigned list;    /* how many there were */
    struct map known; /* by uid */
    int tries;        /* failed in a row */
    struct ask failed;
    bool has_failed;
};

static void watch_again(void *arg);

static void forget(struct track *f, struct known *k)
{
    map_remove(&f->known, meta_uid(jdoc_root(k->doc)));
    jdoc_unref(k->doc);
    free(k);
}

/* Returns whether it was known. */
static bool keep(struct track *f, jv obj)
{
    struct arena *a = arena_new();
    struct jdoc *doc = jdoc_of(a, jv_without(a, jv_copy(a, obj), "metadata", "managedFields"));
    struct known *k = map_get(&f->known, meta_uid(obj));
    bool was = k != NULL;

    if (!k)
        k = mem_new(sizeof(*k));
    struct jdoc *before = k->doc;
    k->doc = doc;
    k->list = f->list;
    map_put(&f->known, meta_uid(jdoc_root(doc)), k);
    jdoc_unref(before);
    return was;
}

static void tell(struct track *f, enum kube_event type, jv obj)
{
    if (meta_uid(obj).n && type != KUBE_DELETED && keep(f, obj))
        type = KUBE_MODIFIED;
    f->o.on_event(f->o.ctx, type, obj);
    struct known *k = type == KUBE_DELETED ? map_get(&f->known, meta_uid(obj)) : NULL;
    if (k)
        forget(f, k);
}

/* Those that went while nobody watched. */
static void tell_missing(struct track *f)
{
    MAP_EACH (slot, &f->known) {
        struct known *k = slot->value;
        if (k->list == f->list)
            continue;
        f->o.on_event(f->o.ctx, KUBE_DELETED, jdoc_root(k->doc));
        forget(f, k);
    }
}

static void keep_version(struct track *f, jv obj)
{
    str v = meta_resource_version(obj);

    if (!v.n) /* a Table in a watch */
        v = meta_resource_version(jv_at(jv_index(jv_at(obj, "rows"), 0), "object"));
    if (v.n && v.n < sizeof(f->version)) {
        memcpy(f->version, v.p, v.n);
        f->version[v.n] = 0;
    }
}

static void later(struct track *f, const struct err *e, int status)
{
    bool hopeless = status && status != 429 && status < 500 && status != 410;

    if (hopeless || ++f->tries > TRIES) {
        f->has_failed = true;
        f->failed = (struct ask){ .status = status, .err = *e };
        loop_wake(f->s->loop);
        return;
    }
    f->again = loop_timer_start(f->s->loop, AGAIN_MS, 0, watch_again, f);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct track *f = ctx;

    f->tries = 0;
    keep_version(f, obj);
    loop_wake(f->s->loop);
    if (type != KUBE_BOOKMARK)
        tell(f, type, obj);
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct track *f = ctx;

    (void)retry_after_ms;
    f->call = NULL;
    if (e && e->code == ERR_EXPIRED)
        f->version[0] = 0;
    if (e && e->code != ERR_EXPIRED)
        later(f, e, 0);
    else
        f->again = loop_timer_start(f->s->loop, 0, 0, watch_again, f);
}

static void on_list(void *ctx, const struct kube_answer *ans)
{
    struct track *f = ctx;

    f->call = NULL;
    if (ans->err.code) {
        later(f, &ans->err, ans->status);
        return;
    }
    f->tries = 0;
    keep_version(f, ans->obj);
    loop_wake(f->s->loop);
    if (str_eqz(jv_str(jv_at(ans->obj, "kind"), STR_NONE), "Table"))
        f->o.on_event(f->o.ctx, KUBE_ADDED, ans->obj);
    f->list++;
    JV_EACH (it, jv_at(ans->obj, "items"))
        tell(f, KUBE_ADDED, it.value);
    tell_missing(f);
    if (!f->listed && f->o.on_listed)
        f->o.on_listed(f->o.ctx);
    f->listed = true;
    watch_again(f);
}

static void watch_again(void *arg)
{
    struct track *f = arg;
    struct kube_watcher w = { .on_event = on_event, .on_end = on_end, .ctx = f };
    struct kube_request r = { .verb = f->version[0] ? KUBE_WATCH : KUBE_LIST,
                              .res = f->o.res,
                              .ns = f->o.ns,
                              .labels = f->o.labels,
                              .fields = f->o.fields,
                              .accept = f->o.accept,
                              .version = str_of(f->version) };

    loop_timer_stop(TAKE(f->again));
    if (f->o.name.n)
        r.name = f->o.name;
    f->call = f->version[0] ? kube_watch(f->s->api, &r, &w) : kube_send(f->s->api, &r, on_list, f);
}

struct track *track_start(struct session *s, const struct track_opts *o)
{
    struct track *f = mem_new(sizeof(*f));

    f->s = s;
    f->o = *o;
    watch_again(f);
    return f;
}

void track_stop(struct track *f)
{
    if (!f)
        return;
    loop_timer_stop(f->again);
    if (f->call)
        kube_cancel(f->s->api, f->call);
    MAP_EACH (slot, &f->known)
        forget(f, slot->value);
    map_done(&f->known);
    free(f);
}

const struct ask *track_failed(const struct track *f)
{
    return f->has_failed ? &f->failed : NULL;
}
