/* Percent-encoding and -decoding, and queries. */

#include "base/url.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

void url_encode(struct buf *b, str s)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (is_plain(s.p[i]))
            buf_addc(b, s.p[i]);
        else
            buf_add(b, (str){ (const char[]){ '%', digits[c >> 4], digits[c & 15] }, 3 });
    }
}

/* Bytes that are no UTF-8 become U+FFFD, as they do where Go writes them. */
static str as_utf8(struct arena *a, str s)
{
    AUTO(buf) struct buf b = { 0 };

    if (str_is_utf8(s))
        return s;
    buf_add_utf8(&b, s);
    return arena_str(a, buf_str(&b));
}

static int decode(struct arena *a, str s, bool plus_is_space, str *out, struct err *e)
{
    if (str_find(s, '%') < 0 && (!plus_is_space || str_find(s, '+') < 0)) {
        *out = s.p ? as_utf8(a, s) : S("");
        return 0;
    }
    char *start = arena_alloc(a, s.n + 1);
    char *to = start;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            if (s.n - i < 3 || hex(s.p[i + 1]) < 0 || hex(s.p[i + 2]) < 0) {
                str bad = str_sub(s, i, i + 3);
                return err_set(e, ERR_BAD_REQUEST, "invalid URL escape \"%" PRI_STR "\"",
                               STR_ARG(bad));
            }
            c = (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        *to++ = c;
    }
    *to = 0;
    *out = as_utf8(a, (str){ start, (size_t)(to - start) });
    return 0;
}

/* The byte at i of encoded text, as it stands where its escape is not one; *n: bytes it takes. */
static char byte_at(str s, size_t i, size_t *n)
{
    bool escaped = s.p[i] == '%' && s.n - i > 2 && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0;

    *n = escaped ? 3 : 1;
    if (!escaped)
        return s.p[i];
    return (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
}

bool url_is_utf8(struct arena *a, str s, size_t *at)
{
    char *bytes;
    size_t n = 0, took, i = 0;

    if (str_find(s, '%') < 0 && str_is_utf8(s))
        return true;
    bytes = arena_alloc(a, s.n + 1);
    for (; i < s.n; i += took)
        bytes[n++] = byte_at(s, i, &took);
    size_t good = str_utf8_prefix((str){ bytes, n });
    if (good == n)
        return true;
    for (i = 0; good; good--, i += took)
        (void)byte_at(s, i, &took);
    *at = i;
    return false;
}

int url_decode(struct arena *a, str s, str *out, struct err *e)
{
    return decode(a, s, false, out, e);
}

bool url_query_next(struct url_query *q, struct arena *a)
{
    while (q->rest.n) {
        str value = str_cut(&q->rest, '&');
        if (!value.n || str_find(value, ';') >= 0)
            continue;
        str key = str_cut(&value, '=');
        if (decode(a, key, true, &q->key, NULL) == 0 &&
            decode(a, value, true, &q->value, NULL) == 0)
            return true;
    }
    return false;
}

bool url_flag(str value)
{
    return value.p && !str_eq(value, S("0")) && !str_eq_nocase(value, S("false"));
}

bool str_to_bool(str s, bool *out)
{
    static const struct {
        str word;
        bool value;
    } words[] = {
        { S_INIT("1"), true },      { S_INIT("t"), true },      { S_INIT("T"), true },
        { S_INIT("TRUE"), true },   { S_INIT("true"), true },   { S_INIT("True"), true },
        { S_INIT("0"), false },     { S_INIT("f"), false },     { S_INIT("F"), false },
        { S_INIT("FALSE"), false }, { S_INIT("false"), false }, { S_INIT("False"), false },
    };

    for (size_t i = 0; i < COUNT(words); i++) {
        if (!str_eq(words[i].word, s))
            continue;
        *out = words[i].value;
        return true;
    }
    return false;
}
