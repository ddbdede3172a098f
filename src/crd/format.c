/* String formats: the table, and those which are not about networks. They accept what the functions
 * behind Kubernetes' registry accept, which is often more than the standards do. */

#include "crd/format.h"

#include <ctype.h>

static bool is_digits(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    return s.n > 0;
}

static bool is_hex(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isxdigit((unsigned char)s.p[i]))
            return false;
    return s.n > 0;
}

static int number(str s)
{
    int n = 0;

    for (size_t i = 0; i < s.n; i++)
        n = n * 10 + (s.p[i] - '0');
    return n;
}

static bool format_any(str s)
{
    (void)s;
    return true;
}

static bool format_bson(str s)
{
    return s.n == 24 && is_hex(s);
}

/* Groups of hex digits, dashes between them optional; version: the digit that opens the third. */
static bool is_uuid(str s, char version, bool variant)
{
    static const size_t ends[] = { 8, 12, 16, 20 };
    char hex[32];
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        bool boundary = false;
        for (size_t k = 0; k < COUNT(ends); k++)
            boundary = boundary || n == ends[k];
        if (s.p[i] == '-') {
            if (!boundary || s.p[i - 1] == '-')
                return false;
            continue;
        }
        if (n == sizeof(hex) || !isxdigit((unsigned char)s.p[i]))
            return false;
        hex[n++] = s.p[i];
    }
    if (n != sizeof(hex) || s.p[s.n - 1] == '-')
        return false;
    return (!version || hex[12] == version) && (!variant || strchr("89abAB", hex[16]));
}

static bool format_uuid(str s)
{
    return is_uuid(s, 0, false);
}

static bool format_uuid3(str s)
{
    return is_uuid(s, '3', false);
}

static bool format_uuid4(str s)
{
    return is_uuid(s, '4', true);
}

static bool format_uuid5(str s)
{
    return is_uuid(s, '5', true);
}

/* Keeps the digits (and X) of an ISBN; 0 where something else is in it or it is too long. */
static size_t isbn_digits(str s, char out[14])
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-' || isspace((unsigned char)s.p[i]))
            continue;
        if (n == 13)
            return 0;
        out[n++] = s.p[i];
    }
    return n;
}

static bool format_isbn10(str s)
{
    char d[14];
    int sum = 0;

    if (isbn_digits(s, d) != 10 || !is_digits((str){ d, 9 }) || (d[9] != 'X' && !isdigit(d[9])))
        return false;
    for (int i = 0; i < 9; i++)
        sum += (i + 1) * (d[i] - '0');
    sum += 10 * (d[9] == 'X' ? 10 : d[9] - '0');
    return sum % 11 == 0;
}

static bool format_isbn13(str s)
{
    char d[14];
    int sum = 0;

    if (isbn_digits(s, d) != 13 || !is_digits((str){ d, 13 }))
        return false;
    for (int i = 0; i < 12; i++)
        sum += (i % 2 ? 3 : 1) * (d[i] - '0');
    return (10 - sum % 10) % 10 == d[12] - '0';
}

static bool format_isbn(str s)
{
    return format_isbn10(s) || format_isbn13(s);
}

static bool is_card_prefix(const char *d, size_t n)
{
    int two = (d[0] - '0') * 10 + (d[1] - '0');
    int three = two * 10 + (d[2] - '0');
    int four = three * 10 + (d[3] - '0');

    if (d[0] == '4')
        return n == 13 || n == 16;
    if (two >= 51 && two <= 55)
        return n == 16;
    if (four == 6011 || two == 65)
        return n == 16;
    if (two == 34 || two == 37)
        return n == 15;
    if ((three >= 300 && three <= 305) || two == 36 || two == 38)
        return n == 14;
    return (four == 2131 || four == 1800) ? n == 15 : two == 35 && n == 16;
}

static bool format_creditcard(str s)
{
    char d[20];
    size_t n = 0;
    int sum = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (!isdigit((unsigned char)s.p[i]))
            continue;
        if (n == sizeof(d))
            return false;
        d[n++] = s.p[i];
    }
    if (n < 13 || !is_card_prefix(d, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        int v = (d[n - 1 - i] - '0') * (i % 2 ? 2 : 1);
        sum += v > 9 ? v - 9 : v;
    }
    return sum % 10 == 0;
}

static bool format_ssn(str s)
{
    return s.n == 11 && is_digits(str_sub(s, 0, 3)) && strchr("- ", s.p[3]) && s.p[3] &&
           is_digits(str_sub(s, 4, 6)) && strchr("- ", s.p[6]) && s.p[6] &&
           is_digits(str_sub(s, 7, 11));
}

static bool format_hexcolor(str s)
{
    if (s.n && s.p[0] == '#')
        s = str_sub(s, 1, s.n);
    return (s.n == 3 || s.n == 6) && is_hex(s);
}

static bool format_rgbcolor(str s)
{
    if (!str_starts(s, S("rgb(")) || !str_ends(s, S(")")))
        return false;
    str rest = str_sub(s, 4, s.n - 1);
    int parts = 0;
    while (rest.p) {
        str part = str_trim(str_cut(&rest, ','));
        if (!is_digits(part) || part.n > 3 || number(part) > 255 ||
            (part.n > 1 && part.p[0] == '0'))
            return false;
        parts++;
    }
    return parts == 3;
}

static bool format_byte(str s)
{
    size_t pad = s.n && s.p[s.n - 1] == '=' ? 1 : 0;

    pad += pad && s.n > 1 && s.p[s.n - 2] == '=';
    if (!s.n || s.n % 4)
        return false;
    for (size_t i = 0; i < s.n - pad; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return true;
}

static bool format_date(str s)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-' || !is_digits(str_sub(s, 0, 4)) ||
        !is_digits(str_sub(s, 5, 7)) || !is_digits(str_sub(s, 8, 10)))
        return false;
    int year = number(str_sub(s, 0, 4));
    int month = number(str_sub(s, 5, 7));
    int day = number(str_sub(s, 8, 10));
    if (month < 1 || month > 12 || day < 1)
        return false;
    bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days[month - 1] + leap;
}

static bool is_two(str s, size_t at, int max)
{
    str part = str_sub(s, at, at + 2);

    return part.n == 2 && is_digits(part) && number(part) <= max;
}

static bool format_datetime(str s)
{
    if (s.n < 20 || (s.p[10] | 32) != 't' || !format_date(str_sub(s, 0, 10)))
        return false;
    str t = str_sub(s, 11, s.n);
    if (!is_two(t, 0, 23) || t.p[2] != ':' || !is_two(t, 3, 59) || t.p[5] != ':' ||
        !is_two(t, 6, 59))
        return false;
    t = str_sub(t, 8, t.n);
    if (t.n > 1 && isdigit((unsigned char)t.p[1]) && t.p[0] != '+' && t.p[0] != '-') {
        size_t n = 1; /* any one byte, then digits: the expression behind it has a bare dot */
        while (n < t.n && isdigit((unsigned char)t.p[n]))
            n++;
        t = str_sub(t, n, t.n);
    }
    if (t.n == 1)
        return (t.p[0] | 32) == 'z';
    return t.n == 6 && (t.p[0] == '+' || t.p[0] == '-') && is_two(t, 1, 99) && t.p[3] == ':' &&
           is_two(t, 4, 99);
}

/* Go's "1h30m" and "1.5s". */
static bool is_go_duration(str s)
{
    static const char *const units[] = {
        "ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h"
    };

    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (str_eq(s, S("0")))
        return true;
    for (bool any = false; s.n || !any; any = true) {
        size_t n = 0;
        size_t digits = 0;
        for (; n < s.n && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'); n++)
            digits += s.p[n] != '.';
        if (!digits || n - digits > 1 || digits > 18)
            return false;
        s = str_sub(s, n, s.n);
        size_t unit = 0;
        for (size_t k = 0; k < COUNT(units); k++)
            if (str_starts(s, str_of(units[k])) && strlen(units[k]) > unit)
                unit = strlen(units[k]);
        if (!unit)
            return false;
        s = str_sub(s, unit, s.n);
    }
    return true;
}

/* Scala's "22 ns", "3 weeks": any part of the text with a number and a unit will do. */
static bool is_worded_duration(str s)
{
    static const char *const exact[] = { "ns", "us", "ms", "s", "m", "h", "d", "w", "hr", "wk" };
    static const char *const start[] = { "nano", "micro", "milli", "sec",
                                         "min",  "hour",  "day",   "week" };

    for (size_t i = 0; i < s.n;) {
        if (!isdigit((unsigned char)s.p[i])) {
            i++;
            continue;
        }
        size_t digits = i;
        while (i < s.n && isdigit((unsigned char)s.p[i]))
            i++;
        if (i - digits > 18)
            return false;
        while (i < s.n && isspace((unsigned char)s.p[i]))
            i++;
        size_t from = i;
        while (i < s.n && isalpha((unsigned char)s.p[i]))
            i++;
        str unit = str_sub(s, from, i);
        for (size_t k = 0; k < COUNT(exact); k++)
            if (str_eq_nocase(unit, str_of(exact[k])))
                return true;
        for (size_t k = 0; k < COUNT(start); k++)
            if (str_eq_nocase(str_sub(unit, 0, strlen(start[k])), str_of(start[k])))
                return true;
    }
    return false;
}

static bool format_duration(str s)
{
    return is_go_duration(s) || is_worded_duration(s);
}

format_check *format_find(str name)
{
    static const struct {
        const char *name; /* dashes left out */
        format_check *check;
    } rows[] = {
        { "bsonobjectid", format_bson }, { "byte", format_byte },
        { "cidr", format_cidr },         { "creditcard", format_creditcard },
        { "date", format_date },         { "datetime", format_datetime },
        { "duration", format_duration }, { "email", format_email },
        { "hexcolor", format_hexcolor }, { "hostname", format_hostname },
        { "ipv4", format_ipv4 },         { "ipv6", format_ipv6 },
        { "isbn", format_isbn },         { "isbn10", format_isbn10 },
        { "isbn13", format_isbn13 },     { "mac", format_mac },
        { "password", format_any },      { "rgbcolor", format_rgbcolor },
        { "ssn", format_ssn },           { "uri", format_uri },
        { "uuid", format_uuid },         { "uuid3", format_uuid3 },
        { "uuid4", format_uuid4 },       { "uuid5", format_uuid5 },
    };
    char plain[24];
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '-') {
            if (n == sizeof(plain))
                return NULL;
            plain[n++] = name.p[i];
        }
    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz((str){ plain, n }, rows[i].name))
            return rows[i].check;
    return NULL;
}
