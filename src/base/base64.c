/* Base64, four characters at a time. */

#include "base/base64.h"

#include <stdio.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int corrupt(struct err *e, size_t at)
{
    return err_set(e, ERR_BAD_REQUEST, "illegal base64 data at input byte %zu", at);
}

static void skip_line_ends(str s, size_t *i)
{
    while (*i < s.n && (s.p[*i] == '\n' || s.p[*i] == '\r'))
        (*i)++;
}

/* After the first '=' at *i - 1, with `have` characters of the group read. Nothing may follow. */
static int check_padding(str s, size_t *i, int have, struct err *e)
{
    if (have < 2)
        return corrupt(e, *i - 1);
    skip_line_ends(s, i);
    if (have == 2) {
        if (*i == s.n)
            return corrupt(e, s.n);
        if (s.p[*i] != '=')
            return corrupt(e, *i - 1);
        (*i)++;
        skip_line_ends(s, i);
    }
    return *i < s.n ? corrupt(e, *i) : 0;
}

int base64_decode(struct arena *a, str s, str *out, struct err *e)
{
    char *start = arena_alloc(a, s.n / 4 * 3 + 4);
    char *to = start;
    size_t i = 0;

    for (bool more = true; more;) {
        unsigned group = 0;
        int have = 0;
        while (have < 4) {
            if (i == s.n) {
                if (have)
                    return corrupt(e, i - (size_t)have);
                more = false;
                break;
            }
            char c = s.p[i++];
            int v = sextet(c);
            if (v >= 0) {
                group |= (unsigned)v << (18 - 6 * have++);
            } else if (c == '=') {
                if (check_padding(s, &i, have, e) < 0)
                    return -1;
                more = false;
                break;
            } else if (c != '\n' && c != '\r') {
                return corrupt(e, i - 1);
            }
        }
        for (int n = 0; n + 1 < have; n++)
            *to++ = (char)(group >> (16 - 8 * n) & 0xff);
    }
    *to = 0;
    *out = (str){ start, (size_t)(to - start) };
    return 0;
}

str base64_encode(struct arena *a, str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    char *start = arena_alloc(a, (s.n + 2) / 3 * 4 + 1);
    char *to = start;

    for (size_t i = 0; i < s.n; i += 3) {
        size_t left = s.n - i;
        unsigned group = (unsigned)p[i] << 16;
        if (left > 1)
            group |= (unsigned)p[i + 1] << 8;
        if (left > 2)
            group |= p[i + 2];
        *to++ = alphabet[group >> 18];
        *to++ = alphabet[group >> 12 & 63];
        *to++ = (char)(left > 1 ? alphabet[group >> 6 & 63] : '=');
        *to++ = (char)(left > 2 ? alphabet[group & 63] : '=');
    }
    *to = 0;
    return (str){ start, (size_t)(to - start) };
}
