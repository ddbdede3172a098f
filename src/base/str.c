/* Borrowed text. Byte-wise; only str_is_utf8 and str_clip know of characters. */

#include "base/str.h"

int str_cmp(str a, str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool str_eq_nocase(str a, str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

bool str_starts(str s, str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(str s, str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

bool str_contains(str s, str part)
{
    return part.n == 0 || (s.n >= part.n && memmem(s.p, s.n, part.p, part.n) != NULL);
}

ptrdiff_t str_find(str s, char c)
{
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
    return hit ? hit - s.p : -1;
}

ptrdiff_t str_rfind(str s, char c)
{
    const char *hit = s.n ? memrchr(s.p, c, s.n) : NULL;
    return hit ? hit - s.p : -1;
}

str str_sub(str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from > to)
        from = to;
    return (str){ s.p ? s.p + from : NULL, to - from };
}

str str_trim(str s)
{
    while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
        s.p++, s.n--;
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
        s.n--;
    return s;
}

str str_cut(str *rest, char sep)
{
    str s = *rest;
    ptrdiff_t at = str_find(s, sep);

    if (at < 0) {
        *rest = STR_NONE;
        return s;
    }
    *rest = (str){ s.p + at + 1, s.n - (size_t)at - 1 };
    return (str){ s.p, (size_t)at };
}

bool str_to_int(str s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    size_t i = negative;
    int64_t v = 0;

    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        int digit = s.p[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, digit, &v)) /* counted downwards, so INT64_MIN fits */
            return false;
    }
    if (!negative && v == INT64_MIN)
        return false;
    *out = negative ? v : -v;
    return true;
}

bool str_is_utf8(str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    const unsigned char *end = s.n ? p + s.n : p;

    while (p < end) {
        if (end - p >= 8) {
            uint64_t word;
            memcpy(&word, p, 8);
            if (!(word & 0x8080808080808080u)) {
                p += 8;
                continue;
            }
        }
        unsigned c = *p;
        if (c < 0x80) {
            p++;
            continue;
        }
        size_t more = c >= 0xc2 && c < 0xe0   ? 1
                      : (c & 0xf0) == 0xe0    ? 2
                      : c >= 0xf0 && c < 0xf5 ? 3
                                              : 0;
        if (!more || (size_t)(end - p) <= more)
            return false;
        unsigned lo = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80; /* no overlong forms */
        unsigned hi = c == 0xed   ? 0x9f
                      : c == 0xf4 ? 0x8f
                                  : 0xbf; /* no surrogates, none past U+10FFFF */
        if (p[1] < lo || p[1] > hi)
            return false;
        for (size_t i = 2; i <= more; i++)
            if ((p[i] & 0xc0) != 0x80)
                return false;
        p += more + 1;
    }
    return true;
}

uint64_t str_hash(str s)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ (s.n * 0xff51afd7ed558ccdu);
    const char *p = s.p;
    size_t n = s.n;

    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    uint64_t w = 0;
    if (n)
        memcpy(&w, p, n);
    h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 29);
}

size_t str_utf8_prefix(str s)
{
    size_t n = 0;

    while (n < s.n) {
        size_t len = 1;
        while (len <= 4 && n + len <= s.n && !str_is_utf8(str_sub(s, n, n + len)))
            len++;
        if (len > 4 || n + len > s.n)
            return n;
        n += len;
    }
    return n;
}

str str_clip(str s, size_t max)
{
    size_t n = s.n < max ? s.n : max;
    size_t lead = n; /* where the last character begins */

    while (lead && n - lead < 3 && ((unsigned char)s.p[lead - 1] & 0xc0) == 0x80)
        lead--;
    unsigned c = lead ? (unsigned char)s.p[lead - 1] : 0;
    size_t bytes = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    if (bytes > 1 && n - (lead - 1) < bytes)
        n = lead - 1;
    return str_sub(s, 0, n);
}

void str_clip_z(char *to, size_t size, str s)
{
    s = str_clip(s, size - 1);
    if (s.n)
        memcpy(to, s.p, s.n);
    to[s.n] = 0;
}
