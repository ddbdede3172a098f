/* Amounts compared, added and printed. */

#include "base/quantity.h"

#include <inttypes.h>

struct quantity quantity_of(int64_t value, enum quantity_format format)
{
    return (struct quantity){ .value = value, .format = format };
}

struct quantity quantity_of_milli(int64_t milli, enum quantity_format format)
{
    return (struct quantity){ .value = milli, .scale = -3, .format = format };
}

/* v times 10^by; false when it does not fit. */
static bool scale_up(__int128 *v, int64_t by)
{
    for (; by > 0 && *v; by--)
        if (__builtin_mul_overflow(*v, 10, v))
            return false;
    return true;
}

int quantity_cmp(const struct quantity *x, const struct quantity *y)
{
    __int128 a = x->value;
    __int128 b = y->value;

    /* What overflows when brought to the other's scale is further from 0 than the other can be. */
    if (x->scale > y->scale && !scale_up(&a, (int64_t)x->scale - y->scale))
        return quantity_sign(x);
    if (y->scale > x->scale && !scale_up(&b, (int64_t)y->scale - x->scale))
        return -quantity_sign(y);
    return a < b ? -1 : a > b;
}

static int add(struct quantity *to, const struct quantity *more, int sign)
{
    __int128 a = to->value;
    __int128 b = more->value * sign;
    int32_t scale = to->scale < more->scale ? to->scale : more->scale;

    if (a == 0)
        scale = more->scale;
    if (b == 0)
        scale = to->scale;
    if (!scale_up(&a, (int64_t)to->scale - scale) || !scale_up(&b, (int64_t)more->scale - scale) ||
        __builtin_add_overflow(a, b, &a))
        return -1;
    if (to->value == 0)
        to->format = more->format;
    to->value = a;
    to->scale = scale;
    to->text = STR_NONE;
    return 0;
}

int quantity_add(struct quantity *to, const struct quantity *more)
{
    return add(to, more, 1);
}

int quantity_sub(struct quantity *from, const struct quantity *less)
{
    return add(from, less, -1);
}

/* In units of 10^unit, away from 0; *exact says whether nothing was lost. */
static __int128 rounded(const struct quantity *q, int unit, bool *exact)
{
    __int128 v = q->value;
    bool rest = false;

    *exact = true;
    if (q->scale >= unit) {
        if (!scale_up(&v, (int64_t)q->scale - unit)) {
            *exact = false;
            v = quantity_sign(q) * ((__int128)1 << 100);
        }
        return v;
    }
    for (int32_t i = q->scale; i < unit && v; i++) {
        rest = rest || v % 10 != 0;
        v /= 10;
    }
    *exact = !rest;
    return v + (rest ? quantity_sign(q) : 0);
}

void quantity_round_up(struct quantity *q, int scale)
{
    bool exact;

    if (q->scale >= scale)
        return;
    *q = (struct quantity){ rounded(q, scale, &exact), scale, q->format, STR_NONE };
}

static int64_t clamped(__int128 v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t quantity_value(const struct quantity *q)
{
    bool exact;

    return clamped(rounded(q, 0, &exact));
}

int64_t quantity_milli(const struct quantity *q)
{
    bool exact;

    return clamped(rounded(q, -3, &exact));
}

double quantity_double(const struct quantity *q)
{
    double d = (double)q->value;

    for (int32_t i = q->scale; i > 0 && i < 400; i--)
        d *= 10;
    for (int32_t i = q->scale; i < 0; i++)
        d /= 10;
    return d;
}

static void print_int(struct buf *b, __int128 v)
{
    char text[48];
    char *p = text + sizeof(text);
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

    do
        *--p = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    buf_add(b, (str){ p, (size_t)(text + sizeof(text) - p) });
}

/* The largest power of 1000 that leaves a whole number, as far as there are suffixes. */
static void print_decimal(struct buf *b, const struct quantity *q, bool exponent_form)
{
    static const char suffixes[][2] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    __int128 v = q->value;
    int32_t exponent = q->scale;

    for (; v % 10 == 0; v /= 10)
        exponent++;
    print_int(b, v);
    for (; exponent % 3 != 0 || (!exponent_form && exponent > 18); exponent--)
        buf_addc(b, '0');
    if (exponent_form && exponent)
        buf_printf(b, "e%" PRId32, exponent);
    else if (!exponent_form)
        buf_add(b, str_of(suffixes[(exponent + 9) / 3]));
}

static void print_binary(struct buf *b, __int128 v)
{
    static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    size_t i = 0;

    for (; v % 1024 == 0 && i + 1 < COUNT(suffixes); i++)
        v /= 1024;
    print_int(b, v);
    buf_add(b, str_of(suffixes[i]));
}

str quantity_text(struct arena *a, const struct quantity *q)
{
    AUTO(buf) struct buf b = { 0 };
    bool exact;

    if (q->text.p)
        return q->text;
    if (q->value == 0)
        return S("0");
    __int128 whole = rounded(q, 0, &exact);
    /* Below 1024, or with a fraction, a binary amount is shown in decimal: nothing is lost. */
    if (q->format == QUANTITY_BINARY_SI && exact && (whole >= 1024 || whole <= -1024))
        print_binary(&b, whole);
    else
        print_decimal(&b, q, q->format == QUANTITY_EXPONENT);
    return arena_str(a, buf_str(&b));
}
