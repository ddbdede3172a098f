/* The compiled form: names, versions, what they offer, and going from one version to another. */

#include "builtin/types/types.h"
#include "golden.h"

static struct crd *two_versions(void)
{
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'name': 'xs.g.io'}, 'spec': {'group': 'g.io', 'scope': 'Namespaced',"
          " 'names': {'plural': 'xs', 'singular': 'x', 'kind': 'X', 'listKind': 'XList',"
          "   'shortNames': ['ex'], 'categories': ['all']},"
          " 'versions': ["
          "  {'name': 'v1', 'served': true, 'storage': true, 'schema': {'openAPIV3Schema': {"
          "    'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {"
          "      'a': {'type': 'string'}, 'l': {'type': 'array', 'x-kubernetes-list-type': 'map',"
          "      'x-kubernetes-list-map-keys': ['k'], 'items': {'type': 'object'}}}}}}}},"
          "  {'name': 'v1beta1', 'served': true, 'storage': false, 'deprecated': true,"
          "   'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {"
          "    'type': 'object', 'properties': {'b': {'type': 'integer', 'default': 2}}}}}},"
          "   'subresources': {'status': {}}, 'selectableFields': [{'jsonPath': '.spec.b'}]},"
          "  {'name': 'v1alpha1', 'served': false, 'storage': false, 'deprecated': true,"
          "   'deprecationWarning': 'gone soon'}]},"
          " 'status': {'conditions': [{'type': 'Established', 'status': 'True'}]}}");

    return crd_compile(jdoc_root(d), &meta_ObjectMeta, NULL);
}

static void a_definition_is_read_once(void)
{
    AUTO(crd) struct crd *c = two_versions();
    const struct crd_version *beta = crd_version_find(c, S("v1beta1"));
    const struct crd_version *alpha = crd_version_find(c, S("v1alpha1"));
    AUTO(crd) struct crd *other = crd_ref(c);

    is_str(c->plural, S("xs"), "plural");
    is_str(c->short_names[0], S("ex"), "short name");
    ok(c->namespaced && c->established && c->n_versions == 3, "scope, state and versions");
    is_str(c->storage->api_version, S("g.io/v1"), "the storage version");
    ok(beta->has_status && !c->storage->has_status, "subresources are each version's own");
    is_str(beta->selectable[0], S("spec.b"), "a field label");
    is_str(beta->warning, S("g.io/v1beta1 X is deprecated; use g.io/v1 X"), "a warning by default");
    is_str(alpha->warning, S("gone soon"), "and one that was given");
    ok(!alpha->served && !crd_version_find(c, S("v2")), "served or not, there or not");
    ok(other == c, "it is shared");
}

static void its_schema_serves_merging_too(void)
{
    AUTO(crd) struct crd *c = two_versions();
    const struct schema *spec = schema_member(c->storage->schema, S("spec"));
    const struct schema *list = schema_member(spec, S("l"));

    ok(schema_member(c->storage->schema, S("metadata")) == &meta_ObjectMeta, "metadata is implied");
    ok(schema_member(c->storage->schema, S("kind"))->type == SCHEMA_STRING, "so is kind");
    is_int(list->list, LIST_MAP, "a list that is a map");
    is_str(str_of(list->list_keys[0]), S("k"), "by its key");
}

static void versions_differ_in_what_they_keep(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = two_versions();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'apiVersion': 'g.io/v1', 'kind': 'X', 'metadata': {'name': 'n'}, 'spec': {'a': 'x'}}");

    const struct crd_version *beta = crd_version_find(c, S("v1beta1"));
    is_json(crd_default(a, beta, crd_prune(a, beta, jdoc_root(d), NULL, NULL)),
            "{'apiVersion': 'g.io/v1', 'kind': 'X', 'metadata': {'name': 'n'}, 'spec': {'b': 2}}",
            "pruned and defaulted by the other's schema");
}

static void without_a_storage_version_there_is_no_form(void)
{
    AUTO(jdoc) struct jdoc *d = J("{'metadata': {'name': 'xs.g.io'}, 'spec': {'versions': []}}");
    struct err e = { 0 };

    ok(!crd_compile(jdoc_root(d), NULL, &e), "nothing comes of it");
    is_str(str_of(e.msg), S("CustomResourceDefinition xs.g.io has no storage version"), "and why");
}

int main(void)
{
    a_definition_is_read_once();
    its_schema_serves_merging_too();
    versions_differ_in_what_they_keep();
    without_a_storage_version_there_is_no_form();
    return tap_done();
}
