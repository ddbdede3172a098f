/* The controllers that kube-apiserver runs for CRDs: naming, establishing, finalizing. */

#include "api/control/crds.h"

#include "api/delete.h"
#include "api/strategy.h"
#include "api/write.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"

#include <stdlib.h>

static const str cleanup = S_INIT("customresourcecleanup.apiextensions.k8s.io");

enum { AGAIN_MS = 50 };

struct crds {
    struct api *api;
    struct resource *res;
    struct map ending;        /* names of those being deleted whose objects have yet to go */
    struct loop_timer *again; /* looks whether those under way have gone */
};

struct crds *crds_new(struct api *api)
{
    struct crds *c = mem_new(sizeof(*c));

    c->api = api;
    c->res = registry_find(&api->registry, S("apiextensions.k8s.io"), S("v1"),
                           S("customresourcedefinitions"));
    return c;
}

void crds_free(struct crds *c)
{
    if (!c)
        return;
    MAP_EACH (s, &c->ending)
        free(s->value);
    map_done(&c->ending);
    loop_timer_stop(c->again);
    free(c);
}

bool crds_admit(struct api_req *r, str name)
{
    if (!r->res->crd || !map_get(&r->api->crds->ending, r->res->group_resource))
        return true;
    fail_forbidden(r, name, "create not allowed while custom resource definition is terminating");
    return false;
}

/* ---- names and conditions */

struct accept {
    struct change_op op;
    struct arena *a;
    struct crds *c;
};

static jv all_others(struct crds *c, struct arena *a, str name)
{
    struct jbuild b = jb_arr(a);

    for (struct store_obj *o = store_seek(c->res->coll, STR_NONE); o;
         o = store_next(c->res->coll, o))
        if (!str_eq(o->key, name))
            jb_push(&b, resource_parse_value(a, c->res, o->value));
    return jb_done(&b);
}

/* Our controllers write through the status subresource, and managedFields say so. */
static void write_status(struct crds *c, struct arena *a, jv obj, jv live, struct change *out)
{
    struct problems ps = { .a = a };
    struct write_ctx w = { .a = a,
                           .api = c->api,
                           .res = c->res,
                           .sub = S("status"),
                           .manager = S("kube-apiserver"),
                           .now_ms = wall_now_ms() };

    if (!jv_equal(obj, live))
        *out = (struct change){ CHANGE_PUT, strategy_update(&w, obj, live, &ps) };
}

jv crds_accepted(struct crds *c, struct arena *a, jv crd)
{
    struct change out = { .obj = crd };

    write_status(c, a, crd_accept(a, crd, all_others(c, a, meta_name(crd)), wall_now_ms()), crd,
                 &out);
    return out.obj;
}

static int decide_accept(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct accept *w = op->ctx;

    if (!jv_exists(live))
        return 0;
    write_status(w->c, a, crd_accept(a, live, all_others(w->c, a, op->key), wall_now_ms()), live,
                 out);
    return 0;
}

static void done_accept(struct change_op *op, enum change_kind kind, struct blob *stored,
                        const struct err *e)
{
    struct accept *w = op->ctx;

    (void)kind;
    (void)stored;
    if (e)
        log_warn("crd not accepted", KV("crd", op->key), KVZ("why", e->msg));
    arena_free(w->a);
}

static void change(struct crds *c, str name,
                   int (*decide)(struct change_op *, struct arena *, jv, struct change *))
{
    struct arena *a = arena_new();
    struct accept *w = ARENA_NEW(a, struct accept);

    w->a = a;
    w->c = c;
    w->op = (struct change_op){ .api = c->api,
                                .res = c->res,
                                .key = arena_str(a, name),
                                .decide = decide,
                                .done = done_accept,
                                .ctx = w };
    change_start(&w->op);
}

/* ---- the end */

static jv with_terminating(struct arena *a, jv crd, const char *reason, const char *message,
                           int64_t now_ms)
{
    struct jbuild conditions = jb_arr(a);

    JV_EACH (it, jv_at(crd, "status", "conditions"))
        if (!str_eqz(jv_str(jv_at(it.value, "type"), STR_NONE), "Terminating"))
            jb_push(&conditions, it.value);
    jb_push(&conditions,
            jobj(a, { "type", jstrz(a, "Terminating") }, { "status", jstrz(a, "True") },
                 { "lastTransitionTime", time_value(a, now_ms) },
                 { "reason", jstr(a, str_of(reason)) }, { "message", jstr(a, str_of(message)) }));
    return jv_with(a, crd, jb_done(&conditions), "status", "conditions");
}

jv crd_marked_for_deletion(struct arena *a, jv crd, int64_t now_ms)
{
    jv finalizers = jv_at(crd, "metadata", "finalizers");
    struct jbuild f = jb_from(a, jv_is(finalizers, JV_ARR) ? finalizers : JV_EMPTY_ARR);

    if (!meta_has_finalizer(crd, cleanup))
        jb_push(&f, jstr(a, cleanup));
    crd = jv_with(a, crd, jb_done(&f), "metadata", "finalizers");
    crd = jv_with(a, crd, time_value(a, now_ms), "metadata", "deletionTimestamp");
    return with_terminating(
        a, crd, "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        now_ms);
}

static int decide_sweeping(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct accept *w = op->ctx;

    if (jv_exists(live))
        write_status(w->c, a,
                     with_terminating(a, live, "InstanceDeletionInProgress",
                                      "CustomResource deletion is in progress", wall_now_ms()),
                     live, out);
    return 0;
}

static int decide_finish(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct jbuild b = jb_arr(a);

    (void)op;
    if (!jv_exists(live))
        return 0;
    JV_EACH (it, jv_at(live, "metadata", "finalizers"))
        if (!str_eq(jv_str(it.value, STR_NONE), cleanup))
            jb_push(&b, it.value);
    jv left = jb_done(&b);
    jv obj = jv_with(a, live, jv_len(left) ? left : JV_ABSENT, "metadata", "finalizers");
    *out = (struct change){ jv_len(left) ? CHANGE_PUT : CHANGE_REMOVE, obj };
    return 0;
}

static struct store_coll *objects_of(struct crds *c, struct arena *a, str name)
{
    str rest = name;
    str plural = str_cut(&rest, '.');

    return store_coll(c->api->store,
                      arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(rest), STR_ARG(plural)));
}

static void look_again(void *ctx);

/* Nothing is left, and nothing that was let in before the end began is still on its way to disk. */
static void finish_if_empty(struct crds *c, str name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct store_coll *coll = objects_of(c, a, name);

    if (store_coll_count(coll))
        return;
    if (!store_coll_is_busy(coll))
        change(c, name, decide_finish);
    else if (!c->again)
        c->again = loop_timer_start(c->api->loop, AGAIN_MS, 0, look_again, c);
}

static void look_again(void *ctx)
{
    struct crds *c = ctx;

    loop_timer_stop(c->again);
    c->again = NULL;
    MAP_EACH (s, &c->ending)
        finish_if_empty(c, s->key);
}

static void sweep(struct crds *c, str name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct store_coll *coll = objects_of(c, a, name);
    struct resource *res = registry_of_coll(&c->api->registry, coll);
    struct store_snapshot snap;

    if (!store_coll_count(coll)) {
        finish_if_empty(c, name);
        return;
    }
    if (!res || store_snapshot(coll, a, 0, STR_NONE, STR_NONE, &snap, NULL) < 0)
        return;
    change(c, name, decide_sweeping);
    for (size_t i = 0; i < snap.n; i++)
        delete_in_background(c->api, res, snap.items[i].key);
}

/* ---- what happens */

static void serve(struct crds *c, jv obj, struct value *stored)
{
    struct err e = { 0 };
    str group = jv_str(jv_at(obj, "spec", "group"), STR_NONE);
    str plural = jv_str(jv_at(obj, "spec", "names", "plural"), STR_NONE);

    if (!meta_condition_is(obj, S("Established"), S("True")))
        return;
    AUTO(crd) struct crd *crd = crd_outline(obj, &e);
    if (!crd)
        log_warn("crd not served", KV("crd", meta_name(obj)), KVZ("why", e.msg));
    else
        registry_set_crd(&c->api->registry, group, plural, crd, stored,
                         jv_int(jv_at(obj, "metadata", "generation"), 1) > 1);
}

static void end_begins(struct crds *c, str name)
{
    if (map_get(&c->ending, name))
        return;
    char *copy = mem_or_abort(strndup(name.p, name.n));
    map_put(&c->ending, (str){ copy, name.n }, copy);
    sweep(c, name);
}

static void gone(struct crds *c, str name)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = name;
    str plural = str_cut(&rest, '.');
    struct store_coll *coll = objects_of(c, a, name);

    free(map_remove(&c->ending, name));
    registry_set_crd(&c->api->registry, rest, plural, NULL, NULL, false);
    if (!store_coll_count(coll))
        store_coll_forget(coll);
    /* a name that was taken may be free now */
    for (struct store_obj *o = store_seek(c->res->coll, STR_NONE); o;
         o = store_next(c->res->coll, o))
        change(c, o->key, decide_accept);
}

void crds_load(struct crds *c)
{
    for (struct store_obj *o = store_seek(c->res->coll, STR_NONE); o;
         o = store_next(c->res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        jv obj = resource_parse_value(a, c->res, o->value);
        serve(c, obj, o->value);
        if (meta_being_deleted(obj))
            end_begins(c, o->key);
        else if (!meta_condition_is(obj, S("Established"), S("True")))
            change(c, o->key, decide_accept);
    }
}

/* Names that were accepted stay so: there is no need to look at all others. */
static bool is_accepted(struct arena *a, jv crd)
{
    return jv_equal(crd_accept(a, crd, JV_EMPTY_ARR, wall_now_ms()), crd);
}

static void on_crd(struct crds *c, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();

    if (ev->is_delete) {
        gone(c, ev->key);
        return;
    }
    jv obj = resource_parse_value(a, c->res, ev->value);
    serve(c, obj, ev->value);
    if (meta_being_deleted(obj))
        end_begins(c, ev->key);
    else if (!is_accepted(a, obj))
        change(c, ev->key, decide_accept);
}

void crds_on_event(struct crds *c, struct store_coll *coll, const struct store_event *ev)
{
    if (coll == c->res->coll) {
        on_crd(c, ev);
        return;
    }
    if (!c->ending.n || (ev->is_delete ? store_coll_count(coll) > 1 : ev->prev != NULL))
        return;
    str rest = store_coll_name(coll); /* "group/plural" */
    AUTO(arena) struct arena *a = arena_new();
    str group = str_cut(&rest, '/');
    str name = rest.p ? arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(rest), STR_ARG(group))
                      : STR_NONE;
    if (!name.n || !map_get(&c->ending, name))
        return;
    struct resource *res = registry_of_coll(&c->api->registry, coll);
    if (!ev->is_delete && res) /* it was let in before the end began */
        delete_in_background(c->api, res, ev->key);
    else if (ev->is_delete && !c->again) /* it still counts while its event is told */
        c->again = loop_timer_start(c->api->loop, 0, 0, look_again, c);
}
