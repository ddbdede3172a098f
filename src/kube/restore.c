/* Restoring typed values from untyped ones: what Go's reflection says when it cannot be done. */

#include "kube/restore.h"

static const char *const kinds[] = {
    [JV_NONE] = "invalid", [JV_NULL] = "invalid", [JV_BOOL] = "bool", [JV_INT] = "int64",
    [JV_NUM] = "float64",  [JV_STR] = "string",   [JV_ARR] = "slice", [JV_OBJ] = "map",
};

/* What scalars can be made from, and what they are called. */
static const struct scalar {
    enum schema_type type;
    const char *name;
    enum jv_type from;
    enum jv_type other; /* Go could convert it, JSON does not: another message */
} scalars[] = {
    { SCHEMA_STRING, "string", JV_STR, JV_INT },   { SCHEMA_BOOL, "bool", JV_BOOL, JV_NONE },
    { SCHEMA_INT32, "int32", JV_INT, JV_NUM },     { SCHEMA_INT64, "int64", JV_INT, JV_NUM },
    { SCHEMA_NUMBER, "float64", JV_NUM, JV_NONE },
};

static str scalar_problem(struct arena *a, const struct schema *s, jv v)
{
    enum jv_type have = jv_type(v);

    for (size_t i = 0; i < COUNT(scalars); i++) {
        const struct scalar *t = &scalars[i];
        if (t->type != s->type || t->from == have || (t->type == SCHEMA_NUMBER && have == JV_INT))
            continue;
        return have == t->other ? arena_printf(a, "cannot convert %s to %s", kinds[have], t->name)
                                : arena_printf(a, "unrecognized type: %s", t->name);
    }
    return STR_NONE;
}

static str members_problem(struct arena *a, const struct schema *s, jv v)
{
    for (size_t i = 0; i < s->n_fields; i++) { /* in the order of Go's struct */
        str why = restore_problem(a, s->fields[i].schema, jv_get(v, s->fields[i].name));
        if (why.n)
            return why;
    }
    return STR_NONE;
}

static str items_problem(struct arena *a, const struct schema *s, jv v)
{
    JV_EACH (it, v) {
        str why = restore_problem(a, s->items, it.value);
        if (why.n)
            return why;
    }
    return STR_NONE;
}

str restore_problem(struct arena *a, const struct schema *s, jv v)
{
    if (jv_is_null(v))
        return STR_NONE;
    if (s->type == SCHEMA_OBJECT)
        return jv_is(v, JV_OBJ)
                   ? members_problem(a, s, v)
                   : arena_printf(a, "cannot restore struct from: %s", kinds[jv_type(v)]);
    if (s->type == SCHEMA_MAP || s->type == SCHEMA_LIST) {
        bool map = s->type == SCHEMA_MAP;
        return jv_is(v, map ? JV_OBJ : JV_ARR)
                   ? items_problem(a, s, v)
                   : arena_printf(a, "cannot restore %s from %s", map ? "map" : "slice",
                                  kinds[jv_type(v)]);
    }
    return scalar_problem(a, s, v);
}
