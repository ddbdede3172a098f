/* The scale subresource: an autoscaling/v1 Scale made from an object, and put back into it. */

#include "crd/gotext.h"
#include "crd/rules.h"
#include "kube/meta.h"

enum { REPLICAS_UNSET = INT32_MIN }; /* what a patch sees where the object has none */

/* The value at the path; a wrong type is an error in the words of Go's unstructured accessors. */
static int value_at(struct arena *a, jv obj, const char *const *steps, enum jv_type type, jv *out,
                    struct err *e)
{
    struct problems ps = { .a = a };

    *out = steps ? scale_value(&ps, NULL, obj, steps, type) : JV_ABSENT;
    if (!ps.n)
        return 0;
    str text = ps.at[0].message; /* "Invalid value: 0: .spec.replicas accessor error: ..." */
    ptrdiff_t from = str_find(text, '.');
    text = str_sub(text, (size_t)from, text.n);
    return err_set(e, ERR_INTERNAL, "%" PRI_STR, STR_ARG(text));
}

jv crd_scale_get(struct arena *a, const struct crd_version *v, jv obj, bool for_update,
                 struct err *e)
{
    jv replicas;
    jv current;
    jv selector;

    if (value_at(a, obj, v->scale.spec_replicas, JV_INT, &replicas, e) < 0 ||
        value_at(a, obj, v->scale.status_replicas, JV_INT, &current, e) < 0 ||
        value_at(a, obj, v->scale.selector, JV_STR, &selector, e) < 0)
        return JV_ABSENT;
    if (!jv_exists(replicas) && for_update) {
        replicas = jint(a, REPLICAS_UNSET);
    } else if (!jv_exists(replicas)) {
        err_set(e, ERR_INTERNAL, "the spec replicas field %" PRI_STR " does not exist",
                STR_ARG(go_quote(a, v->scale.spec_path)));
        return JV_ABSENT;
    }
    jv meta = jobj(a, { "name", jv_at(obj, "metadata", "name") },
                   { "namespace", jv_at(obj, "metadata", "namespace") },
                   { "uid", jv_at(obj, "metadata", "uid") },
                   { "resourceVersion", jv_at(obj, "metadata", "resourceVersion") },
                   { "creationTimestamp", jv_at(obj, "metadata", "creationTimestamp") });
    jv spec = jobj(a, { "replicas", jv_int(replicas, 0) ? replicas : JV_ABSENT });
    jv status = jobj(a, { "replicas", jint(a, jv_int(current, 0)) },
                     { "selector", jv_str(selector, S("")).n ? selector : JV_ABSENT });
    return jobj(a, { "kind", jstrz(a, "Scale") }, { "apiVersion", jstrz(a, "autoscaling/v1") },
                { "metadata", meta }, { "spec", spec }, { "status", status });
}

jv crd_scale_set(struct arena *a, const struct crd_version *v, jv obj, int64_t replicas,
                 struct err *e)
{
    AUTO(buf) struct buf walked = { 0 };
    jv at = obj;

    if (replicas == REPLICAS_UNSET) {
        err_set(e, ERR_BAD_REQUEST, "the spec replicas field %" PRI_STR " cannot be empty",
                STR_ARG(go_quote(a, v->scale.spec_path)));
        return JV_ABSENT;
    }
    for (const char *const *s = v->scale.spec_replicas; s[1]; s++) {
        at = jv_get(at, str_of(*s));
        buf_printf(&walked, ".%s", *s);
        if (!jv_exists(at) || jv_is(at, JV_OBJ))
            continue;
        err_set(e, ERR_INTERNAL,
                "value cannot be set because %" PRI_STR " is not a map[string]interface{}",
                STR_ARG(buf_str(&walked)));
        return JV_ABSENT;
    }
    return jv_with_path(a, obj, jint(a, replicas), v->scale.spec_replicas);
}
