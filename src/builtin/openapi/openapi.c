/* OpenAPI documents, put together from types and paths. */

#include "builtin/openapi/openapi.h"
#include "builtin/openapi/internal.h"
#include "builtin/types/types.h"

#include <inttypes.h>

#define ALL_VERBS "create,delete,deletecollection,get,list,patch,update,watch"

static const struct kind_sub none_sub[] = { { 0 } };
static const struct kind_sub status_sub[] = {
    { .name = "status", .verbs = "get,patch,update" },
    { 0 },
};
static const struct kind_sub scale_sub[] = {
    { "scale", "autoscaling", "v1", "Scale", "get,patch,update" },
    { 0 },
};
static const struct kind_sub both_subs[] = {
    { "scale", "autoscaling", "v1", "Scale", "get,patch,update" },
    { .name = "status", .verbs = "get,patch,update" },
    { 0 },
};

static struct resource of_builtin(struct arena *a, const struct builtin_kind *k)
{
    return (struct resource){
        .group = str_of(k->group),
        .version = str_of(k->version),
        .kind = str_of(k->kind),
        .list_kind = arena_cat(a, str_of(k->kind), S("List")),
        .plural = str_of(k->plural),
        .namespaced = k->flags & KIND_NAMESPACED,
        .verbs = k->verbs ? k->verbs : ALL_VERBS,
        .subs = k->subs,
        .type = str_of(k->schema->name),
        .schema = k->schema,
    };
}

/* stable.example.com, v1, CronTab: com.example.stable.v1.CronTab */
static str custom_type(struct arena *a, const struct openapi_custom *c)
{
    str name = STR_NONE;

    for (str rest = c->group; rest.p;) {
        str part = str_cut(&rest, '.');
        name = arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(part), STR_ARG(name));
    }
    return arena_printf(a, "%" PRI_STR "%" PRI_STR ".%" PRI_STR, STR_ARG(name), STR_ARG(c->version),
                        STR_ARG(c->kind));
}

static struct resource of_custom(struct arena *a, const struct openapi_custom *c)
{
    return (struct resource){
        .group = c->group,
        .version = c->version,
        .kind = c->kind,
        .list_kind = c->list_kind,
        .plural = c->plural,
        .namespaced = c->namespaced,
        .verbs = ALL_VERBS,
        .subs = c->status ? (c->scale ? both_subs : status_sub) : (c->scale ? scale_sub : none_sub),
        .type = custom_type(a, c),
        .custom = jv_exists(c->schema) ? c->schema : JV_EMPTY_OBJ,
    };
}

/* The resources of a document. */
struct resources {
    struct resource *at;
    size_t n;
};

/* all: every group version; else the one named. */
static struct resources gather(struct arena *a, bool all, str group, str version,
                               const struct openapi_custom *c, size_t n)
{
    struct resources rs = { .at = ARENA_ARRAY(a, struct resource, builtin_kinds_n + n) };

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (all || (str_eqz(group, k->group) && str_eqz(version, k->version)))
            rs.at[rs.n++] = of_builtin(a, k);
    }
    for (size_t i = 0; i < n; i++)
        if (all || (str_eq(group, c[i].group) && str_eq(version, c[i].version)))
            rs.at[rs.n++] = c[i].builtin ? of_builtin(a, c[i].builtin) : of_custom(a, &c[i]);
    return rs;
}

/* ---- documents */

static void print_types(struct writer *w, const struct resources *rs)
{
    struct types_needed needed = { 0 };

    for (size_t i = 0; i < rs->n; i++) {
        const struct resource *r = &rs->at[i];
        if (r->schema)
            types_need(&needed, r->schema);
        else
            print_custom_type(w, r);
        if (strstr(r->verbs, "list"))
            print_list_type(w, r);
        for (const struct kind_sub *s = r->subs; s && s->name; s++) {
            if (s->kind && strcmp(s->kind, "Scale") == 0)
                types_need(&needed, &autoscaling1_Scale);
            if (s->kind && strcmp(s->kind, "Eviction") == 0)
                types_need(&needed, &policy_Eviction);
            if (s->kind && strcmp(s->kind, "TokenRequest") == 0)
                types_need(&needed, &authn_TokenRequest);
        }
    }
    types_need(&needed, &meta_ObjectMeta);
    types_need(&needed, &meta_ListMeta);
    types_need(&needed, &meta_DeleteOptions);
    types_need(&needed, &meta_Status);
    for (size_t i = 0; i < needed.n; i++)
        print_type(w, needed.at[i]);
    types_needed_done(&needed);
    w_open_member(w, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch", '{');
    w_member(w, "type", S("object"));
    w_close(w, '}');
}

static void print_head(struct writer *w)
{
    w_open(w, '{');
    w_member(w, w->v2 ? "swagger" : "openapi", w->v2 ? S("2.0") : S("3.0.0"));
    w_open_member(w, "info", '{');
    w_member(w, "title", S("Kubernetes"));
    w_member(w, "version", S("1.34"));
    w_close(w, '}');
}

static void print_all_paths(struct writer *w, const struct resources *rs)
{
    w_open_member(w, "paths", '{');
    for (size_t i = 0; i < rs->n; i++)
        print_paths(w, &rs->at[i]);
    w_close(w, '}');
}

bool openapi_v3(struct buf *out, str group, str version, const struct openapi_custom *c, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct resources rs = gather(a, false, group, version, c, n);
    struct writer w = { .b = out };

    if (!rs.n)
        return false;
    print_head(&w);
    print_all_paths(&w, &rs);
    w_open_member(&w, "components", '{');
    w_open_member(&w, "schemas", '{');
    print_types(&w, &rs);
    w_close(&w, '}');
    w_close(&w, '}');
    w_close(&w, '}');
    return true;
}

void openapi_v2(struct buf *out, const struct openapi_custom *c, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct resources rs = gather(a, true, STR_NONE, STR_NONE, c, n);
    struct writer w = { .b = out, .v2 = true };

    print_head(&w);
    print_all_paths(&w, &rs);
    w_open_member(&w, "definitions", '{');
    print_types(&w, &rs);
    w_close(&w, '}');
    w_close(&w, '}');
}

/* ---- hashes and the index */

/* The built-in half of a document only changes with the program. */
static uint64_t mix(uint64_t hash, uint64_t more)
{
    return (hash ^ more) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

static uint64_t mix_custom(uint64_t hash, const struct openapi_custom *c)
{
    const str names[] = { c->group, c->version, c->kind, c->list_kind, c->plural };

    for (size_t i = 0; i < COUNT(names); i++)
        hash = mix(hash, str_hash(names[i]));
    hash = mix(hash, c->namespaced | c->status << 1 | c->scale << 2);
    return mix(hash, c->stamp);
}

uint64_t openapi_v3_hash(str group, str version, const struct openapi_custom *c, size_t n)
{
    uint64_t hash = mix(str_hash(S(MUSTER_VERSION)), str_hash(group));
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        if (str_eq(c[i].group, group) && str_eq(c[i].version, version))
            all += mix_custom(1, &c[i]); /* in any order */
    return mix(mix(hash, str_hash(version)), all);
}

uint64_t openapi_v2_hash(const struct openapi_custom *c, size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += mix_custom(2, &c[i]);
    return mix(str_hash(S(MUSTER_VERSION)), all);
}

static void print_index_row(struct writer *w, str group, str version, uint64_t hash)
{
    AUTO(buf) struct buf b = { 0 };
    size_t prefix = S("/openapi/v3/").n;

    buf_add(&b, S("/openapi/v3/"));
    buf_printf(&b, group.n ? "apis/%" PRI_STR "/%" PRI_STR : "api%" PRI_STR "/%" PRI_STR,
               STR_ARG(group), STR_ARG(version));
    w_key(w, str_sub(buf_str(&b), prefix, b.n));
    buf_printf(&b, "?hash=%016" PRIX64, hash);
    w_open(w, '{');
    w_member(w, "serverRelativeURL", buf_str(&b));
    w_close(w, '}');
}

void openapi_v3_index(struct buf *out, const struct openapi_custom *c, size_t n)
{
    struct writer w = { .b = out };

    w_open(&w, '{');
    w_open_member(&w, "paths", '{');
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        str group = str_of(k->group);
        str version = str_of(k->version);
        if (i && str_eqz(group, k[-1].group) && str_eqz(version, k[-1].version))
            continue;
        print_index_row(&w, group, version, openapi_v3_hash(group, version, c, n));
    }
    for (size_t i = 0; i < n; i++) {
        bool told = false;
        for (size_t j = 0; j < i && !told; j++)
            told = str_eq(c[i].group, c[j].group) && str_eq(c[i].version, c[j].version);
        if (!told)
            print_index_row(&w, c[i].group, c[i].version,
                            openapi_v3_hash(c[i].group, c[i].version, c, n));
    }
    w_close(&w, '}');
    w_close(&w, '}');
}
