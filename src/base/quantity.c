/* Text to amounts. Kubernetes reads short amounts on a fast path that keeps the text if it looks
 * canonical ("01Ki" does, "1.10" does not); what is printed later depends on that, so the same
 * conditions are here. */

#include "base/quantity.h"
#include "base/limits.h"

static const char BAD_FORMAT[] = "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char BAD_NUMBER[] = "unable to parse numeric part of quantity";
static const char BAD_SUFFIX[] = "unable to parse quantity's suffix";

static const struct {
    str name;
    enum quantity_format format;
    int exponent; /* of 10, or of 2 for binary */
} suffixes[] = {
    { S_INIT(""), QUANTITY_DECIMAL_SI, 0 },   { S_INIT("n"), QUANTITY_DECIMAL_SI, -9 },
    { S_INIT("u"), QUANTITY_DECIMAL_SI, -6 }, { S_INIT("m"), QUANTITY_DECIMAL_SI, -3 },
    { S_INIT("k"), QUANTITY_DECIMAL_SI, 3 },  { S_INIT("M"), QUANTITY_DECIMAL_SI, 6 },
    { S_INIT("G"), QUANTITY_DECIMAL_SI, 9 },  { S_INIT("T"), QUANTITY_DECIMAL_SI, 12 },
    { S_INIT("P"), QUANTITY_DECIMAL_SI, 15 }, { S_INIT("E"), QUANTITY_DECIMAL_SI, 18 },
    { S_INIT("Ki"), QUANTITY_BINARY_SI, 10 }, { S_INIT("Mi"), QUANTITY_BINARY_SI, 20 },
    { S_INIT("Gi"), QUANTITY_BINARY_SI, 30 }, { S_INIT("Ti"), QUANTITY_BINARY_SI, 40 },
    { S_INIT("Pi"), QUANTITY_BINARY_SI, 50 }, { S_INIT("Ei"), QUANTITY_BINARY_SI, 60 },
};

struct parts {
    bool negative;
    str whole;    /* digits without leading zeros; "0" if none are left */
    str fraction; /* digits */
    bool digits;  /* any at all, zeros included */
    enum quantity_format format;
    int32_t exponent;
};

static size_t digits(str s, size_t from)
{
    size_t i = from;

    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i;
}

static int read_suffix(struct parts *p, str suffix, struct err *e)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        if (!str_eq(suffixes[i].name, suffix))
            continue;
        p->format = suffixes[i].format;
        p->exponent = suffixes[i].exponent;
        return 0;
    }
    if (suffix.n < 2 || (suffix.p[0] != 'e' && suffix.p[0] != 'E'))
        return err_set(e, ERR_BAD_REQUEST, "%s", BAD_SUFFIX);
    str number = str_sub(suffix, suffix.p[1] == '+' ? 2 : 1, suffix.n);
    int64_t exponent;
    if ((suffix.p[1] == '+' && number.n && number.p[0] == '-') || !str_to_int(number, &exponent))
        return err_set(e, ERR_BAD_REQUEST, "%s", BAD_SUFFIX);
    p->format = QUANTITY_EXPONENT;
    p->exponent = (int32_t)exponent; /* Kubernetes cuts it too */
    return 0;
}

static int split(str s, struct parts *p, struct err *e)
{
    size_t sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    size_t start = sign;

    p->negative = s.n && s.p[0] == '-';
    while (start < s.n && s.p[start] == '0')
        start++;
    size_t end = digits(s, start);
    p->whole = str_sub(s, start, end);
    p->digits = end > sign;
    if (!p->whole.n)
        p->whole = S("0");
    if (end < s.n && s.p[end] == '.') {
        size_t from = end + 1;
        end = digits(s, from);
        p->fraction = str_sub(s, from, end);
        p->digits = p->digits || end > from;
    }
    size_t i = end;
    while (i < s.n && strchr("eEinumkKMGTP", s.p[i]) && s.p[i])
        i++;
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    if (digits(s, i) < s.n)
        return err_set(e, ERR_BAD_REQUEST, "%s", BAD_FORMAT);
    return read_suffix(p, str_sub(s, end, s.n), e);
}

/* The digits of p, read as one number, leaving out the last `drop`; *rest: any of those not 0. */
static bool number(const struct parts *p, size_t drop, __int128 *out, bool *rest)
{
    size_t total = p->whole.n + p->fraction.n;

    *out = 0;
    *rest = false;
    for (size_t i = 0; i < total; i++) {
        bool first = i < p->whole.n;
        int c = first ? p->whole.p[i] : p->fraction.p[i - p->whole.n];
        if (i + drop >= total)
            *rest = *rest || c != '0';
        else if (__builtin_mul_overflow(*out, 10, out) ||
                 __builtin_add_overflow(*out, c - '0', out))
            return false;
    }
    return true;
}

static bool read_decimal(const struct parts *p, struct quantity *q)
{
    int64_t scale = (int64_t)p->exponent - (int64_t)p->fraction.n;
    int64_t drop = scale < -9 ? -9 - scale : 0;
    bool rest;

    if (scale < INT32_MIN / 2 || scale > INT32_MAX / 2) /* nobody means this */
        return false;
    if (!number(p, (size_t)drop, &q->value, &rest))
        return false;
    q->value += rest; /* a small wish is still a wish */
    q->scale = (int32_t)(scale + drop);
    return true;
}

/* Doubles whole and fraction `exponent` times; no more than 2^63 - 1 in the end. */
static void read_binary(const struct parts *p, struct quantity *q)
{
    char fraction[LIMIT_QUANTITY_BYTES];
    struct parts whole = { .whole = p->whole };
    __int128 v;
    bool rest;

    for (size_t i = 0; i < p->fraction.n; i++)
        fraction[i] = (char)(p->fraction.p[i] - '0');
    if (!number(&whole, 0, &v, &rest))
        v = (__int128)1 << 64;
    for (int n = 0; n < p->exponent; n++) {
        int carry = 0;
        for (size_t i = p->fraction.n; i-- > 0;) {
            int twice = fraction[i] * 2 + carry;
            carry = twice >= 10;
            fraction[i] = (char)(twice % 10);
        }
        v = v * 2 + carry;
        if (v > INT64_MAX)
            break;
    }
    for (size_t i = 0; i < 9 && v <= INT64_MAX; i++)
        q->value = (i ? q->value : v) * 10 + (i < p->fraction.n ? fraction[i] : 0);
    for (size_t i = 9; i < p->fraction.n; i++)
        rest = rest || fraction[i];
    q->value += rest;
    q->scale = -9;
    if (v > INT64_MAX || q->value > (__int128)INT64_MAX * 1000000000) {
        q->value = INT64_MAX;
        q->scale = 0;
    } else if (q->value > 0 && q->value < 1000000000) {
        q->format = QUANTITY_DECIMAL_SI;
    }
}

/* Whether Kubernetes reads this on its fast path. */
static bool is_short(const struct parts *p)
{
    int64_t n = (int64_t)(p->whole.n + p->fraction.n);

    if (p->format == QUANTITY_BINARY_SI)
        return !p->fraction.n && 15 - n - p->exponent * 3 / 10 - 1 >= 0;
    return n <= 18 && (int64_t)p->exponent - (int64_t)p->fraction.n >= -9;
}

/* Whether Kubernetes prints this amount as it was written. */
static bool text_is_canonical(const struct parts *p, const struct quantity *q)
{
    if (!is_short(p))
        return false;
    if (p->format == QUANTITY_BINARY_SI)
        return ((q->value / 1000000000) >> p->exponent & 7) != 0;
    return q->scale % 3 == 0 && p->whole.p[0] != '0' && q->value % 1000 != 0;
}

int quantity_parse(str s, struct quantity *out, struct err *e)
{
    struct parts p = { .whole = S("") };

    if (!s.n)
        return err_set(e, ERR_BAD_REQUEST, "%s", BAD_FORMAT);
    if (s.n > LIMIT_QUANTITY_BYTES)
        return err_set(e, ERR_BAD_REQUEST, "quantity of %zu bytes is too long", s.n);
    if (split(s, &p, e) < 0)
        return -1;
    struct quantity q = { .format = p.format };
    if (!p.digits && !is_short(&p)) /* but "+" and "Ki" are 0 */
        return err_set(e, ERR_BAD_REQUEST, "%s", BAD_NUMBER);
    if (p.format == QUANTITY_BINARY_SI)
        read_binary(&p, &q);
    else if (!read_decimal(&p, &q))
        return err_set(e, ERR_BAD_REQUEST, "quantity out of range");
    if (text_is_canonical(&p, &q))
        q.text = s;
    if (p.negative)
        q.value = -q.value;
    *out = q;
    return 0;
}

int quantity_from_json(struct arena *a, jv v, struct quantity *out, struct err *e)
{
    if (jv_is_null(v)) {
        *out = quantity_of(0, QUANTITY_DECIMAL_SI);
        return 0;
    }
    if (jv_is(v, JV_INT) || jv_is(v, JV_NUM))
        return quantity_parse(jv_num_text(a, v), out, e);
    return quantity_parse(str_trim(jv_str(v, S("?"))), out, e); /* other types: the format error */
}
