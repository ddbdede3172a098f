/* A namespace that is deleted stays, as Terminating, until everything in it is gone. */

#include "api/control/namespaces.h"

#include "api/control/namespace_content.h"
#include "api/delete.h"
#include "api/strategy.h"
#include "api/write.h"
#include "base/mem.h"
#include "kube/meta.h"

#include <stdlib.h>

enum { FIRST_SWEEP_MS = 1000, SWEEP_MS = 5000 };

struct ending {
    struct namespaces *of;
    str name; /* owned, ends in NUL */
    bool queued;
    struct loop_timer *timer; /* set once everything was asked to go */
};

struct namespaces {
    struct api *api;
    struct resource *res;
    struct map ending; /* by name */
};

struct namespaces *namespaces_new(struct api *api)
{
    struct namespaces *n = mem_new(sizeof(*n));

    n->api = api;
    n->res = registry_find(&api->registry, S(""), S("v1"), S("namespaces"));
    return n;
}

static void ending_free(struct ending *e)
{
    loop_timer_stop(e->timer);
    free((char *)(uintptr_t)e->name.p);
    free(e);
}

void namespaces_free(struct namespaces *n)
{
    if (!n)
        return;
    MAP_EACH (s, &n->ending)
        ending_free(s->value);
    map_done(&n->ending);
    free(n);
}

bool namespaces_admit(struct api_req *r, str name)
{
    struct namespaces *n = r->api->namespaces;
    struct store_obj *o = store_get(n->res->coll, r->ns);

    if (!o) {
        fail_not_found(r, n->res, r->ns);
        return false;
    }
    if (!map_get(&n->ending, r->ns))
        return true;
    jv cause = jobj(
        r->a, { "reason", jstrz(r->a, "NamespaceTerminating") },
        { "message", jstr(r->a, arena_printf(r->a, "namespace %" PRI_STR " is being terminated",
                                             STR_ARG(r->ns))) },
        { "field", jstrz(r->a, "metadata.namespace") });
    fail_with(r, ERR_FORBIDDEN,
              arena_printf(r->a,
                           "%" PRI_STR " \"%" PRI_STR
                           "\" is forbidden: unable to create new content in namespace %" PRI_STR
                           " because it is being terminated",
                           STR_ARG(r->res->group_resource), STR_ARG(name), STR_ARG(r->ns)),
              jobj(r->a, { "name", name.n ? jstr(r->a, name) : JV_ABSENT },
                   { "group", r->res->group.n ? jstr(r->a, r->res->group) : JV_ABSENT },
                   { "kind", jstr(r->a, r->res->plural) }, { "causes", jarr(r->a, cause) }));
    return false;
}

/* ---- the end */

jv namespace_marked_for_deletion(struct arena *a, jv ns, int64_t now_ms)
{
    ns = jv_with(a, ns, time_value(a, now_ms), "metadata", "deletionTimestamp");
    return jv_with(a, ns, jstrz(a, "Terminating"), "status", "phase");
}

bool namespace_is_held(jv ns)
{
    return jv_len(jv_at(ns, "spec", "finalizers")) > 0;
}

struct finish {
    struct change_op op;
    struct arena *a;
    struct namespace_left left;
};

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct finish *f = op->ctx;

    if (!jv_exists(live) || !meta_being_deleted(live))
        return 0;
    if (f->left.content.n) {
        jv told = namespace_with_conditions(a, live, &f->left, wall_now_ms());
        if (!jv_equal(told, live))
            *out = (struct change){ CHANGE_PUT, told };
        return 0;
    }
    jv obj = jv_with(a, live, JV_ABSENT, "spec", "finalizers");
    bool held = jv_len(jv_at(obj, "metadata", "finalizers")) > 0;
    *out = (struct change){ held ? CHANGE_PUT : CHANGE_REMOVE, obj };
    return 0;
}

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct finish *f = op->ctx;

    (void)kind;
    (void)stored;
    (void)e; /* a full disk: the next change in the namespace, or a restart, tries again */
    arena_free(f->a);
}

static void write_end(struct namespaces *n, str name, struct namespace_left left)
{
    struct arena *a = arena_new();
    struct finish *f = ARENA_NEW(a, struct finish);

    f->a = a;
    f->left = (struct namespace_left){ arena_str(a, left.content), arena_str(a, left.finalizers) };
    f->op = (struct change_op){ .api = n->api,
                                .res = n->res,
                                .key = arena_str(a, name),
                                .decide = decide,
                                .done = done,
                                .ctx = f };
    change_start(&f->op);
}

/* Deletes what is there. */
static void sweep(struct namespaces *n, struct arena *a, str name)
{
    str prefix = arena_printf(a, "%" PRI_STR "/", STR_ARG(name));

    for (struct store_coll *c = NULL; (c = store_coll_next(n->api->store, c));) {
        struct resource *res = registry_of_coll(&n->api->registry, c);
        struct store_snapshot snap;
        if (!res || !res->namespaced || store_snapshot(c, a, 0, prefix, STR_NONE, &snap, NULL) < 0)
            continue;
        for (size_t i = 0; i < snap.n; i++)
            delete_in_background(n->api, res, snap.items[i].key);
    }
}

static bool is_empty(struct namespaces *n, struct arena *a, str name)
{
    str prefix = arena_printf(a, "%" PRI_STR "/", STR_ARG(name));

    for (struct store_coll *c = NULL; (c = store_coll_next(n->api->store, c));) {
        struct resource *res = registry_of_coll(&n->api->registry, c);
        struct store_obj *o = res && res->namespaced ? store_seek(c, prefix) : NULL;
        if (o && str_starts(o->key, prefix))
            return false;
    }
    return true;
}

/* Now and then: what would not go is told, and asked to go once more. */
static void on_tick(void *ctx)
{
    struct ending *e = ctx;
    AUTO(arena) struct arena *a = arena_new();

    sweep(e->of, a, e->name);
    write_end(e->of, e->name, namespace_left_in(e->of->api, a, e->name));
}

static void look(void *ctx)
{
    struct ending *e = ctx;
    struct namespaces *n = e->of;
    AUTO(arena) struct arena *a = arena_new();

    e->queued = false;
    if (!store_get(n->res->coll, e->name)) {
        map_remove(&n->ending, e->name);
        ending_free(e);
    } else if (is_empty(n, a, e->name)) {
        write_end(n, e->name, (struct namespace_left){ 0 });
    } else if (!e->timer) {
        sweep(n, a, e->name);
        e->timer = loop_timer_start(n->api->loop, FIRST_SWEEP_MS, SWEEP_MS, on_tick, e);
    }
}

static void queue(struct ending *e)
{
    if (e->queued)
        return;
    e->queued = true;
    loop_defer(e->of->api->loop, look, e);
}

static struct ending *ending_new(struct namespaces *n, str name)
{
    struct ending *e = mem_new(sizeof(*e));
    char *copy = mem_or_abort(strndup(name.p, name.n));

    e->of = n;
    e->name = (str){ copy, name.n };
    map_put(&n->ending, e->name, e);
    return e;
}

static void on_namespace(struct namespaces *n, const struct store_event *ev)
{
    struct ending *e = map_get(&n->ending, ev->key);
    AUTO(arena) struct arena *a = arena_new();

    if (ev->is_delete) {
        if (e && !e->queued) {
            map_remove(&n->ending, ev->key);
            ending_free(e);
        }
        return;
    }
    if (e || !meta_being_deleted(json_parse(a, value_text(a, ev->value), NULL, NULL)))
        return;
    queue(ending_new(n, ev->key));
}

void namespaces_on_event(struct namespaces *n, struct store_coll *c, const struct store_event *ev)
{
    if (c == n->res->coll) {
        on_namespace(n, ev);
        return;
    }
    ptrdiff_t slash = n->ending.n ? str_find(ev->key, '/') : -1;
    struct ending *e = slash > 0 ? map_get(&n->ending, str_sub(ev->key, 0, (size_t)slash)) : NULL;
    if (e && (ev->is_delete || !ev->prev))
        queue(e);
}

void namespaces_load(struct namespaces *n)
{
    for (struct store_obj *o = store_seek(n->res->coll, STR_NONE); o;
         o = store_next(n->res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        if (meta_being_deleted(json_parse(a, value_text(a, o->value), NULL, NULL)))
            queue(ending_new(n, o->key));
    }
}
