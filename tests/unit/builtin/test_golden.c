/* Every case under tests/golden/builtin: what a real kube-apiserver made of an object, and what our
 * hooks make of it. */

#include "builtin/kind.h"
#include "builtin/service_alloc.h"
#include "kube/meta.h"
#include "slurp.h"

#include <dirent.h>

#define UID "11111111-2222-3333-4444-555555555555"

struct result {
    jv obj;
    struct problems ps;
};

/* The steps of the API server: decode, default, prepare, validate. */
static void run(struct arena *a, const struct builtin_kind *k, jv given, jv old, bool status,
                struct result *r)
{
    struct kind_ctx c = { .a = a, .now_ms = 1700000000000 };
    struct err e = { 0 };
    bool namespaced = k->flags & KIND_NAMESPACED;

    r->ps = (struct problems){ .a = a, .is_update = jv_exists(old) };
    jv obj = schema_decode(a, k->schema, given, NULL, &e);
    if (!jv_exists(obj)) {
        printf("# %s\n", e.msg);
        return;
    }
    obj = jv_with(a, obj, jstr(a, str_of(k->kind)), "kind");
    obj = jv_with(a, obj,
                  jstr(a, arena_printf(a, "%s%s%s", k->group, *k->group ? "/" : "", k->version)),
                  "apiVersion");
    if (namespaced)
        obj = jv_with(a, obj, jstr(a, S("golden-builtin")), "metadata", "namespace");
    if (k->defaults)
        obj = k->defaults(&c, obj);
    obj = jv_with(a, obj, jstr(a, S(UID)), "metadata", "uid");
    if (status) {
        jv now = jv_get(obj, S("status"));
        obj = jv_with(a, old, now, "status");
        if (k->validate_status)
            k->validate_status(&r->ps, obj, old);
        r->obj = obj;
        return;
    }
    if (k->defaults && !jv_equal_semantic(k->defaults(&c, obj), obj))
        ok(false, "%s: defaults of defaults are the same", k->kind);
    if (k->prepare)
        obj = k->prepare(&c, obj, old);
    if (jv_exists(old)) {
        obj = jv_with(a, obj, jstr(a, S("1")), "metadata", "resourceVersion");
        meta_check_update(&r->ps, obj, old);
    } else {
        meta_check(&r->ps, obj, namespaced, k->check_name);
    }
    if (k->validate)
        k->validate(&r->ps, obj);
    if (jv_exists(old) && k->validate_update)
        k->validate_update(&r->ps, obj, old);
    r->obj =
        schema_decode(a, k->schema, jv_without(a, obj, "metadata", "resourceVersion"), NULL, &e);
}

static void show_difference(struct arena *a, const char *path, jv got, jv want)
{
    if (jv_equal_semantic(got, want))
        return;
    if (jv_is(got, JV_OBJ) && jv_is(want, JV_OBJ)) {
        struct jbuild all = jb_from(a, want);
        JV_EACH (it, got)
            jb_set(&all, it.key, it.value);
        JV_EACH (it, jb_done(&all))
            show_difference(a, arena_printf(a, "%s.%" PRI_STR, path, STR_ARG(it.key)).p,
                            jv_get(got, it.key), jv_get(want, it.key));
        return;
    }
    if (jv_is(got, JV_ARR) && jv_is(want, JV_ARR) && jv_len(got) == jv_len(want)) {
        for (size_t i = 0; i < jv_len(got); i++)
            show_difference(a, arena_printf(a, "%s[%zu]", path, i).p, jv_index(got, i),
                            jv_index(want, i));
        return;
    }
    printf("# %s: got %" PRI_STR ", want %" PRI_STR "\n", path,
           STR_ARG(jv_exists(got) ? json_text(a, got) : S("nothing")),
           STR_ARG(jv_exists(want) ? json_text(a, want) : S("nothing")));
}

static jv problem_list(struct arena *a, const struct problems *ps)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < ps->n; i++)
        jb_push(&b, jstr(a, arena_printf(a, "%" PRI_STR ": %" PRI_STR, STR_ARG(ps->at[i].field),
                                         STR_ARG(ps->at[i].message))));
    return jb_done(&b);
}

/* An update reports metadata twice: once for every kind, once for this one. */
static jv without_repeats(struct arena *a, jv list)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, list) {
        bool seen = false;
        for (size_t i = 0; i + 1 < it.i; i++)
            seen = seen || jv_equal(jv_index(list, i), it.value);
        if (!seen)
            jb_push(&b, it.value);
    }
    return jb_done(&b);
}

static void run_case(const char *file, const struct builtin_kind *k, jv test)
{
    AUTO(arena) struct arena *a = arena_new();
    struct result before = { .obj = JV_ABSENT };
    struct result r = { .obj = JV_ABSENT };
    str what = jv_str(jv_get(test, S("what")), S(""));
    jv old = jv_get(test, S("old"));
    jv want = jv_get(test, S("want"));
    jv problems = jv_get(test, S("problems"));
    bool status = jv_exists(jv_get(test, S("sub")));

    if (jv_exists(old))
        run(a, k, old, JV_ABSENT, false, &before);
    if (jv_exists(jv_get(test, S("old_status"))))
        before.obj = jv_with(a, before.obj, jv_get(test, S("old_status")), "status");
    run(a, k, jv_get(test, S("object")), before.obj, status, &r);
    r.obj = jv_without(a, r.obj, "metadata", "uid");
    jv got = without_repeats(a, problem_list(a, &r.ps));
    if (str_eqz(str_of(k->kind), "Service") && service_needs_cluster_ip(r.obj) &&
        !service_chosen_cluster_ip(r.obj).n)
        r.obj = service_with_cluster_ip(a, r.obj, jv_str(jv_at(want, "spec", "clusterIP"), S("")));
    if (jv_exists(want)) {
        if (!ok(jv_len(got) == 0 && jv_equal_semantic(r.obj, want), "%s: %" PRI_STR, file,
                STR_ARG(what))) {
            printf("# problems: %" PRI_STR "\n", STR_ARG(json_text(a, got)));
            show_difference(a, "", r.obj, want);
        }
        return;
    }
    problems = without_repeats(a, problems);
    if (ok(jv_equal(got, problems), "%s: %" PRI_STR, file, STR_ARG(what)))
        return;
    for (size_t i = 0; i < jv_len(got) || i < jv_len(problems); i++)
        if (!jv_equal(jv_index(got, i), jv_index(problems, i)))
            printf("# got  %" PRI_STR "\n# want %" PRI_STR "\n",
                   STR_ARG(jv_str(jv_index(got, i), S("nothing"))),
                   STR_ARG(jv_str(jv_index(problems, i), S("nothing"))));
}

static void run_file(const char *dir, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    str text = slurp(a, arena_printf(a, "%s/%s", dir, name).p);
    jv doc = json_parse(a, text, NULL, &e);
    str rest = jv_str(jv_get(doc, S("kind")), S(""));
    str group = str_cut(&rest, '/');
    str version = str_cut(&rest, '/');
    const struct builtin_kind *k = builtin_find(group, version, rest);

    ok(k != NULL, "%s names a kind", name);
    if (!k)
        return;
    JV_EACH (it, jv_get(doc, S("cases")))
        run_case(name, k, it.value);
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int n = argc > 1 ? scandir(argv[1], &names, NULL, alphasort) : -1;

    ok(n > 2, "there are cases");
    for (int i = 0; i < n; i++) {
        if (str_ends(str_of(names[i]->d_name), S(".json")))
            run_file(argv[1], names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return tap_done();
}
