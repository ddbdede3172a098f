/* Five fields of lists of ranges with steps, or a descriptor that begins with '@'. */

#include "kube/cron.h"
#include "base/time.h"

#include <inttypes.h>

struct bounds {
    int64_t min;
    int64_t max;
    const char *const *names; /* of min and on; NULL: none */
};

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun", "jul",
                                           "aug", "sep", "oct", "nov", "dec", NULL };
static const char *const day_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };
static const struct bounds bounds[] = {
    { 0, 59, NULL }, { 0, 23, NULL }, { 1, 31, NULL }, { 1, 12, month_names }, { 0, 6, day_names }
};
enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct {
    const char *name;
    unsigned all; /* fields that are *; the others are their lowest value */
} descriptors[] = {
    { "@yearly", 1 << WEEKDAY },
    { "@annually", 1 << WEEKDAY },
    { "@monthly", 1 << MONTH | 1 << WEEKDAY },
    { "@weekly", 1 << DAY | 1 << MONTH },
    { "@daily", 1 << DAY | 1 << MONTH | 1 << WEEKDAY },
    { "@midnight", 1 << DAY | 1 << MONTH | 1 << WEEKDAY },
    { "@hourly", 1 << HOUR | 1 << DAY | 1 << MONTH | 1 << WEEKDAY },
};

static uint64_t bits(int64_t from, int64_t to, int64_t step)
{
    uint64_t b = 0;

    for (int64_t i = from; i <= to; i += step)
        b |= UINT64_C(1) << i;
    return b;
}

static bool is_digits(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static int number(struct arena *a, str s, int64_t *out, str *why)
{
    str digits = s.n && (s.p[0] == '-' || s.p[0] == '+') ? str_sub(s, 1, s.n) : s;

    if (!is_digits(digits) || !str_to_int(digits, out)) {
        *why = arena_printf(a,
                            "failed to parse int from %" PRI_STR ": strconv.Atoi: parsing "
                            "\"%" PRI_STR "\": %s",
                            STR_ARG(s), STR_ARG(s),
                            is_digits(digits) ? "value out of range" : "invalid syntax");
        return -1;
    }
    if (s.p[0] == '-' && *out > 0) {
        *why = arena_printf(a, "negative number (-%" PRId64 ") not allowed: %" PRI_STR, *out,
                            STR_ARG(s));
        return -1;
    }
    return 0;
}

static int number_or_name(struct arena *a, str s, const struct bounds *r, int64_t *out, str *why)
{
    for (int64_t i = 0; r->names && r->names[i]; i++) {
        if (str_eq_nocase(s, str_of(r->names[i]))) {
            *out = r->min + i;
            return 0;
        }
    }
    return number(a, s, out, why);
}

static size_t parts(str s, char sep, str *out, size_t max)
{
    size_t n = 0;

    while (s.p) {
        str part = str_cut(&s, sep);
        if (n < max)
            out[n] = part;
        n++;
    }
    return n;
}

static int ends(struct arena *a, str expr, str range, const struct bounds *r, int64_t *from,
                int64_t *to, str *why)
{
    str edge[2] = { S(""), S("") };
    size_t n = parts(range, '-', edge, 2);

    if (str_eq(edge[0], S("*")) || str_eq(edge[0], S("?"))) {
        *from = r->min;
        *to = r->max;
        return 0;
    }
    if (number_or_name(a, edge[0], r, from, why) < 0)
        return -1;
    *to = *from;
    if (n == 2)
        return number_or_name(a, edge[1], r, to, why);
    if (n == 1)
        return 0;
    *why = arena_printf(a, "too many hyphens: %" PRI_STR, STR_ARG(expr));
    return -1;
}

static int range_bits(struct arena *a, str expr, const struct bounds *r, uint64_t *out, str *why)
{
    str part[2] = { S(""), S("") };
    size_t n = parts(expr, '/', part, 2);
    bool star = n && part[0].n && (part[0].p[0] == '*' || part[0].p[0] == '?');
    int64_t from = 0;
    int64_t to = 0;
    int64_t step = 1;

    if (ends(a, expr, part[0], r, &from, &to, why) < 0)
        return -1;
    if (n > 2) {
        *why = arena_printf(a, "too many slashes: %" PRI_STR, STR_ARG(expr));
        return -1;
    }
    if (n == 2) {
        if (number(a, part[1], &step, why) < 0)
            return -1;
        if (str_find(part[0], '-') < 0)
            to = r->max;
    }
    if (from < r->min)
        *why = arena_printf(
            a, "beginning of range (%" PRId64 ") below minimum (%" PRId64 "): %" PRI_STR, from,
            r->min, STR_ARG(expr));
    else if (to > r->max)
        *why = arena_printf(a, "end of range (%" PRId64 ") above maximum (%" PRId64 "): %" PRI_STR,
                            to, r->max, STR_ARG(expr));
    else if (from > to)
        *why = arena_printf(
            a, "beginning of range (%" PRId64 ") beyond end of range (%" PRId64 "): %" PRI_STR,
            from, to, STR_ARG(expr));
    else if (step == 0)
        *why =
            arena_printf(a, "step of range should be a positive number: %" PRI_STR, STR_ARG(expr));
    else {
        *out |= bits(from, to, step > 64 ? 64 : step) | (star && step == 1 ? CRON_STAR : 0);
        return 0;
    }
    return -1;
}

static int descriptor(struct arena *a, str s, struct cron *out, str *why)
{
    struct err e = { 0 };
    uint64_t field[FIELDS];

    for (size_t i = 0; i < COUNT(descriptors); i++) {
        if (!str_eqz(s, descriptors[i].name))
            continue;
        for (int f = 0; f < FIELDS; f++)
            field[f] = descriptors[i].all & 1u << f
                           ? bits(bounds[f].min, bounds[f].max, 1) | CRON_STAR
                           : UINT64_C(1) << bounds[f].min;
        *out = (struct cron){ field[MINUTE], field[HOUR],    field[DAY],
                              field[MONTH],  field[WEEKDAY], 0 };
        return 0;
    }
    if (!str_starts(s, S("@every "))) {
        *why = arena_printf(a, "unrecognized descriptor: %" PRI_STR, STR_ARG(s));
        return -1;
    }
    *out = (struct cron){ .minute = 0 };
    if (duration_parse(str_sub(s, 7, s.n), &out->every_ns, &e) < 0) {
        *why = arena_printf(a, "failed to parse duration %" PRI_STR ": %s", STR_ARG(s), e.msg);
        return -1;
    }
    return 0;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The words of s; gives how many there are, the first max of them in out. */
static size_t words(str s, str *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && !is_space(s.p[i]))
            i++;
        if (i > from && n++ < max)
            out[n - 1] = str_sub(s, from, i);
        while (i < s.n && is_space(s.p[i]))
            i++;
    }
    return n;
}

int cron_parse(struct arena *a, str s, struct cron *out, str *why)
{
    str word[16];
    uint64_t field[FIELDS] = { 0 };

    if (str_starts(s, S("@")))
        return descriptor(a, s, out, why);
    size_t n = words(s, word, COUNT(word));
    if (n != FIELDS) {
        str list = STR_NONE;
        for (size_t i = 0; i < n && i < COUNT(word); i++)
            list = arena_printf(a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(list), i ? " " : "",
                                STR_ARG(word[i]));
        *why = arena_printf(a, "expected exactly 5 fields, found %zu: [%" PRI_STR "]", n,
                            STR_ARG(list));
        return -1;
    }
    for (int f = 0; f < FIELDS; f++) {
        for (str rest = word[f]; rest.p;) {
            str expr = str_cut(&rest, ',');
            if (expr.n && range_bits(a, expr, &bounds[f], &field[f], why) < 0)
                return -1;
        }
    }
    *out = (struct cron){ field[MINUTE], field[HOUR], field[DAY], field[MONTH], field[WEEKDAY], 0 };
    return 0;
}
