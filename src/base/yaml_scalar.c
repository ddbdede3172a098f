/* What a plain scalar means in YAML 1.1, as gopkg.in/yaml.v2 resolves it: kubectl reads with that.
 * Base 60 is text there, and so are times when read. */

#include "base/yaml_internal.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    str text;
    enum yaml_kind kind;
    int value; /* booleans; the sign of infinity, 0 for NaN */
} words[] = {
    { S_INIT(""), YAML_NULL, 0 },        { S_INIT("~"), YAML_NULL, 0 },
    { S_INIT("null"), YAML_NULL, 0 },    { S_INIT("Null"), YAML_NULL, 0 },
    { S_INIT("NULL"), YAML_NULL, 0 },    { S_INIT("y"), YAML_BOOL, 1 },
    { S_INIT("Y"), YAML_BOOL, 1 },       { S_INIT("yes"), YAML_BOOL, 1 },
    { S_INIT("Yes"), YAML_BOOL, 1 },     { S_INIT("YES"), YAML_BOOL, 1 },
    { S_INIT("true"), YAML_BOOL, 1 },    { S_INIT("True"), YAML_BOOL, 1 },
    { S_INIT("TRUE"), YAML_BOOL, 1 },    { S_INIT("on"), YAML_BOOL, 1 },
    { S_INIT("On"), YAML_BOOL, 1 },      { S_INIT("ON"), YAML_BOOL, 1 },
    { S_INIT("n"), YAML_BOOL, 0 },       { S_INIT("N"), YAML_BOOL, 0 },
    { S_INIT("no"), YAML_BOOL, 0 },      { S_INIT("No"), YAML_BOOL, 0 },
    { S_INIT("NO"), YAML_BOOL, 0 },      { S_INIT("false"), YAML_BOOL, 0 },
    { S_INIT("False"), YAML_BOOL, 0 },   { S_INIT("FALSE"), YAML_BOOL, 0 },
    { S_INIT("off"), YAML_BOOL, 0 },     { S_INIT("Off"), YAML_BOOL, 0 },
    { S_INIT("OFF"), YAML_BOOL, 0 },     { S_INIT(".nan"), YAML_FLOAT, 0 },
    { S_INIT(".NaN"), YAML_FLOAT, 0 },   { S_INIT(".NAN"), YAML_FLOAT, 0 },
    { S_INIT(".inf"), YAML_FLOAT, 1 },   { S_INIT(".Inf"), YAML_FLOAT, 1 },
    { S_INIT(".INF"), YAML_FLOAT, 1 },   { S_INIT("+.inf"), YAML_FLOAT, 1 },
    { S_INIT("+.Inf"), YAML_FLOAT, 1 },  { S_INIT("+.INF"), YAML_FLOAT, 1 },
    { S_INIT("-.inf"), YAML_FLOAT, -1 }, { S_INIT("-.Inf"), YAML_FLOAT, -1 },
    { S_INIT("-.INF"), YAML_FLOAT, -1 },
};

enum { NUMBER_MAX = 400 }; /* bytes of a number; longer plain text is text */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool find_word(str s, struct yaml_scalar *out)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!str_eq(words[i].text, s))
            continue;
        out->kind = words[i].kind;
        out->i = words[i].value;
        if (out->kind == YAML_FLOAT)
            out->d = words[i].value ? words[i].value * (double)INFINITY : (double)NAN;
        return true;
    }
    return false;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* A whole number with Go's prefixes: 0x 0o 0b, and a leading 0 for octal. */
static bool whole(str s, struct yaml_scalar *out)
{
    bool negative = s.n && s.p[0] == '-';
    int base = 10;
    uint64_t u = 0;

    bool signed_text = negative || (s.n && s.p[0] == '+');
    s = str_sub(s, signed_text, s.n);
    if (s.n > 1 && s.p[0] == '0') {
        char c = (char)(s.p[1] | 32);
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        s = str_sub(s, c == 'x' || c == 'o' || c == 'b' ? 2 : 1, s.n);
    }
    if (!s.n)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int v = digit_value(s.p[i]);
        if (v >= base || __builtin_mul_overflow(u, (uint64_t)base, &u) ||
            __builtin_add_overflow(u, (uint64_t)v, &u))
            return false;
    }
    if (u > (uint64_t)INT64_MAX + negative) {
        if (signed_text)
            return false; /* Go's unsigned form takes no sign */
        out->kind = YAML_UINT;
        out->u = u;
        return true;
    }
    out->kind = YAML_INT;
    out->i = negative ? (int64_t)(0 - u) : (int64_t)u;
    return true;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? and within the range of a double. */
static bool real(str s, struct yaml_scalar *out)
{
    char text[NUMBER_MAX + 1];
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    size_t before = i;

    while (i < s.n && is_digit(s.p[i]))
        i++;
    size_t after = i;
    if (i < s.n && s.p[i] == '.') {
        i++;
        while (i < s.n && is_digit(s.p[i]))
            i++;
    }
    if (after == before && i <= after + 1)
        return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
        size_t exponent = i;
        while (i < s.n && is_digit(s.p[i]))
            i++;
        if (i == exponent)
            return false;
    }
    if (i < s.n)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    double d = strtod(text, NULL);
    if (isinf(d))
        return false; /* too large: Go leaves it as text */
    out->kind = YAML_FLOAT;
    out->d = d;
    return true;
}

/* One or two digits within bounds, followed by `then` (0: anything). Returns what is after, or a
 * NULL pointer. */
static str field(str s, int low, int high, char then, int *out)
{
    size_t n = 0;

    for (*out = 0; n < 2 && n < s.n && is_digit(s.p[n]); n++)
        *out = *out * 10 + (s.p[n] - '0');
    if (!n || *out < low || *out > high || (then && (n == s.n || s.p[n] != then)))
        return STR_NONE;
    return str_sub(s, n + (then != 0), s.n);
}

static bool is_zone(str s)
{
    return str_eq(s, S("Z")) ||
           (s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') && is_digit(s.p[1]) && is_digit(s.p[2]) &&
            s.p[3] == ':' && is_digit(s.p[4]) && is_digit(s.p[5]) &&
            (s.p[1] - '0') * 10 + s.p[2] - '0' <= 24 && (s.p[4] - '0') * 10 + s.p[5] - '0' <= 60);
}

/* 2001-2-3, 2001-2-3T4:5:6.7Z, or with a space and without a zone. */
static bool is_time(str s)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int month = 0;
    int day = 0;
    int part;

    if (s.n < 5 || s.p[4] != '-')
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!is_digit(s.p[i]))
            return false;
    int year = (s.p[0] - '0') * 1000 + (s.p[1] - '0') * 100 + (s.p[2] - '0') * 10 + s.p[3] - '0';
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    s = field(str_sub(s, 5, s.n), 1, 12, '-', &month);
    if (!s.p)
        return false;
    s = field(s, 1, days[month - 1] + (month == 2 && leap), 0, &day);
    if (!s.p || !s.n)
        return s.p != NULL;
    char separator = s.p[0];
    if (!strchr("Tt ", separator))
        return false;
    s = field(str_sub(s, 1, s.n), 0, 23, ':', &part);
    s = field(s, 0, 59, ':', &part);
    s = field(s, 0, 59, 0, &part);
    if (!s.p)
        return false;
    if (s.n > 1 && (s.p[0] == '.' || s.p[0] == ',') && is_digit(s.p[1]))
        for (s = str_sub(s, 1, s.n); s.n && is_digit(s.p[0]);)
            s = str_sub(s, 1, s.n);
    return separator == ' ' ? !s.n : is_zone(s);
}

struct yaml_scalar yaml_resolve(str s)
{
    struct yaml_scalar out = { .kind = YAML_STR };
    char plain[NUMBER_MAX];
    size_t n = 0;

    if (find_word(s, &out))
        return out;
    if (s.n > NUMBER_MAX)
        return out;
    if (s.p[0] == '.') {
        real(s, &out);
        return out;
    }
    if (!is_digit(s.p[0]) && s.p[0] != '-' && s.p[0] != '+')
        return out;
    if (is_time(s)) {
        out.kind = YAML_TIME;
        return out;
    }
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            plain[n++] = s.p[i];
    if (!whole((str){ plain, n }, &out))
        real((str){ plain, n }, &out);
    return out;
}

const char *yaml_kind_name(enum yaml_kind kind)
{
    static const char *const names[] = {
        [YAML_STR] = "!!str",        [YAML_NULL] = "!!null", [YAML_BOOL] = "!!bool",
        [YAML_INT] = "!!int",        [YAML_UINT] = "!!int",  [YAML_FLOAT] = "!!float",
        [YAML_TIME] = "!!timestamp",
    };

    return names[kind];
}
