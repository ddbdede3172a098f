/* A value against its type: all fields that are not there and all values of the wrong type, where
 * a decoder would stop at the first. */

#include "lint/internal.h"

#include "base/nearest.h"
#include "builtin/types/types.h"
#include "kube/schema_scalar.h"

/* The field that was probably meant; empty: none is like it. */
static str guess(const struct schema *s, str name)
{
    struct nearest n = nearest_to(name);

    for (size_t i = 0; i < s->n_fields; i++)
        nearest_try(&n, s->fields[i].name);
    return n.best;
}

/* Where the field is that belongs one step further in: "runPolicy.backoffLimit"; empty: nowhere. */
static str further_in(struct arena *a, const struct schema *s, str name)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->schema->type == SCHEMA_OBJECT && schema_field(f->schema, name))
            return arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(f->name), STR_ARG(name));
    }
    return STR_NONE;
}

static void tell_unknown(const struct shape_check *c, const struct schema *s, const struct path *at,
                         str name)
{
    str near = guess(s, name);

    if (!near.n)
        near = further_in(c->a, s, name);
    c->on_unknown(
        c->ctx, path_str(c->a, at),
        near.n ? arena_printf(c->a, "unknown field; was \"%" PRI_STR "\" meant?", STR_ARG(near))
               : S("unknown field"));
}

static const char *wanted(enum schema_type t)
{
    static const char *const words[] = {
        [SCHEMA_ANY] = "anything",
        [SCHEMA_OBJECT] = "an object",
        [SCHEMA_MAP] = "an object",
        [SCHEMA_LIST] = "a list",
        [SCHEMA_STRING] = "a string",
        [SCHEMA_BOOL] = "true or false",
        [SCHEMA_INT32] = "an integer",
        [SCHEMA_INT64] = "an integer",
        [SCHEMA_NUMBER] = "a number",
        [SCHEMA_INT_OR_STRING] = "an integer or a string",
        [SCHEMA_QUANTITY] = "a quantity, such as 500m or 2Gi",
        [SCHEMA_TIME] = "a time, such as 2006-01-02T15:04:05Z",
        [SCHEMA_MICRO_TIME] = "a time, such as 2006-01-02T15:04:05.000000Z",
        [SCHEMA_DURATION] = "a duration, such as 1m30s",
        [SCHEMA_BYTES] = "text in base64",
    };

    return words[t];
}

static jv wrong(const struct shape_check *c, const struct schema *s, const struct path *at, jv v)
{
    jv shown = jv_is(v, JV_OBJ) || jv_is(v, JV_ARR) ? JV_ABSENT : v;
    const char *is = jv_is(v, JV_OBJ) ? ", not an object" : jv_is(v, JV_ARR) ? ", not a list" : "";

    if (jv_exists(shown))
        problem_add(c->wrong, PROBLEM_TYPE_INVALID, at, shown, "must be %s", wanted(s->type));
    else
        problem_add_bare(c->wrong, PROBLEM_TYPE_INVALID, at, "must be %s%s", wanted(s->type), is);
    return JV_ABSENT;
}

static jv check(const struct shape_check *c, const struct schema *s, const struct path *at, jv v,
                bool typed);

static jv check_members(const struct shape_check *c, const struct schema *s, const struct path *at,
                        jv v, bool typed)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v) {
        const struct schema *member = schema_member(s, it.key);
        struct path p = s->type == SCHEMA_MAP ? path_key(at, it.key) : path_field(at, it.key);
        jv now = it.value;
        if (member)
            now = check(c, member, &p, it.value, typed || member == &meta_ObjectMeta);
        else if (s->type == SCHEMA_OBJECT && !s->preserve_unknown)
            tell_unknown(c, s, &p, it.key);
        jb_child(&b, c->a, &it, now);
    }
    return b.a ? jb_done(&b) : v;
}

static jv check_list(const struct shape_check *c, const struct schema *s, const struct path *at,
                     jv v, bool typed)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v) {
        jv now = s->items ? check(c, s->items, EACH_AT(at, it), it.value, typed) : it.value;
        jb_child(&b, c->a, &it, jv_exists(now) ? now : JV_NULL_V); /* the others keep their place */
    }
    return b.a ? jb_done(&b) : v;
}

/* JSONSchemaPropsOrBool and its like: what is found is looked at if it is an object. */
static jv check_any(const struct shape_check *c, const struct schema *s, const struct path *at,
                    jv v, bool typed)
{
    if (!s->items)
        return v;
    if (jv_is(v, JV_OBJ))
        return check(c, s->items, at, v, typed);
    return v;
}

static bool is_scalar(struct arena *a, enum schema_type type, jv v)
{
    struct err e = { 0 };
    jv out;

    if (type == SCHEMA_STRING || type == SCHEMA_BOOL)
        return jv_is(v, type == SCHEMA_STRING ? JV_STR : JV_BOOL);
    return scalar_decode(a, type, v, &out, &e) == SCALAR_FINE;
}

static jv check(const struct shape_check *c, const struct schema *s, const struct path *at, jv v,
                bool typed)
{
    if (jv_is_null(v))
        return v;
    switch (s->type) {
    case SCHEMA_ANY:
        return check_any(c, s, at, v, typed);
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
        if (jv_is(v, JV_OBJ))
            return check_members(c, s, at, v, typed);
        return typed ? wrong(c, s, at, v) : v;
    case SCHEMA_LIST:
        if (jv_is(v, JV_ARR))
            return check_list(c, s, at, v, typed);
        return typed ? wrong(c, s, at, v) : v;
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break;
    }
    return !typed || is_scalar(c->a, s->type, v) ? v : wrong(c, s, at, v);
}

jv shape_check(const struct shape_check *c, const struct schema *s, jv v, bool typed)
{
    return check(c, s, NULL, v, typed);
}
