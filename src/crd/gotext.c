/* Go's ways of printing, as far as validation texts show them. */

#include "crd/gotext.h"

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
