/* Resources inside resources (x-kubernetes-embedded-resource): their metadata is checked
 * as metadata. */

#include "crd/rules.h"
#include "kube/meta.h"

#include <ctype.h>

/* ---- validation */

static void check_kind(struct problems *ps, const struct path *p, jv v)
{
    str kind = jv_str(v, STR_NONE);
    char *lower = arena_alloc(ps->a, kind.n + 1);

    if (!jv_is(v, JV_STR)) {
        problem_invalid(ps, p, v, "must be a string");
        return;
    }
    if (!kind.n) {
        problem_invalid(ps, p, v, "must not be empty");
        return;
    }
    for (size_t i = 0; i < kind.n; i++)
        lower[i] = (char)tolower((unsigned char)kind.p[i]);
    struct name_errors errs = name_dns1035_label((str){ lower, kind.n });
    if (errs.n)
        problem_invalid(ps, p, v, "may have mixed case, but should otherwise match: %" PRI_STR,
                        STR_ARG(name_join(ps->a, &errs, ",")));
}

static void check_api_version(struct problems *ps, const struct path *p, jv v)
{
    str text = jv_str(v, STR_NONE);
    size_t slashes = 0;

    for (size_t i = 0; i < text.n; i++)
        slashes += text.p[i] == '/';
    if (!jv_is(v, JV_STR))
        problem_invalid(ps, p, v, "must be a string");
    else if (!text.n)
        problem_invalid(ps, p, v, "must not be empty");
    else if (slashes > 1)
        problem_invalid(ps, p, v, "unexpected GroupVersion string: %" PRI_STR, STR_ARG(text));
}

static void check_metadata(struct problems *ps, const struct path *p, jv meta)
{
    struct problems own = { .a = ps->a };
    jv named = meta;

    if (!jv_str(jv_at(meta, "name"), STR_NONE).n) /* none is needed here */
        named = jv_with(ps->a, meta, jstrz(ps->a, "fakename"), "name");
    jv obj = jobj(ps->a, { "metadata", named });
    bool namespaced = jv_str(jv_at(meta, "namespace"), STR_NONE).n > 0;
    meta_check(&own, obj, namespaced, name_is_path_segment);
    for (size_t i = 0; i < own.n; i++)
        problem_move(ps, p, &own.at[i]);
}

static void check_resource(struct problems *ps, const struct path *p, jv v)
{
    struct path api_version = path_field(p, S("apiVersion"));
    struct path kind = path_field(p, S("kind"));

    if (!jv_exists(jv_at(v, "apiVersion")))
        problem_required(ps, &api_version, "%s", "");
    else
        check_api_version(ps, &api_version, jv_at(v, "apiVersion"));
    if (!jv_exists(jv_at(v, "kind")))
        problem_required(ps, &kind, "%s", "");
    else
        check_kind(ps, &kind, jv_at(v, "kind"));
    if (jv_is(jv_at(v, "metadata"), JV_OBJ))
        check_metadata(ps, p, jv_at(v, "metadata"));
}

void check_embedded(struct problems *ps, const struct schema *s, const struct path *p, jv v,
                    bool is_resource)
{
    const struct crd_rules *r = s->rules;

    if (is_resource || (s->embedded_resource && jv_is(v, JV_OBJ)))
        check_resource(ps, p, v);
    if (!r || !(r->below & BELOW_EMBEDDED))
        return;
    for (size_t i = 0; jv_is(v, JV_ARR) && r->items && i < jv_len(v); i++) {
        struct path at = path_index(p, i);
        check_embedded(ps, r->items, &at, jv_index(v, i), false);
    }
    for (struct jv_iter it = jv_iter(v); jv_is(v, JV_OBJ) && jv_next(&it);) {
        const struct schema *prop = rules_prop(r, it.key);
        struct path at = prop ? path_field(p, it.key) : path_key(p, it.key);
        if (prop || r->more)
            check_embedded(ps, prop ? prop : r->more, &at, it.value, false);
    }
}
