/* What a definition gets by itself: defaults, and what the server sets on create and update. */

#include "crd/define.h"

static jv names_defaulted(struct arena *a, jv names)
{
    str kind = text_of(names, "kind");
    struct jbuild b = jb_from(a, names);

    if (kind.n && !text_of(names, "singular").n)
        jb_set(&b, S("singular"), jstr(a, arena_lower(a, kind)));
    if (kind.n && !text_of(names, "listKind").n)
        jb_set(&b, S("listKind"), jstr(a, arena_cat(a, kind, S("List"))));
    return jb_done(&b);
}

static jv storage_name(jv crd)
{
    JV_EACH (it, jv_at(crd, "spec", "versions"))
        if (jv_bool(jv_at(it.value, "storage"), false))
            return jv_at(it.value, "name");
    return JV_ABSENT;
}

static jv conversion_defaulted(struct arena *a, jv conversion)
{
    jv service = jv_at(conversion, "webhook", "clientConfig", "service");

    if (jv_is_null(conversion))
        return jobj(a, { "strategy", jstrz(a, "None") });
    if (jv_is(service, JV_OBJ) && jv_is_null(jv_at(service, "port")))
        return jv_with(a, conversion, jint(a, 443), "webhook", "clientConfig", "service", "port");
    return conversion;
}

jv crd_definition_defaults(struct arena *a, jv crd)
{
    jv spec = jv_at(crd, "spec");

    if (!jv_is(spec, JV_OBJ))
        return crd;
    spec = jv_with(a, spec, names_defaulted(a, jv_at(spec, "names")), "names");
    spec = jv_with(a, spec, conversion_defaulted(a, jv_at(spec, "conversion")), "conversion");
    crd = jv_with(a, crd, spec, "spec");
    if (!jv_len(jv_at(crd, "status", "storedVersions")) && jv_exists(storage_name(crd)))
        crd = jv_with(a, crd, jarr(a, storage_name(crd)), "status", "storedVersions");
    return crd;
}

jv crd_definition_for_create(struct arena *a, jv crd)
{
    jv none = jobj(a, { "plural", jstrz(a, "") }, { "kind", jstrz(a, "") });
    jv stored = jv_exists(storage_name(crd)) ? jarr(a, storage_name(crd)) : JV_NULL_V;
    jv status = jobj(a, { "conditions", JV_NULL_V }, { "acceptedNames", none },
                     { "storedVersions", stored });

    crd = jv_with(a, crd, jint(a, 1), "metadata", "generation");
    return jv_with(a, crd, status, "status");
}

jv crd_definition_for_update(struct arena *a, jv crd, jv old)
{
    jv status = jv_at(old, "status");
    jv stored = jv_at(status, "storedVersions");
    jv storage = storage_name(crd);
    bool known = !jv_exists(storage);
    int64_t generation = jv_int(jv_at(old, "metadata", "generation"), 1);

    JV_EACH (it, stored)
        known = known || jv_equal(it.value, storage);
    if (!known)
        status =
            jv_with(a, status, jv_with_index(a, stored, jv_len(stored), storage), "storedVersions");
    if (!jv_equal_semantic(jv_at(crd, "spec"), jv_at(old, "spec")))
        generation++;
    crd = jv_with(a, crd, jint(a, generation), "metadata", "generation");
    return jv_with(a, crd, status, "status");
}
