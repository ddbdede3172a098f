/* The small words of check.h. */

#include "builtin/check.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

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
    JV_EACH (it, list)
        if (str_eq(jv_str(it.value, S("")), s))
            return true;
    return false;
}

enum { LOOK_BACK = 512, HASH_FROM = 16 };

static bool field_is(jv list, size_t i, str field, str s)
{
    return str_eq(jv_str(jv_get(jv_index(list, i), field), S("")), s);
}

bool seen_before(jv list, size_t n, str field, str s)
{
    for (size_t i = n > LOOK_BACK ? n - LOOK_BACK : 0; i < n; i++)
        if (field_is(list, i, field, s))
            return true;
    return false;
}

struct by_field by_field(jv list, str field)
{
    return (struct by_field){ .list = list, .field = field };
}

void by_field_done(struct by_field *b)
{
    map_done(&b->first);
    free(b->indexes);
    b->indexes = NULL;
}

static void fill(struct by_field *b, size_t n)
{
    b->indexes = mem_array(n, sizeof(*b->indexes));
    for (size_t i = n; i-- > 0;) { /* backwards, so that the first one stays */
        b->indexes[i] = i;
        map_put(&b->first, jv_str(jv_get(jv_index(b->list, i), b->field), S("")), &b->indexes[i]);
    }
}

int64_t by_first(struct by_field *b, str value)
{
    size_t n = jv_len(b->list);

    if (n >= HASH_FROM) {
        if (!b->indexes)
            fill(b, n);
        const size_t *i = map_get(&b->first, value);
        return i ? (int64_t)*i : -1;
    }
    for (size_t i = 0; i < n; i++)
        if (field_is(b->list, i, b->field, value))
            return (int64_t)i;
    return -1;
}

bool by_before(struct by_field *b, size_t i, str value)
{
    int64_t first = by_first(b, value);

    return first >= 0 && (size_t)first < i;
}

void only_fields(struct problems *ps, const struct path *p, jv obj, const char *const *allowed)
{
    JV_EACH (it, obj)
        if (!one_of(it.key, allowed) && !jv_is_null(it.value))
            problem_forbidden(ps, ATS(p, it.key), "cannot be set");
}

static bool is_path(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (!c || !strchr("/-._~%!$&'()*+,;=:", c)))
            return false;
    }
    return s.n > 0;
}

void domain_path_check(struct problems *ps, const struct path *p, jv v)
{
    str text = jv_str(v, S(""));
    str path = text;
    str host = str_cut(&path, '/');

    if (!text.n) {
        problem_required(ps, p, "%s", "");
        return;
    }
    if (!host.n || !path.n) {
        problem_invalid(ps, p, v, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    name_check(ps, p, host, name_dns1123_subdomain);
    if (!is_path(path))
        problem_invalid(ps, p, jstr(ps->a, path),
                        "Invalid path (regex used for validation is "
                        "'[A-Za-z0-9/\\-._~%%!$&'()*+,;=:]+')");
}
