/* Shortest digits by trying: at most 17 prints and reads, and most numbers need three. */

#include "base/gofloat.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decimal {
    bool negative;
    char digits[24]; /* d.ddd without the point, no trailing zeros */
    int n;
    int exponent; /* of the first digit */
};

static bool reads_back(const char *text, double d, int bits)
{
    double again = bits == 32 ? (double)strtof(text, NULL) : strtod(text, NULL);

    return again <= d && again >= d;
}

static struct decimal shortest(double d, int bits)
{
    struct decimal out = { .negative = signbit(d) != 0 };
    char text[40];

    d = fabs(d);
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, d);
        if (reads_back(text, d, bits))
            break;
    }
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p != '.')
            out.digits[out.n++] = *p;
    while (out.n > 1 && out.digits[out.n - 1] == '0')
        out.n--;
    out.exponent = (int)strtol(e + 1, NULL, 10);
    return out;
}

static size_t print_exponent(char *out, const struct decimal *d, int least_digits)
{
    size_t n = 0;

    if (d->negative)
        out[n++] = '-';
    out[n++] = d->digits[0];
    if (d->n > 1) {
        out[n++] = '.';
        memcpy(out + n, d->digits + 1, (size_t)d->n - 1);
        n += (size_t)d->n - 1;
    }
    return n + (size_t)snprintf(out + n, GOFLOAT_BYTES - n, "e%c%0*d", d->exponent < 0 ? '-' : '+',
                                least_digits, abs(d->exponent));
}

static size_t print_plain(char *out, const struct decimal *d)
{
    size_t n = 0;

    if (d->negative)
        out[n++] = '-';
    if (d->exponent < 0)
        out[n++] = '0';
    for (int i = d->exponent < 0 ? d->exponent + 1 : 0; i < d->n || i <= d->exponent; i++) {
        if (i == d->exponent + 1)
            out[n++] = '.';
        out[n++] = (char)(i < 0 || i >= d->n ? '0' : d->digits[i]);
    }
    out[n] = 0;
    return n;
}

size_t gofloat_json(char out[GOFLOAT_BYTES], double d)
{
    struct decimal s = shortest(d, 64);
    double size = fabs(d);

    if (size > 0 && (size < 1e-6 || size >= 1e21))
        return print_exponent(out, &s, 1);
    return print_plain(out, &s);
}

/* Exponents below -4 and from `plain` on are written as such. */
static size_t print_general(char *out, double d, int bits, int plain)
{
    if (isnan(d))
        return (size_t)snprintf(out, GOFLOAT_BYTES, "NaN");
    if (isinf(d))
        return (size_t)snprintf(out, GOFLOAT_BYTES, "%cInf", d < 0 ? '-' : '+');
    struct decimal s = shortest(d, bits);
    if (s.exponent < -4 || s.exponent >= plain)
        return print_exponent(out, &s, 2);
    return print_plain(out, &s);
}

size_t gofloat_g(char out[GOFLOAT_BYTES], double d, int bits)
{
    if (bits == 32)
        d = (double)(float)d; /* which may be infinite */
    return print_general(out, d, bits, 6);
}

size_t gofloat_v(char out[GOFLOAT_BYTES], double d)
{
    return print_general(out, d, 64, 21);
}
