/* Go's regular expression syntax: what it refuses, in its words, and what PCRE2 would read
 * otherwise (\s and \v). One pass over the text. */

#include "crd/pattern.h"

#include <ctype.h>
#include <stdlib.h>

enum { REPEAT_MAX = 1000, DEPTH_MAX = 1000 };

struct scan {
    str all;
    size_t i;         /* next byte */
    bool operand;     /* something that * can repeat stands before */
    ptrdiff_t repeat; /* where a repetition just before began; -1: none */
    size_t depth;     /* open groups */
    struct buf *out;
    struct err *e;
};

static int refuse(const struct scan *s, const char *what, size_t from, size_t to)
{
    str part = str_sub(s->all, from, to);

    return err_set(s->e, ERR_INVALID, "error parsing regexp: %s: `%" PRI_STR "`", what,
                   STR_ARG(part));
}

static int peek(const struct scan *s, size_t ahead)
{
    return s->i + ahead < s->all.n ? (unsigned char)s->all.p[s->i + ahead] : -1;
}

static size_t rune_len(const struct scan *s, size_t at)
{
    size_t n = 1;

    while (at + n < s->all.n && ((unsigned char)s->all.p[at + n] & 0xc0) == 0x80)
        n++;
    return n;
}

static void copy(struct scan *s, size_t n)
{
    buf_add(s->out, str_sub(s->all, s->i, s->i + n));
    s->i += n;
}

/* {n}, {n,} or {n,m} at s->i: its length, or 0 when it is plain text. */
static size_t count_len(const struct scan *s, int *min, int *max)
{
    size_t i = s->i + 1;
    int *into[] = { min, max };
    int part = 0;

    *min = *max = -1;
    for (; i < s->all.n; i++) {
        char c = s->all.p[i];
        if (isdigit((unsigned char)c)) {
            int *n = into[part];
            *n = *n < 0 ? c - '0' : *n > REPEAT_MAX ? *n : *n * 10 + (c - '0');
        } else if (c == ',' && part == 0 && *min >= 0) {
            part = 1;
        } else if (c == '}' && *min >= 0) {
            if (!part)
                *max = *min;
            return i + 1 - s->i;
        } else {
            return 0;
        }
    }
    return 0;
}

static int scan_repeat(struct scan *s, size_t n)
{
    size_t start = s->i;
    size_t end = start + n;

    if (!s->operand)
        return refuse(s, "missing argument to repetition operator", start, end);
    if (end < s->all.n && s->all.p[end] == '?')
        end++;
    if (s->repeat >= 0)
        return refuse(s, "invalid nested repetition operator", (size_t)s->repeat, end);
    copy(s, end - start);
    s->repeat = (ptrdiff_t)start;
    return 0;
}

static int scan_count(struct scan *s)
{
    int min;
    int max;
    size_t n = count_len(s, &min, &max);

    if (!n) {
        buf_add(s->out, S("\\{"));
        s->i++;
        s->operand = true;
        s->repeat = -1;
        return 0;
    }
    if (min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && max < min))
        return refuse(s, "invalid repeat count", s->i, s->i + n);
    return scan_repeat(s, n);
}

/* \p{Greek}, \pL and their like, at s->i. */
static int scan_property(struct scan *s)
{
    size_t start = s->i;
    size_t i = start + 2;

    if (i >= s->all.n)
        return refuse(s, "invalid character class range", start, s->all.n);
    if (s->all.p[i] == '{') {
        while (i < s->all.n && s->all.p[i] != '}')
            i++;
        if (i == s->all.n)
            return refuse(s, "invalid character class range", start, s->all.n);
    }
    copy(s, i + 1 - start);
    return 0;
}

static int scan_hex(struct scan *s)
{
    size_t start = s->i;
    size_t i = start + 2;
    long value = 0;

    if (i < s->all.n && s->all.p[i] == '{') {
        size_t digits = 0;
        for (i++; i < s->all.n && isxdigit((unsigned char)s->all.p[i]); i++, digits++) {
            char c = s->all.p[i];
            value = value * 16 + (isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
            if (value > 0x10ffff)
                return refuse(s, "invalid escape sequence", start, i + 1);
        }
        if (!digits || i >= s->all.n || s->all.p[i] != '}')
            return refuse(s, "invalid escape sequence", start, i < s->all.n ? i + 1 : i);
        copy(s, i + 1 - start);
        return 0;
    }
    for (size_t n = 0; n < 2; n++, i++)
        if (i >= s->all.n || !isxdigit((unsigned char)s->all.p[i]))
            return refuse(s, "invalid escape sequence", start, i < s->all.n ? i + 1 : i);
    copy(s, 4);
    return 0;
}

/* An escape that stands for one rune or a class; in_class: between brackets. */
static int scan_escape(struct scan *s, bool in_class)
{
    int c = peek(s, 1);

    if (c < 0)
        return refuse(s, "trailing backslash at end of expression", s->all.n, s->all.n);
    if (c == 's' || c == 'S') { /* PCRE2's also holds \v */
        const char *set = c == 's' ? "[\\t\\n\\f\\r ]" : "[^\\t\\n\\f\\r ]";
        if (!in_class)
            buf_add(s->out, str_of(set));
        else
            buf_add(s->out, c == 's' ? S("\\t\\n\\f\\r ") : S("\\S\\x0b"));
        s->i += 2;
        return 0;
    }
    if (c == 'v') {
        buf_add(s->out, S("\\x0b"));
        s->i += 2;
        return 0;
    }
    if (c == 'p' || c == 'P')
        return scan_property(s);
    if (c == 'x')
        return scan_hex(s);
    if (c == '0' || (c >= '1' && c <= '7' && peek(s, 2) >= '0' && peek(s, 2) <= '7')) {
        int value = 0;
        size_t n = 1;
        for (; n < 4 && peek(s, n) >= '0' && peek(s, n) <= '7'; n++)
            value = value * 8 + peek(s, n) - '0';
        buf_printf(s->out, "\\x{%x}", value);
        s->i += n;
        return 0;
    }
    bool letter = isalnum(c);
    bool known = strchr("afnrtdDwW", c) || (!in_class && strchr("AbBCz", c));
    if (c < 0x80 && letter && !known)
        return refuse(s, "invalid escape sequence", s->i, s->i + 2);
    copy(s, 1 + rune_len(s, s->i + 1));
    return 0;
}

/* \Q...\E at s->i: plain text. */
static void scan_literal(struct scan *s)
{
    size_t i = s->i + 2;

    while (i < s->all.n && !(s->all.p[i] == '\\' && i + 1 < s->all.n && s->all.p[i + 1] == 'E')) {
        if (!isalnum((unsigned char)s->all.p[i]) && (unsigned char)s->all.p[i] < 0x80)
            buf_addc(s->out, '\\');
        buf_addc(s->out, s->all.p[i]);
        s->operand = true;
        s->repeat = -1;
        i++;
    }
    s->i = i < s->all.n ? i + 2 : i;
}

/* [:alpha:] at s->i: 1 taken, 0 not one, -1 refused. */
static int scan_posix(struct scan *s)
{
    static const char *const names[] = { "alnum", "alpha", "ascii", "blank", "cntrl",
                                         "digit", "graph", "lower", "print", "punct",
                                         "space", "upper", "word",  "xdigit" };
    size_t i = s->i + 2;

    if (peek(s, 1) != ':')
        return 0;
    while (i + 1 < s->all.n && !(s->all.p[i] == ':' && s->all.p[i + 1] == ']'))
        i++;
    if (i + 1 >= s->all.n)
        return 0;
    str name = str_sub(s->all, s->i + 2, i);
    if (name.n && name.p[0] == '^')
        name = str_sub(name, 1, name.n);
    for (size_t k = 0; k < COUNT(names); k++)
        if (str_eqz(name, names[k])) {
            copy(s, i + 2 - s->i);
            return 1;
        }
    return refuse(s, "invalid character class range", s->i, i + 2);
}

/* What a rune in a class stands for, to see that ranges go upwards; -1: a whole class. */
static long rune_value(str text)
{
    static const char names[] = "a\af\fn\nr\rt\tv\v";
    const unsigned char *p = (const unsigned char *)text.p; /* a NUL ends it somewhere */

    if (text.n >= 2 && p[0] == '\\') {
        if (strchr("dDsSwWpP", p[1]))
            return -1;
        for (const char *n = names; *n; n += 2)
            if (n[0] == (char)p[1])
                return n[1];
        if (p[1] == 'x')
            return strtol((const char *)p + (text.n > 2 && p[2] == '{' ? 3 : 2), NULL, 16);
        if (isdigit(p[1]))
            return strtol((const char *)p + 1, NULL, 8);
        p++;
    }
    if (p[0] < 0x80)
        return p[0];
    long value = p[0] >= 0xf0 ? p[0] & 7 : p[0] >= 0xe0 ? p[0] & 15 : p[0] & 31;
    for (size_t i = 1; i < 4 && (p[i] & 0xc0) == 0x80; i++)
        value = value << 6 | (p[i] & 0x3f);
    return value;
}

static int scan_class_rune(struct scan *s, long *value)
{
    size_t start = s->i;

    if (peek(s, 0) == '\\') {
        if (scan_escape(s, true) < 0)
            return -1;
    } else {
        if (peek(s, 0) == '[') /* plain in Go, maybe the start of [: for PCRE2 */
            buf_addc(s->out, '\\');
        copy(s, rune_len(s, s->i));
    }
    *value = rune_value(str_sub(s->all, start, s->i));
    return 0;
}

static int scan_class(struct scan *s)
{
    size_t start = s->i;
    bool first = true;

    copy(s, 1);
    if (peek(s, 0) == '^')
        copy(s, 1);
    for (; peek(s, 0) != ']' || first; first = false) {
        size_t from = s->i;
        long lo;
        long hi;
        if (peek(s, 0) < 0)
            return refuse(s, "missing closing ]", start, s->all.n);
        int posix = peek(s, 0) == '[' ? scan_posix(s) : 0;
        if (posix < 0)
            return -1;
        if (posix)
            continue;
        if (scan_class_rune(s, &lo) < 0)
            return -1;
        if (lo < 0 || peek(s, 0) != '-' || peek(s, 1) == ']')
            continue;
        if (peek(s, 1) < 0)
            return refuse(s, "missing closing ]", start, s->all.n);
        copy(s, 1);
        size_t upper = s->i;
        if (scan_class_rune(s, &hi) < 0)
            return -1;
        if (hi < 0)
            return refuse(s, "invalid escape sequence", upper, s->i);
        if (hi < lo)
            return refuse(s, "invalid character class range", from, s->i);
    }
    copy(s, 1);
    return 0;
}

/* (?P<name> or (?<name>, whose < is at `open`. */
static int scan_name(struct scan *s, size_t open)
{
    size_t i = open + 1;

    while (i < s->all.n && s->all.p[i] != '>')
        i++;
    if (i == s->all.n)
        return refuse(s, "invalid named capture", s->i, s->all.n);
    str name = str_sub(s->all, open + 1, i);
    bool good = name.n > 0;
    for (size_t k = 0; k < name.n; k++)
        good = good && (isalnum((unsigned char)name.p[k]) || name.p[k] == '_');
    if (!good)
        return refuse(s, "invalid named capture", s->i, i + 1);
    buf_addc(s->out, '('); /* nobody asks for the capture, and names differ in what they allow */
    s->i = i + 1;
    return 0;
}

/* (?i), (?i-s:x) at s->i. */
static int scan_flags(struct scan *s, bool *opens)
{
    size_t i = s->i + 2;

    for (; i < s->all.n; i++) {
        char c = s->all.p[i];
        bool flag = c == 'i' || c == 'm' || c == 's' || c == 'U';
        bool minus = c == '-' && !memchr(s->all.p + s->i, '-', i - s->i);
        if (flag || minus)
            continue;
        if ((c != ':' && c != ')') || s->all.p[i - 1] == '-')
            break;
        *opens = c == ':';
        copy(s, i + 1 - s->i);
        return 0;
    }
    return refuse(s, "invalid or unsupported Perl syntax", s->i, i < s->all.n ? i + 1 : i);
}

static int scan_open(struct scan *s)
{
    bool opens = true;
    int rc = 0;

    if (peek(s, 1) != '?')
        copy(s, 1);
    else if (peek(s, 2) == 'P' && peek(s, 3) == '<')
        rc = scan_name(s, s->i + 3);
    else if (peek(s, 2) == '<')
        rc = scan_name(s, s->i + 2);
    else
        rc = scan_flags(s, &opens);
    if (rc < 0 || !opens)
        return rc;
    s->operand = false;
    s->repeat = -1;
    if (++s->depth > DEPTH_MAX)
        return refuse(s, "expression nests too deeply", 0, s->all.n);
    return 0;
}

/* ^, $, \b and their like at s->i: their length, or 0. */
static size_t anchor_len(const struct scan *s)
{
    int c = peek(s, 0);

    if (c == '^' || c == '$')
        return 1;
    return c == '\\' && peek(s, 1) > 0 && strchr("AbBz", peek(s, 1)) ? 2 : 0;
}

static int scan_one(struct scan *s)
{
    int c = peek(s, 0);

    if (c == '*' || c == '+' || c == '?')
        return scan_repeat(s, 1);
    if (c == '{')
        return scan_count(s);
    if (c == '(')
        return scan_open(s);
    if (c == '\\' && peek(s, 1) == 'Q') {
        scan_literal(s);
        return 0;
    }
    s->repeat = -1;
    if (c == '|') {
        copy(s, 1);
        s->operand = false;
        return 0;
    }
    s->operand = true;
    if (c == ')') {
        if (!s->depth)
            return refuse(s, "unexpected )", 0, s->all.n);
        s->depth--;
        copy(s, 1);
        return 0;
    }
    if (c == '[')
        return scan_class(s);
    size_t anchor = anchor_len(s);
    if (anchor && strchr("*+?{", peek(s, anchor)) && peek(s, anchor) > 0) {
        buf_add(s->out, S("(?:")); /* PCRE2 repeats no bare anchor */
        copy(s, anchor);
        buf_addc(s->out, ')');
        return 0;
    }
    if (c == '\\')
        return scan_escape(s, false);
    copy(s, rune_len(s, s->i));
    return 0;
}

int pattern_translate(str text, struct buf *out, struct err *e)
{
    struct scan s = { .all = text, .repeat = -1, .out = out, .e = e };

    while (s.i < text.n)
        if (scan_one(&s) < 0)
            return -1;
    if (s.depth)
        return refuse(&s, "missing closing )", 0, text.n);
    return 0;
}
