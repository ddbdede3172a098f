/* Go's ways of printing, as far as validation texts show them. */

#include "crd/gotext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void quote_byte(struct buf *b, unsigned char c)
{
    static const char names[] = "\aa\bb\ff\nn\rr\tt\vv\"\"\\\\";

    for (const char *n = names; *n; n += 2)
        if (n[0] == (char)c) {
            buf_addc(b, '\\');
            buf_addc(b, n[1]);
            return;
        }
    if (c < 0x20 || c == 0x7f)
        buf_printf(b, "\\x%02x", c);
    else
        buf_addc(b, (char)c);
}

str go_quote(struct arena *a, str s)
{
    AUTO(buf) struct buf b = { 0 };

    buf_addc(&b, '"');
    for (size_t i = 0; i < s.n; i++)
        quote_byte(&b, (unsigned char)s.p[i]);
    buf_addc(&b, '"');
    return arena_str(a, buf_str(&b));
}

str go_float(struct arena *a, double d)
{
    char text[40];
    int digits = 1;

    if (isnan(d))
        return S("NaN");
    if (isinf(d))
        return d > 0 ? S("+Inf") : S("-Inf");
    for (; digits <= 17; digits++) { /* the shortest text that reads back as d */
        snprintf(text, sizeof(text), "%.*e", digits - 1, d);
        double back = strtod(text, NULL);
        if (back <= d && back >= d)
            break;
    }
    char *e = strchr(text, 'e');
    long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (exponent < -4 || exponent >= 21) /* as C writes it: two digits or more, signed */
        return arena_str(a, str_of(text));
    int decimals = digits - 1 - (int)exponent;
    return arena_printf(a, "%.*f", decimals > 0 ? decimals : 0, d);
}

static int by_key(const void *x, const void *y)
{
    const struct jv_iter *a = x;
    const struct jv_iter *b = y;

    return str_cmp(a->key, b->key);
}

static void print_value(struct arena *a, struct buf *b, jv v)
{
    if (jv_is(v, JV_STR)) {
        buf_add(b, jv_str(v, STR_NONE));
    } else if (jv_is(v, JV_INT)) {
        buf_printf(b, "%" PRId64, jv_int(v, 0));
    } else if (jv_is(v, JV_NUM)) {
        buf_add(b, go_float(a, jv_double(v, 0)));
    } else if (jv_is(v, JV_BOOL)) {
        buf_add(b, jv_bool(v, false) ? S("true") : S("false"));
    } else if (jv_is(v, JV_ARR)) {
        buf_addc(b, '[');
        for (struct jv_iter it = jv_iter(v); jv_next(&it);) {
            if (it.i > 1)
                buf_addc(b, ' ');
            print_value(a, b, it.value);
        }
        buf_addc(b, ']');
    } else if (jv_is(v, JV_OBJ)) {
        struct jv_iter *members = ARENA_ARRAY(a, struct jv_iter, jv_len(v) + 1);
        size_t n = 0;
        for (struct jv_iter it = jv_iter(v); jv_next(&it);)
            members[n++] = it;
        qsort(members, n, sizeof(*members), by_key);
        buf_add(b, S("map["));
        for (size_t i = 0; i < n; i++) {
            if (i)
                buf_addc(b, ' ');
            buf_add(b, members[i].key);
            buf_addc(b, ':');
            print_value(a, b, members[i].value);
        }
        buf_addc(b, ']');
    } else {
        buf_add(b, S("<nil>"));
    }
}

str go_value(struct arena *a, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    print_value(a, &b, v);
    return arena_str(a, buf_str(&b));
}

const char *go_type(jv v)
{
    static const char *const names[] = {
        [JV_NONE] = "<nil>",         [JV_NULL] = "<nil>",
        [JV_BOOL] = "bool",          [JV_INT] = "int64",
        [JV_NUM] = "float64",        [JV_STR] = "string",
        [JV_ARR] = "[]interface {}", [JV_OBJ] = "map[string]interface {}",
    };

    return names[jv_type(v)];
}
