/* Filling in defaults. A null where null may not be counts as missing. */

#include "crd/rules.h"

static jv fill(struct arena *a, const struct schema *s, jv v);

static bool is_unwanted_null(const struct schema *s, jv v)
{
    return jv_is(v, JV_NULL) && s && !s->nullable;
}

static jv fill_object(struct arena *a, const struct crd_rules *r, jv v)
{
    struct jbuild b = { 0 };
    bool changed = false;

    for (struct jv_iter it = jv_iter(v); jv_next(&it);) {
        const struct schema *prop = rules_prop(r, it.key);
        const struct schema *member = prop ? prop : r->more;
        if (!member || !member->rules || !(member->rules->below & BELOW_DEFAULT))
            continue;
        jv now =
            is_unwanted_null(member, it.value) && jv_exists(member->dflt) ? member->dflt : it.value;
        now = fill(a, member, now);
        if (now.node == it.value.node)
            continue;
        if (!changed)
            b = jb_from(a, v);
        changed = true;
        jb_set(&b, it.key, now);
    }
    for (size_t i = 0; i < r->n_props; i++) {
        const struct schema *prop = r->props[i].schema;
        if (!jv_exists(prop->dflt) || jv_exists(jv_get(v, r->props[i].name)))
            continue;
        if (!changed)
            b = jb_from(a, v);
        changed = true;
        jb_add(&b, r->props[i].name, fill(a, prop, prop->dflt));
    }
    return changed ? jb_done(&b) : v;
}

static jv fill_array(struct arena *a, const struct schema *items, jv v)
{
    for (size_t i = 0; i < jv_len(v); i++) {
        jv was = jv_index(v, i);
        jv now = is_unwanted_null(items, was) && jv_exists(items->dflt) ? items->dflt : was;
        now = fill(a, items, now);
        if (now.node != was.node)
            v = jv_with_index(a, v, i, now);
    }
    return v;
}

static jv fill(struct arena *a, const struct schema *s, jv v)
{
    const struct crd_rules *r = s->rules;

    if (!r || !(r->below & BELOW_DEFAULT))
        return v;
    if (jv_is(v, JV_OBJ))
        return fill_object(a, r, v);
    return jv_is(v, JV_ARR) && r->items ? fill_array(a, r->items, v) : v;
}

jv crd_default(struct arena *a, const struct crd_version *v, jv obj)
{
    return fill(a, v->schema, obj);
}
