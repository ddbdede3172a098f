/* Definitions, good and bad: texts and paths as the real server gave them. */

#include "golden.h"
#include "kube/meta.h"

/* What compiling a rule's expression would say is not ours to say. */
static bool is_about_cel(jv c)
{
    return str_eq(jv_str(jv_at(c, "name"), S("")), S("cel syntax"));
}

static void matches_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "definitions");

    JV_EACH (it, jv_at(jdoc_root(d), "cases")) {
        AUTO(arena) struct arena *a = arena_new();
        struct problems ps = { .a = a };
        str name = jv_str(jv_at(it.value, "name"), S(""));
        jv crd = crd_definition_defaults(a, jv_at(it.value, "crd"));
        crd = crd_definition_for_create(a, crd);

        if (is_about_cel(it.value))
            continue;
        meta_check(&ps, crd, false, NULL);
        crd_definition_validate(&ps, crd);
        is_str(golden_problems(a, &ps), golden_causes(a, jv_at(it.value, "causes")),
               arena_z(a, name));
        jv stored = jv_at(it.value, "stored");
        if (!jv_exists(stored))
            continue;
        jv spec = jv_without(a, jv_at(crd, "spec"), "preserveUnknownFields"); /* false: decoding */
        ok(jv_equal_semantic(spec, jv_at(stored, "spec")), "%" PRI_STR ": spec is defaulted alike",
           STR_ARG(name));
        ok(jv_equal(jv_at(crd, "status"), jv_at(stored, "status")), "%" PRI_STR ": so is status",
           STR_ARG(name));
    }
}

int main(int argc, char **argv)
{
    matches_the_real_server(argc > 1 ? argv[1] : ".");
    return tap_done();
}
