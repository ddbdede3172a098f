/* The functions that rules may call. */

#include "crd/cel_internal.h"
#include "crd/gotext.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* env and n may be unused. */
#define FUNC(name)                                                    \
    static int name(struct cel_env *env __attribute__((unused)),      \
                    const struct cel_node *n __attribute__((unused)), \
                    const struct cel_value *args, struct cel_value *out)

static int give_bool(struct cel_value *out, bool b)
{
    *out = (struct cel_value){ .kind = CEL_BOOL, .b = b };
    return 0;
}

static int give_int(struct cel_value *out, int64_t i)
{
    *out = (struct cel_value){ .kind = CEL_INT, .i = i };
    return 0;
}

static int give_str(struct cel_value *out, str s)
{
    *out = (struct cel_value){ .kind = CEL_STRING, .s = s };
    return 0;
}

FUNC(call_size)
{
    return give_int(out, (int64_t)cel_len(&args[0]));
}

FUNC(call_starts)
{
    return give_bool(out, str_starts(args[0].s, args[1].s));
}

FUNC(call_ends)
{
    return give_bool(out, str_ends(args[0].s, args[1].s));
}

FUNC(call_contains)
{
    return give_bool(out, str_contains(args[0].s, args[1].s));
}

FUNC(call_matches)
{
    enum pattern_result rc = pattern_match(n->pattern, args[0].s, env->patterns);
    if (rc == PATTERN_GIVEN_UP)
        return cel_spend_steps(env, SIZE_MAX);
    return give_bool(out, rc == PATTERN_MATCHES);
}

static int give_mapped(struct cel_env *env, str s, int (*change)(int), struct cel_value *out)
{
    if (cel_spend_bytes(env, s.n) < 0)
        return -1;
    char *p = arena_alloc(env->a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)((unsigned char)s.p[i] < 0x80 ? change((unsigned char)s.p[i]) : s.p[i]);
    return give_str(out, (str){ p, s.n });
}

FUNC(call_lower)
{
    return give_mapped(env, args[0].s, tolower, out);
}

FUNC(call_upper)
{
    return give_mapped(env, args[0].s, toupper, out);
}

FUNC(call_trim)
{
    return give_str(out, str_trim(args[0].s));
}

/* Byte offset of a rune; past the end: the length. */
static size_t rune_offset(str s, size_t rune)
{
    size_t i = 0;

    while (i < s.n && rune--)
        for (i++; i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80;)
            i++;
    return i;
}

/* Where `part` first is in s from byte `from` on; s.n: nowhere. */
static size_t find_part(str s, size_t from, str part)
{
    const char *hit = from < s.n ? memmem(s.p + from, s.n - from, part.p, part.n) : NULL;

    return hit ? (size_t)(hit - s.p) : s.n;
}

static int64_t runes_before(str s, size_t end)
{
    return (int64_t)cel_len(&(struct cel_value){ .kind = CEL_STRING, .s = str_sub(s, 0, end) });
}

FUNC(call_index)
{
    str s = args[0].s;
    str part = args[1].s;
    bool last = n->name.p[0] == 'l';

    if (part.n > s.n)
        return give_int(out, -1);
    if (!last || !part.n) {
        size_t at = part.n ? find_part(s, 0, part) : last ? s.n : 0;
        return give_int(out, part.n && at == s.n ? -1 : runes_before(s, at));
    }
    for (size_t i = s.n - part.n + 1; i-- > 0;) {
        if (s.p[i] != part.p[0])
            continue;
        if (cel_spend_steps(env, 1 + part.n / 64) < 0)
            return -1;
        if (str_starts(str_sub(s, i, s.n), part))
            return give_int(out, runes_before(s, i));
    }
    return give_int(out, -1);
}

FUNC(call_substring)
{
    int64_t runes = (int64_t)cel_len(&args[0]);
    int64_t from = args[1].i;
    int64_t to = n->n > 2 ? args[2].i : runes;

    if (from < 0 || from > runes)
        return err_set(env->e, ERR_INVALID, "index out of range: %" PRId64, from);
    if (to < 0 || to > runes)
        return err_set(env->e, ERR_INVALID, "index out of range: %" PRId64, to);
    if (from > to)
        return err_set(env->e, ERR_INVALID,
                       "invalid substring range. start: %" PRId64 ", end: %" PRId64, from, to);
    return give_str(out, str_sub(args[0].s, rune_offset(args[0].s, (size_t)from),
                                 rune_offset(args[0].s, (size_t)to)));
}

FUNC(call_replace)
{
    AUTO(buf) struct buf b = { 0 };
    str s = args[0].s;
    str from = args[1].s;

    if (!from.n)
        return err_set(env->e, ERR_INVALID, "replacing nothing is not supported");
    for (size_t i = 0; i < s.n;) {
        size_t hit = find_part(s, i, from);
        if (cel_spend_bytes(env, hit - i + (hit < s.n ? args[2].s.n : 0)) < 0)
            return -1;
        buf_add(&b, str_sub(s, i, hit));
        if (hit < s.n)
            buf_add(&b, args[2].s);
        i = hit < s.n ? hit + from.n : s.n;
    }
    return give_str(out, arena_str(env->a, buf_str(&b)));
}

FUNC(call_split)
{
    str s = args[0].s;
    str by = args[1].s;
    size_t count = 1;

    if (!by.n)
        return err_set(env->e, ERR_INVALID, "splitting at nothing is not supported");
    for (size_t i = find_part(s, 0, by); i < s.n; i = find_part(s, i + by.n, by))
        count++;
    if (cel_spend_bytes(env, count * sizeof(struct cel_value)) < 0)
        return -1;
    struct cel_value *at = ARENA_ARRAY(env->a, struct cel_value, count);
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        size_t to = find_part(s, from, by);
        give_str(&at[i], str_sub(s, from, to));
        from = to + by.n;
    }
    *out = (struct cel_value){ .kind = CEL_LIST, .at = at, .n = count };
    return 0;
}

FUNC(call_join)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < cel_len(&args[0]); i++) {
        str between = i && n->n > 1 ? args[1].s : S("");
        str item = cel_item(&args[0], i).s;
        if (cel_spend_bytes(env, between.n + item.n) < 0)
            return -1;
        buf_add(&b, between);
        buf_add(&b, item);
    }
    return give_str(out, arena_str(env->a, buf_str(&b)));
}

FUNC(call_sum)
{
    struct cel_value sum =
        cel_len(&args[0]) ? cel_item(&args[0], 0) : (struct cel_value){ .kind = CEL_INT };

    for (size_t i = 1; i < cel_len(&args[0]); i++) {
        struct cel_value v = cel_item(&args[0], i);
        sum.d += v.d;
        if (v.kind == CEL_INT && __builtin_add_overflow(sum.i, v.i, &sum.i))
            return err_set(env->e, ERR_INVALID, "integer overflow");
    }
    *out = sum;
    return 0;
}

FUNC(call_extreme)
{
    bool most = str_eq(n->name, S("max"));

    if (!cel_len(&args[0]))
        return err_set(env->e, ERR_INVALID, "%s called on empty list", most ? "max" : "min");
    *out = cel_item(&args[0], 0);
    for (size_t i = 1; i < cel_len(&args[0]); i++) {
        struct cel_value v = cel_item(&args[0], i);
        int c = cel_compare(&v, out);
        if (most ? c > 0 : c < 0)
            *out = v;
    }
    return 0;
}

FUNC(call_sorted)
{
    bool sorted = true;

    for (size_t i = 1; sorted && i < cel_len(&args[0]); i++) {
        struct cel_value x = cel_item(&args[0], i - 1);
        struct cel_value y = cel_item(&args[0], i);
        sorted = cel_compare(&x, &y) <= 0;
    }
    return give_bool(out, sorted);
}

FUNC(call_index_of_item)
{
    bool last = n->name.p[0] == 'l';
    int64_t found = -1;

    for (size_t i = 0; i < cel_len(&args[0]) && !env->spent && (last || found < 0); i++) {
        struct cel_value v = cel_item(&args[0], i);
        if (cel_equal(env, &v, &args[1]))
            found = (int64_t)i;
    }
    return give_int(out, found);
}

/* As much of a text as an error shows of it. */
static str start_of(str s)
{
    str start = str_sub(s, 0, 200);

    return str_sub(start, 0, str_utf8_prefix(start));
}

FUNC(call_int)
{
    int64_t i = args[0].i;

    if (args[0].kind == CEL_DOUBLE) {
        if (!(args[0].d > -9223372036854775808.0 && args[0].d < 9223372036854775808.0))
            return err_set(env->e, ERR_INVALID, "integer overflow");
        i = (int64_t)args[0].d;
    } else if (args[0].kind == CEL_STRING && !str_to_int(args[0].s, &i)) {
        return err_set(env->e, ERR_INVALID,
                       "strconv.ParseInt: parsing %" PRI_STR ": invalid syntax",
                       STR_ARG(go_quote(env->a, start_of(args[0].s))));
    }
    return give_int(out, i);
}

FUNC(call_double)
{
    char *end = NULL;
    double d = args[0].kind == CEL_INT ? (double)args[0].i : args[0].d;

    if (args[0].kind == CEL_STRING) {
        if (cel_spend_bytes(env, args[0].s.n) < 0)
            return -1;
        const char *text = arena_z(env->a, args[0].s);
        d = strtod(text, &end);
        if (end == text || *end)
            return err_set(env->e, ERR_INVALID,
                           "strconv.ParseFloat: parsing %" PRI_STR ": invalid syntax",
                           STR_ARG(go_quote(env->a, start_of(args[0].s))));
    }
    *out = (struct cel_value){ .kind = CEL_DOUBLE, .d = d };
    return 0;
}

FUNC(call_string)
{
    if (args[0].kind == CEL_INT)
        return give_str(out, arena_printf(env->a, "%" PRId64, args[0].i));
    if (args[0].kind == CEL_DOUBLE)
        return give_str(out, go_float(env->a, args[0].d));
    if (args[0].kind == CEL_BOOL)
        return give_str(out, args[0].b ? S("true") : S("false"));
    return give_str(out, args[0].s);
}

FUNC(call_type)
{
    *out = (struct cel_value){ .kind = CEL_TYPE, .i = args[0].kind };
    return 0;
}

#define STRING CEL_STRING
#define LIST   CEL_LIST

static const struct cel_func funcs[] = {
    { "size", false, { STRING }, CEL_INT, 0, call_size },
    { "size", false, { LIST }, CEL_INT, 0, call_size },
    { "size", false, { CEL_MAP }, CEL_INT, 0, call_size },
    { "size", true, { STRING }, CEL_INT, 0, call_size },
    { "size", true, { LIST }, CEL_INT, 0, call_size },
    { "size", true, { CEL_MAP }, CEL_INT, 0, call_size },
    { "startsWith", true, { STRING, STRING }, CEL_BOOL, 0, call_starts },
    { "endsWith", true, { STRING, STRING }, CEL_BOOL, 0, call_ends },
    { "contains", true, { STRING, STRING }, CEL_BOOL, 0, call_contains },
    { "matches", true, { STRING, STRING }, CEL_BOOL, 0, call_matches },
    { "matches", false, { STRING, STRING }, CEL_BOOL, 0, call_matches },
    { "lowerAscii", true, { STRING }, STRING, 0, call_lower },
    { "upperAscii", true, { STRING }, STRING, 0, call_upper },
    { "trim", true, { STRING }, STRING, 0, call_trim },
    { "indexOf", true, { STRING, STRING }, CEL_INT, 0, call_index },
    { "lastIndexOf", true, { STRING, STRING }, CEL_INT, 0, call_index },
    { "substring", true, { STRING, CEL_INT }, STRING, 0, call_substring },
    { "substring", true, { STRING, CEL_INT, CEL_INT }, STRING, 0, call_substring },
    { "replace", true, { STRING, STRING, STRING }, STRING, 0, call_replace },
    { "split", true, { STRING, STRING }, LIST, STRING, call_split },
    { "join", true, { LIST }, STRING, 0, call_join },
    { "join", true, { LIST, STRING }, STRING, 0, call_join },
    { "sum", true, { LIST }, CEL_DYN, 0, call_sum },
    { "min", true, { LIST }, CEL_DYN, 0, call_extreme },
    { "max", true, { LIST }, CEL_DYN, 0, call_extreme },
    { "isSorted", true, { LIST }, CEL_BOOL, 0, call_sorted },
    { "indexOf", true, { LIST, CEL_DYN }, CEL_INT, 0, call_index_of_item },
    { "lastIndexOf", true, { LIST, CEL_DYN }, CEL_INT, 0, call_index_of_item },
    { "int", false, { CEL_INT }, CEL_INT, 0, call_int },
    { "int", false, { CEL_DOUBLE }, CEL_INT, 0, call_int },
    { "int", false, { STRING }, CEL_INT, 0, call_int },
    { "double", false, { CEL_INT }, CEL_DOUBLE, 0, call_double },
    { "double", false, { CEL_DOUBLE }, CEL_DOUBLE, 0, call_double },
    { "double", false, { STRING }, CEL_DOUBLE, 0, call_double },
    { "string", false, { CEL_INT }, STRING, 0, call_string },
    { "string", false, { CEL_DOUBLE }, STRING, 0, call_string },
    { "string", false, { CEL_BOOL }, STRING, 0, call_string },
    { "string", false, { STRING }, STRING, 0, call_string },
    { "type", false, { CEL_DYN }, CEL_TYPE, 0, call_type },
};

/* What items a list must hold for a function of lists to make sense. */
static bool items_fit(const struct cel_func *f, struct cel_type list)
{
    enum cel_kind item = list.item ? list.item->kind : CEL_NONE;
    bool number = item == CEL_INT || item == CEL_DOUBLE;

    if (f->call == call_join)
        return item == CEL_STRING;
    if (f->call == call_sum)
        return number;
    if (f->call == call_extreme || f->call == call_sorted)
        return number || item == CEL_STRING;
    return true;
}

const struct cel_func *cel_func_find(const struct cel_node *n)
{
    for (size_t i = 0; i < COUNT(funcs); i++) {
        const struct cel_func *f = &funcs[i];
        bool fits = str_eqz(n->name, f->name) && n->is_method == f->is_method && n->n <= 3;
        for (size_t k = 0; fits && k < COUNT(f->args); k++) {
            enum cel_kind have = k < n->n ? n->kids[k]->type.kind : CEL_NONE;
            fits = f->args[k] == CEL_DYN ? have != CEL_NONE : have == f->args[k];
        }
        if (fits && (f->args[0] != LIST || items_fit(f, n->kids[0]->type)))
            return f;
    }
    return NULL;
}
