/* The scale subresource, as the real server answers it. */

#include "golden.h"

static struct crd *scaled(void)
{
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'spec': {'group': 'g.io', 'scope': 'Namespaced', 'names': {'plural': 'xs', 'kind': 'X'},"
        " 'versions': [{'name': 'v1', 'served': true, 'storage': true,"
        "   'schema': {'openAPIV3Schema': {'type': 'object',"
        "     'x-kubernetes-preserve-unknown-fields': true}},"
        "   'subresources': {'scale': {'specReplicasPath': '.spec.replicas',"
        "     'statusReplicasPath': '.status.n', 'labelSelectorPath': '.status.sel'}}}]}}");

    return crd_compile(jdoc_root(d), NULL, NULL);
}

static void an_object_is_shown_as_a_scale(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = scaled();
    AUTO(jdoc)
    struct jdoc *full =
        J("{'metadata': {'name': 'a', 'namespace': 'default', 'uid': 'u', 'resourceVersion': '7',"
          " 'creationTimestamp': '2026-01-01T00:00:00Z', 'labels': {'x': 'y'}},"
          " 'spec': {'replicas': 3}, 'status': {'n': 2, 'sel': 'a=b'}}");
    AUTO(jdoc) struct jdoc *none = J("{'metadata': {'name': 'c'}, 'spec': {'replicas': 0}}");

    is_json(crd_scale_get(a, c->storage, jdoc_root(full), false, NULL),
            "{'kind': 'Scale', 'apiVersion': 'autoscaling/v1', 'metadata': {'name': 'a',"
            " 'namespace': 'default', 'uid': 'u', 'resourceVersion': '7', 'creationTimestamp':"
            " '2026-01-01T00:00:00Z'}, 'spec': {'replicas': 3}, 'status': {'replicas': 2,"
            " 'selector': 'a=b'}}",
            "with all its parts");
    is_json(crd_scale_get(a, c->storage, jdoc_root(none), false, NULL),
            "{'kind': 'Scale', 'apiVersion': 'autoscaling/v1', 'metadata': {'name': 'c'},"
            " 'spec': {}, 'status': {'replicas': 0}}",
            "zero is left out of the spec");
}

static void an_object_without_a_count_has_no_scale(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = scaled();
    AUTO(jdoc) struct jdoc *d = J("{'metadata': {'name': 'b'}, 'spec': {}}");
    AUTO(jdoc) struct jdoc *bad = J("{'spec': {'replicas': 'x'}}");
    struct err e = { 0 };

    ok(!jv_exists(crd_scale_get(a, c->storage, jdoc_root(d), false, &e)), "none to read");
    is_str(str_of(e.msg), S("the spec replicas field \".spec.replicas\" does not exist"),
           "and why");
    jv scale = crd_scale_get(a, c->storage, jdoc_root(d), true, &e);
    ok(!jv_exists(crd_scale_set(a, c->storage, jdoc_root(d),
                                jv_int(jv_at(scale, "spec", "replicas"), 0), &e)),
       "a patch that leaves it unset is refused");
    is_str(str_of(e.msg), S("the spec replicas field \".spec.replicas\" cannot be empty"),
           "and why");
    ok(!jv_exists(crd_scale_get(a, c->storage, jdoc_root(bad), false, &e)), "nor a text");
    is_str(str_of(e.msg),
           S(".spec.replicas accessor error: x is of the type string, expected int64"), "and why");
}

static void a_count_is_put_back(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(crd) struct crd *c = scaled();
    AUTO(jdoc) struct jdoc *d = J("{'metadata': {'name': 'b'}}");
    AUTO(jdoc) struct jdoc *bad = J("{'spec': 'x'}");
    struct err e = { 0 };

    is_json(crd_scale_set(a, c->storage, jdoc_root(d), 4, &e),
            "{'metadata': {'name': 'b'}, 'spec': {'replicas': 4}}", "where there was no spec");
    ok(!jv_exists(crd_scale_set(a, c->storage, jdoc_root(bad), 4, &e)), "not into a text");
    is_str(str_of(e.msg), S("value cannot be set because .spec is not a map[string]interface{}"),
           "and why");
}

int main(void)
{
    an_object_is_shown_as_a_scale();
    an_object_without_a_count_has_no_scale();
    a_count_is_put_back();
    return tap_done();
}
