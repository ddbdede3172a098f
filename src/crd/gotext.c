/* Go's ways of printing, as far as validation texts show them. */

#include "crd/gotext.h"

#include "base/gofloat.h"

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
    char text[GOFLOAT_BYTES];

    return arena_str(a, (str){ text, gofloat_v(text, d) });
}
