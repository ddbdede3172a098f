#include "builtin/kind.h"
#include "builtin/openapi/openapi.h"
#include "tap.h"

static struct openapi_custom crontab(jv schema)
{
    return (struct openapi_custom){
        .group = S("stable.example.com"),
        .version = S("v1"),
        .kind = S("CronTab"),
        .list_kind = S("CronTabList"),
        .plural = S("crontabs"),
        .namespaced = true,
        .status = true,
        .schema = schema,
        .stamp = 7,
    };
}

static const char *const crontab_schema =
    "{'type': 'object', 'description': 'tabs', 'properties': {'kind': {'type': 'number'}, 'spec':"
    " {'type': 'object', 'oneOf': [], 'required': ['a'], 'properties': {"
    " 'a': {'type': 'string', 'default': 'x'}, 'n': {'type': 'string', 'nullable': true},"
    " 'l': {'type': 'array', 'items': {'type': 'integer', 'not': {}}},"
    " 'free': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': true}}}}}";

static jv parsed(struct arena *a, const struct buf *b)
{
    struct err e = { 0 };
    jv v = json_parse(a, buf_str(b), NULL, &e);

    if (!ok(jv_exists(v), "the document is JSON"))
        printf("# %s\n", e.msg);
    return v;
}

static void every_group_version_has_a_document(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf index = { 0 };
    size_t bad = 0;

    openapi_v3_index(&index, NULL, 0);
    jv paths = jv_at(parsed(a, &index), "paths");
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        str group = str_of(builtin_kinds[i].group);
        str version = str_of(builtin_kinds[i].version);
        str key = arena_printf(a, group.n ? "apis/%.*s/%.*s" : "api%.*s/%.*s", STR_ARG(group),
                               STR_ARG(version));
        str url = jv_str(jv_at(jv_get(paths, key), "serverRelativeURL"), S(""));
        bad += !str_starts(url, arena_printf(a, "/openapi/v3/%.*s?hash=", STR_ARG(key)));
    }
    is_int((int64_t)bad, 0, "the index names all of them, with their hashes");
    ok(!openapi_v3(&index, S("apps"), S("v9"), NULL, 0), "there is nothing else");
}

/* Calls itself for every value; counts references to components that are not there. */
static size_t dangling(jv v, jv components, str prefix)
{
    size_t bad = 0;

    JV_EACH (it, v) {
        str ref = jv_str(it.value, STR_NONE);
        if (str_eqz(it.key, "$ref") && ref.p &&
            !jv_exists(jv_get(components, str_sub(ref, prefix.n, ref.n)))) {
            printf("# %.*s\n", STR_ARG(ref));
            bad++;
        }
        bad += dangling(it.value, components, prefix);
    }
    return bad;
}

static void every_reference_leads_somewhere(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf v2 = { 0 };
    size_t bad = 0;

    openapi_v2(&v2, NULL, 0);
    jv doc = parsed(a, &v2);
    is_int((int64_t)dangling(doc, jv_at(doc, "definitions"), S("#/definitions/")), 0, "in v2");
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        AUTO(buf) struct buf b = { 0 };

        if (i && strcmp(k->group, k[-1].group) == 0)
            continue;
        openapi_v3(&b, str_of(k->group), str_of(k->version), NULL, 0);
        doc = json_parse(a, buf_str(&b), NULL, NULL);
        bad += !jv_exists(doc) ||
               dangling(doc, jv_at(doc, "components", "schemas"), S("#/components/schemas/"));
    }
    is_int((int64_t)bad, 0, "and in every v3 document");
}

static void pods_are_described(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    openapi_v3(&b, S(""), S("v1"), NULL, 0);
    jv doc = parsed(a, &b);
    jv types = jv_at(doc, "components", "schemas");
    jv spec = jv_at(types, "io.k8s.api.core.v1.PodSpec");

    is_json(jv_at(spec, "required"), "['containers']", "required fields");
    is_json(jv_without(a, jv_at(spec, "properties", "containers"), "description"),
            "{'type': 'array', 'items': {'$ref':"
            " '#/components/schemas/io.k8s.api.core.v1.Container'},"
            " 'x-kubernetes-list-map-keys': ['name'], 'x-kubernetes-list-type': 'map',"
            " 'x-kubernetes-patch-merge-key': 'name', 'x-kubernetes-patch-strategy': 'merge'}",
            "lists and how they merge");
    is_json(jv_at(spec, "properties", "dnsPolicy", "enum"),
            "['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']", "known values");
    is_json(jv_at(types, "io.k8s.api.core.v1.Pod", "x-kubernetes-group-version-kind"),
            "[{'group': '', 'kind': 'Pod', 'version': 'v1'}]", "its kind");
    ok(jv_exists(jv_at(types, "io.k8s.api.core.v1.PodList", "properties", "items")), "its list");

    jv patch = jv_at(doc, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch");
    is_json(jv_at(patch, "x-kubernetes-group-version-kind"),
            "{'group': '', 'version': 'v1', 'kind': 'Pod'}", "kubectl finds how to patch it");
    is_str(jv_str(jv_at(patch, "operationId"), S("")), S("patchCoreV1NamespacedPod"), "by name");
    ok(jv_exists(jv_at(patch, "requestBody", "content", "application/strategic-merge-patch+json")),
       "strategically too");
    bool found = false;
    JV_EACH (it, jv_at(patch, "parameters"))
        found = found || str_eqz(jv_str(jv_at(it.value, "name"), S("")), "fieldValidation");
    ok(found, "and that fields are validated by the server");
}

static void custom_types_are_published(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *schema = J(crontab_schema);
    AUTO(buf) struct buf b = { 0 };
    const struct openapi_custom c = crontab(jdoc_root(schema));

    ok(openapi_v3(&b, c.group, c.version, &c, 1), "a custom group version has a document");
    jv doc = parsed(a, &b);
    jv type = jv_at(doc, "components", "schemas", "com.example.stable.v1.CronTab");
    is_str(jv_str(jv_at(type, "description"), S("")), S("tabs"), "with its own words");
    is_json(jv_at(type, "properties", "kind"), "{'type': 'string'}", "the header is ours");
    ok(jv_equal(jv_at(type, "properties", "spec"), jv_at(jdoc_root(schema), "properties", "spec")),
       "the rest is as it was written");
    jv paths = jv_at(doc, "paths");
    str one = S("/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}");
    ok(!jv_exists(jv_at(jv_get(paths, one), "patch", "requestBody", "content",
                        "application/strategic-merge-patch+json")),
       "no strategic patches");
    ok(jv_exists(jv_get(paths, arena_cat(a, one, S("/status")))), "a status");
    ok(!jv_exists(jv_get(paths, arena_cat(a, one, S("/scale")))), "no scale");
}

static void v2_leaves_out_what_it_cannot_say(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *schema = J(crontab_schema);
    AUTO(buf) struct buf b = { 0 };
    const struct openapi_custom c = crontab(jdoc_root(schema));

    openapi_v2(&b, &c, 1);
    jv doc = parsed(a, &b);
    is_json(jv_at(doc, "definitions", "com.example.stable.v1.CronTab", "properties", "spec"),
            "{'type': 'object', 'required': ['a'], 'properties': {'a': {'type': 'string'}, 'n': {},"
            " 'l': {'type': 'array', 'items': {'type': 'integer'}},"
            " 'free': {'x-kubernetes-preserve-unknown-fields': true}}}",
            "no defaults, no choices, no null");
}

static void hashes_follow_the_definitions(void)
{
    struct openapi_custom c[2] = { crontab(JV_ABSENT), crontab(JV_ABSENT) };
    uint64_t before = openapi_v3_hash(c[0].group, c[0].version, c, 1);
    uint64_t v2_before = openapi_v2_hash(c, 1);

    ok(openapi_v3_hash(c[0].group, c[0].version, c, 1) == before, "the same twice");
    c[1].kind = S("Other");
    uint64_t two = openapi_v3_hash(c[0].group, c[0].version, c, 2);
    struct openapi_custom swapped[2] = { c[1], c[0] };
    ok(two != before, "another with another kind");
    ok(openapi_v3_hash(c[0].group, c[0].version, swapped, 2) == two, "whatever their order");
    c[0].stamp++;
    ok(openapi_v3_hash(c[0].group, c[0].version, c, 1) != before, "another with another schema");
    ok(openapi_v2_hash(c, 1) != v2_before, "in v2 as well");
    ok(openapi_v3_hash(S("apps"), S("v1"), c, 1) == openapi_v3_hash(S("apps"), S("v1"), NULL, 0),
       "but not for other groups");
}

/* Walks protobuf: every length must end where its message ends. Returns fields met, or -1. */
static int64_t walk(str s, const char *path)
{
    int64_t met = 0;

    for (size_t i = 0; i < s.n; met++) {
        uint64_t v[2] = { 0, 0 };
        for (int k = 0; k < 2; k++) {
            unsigned shift = 0;
            if (k == 1 && (v[0] & 7) == 1) {
                i += 8;
                break;
            }
            do {
                if (i >= s.n)
                    return -1;
                v[k] |= (uint64_t)(s.p[i] & 0x7f) << shift;
                shift += 7;
            } while (s.p[i++] & 0x80);
        }
        if ((v[0] & 7) == 2) {
            if (v[1] > s.n - i)
                return -1;
            if (*path && (v[0] >> 3) == (uint64_t)(*path - '0')) {
                int64_t within = walk(str_sub(s, i, i + v[1]), path + 1);
                if (within < 0)
                    return -1;
                met += within;
            }
            i += v[1];
        }
    }
    return met;
}

static void protobuf_has_the_shape_of_gnostic(void)
{
    AUTO(buf) struct buf b = { 0 };

    openapi_v2_proto(&b, NULL, 0);
    ok(b.n > 100000 && b.p[0] == 0x0a && b.p[1] == 3 && memcmp(b.p + 2, "2.0", 3) == 0,
       "it begins with swagger: 2.0");
    ok(walk(buf_str(&b), "") == 4, "has four parts");
    ok(walk(buf_str(&b), "912") > 2500, "and definitions with their fields within");
}

int main(void)
{
    every_group_version_has_a_document();
    every_reference_leads_somewhere();
    pods_are_described();
    custom_types_are_published();
    v2_leaves_out_what_it_cannot_say();
    hashes_follow_the_definitions();
    protobuf_has_the_shape_of_gnostic();
    return tap_done();
}
