/* Paths into schemas: fieldPath of rules, jsonPath of selectable fields. */

#include "crd/define.h"

str path_token(str *rest)
{
    size_t n = 0;
    bool quoted = rest->n && rest->p[0] == '\'';

    for (; n < rest->n; n++) {
        char c = rest->p[n];
        if (quoted && n > 0 && c == '\'' && rest->p[n - 1] != '\\') {
            n++;
            break;
        }
        if (!quoted && (c == '.' || c == '[' || c == ']')) {
            n += n == 0;
            break;
        }
    }
    str t = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return t;
}

static jv fail(struct err *e, const char *words, str token)
{
    err_set(e, ERR_INVALID, "%s%" PRI_STR, words, STR_ARG(token));
    return JV_ABSENT;
}

/* The schema of a member, or absent. */
static jv step(jv schema, str name)
{
    jv props = jv_at(schema, "properties");
    jv more = jv_at(schema, "additionalProperties");

    if (jv_len(props))
        return jv_get(props, name);
    return jv_is(more, JV_OBJ) ? more : JV_ABSENT;
}

static jv bracket(jv schema, str *rest, struct err *e)
{
    str name = path_token(rest);

    if (!name.n)
        return fail(e, "unexpected end of JSON path", STR_NONE);
    if (name.n < 2 || name.p[0] != '\'' || name.p[name.n - 1] != '\'')
        return fail(e, "expected single quoted string but got ", name);
    schema = step(schema, str_sub(name, 1, name.n - 1));
    if (!jv_exists(schema))
        return fail(e, "does not refer to a valid field", STR_NONE);
    str close = path_token(rest);
    if (!close.n)
        return fail(e, "unexpected end of JSON path", STR_NONE);
    if (!str_eq(close, S("]")))
        return fail(e, "expected ] but got ", close);
    return schema;
}

jv schema_at_path(jv schema, str path, bool brackets, struct err *e)
{
    while (path.n && jv_exists(schema)) {
        str t = path_token(&path);
        if (str_eq(t, S("["))) {
            schema = brackets ? bracket(schema, &path, e)
                              : fail(e, "array notation is not allowed", STR_NONE);
        } else if (str_eq(t, S("."))) {
            str name = path_token(&path);
            if (!name.n)
                return fail(e, "unexpected end of JSON path", STR_NONE);
            schema = step(schema, name);
            if (!jv_exists(schema))
                return fail(e, "does not refer to a valid field", STR_NONE);
        } else {
            return fail(e, "expected [ or . but got: ", t);
        }
    }
    return schema;
}
