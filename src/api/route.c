/* From a path to a request: who asks, for what, with which verb. */

#include "api/auth/access.h"
#include "api/auth/auth.h"
#include "api/body.h"
#include "api/paths.h"
#include "api/request.h"
#include "api/subresource.h"
#include "base/url.h"

enum { MAX_PARTS = 12 };

struct parts {
    str at[MAX_PARTS];
    size_t n;
};

/* Splits and decodes; -1: too many parts, a bad escape, or one that is "." or "..". */
static int split(struct arena *a, str path, struct parts *out)
{
    str rest = path.n && path.p[0] == '/' ? str_sub(path, 1, path.n) : path;

    out->n = 0;
    while (rest.p) {
        str part = str_cut(&rest, '/');
        if (!part.n && !rest.p)
            break; /* a slash at the end */
        if (out->n == MAX_PARTS || url_decode(a, part, &out->at[out->n], NULL) < 0)
            return -1;
        out->n++;
    }
    return 0;
}

/* What follows the version: [watch/] [namespaces/NS/] resource [name [subresource ...]] */
static bool locate(struct api_req *r, str group, str version, const struct parts *p, size_t i)
{
    struct registry *g = &r->api->registry;
    bool in_namespace = false;

    if (i < p->n && str_eqz(p->at[i], "watch")) {
        r->q.watch = true;
        i++;
    }
    if (p->n - i > 2 && str_eqz(p->at[i], "namespaces") && !str_eqz(p->at[i + 2], "status") &&
        !str_eqz(p->at[i + 2], "finalize")) {
        r->ns = p->at[i + 1];
        in_namespace = true;
        i += 2;
    }
    if (i >= p->n ||
        (p->n - i > 3 && !str_eqz(p->at[i + 2], "proxy"))) /* what follows is the target's */
        return false;
    r->res = registry_find(g, group, version, p->at[i]);
    r->name = i + 1 < p->n ? p->at[i + 1] : STR_NONE;
    r->sub = i + 2 < p->n ? p->at[i + 2] : STR_NONE;
    if (!r->res || (in_namespace && !r->res->namespaced))
        return false;
    if (r->res->namespaced && !in_namespace && r->name.n)
        return false;
    return r->res->coll || !r->name.n; /* reviews and bindings are not kept, so have no names */
}

static bool verb_of(struct api_req *r, str method)
{
    bool one = r->name.n > 0;
    static const struct {
        const char *method;
        int on_one, on_many; /* -1: not allowed */
    } rows[] = {
        { "GET", VERB_GET, VERB_LIST },
        { "POST", -1, VERB_CREATE },
        { "PUT", VERB_UPDATE, -1 },
        { "PATCH", VERB_PATCH, -1 },
        { "DELETE", VERB_DELETE, VERB_DELETE_COLLECTION },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!str_eqz(method, rows[i].method))
            continue;
        int verb = one ? rows[i].on_one : rows[i].on_many;
        if (verb < 0 && !(one && r->sub.n)) /* POST to a subresource: binding, eviction */
            return false;
        if (!one && r->res->namespaced && !r->ns.n && verb != VERB_LIST)
            return false; /* writes name their namespace */
        r->verb = verb < 0 ? VERB_CREATE : (enum api_verb)verb;
        return true;
    }
    return false;
}

static const char *const verb_names[] = {
    [VERB_GET] = "get",       [VERB_LIST] = "list",
    [VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
    [VERB_UPDATE] = "update", [VERB_PATCH] = "patch",
    [VERB_DELETE] = "delete", [VERB_DELETE_COLLECTION] = "deletecollection",
};

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

    verbs[r->verb](r);
}

static void unref_resource(void *res)
{
    resource_unref(res);
}

static void serve(struct api_req *r, str group, str version, const struct parts *p, size_t i)
{
    bool old_watch;

    if (!locate(r, group, version, p, i)) {
        if (registry_is_builtin_group(group))
            fail_unknown_resource(r);
        else
            fail_no_page(r);
        return;
    }
    old_watch = r->q.watch;
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
    if (!verb_of(r, http_method(r->http))) {
        fail_method(r);
        return;
    }
    if (!r->sub.n && !allows(r->res, r->verb)) {
        fail_method(r);
        return;
    }
    if (r->res->builtin && r->res->builtin->deprecated)
        request_warn(r, "%s", r->res->builtin->deprecated);
    if (negotiate(r) < 0 || query_parse(r, http_query(r->http)) < 0)
        return;
    if (old_watch && (r->verb == VERB_GET || r->verb == VERB_LIST))
        r->verb = VERB_WATCH;
    if (r->sub.n)
        subresource_run(r);
    else
        run(r);
}

void run_verb(struct api_req *r)
{
    run(r);
}

/* Answers may quote a path or a query, and stored objects a query, so both are text. */
static bool has_text_target(struct api_req *r)
{
    size_t at;

    if (!url_is_utf8(r->a, http_path(r->http), &at))
        fail_bad_request(r, "the path of the request is not UTF-8 at byte %zu", at);
    else if (!url_is_utf8(r->a, http_query(r->http), &at))
        fail_bad_request(r, "the query of the request is not UTF-8 at byte %zu", at);
    else
        return true;
    return false;
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
    str path = http_path(h);
    struct parts p;

    r->api = api;
    r->a = a;
    r->http = h;
    r->started_us = wall_now_us();
    if (!auth_origin_is_ours(h)) {
        fail_code(r, ERR_FORBIDDEN, "requests from a browser must name this server in Host");
        return;
    }
    if (!has_text_target(r))
        return;
    bool known = auth_who(r);
    if (!known && !is_open_path(path)) {
        fail_code(r, ERR_UNAUTHORIZED, "Unauthorized");
        return;
    }
    if (split(a, path, &p) < 0) {
        fail_no_page(r);
        return;
    }
    if (known &&
        (!access_impersonate(r, path) || !access_check(r, path, p.at, p.n) || !body_is_text(r)))
        return;
    if (p.n >= 3 && str_eqz(p.at[0], "api") && str_eqz(p.at[1], "v1"))
        serve(r, STR_NONE, p.at[1], &p, 2);
    else if (p.n >= 4 && str_eqz(p.at[0], "apis") &&
             registry_has_group(&api->registry, p.at[1], STR_NONE))
        serve(r, p.at[1], p.at[2], &p, 3);
    else if (!paths_handle(r, path, p.at, p.n))
        fail_no_page(r);
}
