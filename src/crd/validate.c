/* All that is asked of a custom object: values, scale paths, embedded resources, lists, rules. The
 * caller checks apiVersion, kind and metadata. */

#include "crd/rules.h"
#include "kube/goprint.h"

/* The value at a scale path, or a problem in the words of Go's unstructured accessors. */
jv scale_value(struct problems *ps, const struct path *p, jv obj, const char *const *steps,
               enum jv_type type)
{
    const char *expected = type == JV_INT ? "int64" : "string";
    AUTO(buf) struct buf walked = { 0 };
    jv bad = type == JV_INT ? jint(ps->a, 0) : jstr(ps->a, S(""));
    jv v = obj;
    size_t i = 0;

    for (; steps[i] && !jv_is_null(v); i++) {
        buf_printf(&walked, ".%s", steps[i]);
        if (!jv_is(v, JV_OBJ)) {
            problem_invalid(ps, p, bad,
                            "%" PRI_STR " accessor error: %" PRI_STR
                            " is of the type %s, expected map[string]interface{}",
                            STR_ARG(buf_str(&walked)), STR_ARG(goprint_text(ps->a, v)),
                            goprint_type(v));
            return JV_ABSENT;
        }
        v = jv_get(v, str_of(steps[i]));
    }
    if (!jv_exists(v) || (jv_is_null(v) && steps[i]) || jv_is(v, type))
        return v;
    problem_invalid(
        ps, p, bad, "%" PRI_STR " accessor error: %" PRI_STR " is of the type %s, expected %s",
        STR_ARG(buf_str(&walked)), STR_ARG(goprint_text(ps->a, v)), goprint_type(v), expected);
    return JV_ABSENT;
}

static void check_replicas(struct problems *ps, jv obj, const char *const *steps, str text)
{
    struct path p = path_field(NULL, text);
    jv v = scale_value(ps, &p, obj, steps, JV_INT);
    int64_t n = jv_int(v, 0);

    if (n < 0)
        problem_invalid(ps, &p, v, "should be a non-negative integer");
    else if (n > INT32_MAX)
        problem_invalid(ps, &p, v, "should be less than or equal to %d", INT32_MAX);
}

static void check_scale_status(struct problems *ps, const struct crd_version *v, jv obj)
{
    if (!v->scale.on)
        return;
    check_replicas(ps, obj, v->scale.status_replicas, v->scale.status_path);
    if (v->scale.selector) {
        scale_value(ps, ATS(NULL, v->scale.selector_path), obj, v->scale.selector, JV_STR);
    }
}

static void check_rules_of(struct problems *ps, const struct crd_version *v, jv obj, jv old)
{
    if (v->schema->rules->below & BELOW_EMBEDDED)
        check_embedded(ps, v->schema, NULL, obj);
    struct problems before = { .a = ps->a };
    if (jv_exists(old))
        check_lists(&before, v->schema, NULL, old);
    if (!before.n)
        check_lists(ps, v->schema, NULL, obj);
    check_rules(ps, v->schema, obj, old);
}

void crd_validate(struct problems *ps, const struct crd_version *v, jv obj, jv old)
{
    check_values(ps, v->schema, NULL, obj, old, jv_exists(old));
    if (v->scale.on)
        check_replicas(ps, obj, v->scale.spec_replicas, v->scale.spec_path);
    check_scale_status(ps, v, obj);
    check_rules_of(ps, v, obj, old);
}

void crd_validate_status(struct problems *ps, const struct crd_version *v, jv obj, jv old)
{
    const struct schema *status = rules_prop(v->schema->rules, S("status"));
    jv was = jv_at(old, "status");

    if (jv_exists(jv_at(obj, "status")) && status)
        check_values(ps, status, ROOT("status"), jv_at(obj, "status"), was, jv_exists(was));
    check_scale_status(ps, v, obj);
    check_rules_of(ps, v, obj, old);
}
