/* Unknown fields, nulls, defaults and embedded metadata, as the real server treated them. */

#include "builtin/types/types.h"
#include "golden.h"

struct told {
    struct arena *a;
    struct jbuild list;
};

static void on_unknown(void *ctx, str path)
{
    struct told *t = ctx;

    jb_push(&t->list,
            jstr(t->a, arena_printf(t->a, "unknown field \"%" PRI_STR "\"", STR_ARG(path))));
}

static void one_case(const struct crd_version *v, jv c)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };
    struct err e = { 0 };
    struct told told = { a, jb_arr(a) };
    struct schema_report report = { on_unknown, &told };
    jv obj = jv_at(c, "object");
    const char *name = json_text(a, obj).p;
    jv pruned = crd_prune(a, v, obj, &report, &e);
    str message = jv_str(jv_at(c, "message"), S(""));

    if (message.n) {
        ok(!jv_exists(pruned) && str_ends(message, str_of(e.msg)) && e.msg[0], "refused: %s", name);
        if (jv_exists(pruned) || !str_ends(message, str_of(e.msg)))
            printf("# got  %s\n# want %" PRI_STR "\n", e.msg, STR_ARG(message));
        return;
    }
    is_str(json_text(a, jb_done(&told.list)), json_text(a, jv_at(c, "unknown")),
           arena_printf(a, "told: %s", name).p);
    jv done = crd_default(a, v, pruned);
    crd_validate(&ps, v, done, JV_ABSENT);
    is_str(golden_problems(a, &ps), golden_causes(a, jv_at(c, "causes")), "problems");
    if (!jv_exists(jv_at(c, "result")))
        return;
    done = jv_without(a, done, "apiVersion");
    done = jv_without(a, done, "kind");
    done = jv_without(a, done, "metadata");
    if (!ok(jv_equal(done, jv_at(c, "result")), "kept: %s", name))
        printf("# got  %" PRI_STR "\n# want %" PRI_STR "\n", STR_ARG(json_text(a, done)),
               STR_ARG(json_text(a, jv_at(c, "result"))));
}

static void matches_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "prune");
    struct err e = { 0 };
    AUTO(crd) struct crd *c = crd_compile(jv_at(jdoc_root(d), "crd"), &meta_ObjectMeta, &e);

    for (struct jv_iter it = jv_iter(jv_at(jdoc_root(d), "cases")); c && jv_next(&it);)
        one_case(c->storage, it.value);
}

static void an_object_that_needs_nothing_is_shared(const char *folder)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "prune");
    AUTO(crd) struct crd *c = crd_compile(jv_at(jdoc_root(d), "crd"), &meta_ObjectMeta, NULL);
    AUTO(jdoc) struct jdoc *obj = J("{'top': 'x', 'metadata': {'name': 'n'}}");
    jv v = jdoc_root(obj);

    ok(crd_default(a, c->storage, crd_prune(a, c->storage, v, NULL, NULL)).node == v.node,
       "the very same value comes back");
}

int main(int argc, char **argv)
{
    matches_the_real_server(argc > 1 ? argv[1] : ".");
    an_object_that_needs_nothing_is_shared(argc > 1 ? argv[1] : ".");
    return tap_done();
}
