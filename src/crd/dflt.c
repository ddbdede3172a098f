/* Filling in defaults. A null where null may not be counts as missing. */

#include "crd/members.h"
#include "crd/rules.h"

static jv fill(struct arena *a, const struct schema *s, jv v);

static bool is_unwanted_null(const struct schema *s, jv v)
{
    return jv_is(v, JV_NULL) && s && !s->nullable;
}

static jv fill_object(struct arena *a, const struct crd_rules *r, jv v)
{
    struct jbuild b = { 0 };
    struct members have;

    JV_EACH (it, v) {
        const struct schema *prop = rules_prop(r, it.key);
        const struct schema *member = prop ? prop : r->more;
        jv now = it.value;
        if (member && member->rules && (member->rules->below & BELOW_DEFAULT))
            now =
                fill(a, member,
                     is_unwanted_null(member, now) && jv_exists(member->dflt) ? member->dflt : now);
        jb_child(&b, a, &it, now);
    }
    members_init(&have, v, r->n_props);
    for (size_t i = 0; i < r->n_props; i++) {
        const struct schema *prop = r->props[i].schema;
        if (!jv_exists(prop->dflt) || jv_exists(members_get(&have, r->props[i].name)))
            continue;
        if (!b.a)
            b = jb_from(a, v);
        jb_add(&b, r->props[i].name, fill(a, prop, prop->dflt));
    }
    members_done(&have);
    return b.a ? jb_done(&b) : v;
}

static jv fill_array(struct arena *a, const struct schema *items, jv v)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v) {
        jv now =
            is_unwanted_null(items, it.value) && jv_exists(items->dflt) ? items->dflt : it.value;
        jb_child(&b, a, &it, fill(a, items, now));
    }
    return b.a ? jb_done(&b) : v;
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
