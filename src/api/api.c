/* Putting the server together: what is stored, what every cluster has, who listens to changes. */

#include "api/api.h"

#include "api/addresses.h"
#include "api/admit_quota.h"
#include "api/crds.h"
#include "api/event_cache.h"
#include "api/expiry.h"
#include "api/gc.h"
#include "api/metrics.h"
#include "api/namespaces.h"
#include "api/strategy.h"
#include "api/watch.h"
#include "api/write.h"
#include "base/mem.h"
#include "kube/meta.h"

#include <stdlib.h>

enum { EVENT_TTL_MS = 60 * 60 * 1000 };

static void on_event(void *ctx, struct store_coll *c, struct store_event *ev)
{
    struct api *api = ctx;

    addresses_on_event(api->addresses, c, ev);
    crds_on_event(api->crds, c, ev);
    namespaces_on_event(api->namespaces, c, ev);
    expiry_on_event(api->expiry, c, ev);
    quotas_on_event(api->quotas, c, ev);
    gc_on_event(api->gc, c, ev);
}

static void load(struct api *api)
{
    crds_load(api->crds);
    addresses_load(api->addresses);
    quotas_load(api->quotas);
    expiry_load(api->expiry);
    namespaces_load(api->namespaces);
    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));)
        for (struct store_obj *o = store_seek(c, STR_NONE); o; o = store_next(c, o))
            gc_load(api->gc, c, o);
    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));)
        for (struct store_obj *o = store_seek(c, STR_NONE); o; o = store_next(c, o))
            gc_load_ending(api->gc, c, o);
}

/* ---- what every cluster has */

struct basics {
    struct api *api;
    struct arena *a;
    size_t left;
    struct err e;
    void (*done)(void *ctx, const struct err *e);
    void *ctx;
};

struct basic {
    struct change_op op;
    struct basics *all;
    jv obj;
};

static void basics_done(void *arg)
{
    struct basics *b = arg;

    b->done(b->ctx, b->e.code == ERR_OK ? NULL : &b->e);
    arena_free(b->a);
}

/* Posted, since nothing is left to make on old data: done must not run before api_new returns. */
static void basic_over(struct basics *b, const struct err *e)
{
    if (e && b->e.code == ERR_OK)
        b->e = *e;
    if (--b->left == 0)
        loop_post(b->api->loop, basics_done, b);
}

static void on_all_asked(void *arg)
{
    basic_over(arg, NULL);
}

static int decide_basic(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct basic *b = op->ctx;

    (void)a;
    if (!jv_exists(live))
        *out = (struct change){ CHANGE_PUT, b->obj };
    return 0;
}

static void done_basic(struct change_op *op, enum change_kind kind, struct blob *stored,
                       const struct err *e)
{
    struct basic *b = op->ctx;

    (void)kind;
    (void)stored;
    basic_over(b->all, e);
}

static void make_basic(struct basics *all, const char *group, const char *plural, const char *ns,
                       jv obj)
{
    struct api *api = all->api;
    struct arena *a = all->a;
    struct basic *b = ARENA_NEW(a, struct basic);
    struct resource *res = registry_find(&api->registry, str_of(group), S("v1"), str_of(plural));
    str key = resource_key(a, res, str_of(ns), meta_name(obj));
    struct problems ps = { .a = a };
    struct write_ctx w = {
        .a = a, .api = api, .res = res, .manager = S("muster"), .now_ms = wall_now_ms()
    };

    if (store_get(res->coll, key))
        return;
    all->left++;
    b->all = all;
    b->obj = strategy_create(&w, strategy_fill(&w, str_of(ns), obj), &ps);
    b->obj = addresses_take(api->addresses, a, res, b->obj, JV_ABSENT, &ps);
    if (ps.n) {
        struct err e;
        err_set(&e, ERR_INTERNAL, "%s/%.*s: %.*s", plural, STR_ARG(meta_name(obj)),
                STR_ARG(problems_text(a, &ps)));
        basic_over(all, &e);
        return;
    }
    b->op = (struct change_op){
        .api = api, .res = res, .key = key, .decide = decide_basic, .done = done_basic, .ctx = b
    };
    change_start(&b->op);
}

static jv named(struct arena *a, const char *name)
{
    return jobj(a, { "metadata", jobj(a, { "name", jstr(a, str_of(name)) }) });
}

static void make_namespaces(struct basics *b)
{
    static const char *const names[] = { "default", "kube-node-lease", "kube-public",
                                         "kube-system" };

    for (size_t i = 0; i < COUNT(names); i++)
        make_basic(b, "", "namespaces", "", named(b->a, names[i]));
}

static void make_priorities(struct basics *b)
{
    struct arena *a = b->a;
    static const struct {
        const char *name;
        int64_t value;
        const char *what;
    } rows[] = {
        { "system-node-critical", 2000001000, "For pods that a node cannot be without." },
        { "system-cluster-critical", 2000000000, "For pods that the cluster cannot be without." },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        jv o = jv_with(a, named(a, rows[i].name), jint(a, rows[i].value), "value");
        make_basic(b, "scheduling.k8s.io", "priorityclasses", "",
                   jv_with(a, o, jstr(a, str_of(rows[i].what)), "description"));
    }
}

static void make_service(struct basics *b)
{
    struct arena *a = b->a;
    jv port = jobj(a, { "name", jstrz(a, "https") }, { "port", jint(a, 443) },
                   { "protocol", jstrz(a, "TCP") }, { "targetPort", jint(a, 6443) });
    jv spec = jobj(a, { "clusterIP", jstrz(a, "10.96.0.1") }, { "ports", jarr(a, port) });
    jv o = jv_with(a, named(a, "kubernetes"), spec, "spec");

    o = jv_with(
        a, o,
        jobj(a, { "component", jstrz(a, "apiserver") }, { "provider", jstrz(a, "kubernetes") }),
        "metadata", "labels");
    make_basic(b, "", "services", "default", o);
}

static void make_basics(struct api *api, void (*done)(void *ctx, const struct err *e), void *ctx)
{
    struct arena *a = arena_new();
    struct basics *b = ARENA_NEW(a, struct basics);

    *b = (struct basics){ .api = api, .a = a, .left = 1, .done = done, .ctx = ctx };
    make_namespaces(b);
    make_priorities(b);
    make_service(b);
    loop_defer(api->loop, on_all_asked, b); /* done has to find the api there */
}

/* ---- life */

struct api *api_new(const struct api_opts *o, void (*done)(void *ctx, const struct err *e),
                    void *ctx)
{
    struct api *api = mem_new(sizeof(*api));

    api->a = arena_new();
    api->o = *o;
    api->o.token = arena_str(api->a, o->token);
    api->loop = o->loop;
    api->store = o->store;
    registry_init(&api->registry, o->store);
    api->metrics = metrics_new();
    api->event_cache = event_cache_new();
    api->gc = gc_new(api);
    api->namespaces = namespaces_new(api);
    api->crds = crds_new(api);
    api->expiry = expiry_new(api, o->event_ttl_ms ? o->event_ttl_ms : EVENT_TTL_MS);
    api->addresses = addresses_new(api);
    api->quotas = quotas_new(api);
    load(api);
    store_on_event(o->store, on_event, api);
    make_basics(api, done, ctx);
    return api;
}

void api_stop(struct api *api)
{
    api->stopping = true;
    watches_stop(api);
}

void api_set_server(struct api *api, struct http_server *s)
{
    api->server = s;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    quotas_free(api->quotas);
    addresses_free(api->addresses);
    expiry_free(api->expiry);
    crds_free(api->crds);
    namespaces_free(api->namespaces);
    gc_free(api->gc);
    event_cache_free(api->event_cache);
    metrics_free(api->metrics);
    registry_done(&api->registry);
    arena_free(api->a);
    free(api);
}
