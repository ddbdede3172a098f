/* The small words of check.h. */

#include "builtin/check.h"

#include <inttypes.h>

bool one_of(str s, const char *const *allowed)
{
    for (; *allowed; allowed++)
        if (str_eqz(s, *allowed))
            return true;
    return false;
}

jv shown(struct arena *a, jv v)
{
    return jv_is_null(v) ? jstr(a, S("")) : v;
}

bool enum_check(struct problems *ps, const struct path *p, jv v, const char *const *allowed)
{
    if (one_of(jv_str(v, S("")), allowed))
        return true;
    problem_not_supported(ps, p, shown(ps->a, v), allowed);
    return false;
}

bool enum_required(struct problems *ps, const struct path *p, jv v, const char *const *allowed)
{
    if (jv_str(v, S("")).n)
        return enum_check(ps, p, v, allowed);
    problem_required(ps, p, "%s", "");
    return false;
}

void enum_optional(struct problems *ps, const struct path *p, jv v, const char *const *allowed)
{
    if (!jv_is_null(v))
        enum_check(ps, p, v, allowed);
}

void required_check(struct problems *ps, const struct path *p, jv v)
{
    if (!jv_str(v, S("")).n && !jv_len(v))
        problem_required(ps, p, "%s", "");
}

void range_check(struct problems *ps, const struct path *p, jv v, int64_t lo, int64_t hi)
{
    int64_t i = jv_int(v, 0);

    if (i < lo || i > hi)
        problem_invalid(ps, p, jint(ps->a, i),
                        "must be between %" PRId64 " and %" PRId64 ", inclusive", lo, hi);
}

void positive_check(struct problems *ps, const struct path *p, jv v)
{
    if (jv_int(v, 0) <= 0)
        problem_invalid(ps, p, jint(ps->a, jv_int(v, 0)), "must be greater than zero");
}

void port_check(struct problems *ps, const struct path *p, jv v)
{
    range_check(ps, p, v, 1, 65535);
}

void port_or_name_check(struct problems *ps, const struct path *p, jv v)
{
    if (jv_is(v, JV_STR))
        name_check(ps, p, jv_str(v, S("")), name_port);
    else
        port_check(ps, p, v);
}

void too_long(struct problems *ps, const struct path *p, int64_t max)
{
    problem_add(ps, PROBLEM_TOO_LONG, p, JV_ABSENT, "may not be more than %" PRId64 " byte%s", max,
                max == 1 ? "" : "s");
}

void too_many(struct problems *ps, const struct path *p, size_t n, size_t max)
{
    problem_add(ps, PROBLEM_TOO_MANY, p, JV_ABSENT, "%zu: must have at most %zu item%s", n, max,
                max == 1 ? "" : "s");
}

void name_required(struct problems *ps, const struct path *p, str v, name_rule *rule)
{
    if (v.n)
        name_check(ps, p, v, rule);
    else
        problem_required(ps, p, "%s", "");
}

bool str_list_has(jv list, str s)
{
    EACH (it, list)
        if (str_eq(jv_str(it.value, S("")), s))
            return true;
    return false;
}

bool seen_before(jv list, size_t n, str field, str s)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(jv_str(jv_get(jv_index(list, i), field), S("")), s))
            return true;
    return false;
}

void only_fields(struct problems *ps, const struct path *p, jv obj, const char *const *allowed,
                 const char *text)
{
    EACH (it, obj)
        if (!one_of(it.key, allowed) && !jv_is_null(it.value))
            problem_forbidden(ps, ATS(p, it.key), "%s", text);
}
