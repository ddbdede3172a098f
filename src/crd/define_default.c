/* Defaults in a schema: each must be valid by its own schema and hold nothing unknown. */

#include "crd/define.h"

static void check_default(struct problems *ps, const struct path *p, const struct schema *s,
                          bool in_meta)
{
    struct problems own = { .a = ps->a };
    struct path at = path_field(p, S("default"));

    if (!in_meta && !jv_equal(prune_value(ps->a, s, s->dflt, s->embedded_resource), s->dflt))
        problem_invalid(ps, &at, s->dflt, "must not have unknown fields");
    if (!in_meta)
        check_embedded(&own, s, &at, s->dflt);
    for (size_t i = 0; i < own.n; i++)
        problem_move(ps, NULL, &own.at[i]);
    if (!own.n)
        check_values(ps, s, &at, s->dflt, JV_ABSENT, false);
}

static void check(struct problems *ps, const struct path *p, const struct schema *s, bool in_meta,
                  bool root)
{
    const struct crd_rules *r = s->rules;

    if (!r || !(r->below & BELOW_DEFAULT))
        return;
    in_meta = in_meta && !s->embedded_resource;
    if (jv_exists(s->dflt))
        check_default(ps, p, s, in_meta);
    if (r->items)
        check(ps, AT(p, "items"), r->items, in_meta, false);
    for (size_t i = 0; i < r->n_props; i++) {
        str name = r->props[i].name;
        bool meta = (root || s->embedded_resource) &&
                    (str_eq(name, S("metadata")) || str_eq(name, S("kind")) ||
                     str_eq(name, S("apiVersion")));
        check(ps, ATK(AT(p, "properties"), name), r->props[i].schema, in_meta || meta, false);
    }
}

void define_defaults_check(struct problems *ps, const struct path *p, jv schema)
{
    check(ps, p, schema_build(ps->a, schema, NULL), false, true);
}
