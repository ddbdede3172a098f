/* Lengths of time as text: Go's, and kubectl's ages. */

#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    str name;
    uint64_t ns;
} units[] = {
    { S_INIT("ns"), 1 },           { S_INIT("us"), 1000 },
    { S_INIT("\xc2\xb5s"), 1000 }, /* micro sign */
    { S_INIT("\xce\xbcs"), 1000 }, /* Greek mu */
    { S_INIT("ms"), 1000000 },     { S_INIT("s"), 1000000000 },
    { S_INIT("m"), 60000000000 },  { S_INIT("h"), 3600000000000 },
};

static const uint64_t MOST = 1ull << 63; /* -2^63 ns is a duration, 2^63 is not */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t unit_ns(str name)
{
    for (size_t i = 0; i < COUNT(units); i++)
        if (str_eq(units[i].name, name))
            return units[i].ns;
    return 0;
}

/* Digits before the point; false when past 2^63. */
static bool whole_part(str *s, uint64_t *out)
{
    *out = 0;
    for (; s->n && is_digit(s->p[0]); s->p++, s->n--)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(s->p[0] - '0'), out) || *out > MOST)
            return false;
    return true;
}

/* Digits after the point as f / scale; what no longer fits is dropped, as Go does. */
static void fraction_part(str *s, uint64_t *f, double *scale)
{
    bool full = false;

    for (; s->n && is_digit(s->p[0]); s->p++, s->n--) {
        uint64_t next = *f * 10 + (uint64_t)(s->p[0] - '0'); /* f < 2^63 / 10 or full */
        full = full || *f > (MOST - 1) / 10 || next > MOST;
        if (full)
            continue;
        *f = next;
        *scale *= 10;
    }
}

static int invalid(struct err *e, str all)
{
    return err_set(e, ERR_BAD_REQUEST, "time: invalid duration \"%" PRI_STR "\"", STR_ARG(all));
}

/* One number with its unit, such as 1.5h. */
static int part(str *s, str all, uint64_t *ns, struct err *e)
{
    uint64_t f = 0;
    double scale = 1;
    const char *start = s->p;
    size_t digits;

    if (!whole_part(s, ns))
        return invalid(e, all);
    digits = (size_t)(s->p - start);
    if (s->n && s->p[0] == '.') {
        *s = str_sub(*s, 1, s->n);
        start = s->p;
        fraction_part(s, &f, &scale);
        digits += (size_t)(s->p - start);
    }
    if (!digits)
        return invalid(e, all);
    size_t n = 0;
    while (n < s->n && s->p[n] != '.' && !is_digit(s->p[n]))
        n++;
    str name = str_sub(*s, 0, n);
    *s = str_sub(*s, n, s->n);
    if (!n)
        return err_set(e, ERR_BAD_REQUEST, "time: missing unit in duration \"%" PRI_STR "\"",
                       STR_ARG(all));
    uint64_t unit = unit_ns(name);
    if (!unit)
        return err_set(e, ERR_BAD_REQUEST,
                       "time: unknown unit \"%" PRI_STR "\" in duration \"%" PRI_STR "\"",
                       STR_ARG(name), STR_ARG(all));
    if (*ns > MOST / unit)
        return invalid(e, all);
    *ns = *ns * unit + (uint64_t)((double)f * ((double)unit / scale));
    return *ns > MOST ? invalid(e, all) : 0;
}

int duration_parse(str s, int64_t *ns, struct err *e)
{
    str rest = s;
    uint64_t sum = 0;
    bool negative = s.n && s.p[0] == '-';

    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        rest = str_sub(s, 1, s.n);
    if (str_eq(rest, S("0"))) {
        *ns = 0;
        return 0;
    }
    if (!rest.n)
        return invalid(e, s);
    while (rest.n) {
        uint64_t more;
        if (part(&rest, s, &more, e) < 0)
            return -1;
        sum += more;
        if (sum > MOST)
            return invalid(e, s);
    }
    if (!negative && sum == MOST)
        return invalid(e, s);
    *ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

/* v / 10^places without trailing zeros. */
static int print_decimal(char *out, size_t n, uint64_t v, int places)
{
    uint64_t unit = 1;

    for (int i = 0; i < places; i++)
        unit *= 10;
    uint64_t rest = v % unit;
    v /= unit;
    if (!rest)
        return snprintf(out, n, "%" PRIu64, v);
    for (; rest % 10 == 0; rest /= 10)
        places--;
    return snprintf(out, n, "%" PRIu64 ".%0*" PRIu64, v, places, rest);
}

size_t duration_print(char out[TIME_BYTES], int64_t ns)
{
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    size_t n = 0;

    if (u == 0)
        return (size_t)snprintf(out, TIME_BYTES, "0s");
    if (ns < 0)
        out[n++] = '-';
    if (u < 1000000000) {
        int places = u < 1000 ? 0 : u < 1000000 ? 3 : 6;
        n += (size_t)print_decimal(out + n, TIME_BYTES - n, u, places);
        const char *unit = places == 0 ? "ns" : places == 3 ? "\xc2\xb5s" : "ms";
        return n + (size_t)snprintf(out + n, TIME_BYTES - n, "%s", unit);
    }
    uint64_t minutes = u / 60000000000;
    if (minutes >= 60)
        n += (size_t)snprintf(out + n, TIME_BYTES - n, "%" PRIu64 "h", minutes / 60);
    if (minutes)
        n += (size_t)snprintf(out + n, TIME_BYTES - n, "%" PRIu64 "m", minutes % 60);
    n += (size_t)print_decimal(out + n, TIME_BYTES - n, u % 60000000000, 9);
    return n + (size_t)snprintf(out + n, TIME_BYTES - n, "s");
}

str duration_text(struct arena *a, int64_t ns)
{
    char out[TIME_BYTES];

    return arena_str(a, (str){ out, duration_print(out, ns) });
}

#define MINUTE ((int64_t)60)
#define HOUR   ((int64_t)3600)
#define DAY    ((int64_t)86400)
#define YEAR   ((int64_t)86400 * 365)

/* Up to `below` seconds: whole `unit`s with their letter, and the rest in the next smaller unit. */
static const struct {
    int64_t below;
    int64_t unit;
    int64_t small; /* 0: no rest shown */
    char letter;
    char small_letter;
} ages[] = {
    { 2 * MINUTE, 1, 0, 's', 0 },    { 10 * MINUTE, MINUTE, 1, 'm', 's' },
    { 3 * HOUR, MINUTE, 0, 'm', 0 }, { 8 * HOUR, HOUR, MINUTE, 'h', 'm' },
    { 48 * HOUR, HOUR, 0, 'h', 0 },  { 8 * DAY, DAY, HOUR, 'd', 'h' },
    { 2 * YEAR, DAY, 0, 'd', 0 },    { 8 * YEAR, YEAR, DAY, 'y', 'd' },
    { INT64_MAX, YEAR, 0, 'y', 0 },
};

size_t age_print(char out[TIME_BYTES], int64_t age_ms)
{
    int64_t s = age_ms / 1000;
    size_t i = 0;

    if (s < -1)
        return (size_t)snprintf(out, TIME_BYTES, "<invalid>");
    if (s < 0)
        s = 0;
    while (s >= ages[i].below)
        i++;
    int64_t rest = ages[i].small ? s % ages[i].unit / ages[i].small : 0;
    int n = snprintf(out, TIME_BYTES, "%" PRId64 "%c", s / ages[i].unit, ages[i].letter);
    if (rest)
        n += snprintf(out + n, TIME_BYTES - (size_t)n, "%" PRId64 "%c", rest, ages[i].small_letter);
    return (size_t)n;
}

str age_text(struct arena *a, int64_t age_ms)
{
    char out[TIME_BYTES];

    return arena_str(a, (str){ out, age_print(out, age_ms) });
}
