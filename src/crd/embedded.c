/* Resources inside resources (x-kubernetes-embedded-resource): their metadata is decoded
 * and checked as metadata. */

#include "crd/rules.h"
#include "kube/meta.h"

static const struct schema *meta_schema(const struct schema *s)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (str_eq(s->fields[i].name, S("metadata")))
            return s->fields[i].schema;
    return NULL;
}

struct coercer {
    struct arena *a;
    const struct schema_report *report;
    struct err *e;
    bool failed;
};

struct told { /* puts where the metadata is before what was unknown in it */
    const struct coercer *c;
    const struct path *at;
};

static void on_unknown(void *ctx, str path)
{
    struct told *t = ctx;

    t->c->report->on_unknown(t->c->report->ctx, path_str(t->c->a, ATS(t->at, path)));
}

static jv fail(struct coercer *c, const struct path *p, jv value, const char *words)
{
    struct problems ps = { .a = c->a };

    problem_invalid(&ps, p, value, "%s", words);
    c->failed = true;
    err_set(c->e, ERR_BAD_REQUEST, "%" PRI_STR, STR_ARG(problems_text(c->a, &ps)));
    return value;
}

static jv coerce_meta(struct coercer *c, const struct schema *s, const struct path *p, str key,
                      jv v)
{
    if (!str_eq(key, S("metadata")))
        return jv_is(v, JV_STR) ? v : fail(c, p, v, "must be a string");
    struct err why = { 0 };
    struct told told = { c, p };
    struct schema_report report = { on_unknown, &told };
    bool tell = c->report && c->report->on_unknown;
    jv decoded = schema_decode(c->a, meta_schema(s), v, tell ? &report : NULL, &why);
    return jv_exists(decoded) ? decoded : fail(c, p, v, why.msg);
}

static jv coerce(struct coercer *c, const struct schema *s, const struct path *p, jv v)
{
    const struct crd_rules *r = s->rules;

    if (c->failed || !r || !(r->below & BELOW_EMBEDDED))
        return v;
    struct jbuild b = { 0 };
    for (struct jv_iter it = jv_iter(v); jv_is(v, JV_ARR) && r->items && jv_next(&it);) {
        struct path at = path_index(p, it.i - 1);
        jb_child(&b, c->a, &it, coerce(c, r->items, &at, it.value));
    }
    for (struct jv_iter it = jv_iter(v); jv_is(it.of, JV_OBJ) && jv_next(&it);) {
        const struct schema *prop = rules_prop(r, it.key);
        struct path at = prop || !r->additional ? path_field(p, it.key) : path_key(p, it.key);
        bool meta =
            s->embedded_resource && (str_eq(it.key, S("apiVersion")) || str_eq(it.key, S("kind")) ||
                                     str_eq(it.key, S("metadata")));
        jv now = it.value;
        if (meta)
            now = coerce_meta(c, s, &at, it.key, now);
        else if (prop || r->more)
            now = coerce(c, prop ? prop : r->more, &at, now);
        jb_child(&b, c->a, &it, now);
    }
    return b.a ? jb_done(&b) : v;
}

jv coerce_embedded(struct arena *a, const struct crd_version *v, jv obj,
                   const struct schema_report *report, struct err *e)
{
    struct coercer c = { .a = a, .report = report, .e = e };
    jv out = coerce(&c, v->schema, NULL, obj);

    return c.failed ? JV_ABSENT : out;
}

/* ---- validation */

static void check_kind(struct problems *ps, const struct path *p, jv v)
{
    str kind = jv_str(v, STR_NONE);

    if (!jv_is(v, JV_STR)) {
        problem_invalid(ps, p, v, "must be a string");
        return;
    }
    if (!kind.n) {
        problem_invalid(ps, p, v, "must not be empty");
        return;
    }
    struct name_errors errs = name_dns1035_label(arena_lower(ps->a, kind));
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

void check_embedded(struct problems *ps, const struct schema *s, const struct path *p, jv v)
{
    const struct crd_rules *r = s->rules;

    if (s->embedded_resource && jv_is(v, JV_OBJ))
        check_resource(ps, p, v);
    if (!r || !(r->below & BELOW_EMBEDDED))
        return;
    for (size_t i = 0; jv_is(v, JV_ARR) && r->items && i < jv_len(v); i++) {
        check_embedded(ps, r->items, ATI(p, i), jv_index(v, i));
    }
    for (struct jv_iter it = jv_iter(v); jv_is(v, JV_OBJ) && jv_next(&it);) {
        const struct schema *prop = rules_prop(r, it.key);
        struct path at = prop ? path_field(p, it.key) : path_key(p, it.key);
        if (prop || r->more)
            check_embedded(ps, prop ? prop : r->more, &at, it.value);
    }
}
