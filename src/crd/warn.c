/* What a definition asks for that will not be done: formats nobody knows, rules that cannot be run.
 * Told in Warning headers, never silently dropped. */

#include "crd/define.h"
#include "crd/gotext.h"

struct walk {
    struct arena *a;
    struct jbuild *formats; /* texts; may be NULL */
    struct jbuild *rules;   /* { path, rule }; may be NULL */
};

static void visit(struct walk *w, const struct path *p, jv s);

static void visit_list(struct walk *w, const struct path *p, jv s, const char *key)
{
    struct path list = path_field(p, str_of(key));

    for (struct jv_iter it = jv_iter(jv_get(s, str_of(key))); jv_next(&it);) {
        struct path at =
            jv_is(it.of, JV_OBJ) ? path_key(&list, it.key) : path_index(&list, it.i - 1);
        visit(w, &at, it.value);
    }
}

static void note_rules(struct walk *w, const struct path *p, jv s)
{
    struct path list = path_field(p, S("x-kubernetes-validations"));

    for (struct jv_iter it = jv_iter(jv_at(s, "x-kubernetes-validations")); jv_next(&it);) {
        struct path at = path_index(&list, it.i - 1);
        str rule = jv_str(jv_at(it.value, "rule"), S(""));
        if (rule_runs(w->a, rule))
            continue;
        jb_push(w->rules, jobj(w->a, { "path", jstr(w->a, path_str(w->a, &at)) },
                               { "rule", jstr(w->a, rule) }));
    }
}

static void visit(struct walk *w, const struct path *p, jv s)
{
    struct path items = path_field(p, S("items"));
    struct path more = path_field(p, S("additionalProperties"));
    struct path not = path_field(p, S("not"));
    str format = jv_str(jv_at(s, "format"), S(""));

    if (!jv_is(s, JV_OBJ))
        return;
    if (w->formats && format.n && str_eq(jv_str(jv_at(s, "type"), S("")), S("string")) &&
        !format_find(format))
        jb_push(w->formats, jstr(w->a, arena_printf(w->a, "unrecognized format %" PRI_STR,
                                                    STR_ARG(go_quote(w->a, format)))));
    if (w->rules)
        note_rules(w, p, s);
    visit(w, &items, jv_at(s, "items"));
    visit_list(w, p, s, "allOf");
    visit_list(w, p, s, "anyOf");
    visit_list(w, p, s, "oneOf");
    visit(w, &not, jv_at(s, "not"));
    visit_list(w, p, s, "properties");
    visit(w, &more, jv_at(s, "additionalProperties"));
}

static void visit_versions(struct walk *w, jv crd)
{
    struct path spec = path_field(NULL, S("spec"));
    struct path list = path_field(&spec, S("versions"));

    for (struct jv_iter it = jv_iter(jv_at(crd, "spec", "versions")); jv_next(&it);) {
        struct path version = path_index(&list, it.i - 1);
        struct path schema = path_field(&version, S("schema"));
        struct path root = path_field(&schema, S("openAPIV3Schema"));
        visit(w, &root, jv_at(it.value, "schema", "openAPIV3Schema"));
    }
}

jv crd_cel_rules(struct arena *a, jv crd)
{
    struct jbuild rules = jb_arr(a);
    struct walk w = { .a = a, .rules = &rules };

    visit_versions(&w, crd);
    return jb_done(&rules);
}

static jv unknown_formats(struct arena *a, jv crd)
{
    struct jbuild formats = jb_arr(a);
    struct walk w = { .a = a, .formats = &formats };

    visit_versions(&w, crd);
    return jb_done(&formats);
}

static bool holds(jv list, jv text)
{
    for (struct jv_iter it = jv_iter(list); jv_next(&it);)
        if (jv_equal(it.value, text))
            return true;
    return false;
}

jv crd_definition_warnings(struct arena *a, jv crd, jv old)
{
    struct jbuild b = jb_arr(a);
    jv before = unknown_formats(a, old);

    for (struct jv_iter it = jv_iter(unknown_formats(a, crd)); jv_next(&it);)
        if (!holds(before, it.value))
            jb_push(&b, it.value);
    for (struct jv_iter it = jv_iter(crd_cel_rules(a, crd)); jv_next(&it);) {
        str path = jv_str(jv_at(it.value, "path"), S(""));
        str rule = jv_str(jv_at(it.value, "rule"), S(""));
        str text = arena_printf(a, "%" PRI_STR ": this rule is not enforced: %" PRI_STR,
                                STR_ARG(path), STR_ARG(go_quote(a, rule)));
        jb_push(&b, jstr(a, text));
    }
    return jb_done(&b);
}
