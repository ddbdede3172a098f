/* A definition and an object of it from bytes: {"crd": ..., "object": ..., "old": ...}. Whatever
 * they say, checking, compiling and using them ends without harm. */

#include "crd/crd.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct crd_version *v, struct arena *a, jv obj, jv old)
{
    struct problems ps = { .a = a };
    jv pruned = crd_prune(a, v, obj, NULL, NULL);

    if (!jv_exists(pruned))
        return;
    jv done = crd_default(a, v, pruned);
    assert(jv_equal(crd_default(a, v, done), done));
    crd_validate(&ps, v, done, old);
    crd_validate_status(&ps, v, done, old);
    crd_cells(a, v, done, 0);
    crd_columns(a, v);
    if (v->scale.on) {
        crd_scale_get(a, v, done, true, NULL);
        crd_scale_set(a, v, done, 3, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct schema meta = { .type = SCHEMA_OBJECT, .go_name = "v1.ObjectMeta" };
    AUTO(jdoc) struct jdoc *d = jdoc_parse((str){ (const char *)data, size }, NULL, NULL);
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    jv root = jdoc_root(d);

    if (!d)
        return 0;
    jv crd = crd_definition_defaults(a, jv_at(root, "crd"));
    crd = crd_definition_for_create(a, crd);
    crd_definition_validate(&ps, crd);
    crd_definition_validate_update(&ps, crd, jv_at(root, "crd"));
    crd_definition_warnings(a, crd, JV_ABSENT);
    crd = crd_accept(a, crd, jarr(a, jv_at(root, "crd")), 0);
    AUTO(crd) struct crd *c = crd_compile(crd, &meta, NULL);
    for (size_t i = 0; c && i < c->n_versions; i++)
        use(&c->versions[i], a, jv_at(root, "object"), jv_at(root, "old"));
    return 0;
}
