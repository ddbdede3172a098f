/* RFC 3339 to microseconds and back. Reads what Go reads (one-digit hours and a comma before the
 * fraction included), because API objects written for Kubernetes were checked by Go. */

#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>

static const char LAYOUT[] = "2006-01-02T15:04:05Z07:00";
static const char LAYOUT_MICRO[] = "2006-01-02T15:04:05.000000Z07:00";

struct parser {
    str all;
    str rest;
    const char *layout;
    struct err *e;
    int year, month, day, hour, minute, second;
    int64_t us;     /* of the second */
    int64_t offset; /* seconds east */
};

static int cannot_parse(struct parser *p, str at, const char *element)
{
    return err_set(p->e, ERR_BAD_REQUEST,
                   "parsing time \"%" PRI_STR "\" as \"%s\": cannot parse \"%" PRI_STR
                   "\" as \"%s\"",
                   STR_ARG(p->all), p->layout, STR_ARG(at), element);
}

static int out_of_range(struct parser *p, const char *what)
{
    return err_set(p->e, ERR_BAD_REQUEST, "parsing time \"%" PRI_STR "\": %s out of range",
                   STR_ARG(p->all), what);
}

static bool is_digit(str s, size_t i)
{
    return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* Between least and most digits; returns how many, or 0. */
static size_t number(str s, size_t least, size_t most, int *out)
{
    size_t n = 0;

    *out = 0;
    for (; n < most && is_digit(s, n); n++)
        *out = *out * 10 + (s.p[n] - '0');
    return n >= least ? n : 0;
}

static int literal(struct parser *p, char c, const char *element)
{
    if (!p->rest.n || p->rest.p[0] != c)
        return cannot_parse(p, p->rest, element);
    p->rest = str_sub(p->rest, 1, p->rest.n);
    return 0;
}

static int days_in(int month, int year)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static int parse_fields(struct parser *p)
{
    const struct {
        int *to;
        const char *element;
        const char *range; /* NULL: checked elsewhere */
        const char *then;
        size_t least, most;
        int low, high;
    } fields[] = {
        { &p->year, "2006", NULL, "-", 4, 4, 0, 9999 },
        { &p->month, "01", "month", "-", 2, 2, 1, 12 },
        { &p->day, "02", NULL, "T", 2, 2, 0, 99 },
        { &p->hour, "15", "hour", ":", 1, 2, 0, 23 },
        { &p->minute, "04", "minute", ":", 2, 2, 0, 59 },
        { &p->second, "05", "second", "", 2, 2, 0, 59 },
    };

    for (size_t i = 0; i < COUNT(fields); i++) {
        size_t n = number(p->rest, fields[i].least, fields[i].most, fields[i].to);
        if (!n)
            return cannot_parse(p, p->rest, fields[i].element);
        if (fields[i].range && (*fields[i].to < fields[i].low || *fields[i].to > fields[i].high))
            return out_of_range(p, fields[i].range);
        p->rest = str_sub(p->rest, n, p->rest.n);
        if (fields[i].then[0] && literal(p, fields[i].then[0], fields[i].then) < 0)
            return -1;
    }
    return 0;
}

static bool starts_fraction(str s)
{
    return s.n >= 2 && (s.p[0] == '.' || s.p[0] == ',') && is_digit(s, 1);
}

static void parse_fraction(struct parser *p)
{
    int64_t unit = 100000;
    size_t n = 1;

    for (; is_digit(p->rest, n); n++, unit /= 10)
        p->us += (p->rest.p[n] - '0') * unit;
    p->rest = str_sub(p->rest, n, p->rest.n);
}

static int parse_fraction_micro(struct parser *p)
{
    str six = str_sub(p->rest, 0, 7);

    for (size_t i = 1; i < 7; i++)
        if (!starts_fraction(six) || !is_digit(six, i))
            return cannot_parse(p, p->rest, ".000000");
    str after = str_sub(p->rest, 7, p->rest.n);
    p->rest = six;
    parse_fraction(p);
    p->rest = after;
    return 0;
}

static int parse_zone(struct parser *p)
{
    str z = p->rest;
    int hours = 0;
    int minutes = 0;

    if (z.n && z.p[0] == 'Z') {
        p->rest = str_sub(z, 1, z.n);
        return 0;
    }
    if (z.n < 6 || z.p[3] != ':')
        return cannot_parse(p, z, "Z07:00");
    bool bad = !number(str_sub(z, 1, 3), 2, 2, &hours) || !number(str_sub(z, 4, 6), 2, 2, &minutes);
    if (minutes > 60)
        return out_of_range(p, "time zone offset minute");
    if (hours > 24)
        return out_of_range(p, "time zone offset hour");
    if (bad || (z.p[0] != '+' && z.p[0] != '-'))
        return cannot_parse(p, z, "Z07:00");
    p->offset = ((int64_t)hours * 60 + minutes) * (z.p[0] == '-' ? -60 : 60);
    p->rest = str_sub(z, 6, z.n);
    return 0;
}

/* Days since 1970-01-01; years count from March, so the leap day comes last. */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int parse(struct parser *p, bool micro, int64_t *us)
{
    if (parse_fields(p) < 0)
        return -1;
    if (micro && parse_fraction_micro(p) < 0)
        return -1;
    if (!micro && starts_fraction(p->rest))
        parse_fraction(p);
    if (parse_zone(p) < 0)
        return -1;
    if (p->rest.n)
        return err_set(p->e, ERR_BAD_REQUEST,
                       "parsing time \"%" PRI_STR "\": extra text: \"%" PRI_STR "\"",
                       STR_ARG(p->all), STR_ARG(p->rest));
    if (p->day < 1 || p->day > days_in(p->month, p->year))
        return out_of_range(p, "day");
    int64_t minutes =
        days_from_civil(p->year, p->month, p->day) * 1440 + p->hour * (int64_t)60 + p->minute;
    int64_t s = minutes * 60 + p->second - p->offset;
    *us = s * 1000000 + p->us;
    return 0;
}

int time_parse(str s, int64_t *us, struct err *e)
{
    struct parser p = { .all = s, .rest = s, .layout = LAYOUT, .e = e };

    return parse(&p, false, us);
}

int time_parse_micro(str s, int64_t *us, struct err *e)
{
    struct parser p = { .all = s, .rest = s, .layout = LAYOUT_MICRO, .e = e };

    return parse(&p, true, us);
}

static int64_t floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

static size_t print(char out[TIME_BYTES], int64_t s, const char *fraction)
{
    int64_t days = floor_div(s, 86400);
    int64_t of_day = s - days * 86400;
    int64_t z = days + 719468;
    int64_t era = floor_div(z, 146097);
    int64_t of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t march = (5 * of_year + 2) / 153; /* months since March */
    int64_t day = of_year - (153 * march + 2) / 5 + 1;
    int64_t month = march < 10 ? march + 3 : march - 9;

    year += era * 400 + (month <= 2);
    int n = snprintf(out, TIME_BYTES,
                     "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64
                     ":%02" PRId64 "%sZ",
                     year, month, day, of_day / 3600, of_day / 60 % 60, of_day % 60, fraction);
    return (size_t)n;
}

size_t time_print(char out[TIME_BYTES], int64_t ms)
{
    return print(out, floor_div(ms, 1000), "");
}

size_t time_print_micro(char out[TIME_BYTES], int64_t us)
{
    int64_t s = floor_div(us, 1000000);
    char fraction[24];

    snprintf(fraction, sizeof(fraction), ".%06" PRId64, us - s * 1000000);
    return print(out, s, fraction);
}

str time_text(struct arena *a, int64_t ms)
{
    char out[TIME_BYTES];

    return arena_str(a, (str){ out, time_print(out, ms) });
}

str time_text_micro(struct arena *a, int64_t us)
{
    char out[TIME_BYTES];

    return arena_str(a, (str){ out, time_print_micro(out, us) });
}
