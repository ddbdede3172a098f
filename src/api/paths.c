/* The other paths. OpenAPI documents are made when asked for and not kept. */

#include "api/paths.h"

#include "api/discovery.h"
#include "api/metrics.h"
#include "builtin/openapi/openapi.h"

#include <malloc.h>
#include <stdlib.h>

static const str plain = S_INIT("text/plain; charset=utf-8");

static void show_version(struct api_req *r)
{
    struct arena *a = r->a;

    answer_json(r, 200,
                jobj(a, { "major", jstrz(a, "1") }, { "minor", jstrz(a, "34") },
                     { "gitVersion", jstrz(a, "v1.34.4+muster-" MUSTER_VERSION) },
                     { "gitCommit", jstrz(a, "") }, { "gitTreeState", jstrz(a, "clean") },
                     { "buildDate", jstrz(a, "1970-01-01T00:00:00Z") },
                     { "goVersion", jstrz(a, "none") }, { "compiler", jstrz(a, "gcc") },
                     { "platform", jstrz(a, "linux/amd64") }));
}

static bool show_health(struct api_req *r, const str *parts, size_t n)
{
    bool verbose = target_option(&r->target, "verbose").p;
    str name = parts[0];

    if (n > 1 && !(n == 2 && (str_eqz(parts[1], "ping") || str_eqz(parts[1], "store"))))
        return false;
    if (r->api->stopping && str_eqz(name, "readyz"))
        answer_text(r->http, 500, plain,
                    S("[-]shutdown failed: the server is stopping\nreadyz check failed\n"));
    else if (verbose)
        answer_text(r->http, 200, plain,
                    arena_printf(r->a, "[+]ping ok\n[+]store ok\n%" PRI_STR " check passed\n",
                                 STR_ARG(name)));
    else
        answer_text(r->http, 200, plain, S("ok"));
    return true;
}

static void show_metrics(struct api_req *r)
{
    AUTO(buf) struct buf b = { 0 };

    metrics_print(r->api, &b);
    answer_text(r->http, 200, S("text/plain; version=0.0.4; charset=utf-8"), buf_str(&b));
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static void show_root(struct api_req *r)
{
    struct arena *a = r->a;
    static const char *const fixed[] = { "/api",    "/api/v1",  "/apis",       "/healthz",
                                         "/livez",  "/metrics", "/openapi/v2", "/openapi/v3",
                                         "/readyz", "/version" };
    size_t cap = COUNT(fixed) + 2 * r->api->registry.by_path.n;
    str *paths = ARENA_ARRAY(a, str, cap);
    struct jbuild list = jb_arr(a);
    size_t n = 0;

    for (size_t i = 0; i < COUNT(fixed); i++)
        paths[n++] = str_of(fixed[i]);
    MAP_EACH (s, &r->api->registry.by_path) {
        struct resource *res = s->value;
        if (!res->group.n)
            continue;
        paths[n++] = arena_printf(a, "/apis/%" PRI_STR, STR_ARG(res->group));
        paths[n++] = arena_printf(a, "/apis/%" PRI_STR, STR_ARG(res->api_version));
    }
    qsort(paths, n, sizeof(*paths), by_text);
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(paths[i], paths[i - 1]))
            jb_push(&list, jstr(a, paths[i]));
    answer_json(r, 200, jobj(a, { "paths", jb_done(&list) }));
}

/* ---- OpenAPI */

struct customs {
    struct openapi_custom *at;
    size_t n;
};

static struct customs customs_of(struct api_req *r)
{
    struct customs c = { ARENA_ARRAY(r->a, struct openapi_custom, r->api->registry.by_path.n + 1),
                         0 };

    MAP_EACH (s, &r->api->registry.by_path) {
        struct resource *res = s->value;
        if (resource_is_measured(res))
            c.at[c.n++] = (struct openapi_custom){ .group = res->group,
                                                   .version = res->version,
                                                   .kind = res->kind,
                                                   .builtin = res->builtin };
        if (res->crdv)
            c.at[c.n++] = (struct openapi_custom){ .group = res->group,
                                                   .version = res->version,
                                                   .kind = res->kind,
                                                   .list_kind = res->list_kind,
                                                   .plural = res->plural,
                                                   .namespaced = res->namespaced,
                                                   .status = res->has_status,
                                                   .scale = res->has_scale,
                                                   .schema = resource_rules(res)->schema_json,
                                                   .stamp = res->stamp };
    }
    return c;
}

static void send_document(struct api_req *r, struct buf *b, str type, uint64_t hash)
{
    str tag = arena_printf(r->a, "\"%016llX\"", (unsigned long long)hash);
    struct http_header h[] = { { S("content-type"), type },
                               { S("etag"), tag },
                               { S("vary"), S("Accept") },
                               { S("cache-control"), S("no-cache, private") } };

    if (str_eq(http_get_header(r->http, S("if-none-match")), tag))
        http_reply(r->http, 304, h, COUNT(h), NULL);
    else
        http_reply(r->http, 200, h, COUNT(h), blob_new(buf_str(b)));
    buf_done(b);
    malloc_trim(0); /* documents are megabytes and rarely asked for */
}

static bool show_openapi(struct api_req *r, const str *parts, size_t n)
{
    struct customs c = customs_of(r);
    struct buf b = { 0 };

    if (n == 2 && str_eqz(parts[1], "v2")) {
        bool proto = str_contains(http_get_header(r->http, S("accept")),
                                  S("proto-openapi.spec.v2@v1.0+protobuf"));
        if (proto)
            openapi_v2_proto(&b, c.at, c.n);
        else
            openapi_v2(&b, c.at, c.n);
        send_document(r, &b,
                      proto ? S("application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
                            : S("application/json"),
                      openapi_v2_hash(c.at, c.n) ^ proto);
        return true;
    }
    if (n < 2 || !str_eqz(parts[1], "v3"))
        return false;
    if (n == 2) {
        openapi_v3_index(&b, c.at, c.n);
        send_document(r, &b, S("application/json"), str_hash(buf_str(&b)));
        return true;
    }
    bool core = n == 4 && str_eqz(parts[2], "api");
    if (!core && !(n == 5 && str_eqz(parts[2], "apis")))
        return false;
    str group = core ? STR_NONE : parts[3];
    str version = core ? parts[3] : parts[4];
    if (!openapi_v3(&b, group, version, c.at, c.n)) {
        buf_done(&b);
        return false;
    }
    send_document(r, &b, S("application/json"), openapi_v3_hash(group, version, c.at, c.n));
    return true;
}

bool paths_handle(struct api_req *r)
{
    const str *parts = r->target.parts;
    size_t n = r->target.n_parts;
    bool get = str_eqz(r->target.verb, "get");

    if (discovery_handle(r, parts, n))
        return true;
    if (!get)
        return false;
    if (!n) {
        show_root(r);
        return true;
    }
    if (str_eqz(parts[0], "healthz") || str_eqz(parts[0], "livez") || str_eqz(parts[0], "readyz"))
        return show_health(r, parts, n);
    if (str_eqz(parts[0], "openapi"))
        return show_openapi(r, parts, n);
    if (n == 1 && str_eqz(parts[0], "version"))
        show_version(r);
    else if (str_eqz(r->target.path, "/metrics"))
        show_metrics(r);
    else
        return false;
    return true;
}
