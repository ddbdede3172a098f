/* From a path to a request: who asks, for what, with which verb. */

#include "api/auth/access.h"
#include "api/auth/auth.h"
#include "api/body.h"
#include "api/paths.h"
#include "api/request.h"
#include "api/subresource.h"
#include "api/usage.h"
#include "base/limits.h"
#include "loop/fiber.h"

/* The resource that the target names; false: there is none. */
static bool locate(struct api_req *r)
{
    const struct target *t = &r->target;

    if (t->n_rest && !str_eqz(t->sub, "proxy")) /* what follows is the target's */
        return false;
    r->res = registry_find(&r->api->registry, t->group, t->version, t->resource);
    if (!r->res || (t->in_namespace && !r->res->namespaced))
        return false;
    r->ns = t->in_namespace ? t->ns : STR_NONE;
    r->name = t->name;
    r->sub = t->sub;
    if (r->res->namespaced && !t->in_namespace && r->name.n)
        return false;
    /* reviews and bindings are not kept, so have no names */
    return r->res->coll || !r->name.n || resource_is_measured(r->res);
}

/* Whether that verb goes with a name or without one. */
static bool fits(const struct api_req *r)
{
    bool one = r->name.n > 0;
    bool reads = r->verb == VERB_GET || r->verb == VERB_LIST || r->verb == VERB_WATCH;

    if (r->verb == VERB_OTHER || (reads && !str_eqz(http_method(r->http), "GET")))
        return false;
    if (!one && r->res->namespaced && !r->ns.n && r->verb != VERB_LIST && r->verb != VERB_WATCH)
        return false; /* writes name their namespace */
    if (r->verb == VERB_CREATE)
        return !one || r->sub.n; /* POST to a subresource: binding, eviction */
    return one || (r->verb != VERB_UPDATE && r->verb != VERB_PATCH);
}

static const char *const verb_names[] = {
    [VERB_GET] = "get",       [VERB_LIST] = "list",
    [VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
    [VERB_UPDATE] = "update", [VERB_PATCH] = "patch",
    [VERB_DELETE] = "delete", [VERB_DELETE_COLLECTION] = "deletecollection",
    [VERB_OTHER] = "other",
};

static enum api_verb verb_of(str name)
{
    for (size_t i = 0; i < COUNT(verb_names); i++)
        if (str_eqz(name, verb_names[i]))
            return (enum api_verb)i;
    return VERB_OTHER;
}

const char *verb_name(enum api_verb v)
{
    return verb_names[v];
}

static bool allows(const struct resource *res, enum api_verb v)
{
    str verbs = res->builtin ? str_of(res->builtin->verbs) : STR_NONE;

    if (!verbs.n)
        return true;
    while (verbs.p) {
        str word = str_cut(&verbs, str_contains(verbs, S(",")) ? ',' : ' ');
        if (str_eqz(str_trim(word), verb_names[v]))
            return true;
    }
    return false;
}

static void run(struct api_req *r)
{
    static void (*const verbs[])(struct api_req *) = {
        [VERB_GET] = verb_get,       [VERB_LIST] = verb_list,
        [VERB_WATCH] = verb_watch,   [VERB_CREATE] = verb_create,
        [VERB_UPDATE] = verb_update, [VERB_PATCH] = verb_patch,
        [VERB_DELETE] = verb_delete, [VERB_DELETE_COLLECTION] = verb_delete_collection,
    };

    if (resource_is_measured(r->res))
        usage_run(r);
    else
        verbs[r->verb](r);
}

static void carry_out(void *arg)
{
    struct api_req *r = arg;

    if (r->sub.n)
        subresource_run(r);
    else
        run(r);
}

static void unref_resource(void *res)
{
    resource_unref(res);
}

static void serve(struct api_req *r)
{
    if (!locate(r)) {
        if (registry_is_builtin_group(r->target.group))
            fail_unknown_resource(r);
        else
            fail_no_page(r);
        return;
    }
    arena_defer(r->a, unref_resource, resource_ref(r->res));
    if (r->res->crdv && r->res->crdv->deprecated)
        request_warn(r, "%" PRI_STR, STR_ARG(r->res->crdv->warning));
    if (r->sub.n && !subresource_exists(r->res, r->sub)) {
        if (r->res->crdv)
            fail_not_found(r, r->res, r->name);
        else
            fail_unknown_resource(r);
        return;
    }
    if (!fits(r) || (!r->sub.n && !allows(r->res, r->verb))) {
        fail_method(r);
        return;
    }
    if (r->res->builtin && r->res->builtin->deprecated)
        request_warn(r, "%s", r->res->builtin->deprecated);
    if (negotiate(r) < 0 || query_parse(r) < 0)
        return;
    size_t sent = http_body(r->http).n;
    if (sent > LIMIT_LOOP_BYTES)
        fiber_run(r->api->loop, FIBER_LARGE, carry_out, r);
    else if (sent && r->res->crdv)
        fiber_run(r->api->loop, FIBER_SMALL, carry_out, r); /* whose rules may take long */
    else
        carry_out(r);
}

void run_verb(struct api_req *r)
{
    run(r);
}

static bool is_open_path(str path)
{
    return str_eqz(path, "/healthz") || str_eqz(path, "/livez") || str_eqz(path, "/readyz") ||
           str_eqz(path, "/version");
}

void api_on_request(void *ctx, struct http_req *h)
{
    struct api *api = ctx;
    struct arena *a = http_arena(h);
    struct api_req *r = ARENA_NEW(a, struct api_req);
    struct err e = { 0 };

    r->api = api;
    r->a = a;
    r->http = h;
    r->started_us = wall_now_us();
    if (!auth_origin_is_ours(h)) {
        fail_code(r, ERR_FORBIDDEN, "requests from a browser must name this server in Host");
        return;
    }
    if (target_read(a, http_method(h), http_path(h), http_query(h), &r->target, &e) < 0) {
        answer_err(r, &e);
        return;
    }
    const struct target *t = &r->target;
    r->verb = verb_of(t->verb);
    bool known = auth_who(r);
    if (!known && !is_open_path(t->path)) {
        fail_code(r, ERR_UNAUTHORIZED, "Unauthorized");
        return;
    }
    if (known && (!access_impersonate(r) || !access_check(r) || !body_is_text(r)))
        return;
    bool core = t->on_resource && str_eqz(t->parts[0], "api");
    if (core ? str_eqz(t->version, "v1")
             : t->group.n && registry_has_group(&api->registry, t->group, STR_NONE))
        serve(r);
    else if (t->on_resource || !paths_handle(r))
        fail_no_page(r);
}
