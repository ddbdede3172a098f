/* See track.h. */

#include "cli/track.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/loop.h"

#include <stdlib.h>

enum { AGAIN_MS = 1000, TRIES = 30 };

struct track {
    struct session *s;
    struct track_opts o;
    struct kube_call *call;
    struct loop_timer *again;
    char version[64]; /* last seen; empty: list first */
    bool listed;
    int tries; /* failed in a row */
    struct ask failed;
    bool has_failed;
};

static void go_on(void *arg);

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
    f->again = loop_timer_start(f->s->loop, AGAIN_MS, 0, go_on, f);
}

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct track *f = ctx;

    f->tries = 0;
    keep_version(f, obj);
    loop_wake(f->s->loop);
    if (type != KUBE_BOOKMARK)
        f->o.on_event(f->o.ctx, type, obj);
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
        f->again = loop_timer_start(f->s->loop, 0, 0, go_on, f);
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
    for (struct jv_iter it = jv_iter(jv_at(ans->obj, "items")); jv_next(&it);)
        f->o.on_event(f->o.ctx, KUBE_ADDED, it.value);
    if (!f->listed && f->o.on_listed)
        f->o.on_listed(f->o.ctx);
    f->listed = true;
    go_on(f);
}

static void go_on(void *arg)
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
    go_on(f);
    return f;
}

void track_stop(struct track *f)
{
    if (!f)
        return;
    loop_timer_stop(f->again);
    if (f->call)
        kube_cancel(f->s->api, f->call);
    free(f);
}

const struct ask *track_failed(const struct track *f)
{
    return f->has_failed ? &f->failed : NULL;
}
