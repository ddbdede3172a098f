/* What a kube-apiserver 1.34 warned of when these objects were created: ours must be the same. */

#include "builtin/kind.h"
#include "recorded.h"

static void warns_as_recorded(jv recorded)
{
    AUTO(arena) struct arena *a = arena_new();
    str resource = jv_str(jv_at(recorded, "resource"), S(""));
    const struct builtin_kind *k = kind_of(resource);
    struct kind_ctx c = { .a = a };
    struct warnings w = { .a = a };
    struct jbuild said = jb_arr(a);
    jv obj = schema_decode(a, k->schema, jv_at(recorded, "object"), NULL, NULL);

    if (k->deprecated)
        jb_push(&said, jstr(a, str_of(k->deprecated)));
    k->warn(&w, k->defaults ? k->defaults(&c, obj) : obj, JV_ABSENT);
    for (size_t i = 0; i < w.n; i++)
        jb_push(&said, jstr(a, w.at[i]));
    is_str(json_text(a, jb_done(&said)), json_text(a, jv_at(recorded, "warnings")),
           arena_z(a, resource));
}

static void pods_are_warned_of_once(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *pod = J("{'metadata': {'name': 'a.b'}}");
    struct warnings w = { .a = a };

    kind_of(S("/v1/pods"))->warn(&w, jdoc_root(pod), jdoc_root(pod));
    is_int((int64_t)w.n, 0, "not when they change");
}

static void texts_are_told_once(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warnings w = { .a = a };

    warning_add(&w, "x");
    warning_add(&w, "y");
    warning_add(&w, "x");
    is_int((int64_t)w.n, 2, "a text that is there already is left out");
}

int main(int argc, char **argv)
{
    AUTO(jdoc) struct jdoc *all = slurp_json(argc > 1 ? argv[1] : "recorded.json");

    JV_EACH (it, jdoc_root(all))
        warns_as_recorded(it.value);
    pods_are_warned_of_once();
    texts_are_told_once();
    return tap_done();
}
