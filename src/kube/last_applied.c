/* kubectl's last-applied-configuration. */

#include "kube/last_applied.h"
#include "base/limits.h"
#include "kube/typing.h"

#include <stdlib.h>

#define ANNOTATION "kubectl.kubernetes.io/last-applied-configuration"

static str annotation(jv obj)
{
    return jv_str(jv_at(obj, "metadata", "annotations", ANNOTATION), S(""));
}

struct fieldset last_applied_fields(struct arena *a, const struct managed_write *w, jv live)
{
    str text = annotation(live);
    struct fieldset none = { 0 };
    jv was = text.n ? json_parse(a, text, NULL, NULL) : JV_ABSENT;
    str why;

    if (!jv_is(was, JV_OBJ) || !str_eq(jv_str(jv_at(was, "apiVersion"), S("")), w->api_version) ||
        typing_check(a, w->schema, was, &why) < 0)
        return none;
    struct typed_diff d = typing_compare(a, w->schema, was, live);
    struct fieldset changed = fieldset_union(a, d.modified, fieldset_union(a, d.added, d.removed));
    return fieldset_difference(a, typing_fields(a, w->schema, was), changed);
}

static int by_key(const void *x, const void *y)
{
    const struct jnode *a = x;
    const struct jnode *b = y;

    return str_cmp((str){ a->u.text, a->n }, (str){ b->u.text, b->n });
}

/* As Go prints maps: members by name. */
static jv sorted(struct arena *a, jv v)
{
    struct jbuild b = jv_is(v, JV_OBJ) ? jb_obj(a) : jb_arr(a);

    if (!jv_is(v, JV_OBJ) && !jv_is(v, JV_ARR))
        return v;
    JV_EACH (it, v) {
        if (jv_is(v, JV_OBJ))
            jb_add(&b, it.key, sorted(a, it.value));
        else
            jb_push(&b, sorted(a, it.value));
    }
    if (jv_is(v, JV_OBJ) && b.n)
        qsort(b.nodes, b.n / 2, 2 * sizeof(*b.nodes), by_key);
    return jb_done(&b);
}

jv last_applied_refresh(struct arena *a, jv obj, jv config)
{
    size_t total = 0;

    if (!annotation(obj).n)
        return obj;
    config = jv_without(a, config, "metadata", "annotations", ANNOTATION);
    str text = arena_cat(a, json_text(a, sorted(a, config)), S("\n"));
    jv out = jv_with(a, obj, jstr(a, text), "metadata", "annotations", ANNOTATION);
    JV_EACH (it, jv_at(out, "metadata", "annotations"))
        total += it.key.n + jv_str(it.value, S("")).n;
    if (total > LIMIT_ANNOTATION_BYTES)
        out = jv_without(a, out, "metadata", "annotations", ANNOTATION);
    return out;
}
