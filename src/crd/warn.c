/* What a definition asks for that will not be done: formats nobody knows, rules that cannot be run.
 * Told in Warning headers, never silently dropped. */

#include "crd/define.h"
#include "crd/gotext.h"

struct walk {
    struct arena *a;
    struct jbuild list;
};

static void visit(struct walk *w, jv s);

static void visit_list(struct walk *w, jv list)
{
    JV_EACH (it, list)
        visit(w, it.value);
}

static void visit(struct walk *w, jv s)
{
    str format = jv_str(jv_at(s, "format"), S(""));

    if (!jv_is(s, JV_OBJ))
        return;
    if (format.n && str_eq(jv_str(jv_at(s, "type"), S("")), S("string")) && !format_find(format))
        jb_push(&w->list, jstr(w->a, arena_printf(w->a, "unrecognized format %" PRI_STR,
                                                  STR_ARG(go_quote(w->a, format)))));
    visit(w, jv_at(s, "items"));
    visit_list(w, jv_at(s, "allOf"));
    visit_list(w, jv_at(s, "anyOf"));
    visit_list(w, jv_at(s, "oneOf"));
    visit(w, jv_at(s, "not"));
    visit_list(w, jv_at(s, "properties"));
    visit(w, jv_at(s, "additionalProperties"));
}

static jv unknown_formats(struct arena *a, jv crd)
{
    struct walk w = { a, jb_arr(a) };

    JV_EACH (it, jv_at(crd, "spec", "versions"))
        visit(&w, jv_at(it.value, "schema", "openAPIV3Schema"));
    return jb_done(&w.list);
}

/* ---- rules */

static void visit_rules(struct walk *w, const struct path *p, const struct schema *s)
{
    const struct crd_rules *r = s->rules;

    if (!(r->below & BELOW_CEL))
        return;
    JV_EACH (it, r->cel) {
        struct path at = path_index(AT(p, "x-kubernetes-validations"), it.i - 1);
        if (!r->programs[it.i - 1].program)
            jb_push(&w->list, jobj(w->a, { "path", jstr(w->a, path_str(w->a, &at)) },
                                   { "rule", jstr(w->a, jv_str(jv_at(it.value, "rule"), S(""))) }));
    }
    if (r->items)
        visit_rules(w, AT(p, "items"), r->items);
    for (size_t i = 0; i < r->n_props; i++) {
        struct path at = path_key(AT(p, "properties"), r->props[i].name);
        visit_rules(w, &at, r->props[i].schema);
    }
    if (r->more)
        visit_rules(w, AT(p, "additionalProperties"), r->more);
}

jv crd_cel_rules(struct arena *a, jv crd)
{
    struct walk w = { a, jb_arr(a) };

    JV_EACH (it, jv_at(crd, "spec", "versions")) {
        struct path schema = path_field(EACH_AT(AT(ROOT("spec"), "versions"), it), S("schema"));
        jv json = jv_at(it.value, "schema", "openAPIV3Schema");
        visit_rules(&w, AT(&schema, "openAPIV3Schema"), schema_build(a, json, NULL));
    }
    return jb_done(&w.list);
}

static bool holds(jv list, jv text)
{
    JV_EACH (it, list)
        if (jv_equal(it.value, text))
            return true;
    return false;
}

jv crd_definition_warnings(struct arena *a, jv crd, jv old)
{
    struct jbuild b = jb_arr(a);
    jv before = unknown_formats(a, old);

    JV_EACH (it, unknown_formats(a, crd))
        if (!holds(before, it.value))
            jb_push(&b, it.value);
    JV_EACH (it, crd_cel_rules(a, crd)) {
        str path = jv_str(jv_at(it.value, "path"), S(""));
        str rule = jv_str(jv_at(it.value, "rule"), S(""));
        str text = arena_printf(a, "%" PRI_STR ": this rule is not enforced: %" PRI_STR,
                                STR_ARG(path), STR_ARG(go_quote(a, rule)));
        jb_push(&b, jstr(a, text));
    }
    return jb_done(&b);
}
