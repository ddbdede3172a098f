/* What every cluster has, and the definitions that this one is to have: made at the start, as
 * ordinary writes. What is there already costs a look. The service `kubernetes`, which pods find
 * the API by, is made again whenever somebody deletes it, as by `kubectl delete all --all`. */

#include "api/control/basics.h"

#include "api/auth/roles.h"
#include "api/control/addresses.h"
#include "api/control/crds.h"
#include "api/strategy.h"
#include "api/write.h"
#include "kube/meta.h"
#include "loop/log.h"

struct basics {
    struct api *api;
    struct arena *a;
    size_t left;
    jv later; /* objects of kinds that are being defined */
    struct err e;
    void (*done)(void *ctx, const struct err *e);
    void *ctx;
};

struct basic {
    struct change_op op;
    struct basics *all;
    jv obj;
    const char *keep; /* a field that is to be as it is here; NULL: only there */
    bool yields;      /* a definition that stays as others have written it */
};

static void make_later(struct basics *b);

static void basics_done(void *arg)
{
    struct basics *b = arg;

    if (jv_len(b->later) && b->e.code == ERR_OK) {
        make_later(b);
        return;
    }
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

    if (!jv_exists(live)) {
        *out = (struct change){ CHANGE_PUT, b->obj };
        return 0;
    }
    jv want = b->keep ? jv_get(b->obj, str_of(b->keep)) : JV_ABSENT;
    if (b->keep && !jv_equal_semantic(want, jv_get(live, str_of(b->keep))))
        *out = (struct change){ CHANGE_PUT, jv_with_key(a, live, str_of(b->keep), want) };
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

static void make_of(struct basics *all, struct resource *res, str ns, jv obj, const char *keep)
{
    struct api *api = all->api;
    struct arena *a = all->a;
    struct basic *b = ARENA_NEW(a, struct basic);
    str key = resource_key(a, res, ns, meta_name(obj));
    struct problems ps = { .a = a };
    struct write_ctx w = {
        .a = a, .api = api, .res = res, .manager = S("muster"), .now_ms = wall_now_ms()
    };

    if (!keep && store_get(res->coll, key))
        return;
    all->left++;
    b->all = all;
    b->keep = keep;
    b->obj = strategy_create(&w, strategy_fill(&w, ns, obj), &ps);
    b->obj = addresses_take(api->addresses, a, res, b->obj, JV_ABSENT, &ps);
    if (ps.n) {
        struct err e;
        err_set(&e, ERR_INTERNAL, "%.*s/%.*s: %.*s", STR_ARG(res->plural), STR_ARG(meta_name(obj)),
                STR_ARG(problems_text(a, &ps)));
        basic_over(all, &e);
        return;
    }
    b->op = (struct change_op){
        .api = api, .res = res, .key = key, .decide = decide_basic, .done = done_basic, .ctx = b
    };
    change_start(&b->op);
}

static void make_kept(struct basics *all, const char *group, const char *plural, const char *ns,
                      jv obj, const char *keep)
{
    make_of(all, registry_find(&all->api->registry, str_of(group), S("v1"), str_of(plural)),
            str_of(ns), obj, keep);
}

static void make_basic(struct basics *all, const char *group, const char *plural, const char *ns,
                       jv obj)
{
    make_kept(all, group, plural, ns, obj, NULL);
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
    for (const char *const *n = b->api->o.namespaces; n && *n; n++)
        make_basic(b, "", "namespaces", "", named(b->a, *n));
}

static void make_priorities(struct basics *b)
{
    struct arena *a = b->a;
    static const struct {
        const char *name;
        int64_t value;
        const char *what;
    } rows[] = {
        { "system-node-critical", 2000001000, "For pods that a node cannot work without." },
        { "system-cluster-critical", 2000000000, "For pods that the cluster cannot work without." },
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

static void make_roles(struct basics *b)
{
    static const char group[] = "rbac.authorization.k8s.io";

    bool metrics = registry_has_group(&b->api->registry, S(METRICS_GROUP), STR_NONE);

    JV_EACH (it, roles_basic(b->a, metrics))
        make_basic(b, group, "clusterroles", "", it.value);
    make_basic(b, group, "clusterrolebindings", "", roles_basic_binding(b->a));
    for (size_t i = 0; i < b->api->o.n_roles; i++) {
        const struct api_role *r = &b->api->o.roles[i];
        make_kept(b, group, "clusterroles", "", roles_own(b->a, r), "rules");
        make_kept(b, group, "clusterrolebindings", "", roles_own_binding(b->a, r), "subjects");
    }
}

/* ---- the service, again */

static void again_in(struct api *api, int64_t ms);

static void on_again(void *ctx, const struct err *e)
{
    enum { LATER_MS = 10 * 1000 };

    if (!e)
        return;
    log_warn("cannot create service kubernetes again, retrying", KVZ("error", e->msg));
    again_in(ctx, LATER_MS);
}

static void make_again(void *arg)
{
    struct api *api = arg;
    struct arena *a = arena_new();
    struct basics *b = ARENA_NEW(a, struct basics);

    loop_timer_stop(TAKE(api->basics_due));
    *b = (struct basics){ .api = api, .a = a, .left = 1, .done = on_again, .ctx = api };
    make_service(b);
    basic_over(b, NULL);
}

static void again_in(struct api *api, int64_t ms)
{
    loop_timer_stop(TAKE(api->basics_due));
    if (!api->stopping)
        api->basics_due = loop_timer_start(api->loop, ms, 0, make_again, api);
}

void basics_on_event(struct api *api, const struct store_coll *c, const struct store_event *ev)
{
    if (ev->is_delete && str_eqz(ev->key, "default/kubernetes") &&
        c == registry_find(&api->registry, S(""), S("v1"), S("services"))->coll)
        again_in(api, 0);
}

void basics_stop(struct api *api)
{
    loop_timer_stop(TAKE(api->basics_due));
}

/* ---- definitions */

static bool is_of_others(jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "managedFields"))
        if (!str_eqz(jv_str(jv_at(it.value, "manager"), S("")), "muster") &&
            !jv_str(jv_at(it.value, "subresource"), S("")).n)
            return true;
    return false;
}

/* Served as soon as it is stored: with the conditions that it would get a moment later. */
static int decide_definition(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct basic *b = op->ctx;
    struct problems ps = { .a = a };
    struct write_ctx w = {
        .a = a, .api = op->api, .res = op->res, .manager = S("muster"), .now_ms = wall_now_ms()
    };
    jv obj;

    if (meta_being_deleted(live) || jv_equal(jv_at(b->obj, "spec"), jv_at(live, "spec")) ||
        (b->yields && is_of_others(live)))
        return 0;
    if (jv_exists(live))
        obj =
            strategy_update(&w, jv_with_key(a, live, S("spec"), jv_at(b->obj, "spec")), live, &ps);
    else
        obj = strategy_create(&w, strategy_fill(&w, STR_NONE, b->obj), &ps);
    if (ps.n) /* not a reason to serve nothing at all */
        log_warn("cannot update CustomResourceDefinition", KV("crd", op->key),
                 KV("why", problems_text(a, &ps)));
    else
        *out = (struct change){ CHANGE_PUT, crds_accepted(op->api->crds, a, obj) };
    return 0;
}

static void make_definition(struct basics *all, jv crd, bool yields)
{
    struct api *api = all->api;
    struct basic *b = ARENA_NEW(all->a, struct basic);
    struct resource *res = registry_find(&api->registry, S("apiextensions.k8s.io"), S("v1"),
                                         S("customresourcedefinitions"));

    b->all = all;
    b->yields = yields;
    b->obj = crd_definition_defaults(all->a, schema_decode(all->a, res->schema, crd, NULL, NULL));
    b->op = (struct change_op){ .api = api,
                                .res = res,
                                .key = meta_name(crd),
                                .decide = decide_definition,
                                .done = done_basic,
                                .ctx = b };
    all->left++;
    change_start(&b->op);
}

/* Their kinds are served by now; if somebody changed such a kind past recognition, without them. */
static void make_later(struct basics *b)
{
    jv objects = b->later;

    b->later = JV_ABSENT;
    b->left = 1;
    JV_EACH (it, objects) {
        struct resource *res =
            registry_find_owner(&b->api->registry, jv_str(jv_get(it.value, S("apiVersion")), S("")),
                                jv_str(jv_get(it.value, S("kind")), S("")));
        if (res && !res->namespaced)
            make_of(b, res, STR_NONE, it.value, NULL);
    }
    basic_over(b, NULL);
}

void basics_make(struct api *api, void (*done)(void *ctx, const struct err *e), void *ctx)
{
    struct arena *a = arena_new();
    struct basics *b = ARENA_NEW(a, struct basics);

    *b = (struct basics){ .api = api, .a = a, .left = 1, .done = done, .ctx = ctx };
    b->later = api->o.objects;
    make_namespaces(b);
    make_priorities(b);
    make_roles(b);
    make_service(b);
    for (size_t i = 0; i < api->o.n_definitions; i++)
        make_definition(b, api->o.definitions[i], false);
    for (size_t i = 0; i < api->o.n_loans; i++)
        make_definition(b, api->o.loans[i], true);
    loop_defer(api->loop, on_all_asked, b); /* done has to find the api there */
}
