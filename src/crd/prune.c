/* Dropping what a schema does not know, and nulls that mean nothing. */

#include "base/limits.h"
#include "base/vec.h"
#include "crd/rules.h"

#include <stdlib.h>

struct pruner {
    struct arena *a;
    bool nulls; /* drop them too */
    bool told;  /* somebody wants to know the paths */
    str *at;    /* paths */
    size_t n;
    size_t cap;
};

static void note(struct pruner *p, const struct path *up, str key)
{
    if (!p->told || p->n == LIMIT_STRICT)
        return;
    vec_push_in(p->a, p, path_str(p->a, ATS(up, key)));
}

static bool is_meta(str key)
{
    return str_eq(key, S("apiVersion")) || str_eq(key, S("kind")) || str_eq(key, S("metadata"));
}

static jv prune(struct pruner *p, const struct schema *s, const struct path *path, jv v,
                bool resource, bool open);

/* What becomes of a member: absent where it goes. open: unknown members stay. */
static jv prune_member(struct pruner *p, const struct schema *s, const struct path *up, str key,
                       jv v, bool resource, bool open)
{
    const struct crd_rules *r = s ? s->rules : NULL;
    const struct schema *prop = r ? rules_prop(r, key) : NULL;
    const struct schema *member = prop || !r ? prop : r->more;

    if (p->nulls && jv_is_null(v) && member && !member->nullable && !jv_exists(member->dflt))
        return JV_ABSENT;
    if (resource && is_meta(key))
        return v;
    if (prop || (r && r->additional))
        return prune(p, member, ATS(up, key), v, false, false);
    if (open)
        return v;
    note(p, up, key);
    return JV_ABSENT;
}

static jv prune_object(struct pruner *p, const struct schema *s, const struct path *path, jv v,
                       bool resource, bool open)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v)
        jb_child(&b, p->a, &it, prune_member(p, s, path, it.key, it.value, resource, open));
    return b.a ? jb_done(&b) : v;
}

static jv prune_array(struct pruner *p, const struct schema *items, const struct path *path, jv v,
                      bool open)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v) {
        jb_child(&b, p->a, &it, prune(p, items, EACH_AT(path, it), it.value, false, open));
    }
    return b.a ? jb_done(&b) : v;
}

/* open: below a list of open objects, whose elements are open too. */
static jv prune(struct pruner *p, const struct schema *s, const struct path *path, jv v,
                bool resource, bool open)
{
    bool keep = open || (s && s->preserve_unknown);

    if (jv_is(v, JV_OBJ))
        return prune_object(p, s, path, v, resource || (s && s->embedded_resource), keep);
    if (!jv_is(v, JV_ARR))
        return v;
    const struct schema *items = s && s->rules ? s->rules->items : NULL;
    return keep && !items ? v : prune_array(p, items, path, v, keep);
}

static int by_text(const void *x, const void *y)
{
    const str *a = x;
    const str *b = y;

    return str_cmp(*a, *b);
}

jv prune_value(struct arena *a, const struct schema *s, jv v, bool is_resource)
{
    struct pruner p = { .a = a };

    return prune(&p, s, NULL, v, is_resource, false);
}

jv crd_prune(struct arena *a, const struct crd_version *v, jv obj,
             const struct schema_report *report, struct err *e)
{
    struct pruner p = { .a = a, .nulls = true, .told = report && report->on_unknown };

    obj = prune(&p, v->schema, NULL, obj, true, false);
    if (p.n)
        qsort(p.at, p.n, sizeof(*p.at), by_text);
    for (size_t i = 0; report && i < p.n; i++)
        report->on_unknown(report->ctx, p.at[i]);
    return v->schema->rules->below & BELOW_EMBEDDED ? coerce_embedded(a, v, obj, report, e) : obj;
}
