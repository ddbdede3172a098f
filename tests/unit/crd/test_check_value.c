/* Objects against schemas: texts, pruning and defaults as the real server gave them. */

#include "golden.h"

static void matches_the_real_server(const char *folder, const char *file)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, file);
    struct err e = { 0 };
    AUTO(crd) struct crd *c = crd_compile(jv_at(jdoc_root(d), "crd"), NULL, &e);

    ok(c != NULL, "%s: the definition compiles", file);
    for (struct jv_iter it = jv_iter(jv_at(jdoc_root(d), "cases")); c && jv_next(&it);) {
        AUTO(arena) struct arena *a = arena_new();
        struct problems ps = { .a = a };
        jv obj = jv_at(it.value, "object");
        str spec = json_text(a, jv_at(obj, "spec"));
        jv done = crd_default(a, c->storage, crd_prune(a, c->storage, obj, NULL, NULL));

        crd_validate(&ps, c->storage, done, JV_ABSENT);
        str got = golden_problems(a, &ps);
        str want = golden_causes(a, jv_at(it.value, "causes"));
        is_str(got, want, arena_printf(a, "%s: %" PRI_STR, file, STR_ARG(spec)).p);
        if (jv_exists(jv_at(it.value, "result")))
            ok(jv_equal(jv_at(done, "spec"), jv_at(it.value, "result", "spec")),
               "and %" PRI_STR " is kept as %" PRI_STR, STR_ARG(spec),
               STR_ARG(json_text(a, jv_at(done, "spec"))));
    }
}

int main(int argc, char **argv)
{
    matches_the_real_server(argc > 1 ? argv[1] : ".", "values");
    return tap_done();
}
