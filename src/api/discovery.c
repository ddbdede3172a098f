/* Discovery, plain and aggregated, from the registry. */

#include "api/discovery.h"

#include "base/base64.h"
#include "kube/version.h"

#include <openssl/sha.h>
#include <stdlib.h>

static const char all_verbs[] = "create,delete,deletecollection,get,list,patch,update,watch";
static const char aggregated_type[] =
    "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList";

/* ---- order */

/* Built-in groups in the order of the table, those of CRDs after them by name, metrics last. */
static size_t place(const struct resource *r)
{
    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(r->group, builtin_kinds[i].group))
            return i;
    return builtin_kinds_n + resource_is_measured(r);
}

static int by_place(const void *x, const void *y)
{
    const struct resource *a = *(const struct resource *const *)x;
    const struct resource *b = *(const struct resource *const *)y;
    size_t i = place(a);
    size_t j = place(b);
    int c = i != j ? (i < j ? -1 : 1) : str_cmp(a->group, b->group);

    if (!c)
        c = version_compare(a->version, b->version);
    return c ? c : str_cmp(a->plural, b->plural);
}

struct sorted {
    struct resource **at;
    size_t n;
};

static struct sorted sorted(struct api_req *r)
{
    struct sorted s = { ARENA_ARRAY(r->a, struct resource *, r->api->registry.by_path.n + 1), 0 };

    MAP_EACH (slot, &r->api->registry.by_path)
        s.at[s.n++] = slot->value;
    qsort(s.at, s.n, sizeof(struct resource *), by_place);
    return s;
}

/* ---- parts */

static jv words(struct arena *a, str list)
{
    struct jbuild b = jb_arr(a);

    while (list.p && list.n)
        jb_push(&b, jstr(a, str_cut(&list, ',')));
    return jb_done(&b);
}

static jv words_of(struct arena *a, const str *at, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, jstr(a, at[i]));
    return n ? jb_done(&b) : JV_ABSENT;
}

static jv verbs_of(struct arena *a, const struct resource *r)
{
    if (r->builtin)
        return words(a, str_of(r->builtin->verbs ? r->builtin->verbs : all_verbs));
    return words(a, S("delete,deletecollection,get,list,patch,create,update,watch"));
}

static jv short_names(struct arena *a, const struct resource *r)
{
    if (r->crd)
        return words_of(a, r->crd->short_names, r->crd->n_short_names);
    return r->builtin->short_names ? words(a, str_of(r->builtin->short_names)) : JV_ABSENT;
}

static jv categories(struct arena *a, const struct resource *r)
{
    if (r->crd)
        return words_of(a, r->crd->categories, r->crd->n_categories);
    return r->builtin->categories ? words(a, str_of(r->builtin->categories)) : JV_ABSENT;
}

static const struct kind_sub *subs_of(const struct resource *r)
{
    static const struct kind_sub both[] = { { .name = "status", .verbs = "get,patch,update" },
                                            { "scale", "autoscaling", "v1", "Scale",
                                              "get,patch,update" },
                                            { 0 } };
    static const struct kind_sub status[] = { { .name = "status", .verbs = "get,patch,update" },
                                              { 0 } };
    static const struct kind_sub none[] = { { 0 } };

    if (r->builtin)
        return r->builtin->subs ? r->builtin->subs : none;
    if (r->has_status)
        return r->has_scale ? both : status;
    return r->has_scale ? &both[1] : none;
}

/* ---- plain */

/* Clients that migrate stored objects look whether this changed: it names the stored version. */
static jv storage_hash(struct arena *a, const struct resource *r)
{
    static const struct {
        const char *what, *stored;
    } rows[] = {
        { "events.k8s.io/v1/Event", "/v1/Event" },
        { "autoscaling/v1/HorizontalPodAutoscaler", "autoscaling/v2/HorizontalPodAutoscaler" },
        { "apiextensions.k8s.io/v1/CustomResourceDefinition",
          "apiextensions.k8s.io/v1beta1/CustomResourceDefinition" },
        { "storage.k8s.io/v1/VolumeAttributesClass",
          "storage.k8s.io/v1beta1/VolumeAttributesClass" },
    };
    unsigned char sum[SHA256_DIGEST_LENGTH];
    str name = arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRI_STR, STR_ARG(r->group),
                            STR_ARG(r->crd ? r->crd->storage->name : r->version), STR_ARG(r->kind));

    if (!r->coll)
        return JV_ABSENT;
    for (size_t i = 0; r->builtin && i < COUNT(rows); i++)
        if (str_eqz(name, rows[i].what))
            name = str_of(rows[i].stored);
    SHA256((const unsigned char *)name.p, name.n, sum);
    return jstr(a, base64_encode(a, (str){ (const char *)sum, 8 }));
}

static jv api_resource(struct arena *a, const struct resource *r)
{
    return jobj(a, { "name", jstr(a, r->plural) }, { "singularName", jstr(a, r->singular) },
                { "namespaced", jbool(r->namespaced) }, { "kind", jstr(a, r->kind) },
                { "verbs", verbs_of(a, r) }, { "shortNames", short_names(a, r) },
                { "categories", categories(a, r) }, { "storageVersionHash", storage_hash(a, r) });
}

static jv api_subresource(struct arena *a, const struct resource *r, const struct kind_sub *s)
{
    return jobj(
        a, { "name", jstr(a, arena_printf(a, "%" PRI_STR "/%s", STR_ARG(r->plural), s->name)) },
        { "singularName", jstrz(a, "") }, { "namespaced", jbool(r->namespaced) },
        { "group", s->group ? jstr(a, str_of(s->group)) : JV_ABSENT },
        { "version", s->version ? jstr(a, str_of(s->version)) : JV_ABSENT },
        { "kind", jstr(a, s->kind ? str_of(s->kind) : r->kind) },
        { "verbs", words(a, str_of(s->verbs)) });
}

static void show_version(struct api_req *r, str group, str version)
{
    struct arena *a = r->a;
    struct sorted s = sorted(r);
    struct jbuild list = jb_arr(a);

    for (size_t i = 0; i < s.n; i++) {
        if (!str_eq(s.at[i]->group, group) || !str_eq(s.at[i]->version, version))
            continue;
        jb_push(&list, api_resource(a, s.at[i]));
        for (const struct kind_sub *sub = subs_of(s.at[i]); sub->name; sub++)
            jb_push(&list, api_subresource(a, s.at[i], sub));
    }
    answer_json(
        r, 200,
        jobj(a, { "kind", jstrz(a, "APIResourceList") },
             { "apiVersion", group.n ? jstrz(a, "v1") : JV_ABSENT },
             { "groupVersion", jstr(a, group.n ? arena_printf(a, "%" PRI_STR "/%" PRI_STR,
                                                              STR_ARG(group), STR_ARG(version))
                                               : version) },
             { "resources", jb_done(&list) }));
}

static jv group_version(struct arena *a, const struct resource *r)
{
    return jobj(a, { "groupVersion", jstr(a, r->api_version) }, { "version", jstr(a, r->version) });
}

/* The group that begins at s.at[*i]; moves *i past it. */
static jv api_group(struct arena *a, struct sorted s, size_t *i, bool alone)
{
    struct resource *first = s.at[*i];
    struct jbuild versions = jb_arr(a);

    for (; *i < s.n && str_eq(s.at[*i]->group, first->group); ++*i)
        if (s.at[*i] == first || !str_eq(s.at[*i]->version, s.at[*i - 1]->version))
            jb_push(&versions, group_version(a, s.at[*i]));
    return jobj(a, { "kind", alone ? jstrz(a, "APIGroup") : JV_ABSENT },
                { "apiVersion", alone ? jstrz(a, "v1") : JV_ABSENT },
                { "name", jstr(a, first->group) }, { "versions", jb_done(&versions) },
                { "preferredVersion", group_version(a, first) });
}

static void show_groups(struct api_req *r, str only)
{
    struct arena *a = r->a;
    struct sorted s = sorted(r);
    struct jbuild list = jb_arr(a);

    for (size_t i = 0; i < s.n;) {
        bool core = !s.at[i]->group.n;
        bool wanted = only.n && str_eq(s.at[i]->group, only);
        jv g = api_group(a, s, &i, wanted);
        if (wanted) {
            answer_json(r, 200, g);
            return;
        }
        if (!core)
            jb_push(&list, g);
    }
    answer_json(r, 200,
                jobj(a, { "kind", jstrz(a, "APIGroupList") }, { "apiVersion", jstrz(a, "v1") },
                     { "groups", jb_done(&list) }));
}

static void show_core(struct api_req *r)
{
    struct arena *a = r->a;
    jv address = jobj(a, { "clientCIDR", jstrz(a, "0.0.0.0/0") },
                      { "serverAddress", jstr(a, http_host(r->http)) });

    answer_json(r, 200,
                jobj(a, { "kind", jstrz(a, "APIVersions") },
                     { "versions", jarr(a, jstrz(a, "v1")) },
                     { "serverAddressByClientCIDRs", jarr(a, address) }));
}

/* ---- aggregated */

static jv kind_ref(struct arena *a, const char *group, const char *version, str kind)
{
    return jobj(a, { "group", jstr(a, str_of(group ? group : "")) },
                { "version", jstr(a, str_of(version ? version : "")) }, { "kind", jstr(a, kind) });
}

static jv resource_discovery(struct arena *a, const struct resource *r)
{
    struct jbuild subs = jb_arr(a);
    const char *group = r->crd ? arena_z(a, r->group) : "";
    const char *version = r->crd ? arena_z(a, r->version) : "";

    for (const struct kind_sub *s = subs_of(r); s->name; s++)
        jb_push(&subs, jobj(a, { "subresource", jstr(a, str_of(s->name)) },
                            { "responseKind", kind_ref(a, s->group ? s->group : group,
                                                       s->version ? s->version : version,
                                                       s->kind ? str_of(s->kind) : r->kind) },
                            { "verbs", words(a, str_of(s->verbs)) }));
    jv list = jb_done(&subs);
    return jobj(a, { "resource", jstr(a, r->plural) },
                { "responseKind", kind_ref(a, group, version, r->kind) },
                { "scope", r->namespaced ? jstrz(a, "Namespaced") : jstrz(a, "Cluster") },
                { "singularResource", jstr(a, r->singular) }, { "verbs", verbs_of(a, r) },
                { "shortNames", short_names(a, r) }, { "categories", categories(a, r) },
                { "subresources", jv_len(list) ? list : JV_ABSENT });
}

static jv group_discovery(struct arena *a, struct sorted s, size_t *i)
{
    struct resource *first = s.at[*i];
    struct jbuild versions = jb_arr(a);

    while (*i < s.n && str_eq(s.at[*i]->group, first->group)) {
        str version = s.at[*i]->version;
        struct jbuild list = jb_arr(a);
        for (; *i < s.n && str_eq(s.at[*i]->group, first->group) &&
               str_eq(s.at[*i]->version, version);
             ++*i)
            jb_push(&list, resource_discovery(a, s.at[*i]));
        jb_push(&versions, jobj(a, { "version", jstr(a, version) }, { "resources", jb_done(&list) },
                                { "freshness", jstrz(a, "Current") }));
    }
    jv meta = first->group.n ? jobj(a, { "name", jstr(a, first->group) }) : JV_EMPTY_OBJ;
    return jobj(a, { "metadata", meta }, { "versions", jb_done(&versions) });
}

static void show_aggregated(struct api_req *r, bool core, const char *version)
{
    struct arena *a = r->a;
    AUTO(buf) struct buf b = { 0 };
    struct sorted s = sorted(r);
    struct jbuild list = jb_arr(a);

    for (size_t i = 0; i < s.n;) {
        bool is_core = !s.at[i]->group.n;
        jv g = group_discovery(a, s, &i);
        if (is_core == core)
            jb_push(&list, g);
    }
    json_print(&b,
               jobj(a, { "kind", jstrz(a, "APIGroupDiscoveryList") },
                    { "apiVersion", jstr(a, arena_printf(a, "apidiscovery.k8s.io/%s", version)) },
                    { "metadata", JV_EMPTY_OBJ }, { "items", jb_done(&list) }));
    str tag = arena_printf(a, "\"%016llX\"", (unsigned long long)str_hash(buf_str(&b)));
    struct http_header h[] = { { S("content-type"), arena_printf(a, aggregated_type, version) },
                               { S("etag"), tag },
                               { S("vary"), S("Accept") },
                               { S("cache-control"), S("public") } };
    if (str_eq(http_get_header(r->http, S("if-none-match")), tag))
        http_reply(r->http, 304, h, COUNT(h), NULL);
    else
        http_reply(r->http, 200, h, COUNT(h), blob_new(buf_str(&b)));
}

/* The aggregated version that Accept asks for first; NULL: the plain form. */
static const char *wants_aggregated(const struct api_req *r)
{
    str accept = http_get_header(r->http, S("accept"));

    while (accept.p) {
        str one = str_cut(&accept, ',');
        if (!str_contains(one, S("application/json")))
            continue;
        if (!str_contains(one, S("as=APIGroupDiscoveryList")))
            return NULL;
        if (str_contains(one, S("v=v2beta1")))
            return "v2beta1";
        if (str_contains(one, S("v=v2")))
            return "v2";
    }
    return NULL;
}

bool discovery_handle(struct api_req *r, const str *parts, size_t n)
{
    const char *aggregated = wants_aggregated(r);
    bool core = n && str_eqz(parts[0], "api");

    if (!n || (!core && !str_eqz(parts[0], "apis")) || n > (core ? 2 : 3))
        return false;
    if (!str_eqz(r->target.verb, "get")) {
        fail_method(r);
        return true;
    }
    if (n == 1 && aggregated)
        show_aggregated(r, core, aggregated);
    else if (n == 1 && core)
        show_core(r);
    else if (n == 1)
        show_groups(r, STR_NONE);
    else if (core && str_eqz(parts[1], "v1"))
        show_version(r, STR_NONE, parts[1]);
    else if (core)
        fail_unknown_resource(r);
    else if (!registry_has_group(&r->api->registry, parts[1], STR_NONE))
        return false;
    else if (n == 2)
        show_groups(r, parts[1]);
    else if (registry_has_group(&r->api->registry, parts[1], parts[2]))
        show_version(r, parts[1], parts[2]);
    else if (registry_is_builtin_group(parts[1]))
        fail_unknown_resource(r);
    else
        return false;
    return true;
}
