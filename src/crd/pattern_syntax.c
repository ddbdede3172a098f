/* Go's regular expression syntax: text to a tree, and what Go refuses, in its words. */

#include "crd/pattern_internal.h"

#include <ctype.h>

enum { FLAG_FOLD = 1, FLAG_LINES = 2, FLAG_DOT_NL = 4 };

struct scan {
    struct arena *a;
    str all;
    size_t i;         /* next byte */
    ptrdiff_t repeat; /* where a repetition just before began; -1: none */
    size_t depth;     /* open groups */
    unsigned flags;
    struct re_tables tables;
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

static bool is_octal(int c)
{
    return c >= '0' && c <= '7';
}

static uint32_t next_rune(struct scan *s)
{
    const unsigned char *p = (const unsigned char *)s->all.p + s->i++;
    uint32_t c = p[0];

    if (c < 0xc0)
        return c;
    c = c >= 0xf0 ? c & 7 : c >= 0xe0 ? c & 15 : c & 31;
    for (; s->i < s->all.n && ((unsigned char)s->all.p[s->i] & 0xc0) == 0x80; s->i++)
        c = c << 6 | ((unsigned char)s->all.p[s->i] & 0x3f);
    return c & 0x1fffff;
}

/* ---- nodes */

static struct re_node *add(struct scan *s, struct re_node *list, enum re_op op)
{
    struct re_node *n = ARENA_NEW(s->a, struct re_node);

    n->op = op;
    n->prev = list->kid;
    list->kid = n;
    return n;
}

static void add_set(struct scan *s, struct re_node *list, struct re_set set)
{
    struct re_set *own = ARENA_NEW(s->a, struct re_set);

    *own = set;
    set_normalize(own);
    add(s, list, RE_SET)->set = own;
}

static void add_rune(struct scan *s, struct re_node *list, uint32_t c)
{
    struct re_set one = { 0 };
    struct re_set set = { 0 };

    set_add(s->a, &one, c, c);
    set_add_set(&s->tables, &set, &one, s->flags & FLAG_FOLD, false);
    add_set(s, list, set);
}

/* ---- repetition */

/* {n}, {n,} or {n,m} at s->i: its length, or 0 when it is plain text. */
static size_t count_len(const struct scan *s, int *min, int *max)
{
    size_t i = s->i + 1;
    size_t digits = 0;
    int *into = min;

    *min = 0;
    *max = -1;
    for (; i < s->all.n; i++) {
        char c = s->all.p[i];
        if (isdigit((unsigned char)c)) {
            if (digits++ == 1 && s->all.p[i - 1] == '0')
                return 0; /* Go takes no leading zero */
            *into = *into < 0 ? c - '0' : *into > RE_REPEAT_MAX ? *into : *into * 10 + (c - '0');
        } else if (c == ',' && into == min && digits) {
            into = max;
            digits = 0;
        } else if (c == '}' && (digits || into == max)) {
            if (into == min)
                *max = *min;
            return i + 1 - s->i;
        } else {
            return 0;
        }
    }
    return 0;
}

/* Whether counts within counts multiply to no more than n. */
static bool counts_fit(const struct re_node *node, int n)
{
    if (node->op == RE_REPEAT && node->max != 0) {
        int m = node->max < 0 ? node->min : node->max;
        if (m > n)
            return false;
        if (m > 0)
            n /= m;
    }
    if (node->op == RE_REPEAT && node->max == 0)
        return true;
    for (const struct re_node *k = node->kid; k; k = k->prev)
        if (!counts_fit(k, n))
            return false;
    return true;
}

static int parse_repeat(struct scan *s, struct re_node *list, size_t n, int min, int max)
{
    size_t start = s->i;
    size_t end = start + n;
    bool counted = s->all.p[start] == '{';
    struct re_node *item = list->kid;

    if (end < s->all.n && s->all.p[end] == '?')
        end++;
    if (s->repeat >= 0)
        return refuse(s, "invalid nested repetition operator", (size_t)s->repeat, end);
    if (!item)
        return refuse(s, "missing argument to repetition operator", start, end);
    list->kid = item->prev;
    item->prev = NULL;
    struct re_node *node = add(s, list, RE_REPEAT);
    node->kid = item;
    node->min = min;
    node->max = max;
    s->i = end;
    s->repeat = (ptrdiff_t)start;
    if (counted && (min >= 2 || max >= 2) && !counts_fit(node, RE_REPEAT_MAX))
        return refuse(s, "invalid repeat count", start, end);
    return 0;
}

static int parse_count(struct scan *s, struct re_node *list)
{
    int min;
    int max;
    size_t n = count_len(s, &min, &max);

    if (!n) {
        s->repeat = -1;
        s->i++;
        add_rune(s, list, '{');
        return 0;
    }
    if (min > RE_REPEAT_MAX || max > RE_REPEAT_MAX || (max >= 0 && max < min))
        return refuse(s, "invalid repeat count", s->i, s->i + n);
    return parse_repeat(s, list, n, min, max);
}

/* ---- escapes and classes */

/* \p{Greek}, \pL and their like, at s->i. */
static int parse_property(struct scan *s, struct re_set *set)
{
    size_t start = s->i;
    bool negate = peek(s, 1) == 'P';
    size_t from = start + 2;

    s->i = from;
    if (from >= s->all.n)
        return refuse(s, "invalid character class range", start, s->all.n);
    bool braces = s->all.p[from] == '{';
    if (braces) {
        while (s->i < s->all.n && s->all.p[s->i] != '}')
            s->i++;
        if (s->i == s->all.n)
            return refuse(s, "invalid character class range", start, s->all.n);
        from++;
    } else {
        next_rune(s);
    }
    str name = str_sub(s->all, from, s->i);
    s->i += braces;
    if (!set_add_property(&s->tables, set, name, s->flags & FLAG_FOLD, negate))
        return refuse(s, "invalid character class range", start, s->i);
    return 0;
}

static int hex_of(int c)
{
    return isdigit(c) ? c - '0' : (c | 32) - 'a' + 10;
}

static int parse_hex(struct scan *s, uint32_t *out)
{
    size_t start = s->i;
    bool braces = peek(s, 2) == '{';
    size_t digits = 0;
    bool good = true;

    *out = 0;
    s->i += 2 + (size_t)braces;
    while (s->i < s->all.n && (braces ? good : digits < 2)) {
        uint32_t c = next_rune(s);
        if (braces && c == '}' && digits)
            return 0;
        good = good && c < 0x80 && isxdigit((int)c);
        *out = *out * 16 + (good ? (uint32_t)hex_of((int)c) : 0);
        good = good && *out <= RUNE_MAX;
        digits++;
    }
    if (!braces && good && digits == 2)
        return 0;
    return refuse(s, "invalid escape sequence", start, s->i);
}

/* An escape at s->i that stands for one rune. */
static int parse_escape(struct scan *s, uint32_t *out)
{
    static const char names[] = "a\af\fn\nr\rt\tv\v";
    size_t start = s->i;
    int c = peek(s, 1);

    if (c < 0)
        return refuse(s, "trailing backslash at end of expression", s->all.n, s->all.n);
    if (c == 'x')
        return parse_hex(s, out);
    if (c == '0' || (is_octal(c) && is_octal(peek(s, 2)))) {
        *out = 0;
        s->i++;
        for (int n = 0; n < 3 && is_octal(peek(s, 0)); n++, s->i++)
            *out = *out * 8 + (uint32_t)(peek(s, 0) - '0');
        return 0;
    }
    s->i++;
    *out = next_rune(s);
    for (const char *n = names; *n; n += 2)
        if ((unsigned char)n[0] == *out) {
            *out = (unsigned char)n[1];
            return 0;
        }
    if (*out >= 0x80 || isalnum((int)*out))
        return refuse(s, "invalid escape sequence", start, s->i);
    return 0;
}

/* [:alpha:] at s->i: 1 taken, 0 not one, -1 refused. */
static int parse_posix(struct scan *s, struct re_set *set)
{
    size_t start = s->i;
    size_t i = start + 2;

    if (peek(s, 1) != ':')
        return 0;
    while (i + 1 < s->all.n && !(s->all.p[i] == ':' && s->all.p[i + 1] == ']'))
        i++;
    if (i + 1 >= s->all.n)
        return 0;
    if (!set_add_posix(&s->tables, set, str_sub(s->all, start + 2, i), s->flags & FLAG_FOLD))
        return refuse(s, "invalid character class range", start, i + 2);
    s->i = i + 2;
    return 1;
}

/* A class of its own at s->i, \d or [:alpha:] and so on: 1 taken, 0 not one, -1 refused. */
static int parse_named(struct scan *s, struct re_set *set)
{
    int c = peek(s, 1);

    if (peek(s, 0) == '[')
        return parse_posix(s, set);
    if (peek(s, 0) != '\\')
        return 0;
    if (c == 'p' || c == 'P')
        return parse_property(s, set) < 0 ? -1 : 1;
    if (c < 0 || !strchr("dDsSwW", c))
        return 0;
    set_add_perl(&s->tables, set, c, s->flags & FLAG_FOLD);
    s->i += 2;
    return 1;
}

static int parse_class_rune(struct scan *s, size_t class_start, uint32_t *out)
{
    if (peek(s, 0) < 0)
        return refuse(s, "missing closing ]", class_start, s->all.n);
    if (peek(s, 0) == '\\')
        return parse_escape(s, out);
    *out = next_rune(s);
    return 0;
}

static int parse_class(struct scan *s, struct re_node *list)
{
    size_t start = s->i++;
    struct re_set plain = { 0 };
    struct re_set set = { 0 };
    bool negate = peek(s, 0) == '^';

    s->i += negate;
    for (bool first = true; peek(s, 0) != ']' || first; first = false) {
        size_t from = s->i;
        uint32_t lo;
        if (peek(s, 0) < 0)
            return refuse(s, "missing closing ]", start, s->all.n);
        int named = parse_named(s, &set);
        if (named < 0)
            return -1;
        if (named)
            continue;
        if (parse_class_rune(s, start, &lo) < 0)
            return -1;
        uint32_t hi = lo;
        if (peek(s, 0) == '-' && peek(s, 1) != ']') {
            s->i++;
            if (peek(s, 0) < 0)
                return refuse(s, "missing closing ]", start, s->all.n);
            if (parse_class_rune(s, start, &hi) < 0)
                return -1;
            if (hi < lo)
                return refuse(s, "invalid character class range", from, s->i);
        }
        set_add(s->a, &plain, lo, hi);
    }
    s->i++;
    set_add_set(&s->tables, &set, &plain, s->flags & FLAG_FOLD, false);
    if (negate)
        set_negate(s->a, &set);
    add_set(s, list, set);
    return 0;
}

/* ---- groups */

/* (?P<name> or (?<name>, whose < is at `open`. */
static int parse_name(struct scan *s, size_t open)
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
    s->i = i + 1;
    return 0;
}

/* (?i), (?i-s:x) at s->i. */
static int parse_flags(struct scan *s, bool *opens)
{
    size_t start = s->i;
    unsigned flags = s->flags;
    bool off = false;
    bool saw = false;

    for (s->i += 2; s->i < s->all.n;) {
        uint32_t c = next_rune(s);
        unsigned bit = c == 'i' ? FLAG_FOLD : c == 'm' ? FLAG_LINES : c == 's' ? FLAG_DOT_NL : 0;
        if (bit || c == 'U') {
            flags = off ? flags & ~bit : flags | bit;
            saw = true;
        } else if (c == '-' && !off) {
            off = true;
            saw = false;
        } else if ((c == ':' || c == ')') && (saw || !off)) {
            *opens = c == ':';
            s->flags = flags;
            return 0;
        } else {
            break;
        }
    }
    return refuse(s, "invalid or unsupported Perl syntax", start, s->i);
}

static struct re_node *parse_alternatives(struct scan *s);

static int parse_group(struct scan *s, struct re_node *list)
{
    unsigned before = s->flags;
    bool opens = true;
    int rc = 0;

    if (peek(s, 1) != '?')
        s->i++;
    else if (peek(s, 2) == 'P' && peek(s, 3) == '<' && peek(s, 4) >= 0)
        rc = parse_name(s, s->i + 3);
    else if (peek(s, 2) == '<' && peek(s, 3) >= 0)
        rc = parse_name(s, s->i + 2);
    else
        rc = parse_flags(s, &opens);
    if (rc < 0 || !opens)
        return rc;
    if (++s->depth >= RE_NEST_MAX)
        return refuse(s, "expression nests too deeply", 0, s->all.n);
    s->repeat = -1;
    struct re_node *inner = parse_alternatives(s);
    if (!inner)
        return -1;
    if (peek(s, 0) != ')')
        return refuse(s, "missing closing )", 0, s->all.n);
    s->i++;
    s->depth--;
    s->flags = before;
    s->repeat = -1;
    inner->prev = list->kid;
    list->kid = inner;
    return 0;
}

/* \Q...\E at s->i: plain text. */
static void parse_literal(struct scan *s, struct re_node *list)
{
    for (s->i += 2; s->i < s->all.n; add_rune(s, list, next_rune(s)))
        if (peek(s, 0) == '\\' && peek(s, 1) == 'E') {
            s->i += 2;
            return;
        }
}

/* ^, $, \b and their like at s->i: their length, or 0. */
static size_t assertion_at(const struct scan *s, unsigned *out)
{
    static const struct {
        char letter;
        unsigned bit;
    } rows[] = {
        { 'A', ASSERT_BEGIN }, { 'z', ASSERT_END }, { 'b', ASSERT_WORD }, { 'B', ASSERT_NOT_WORD }
    };
    int c = peek(s, 0);
    bool lines = s->flags & FLAG_LINES;

    if (c == '^' || c == '$') {
        *out = c == '^' ? (lines ? ASSERT_LINE_BEGIN : ASSERT_BEGIN)
                        : (lines ? ASSERT_LINE_END : ASSERT_END);
        return 1;
    }
    for (size_t i = 0; c == '\\' && i < COUNT(rows); i++)
        if (peek(s, 1) == rows[i].letter) {
            *out = rows[i].bit;
            return 2;
        }
    return 0;
}

static int parse_one(struct scan *s, struct re_node *list)
{
    int c = peek(s, 0);
    struct re_set set = { 0 };
    unsigned assertion = 0;
    uint32_t rune;

    if (c == '*' || c == '+' || c == '?')
        return parse_repeat(s, list, 1, c == '+', c == '?' ? 1 : -1);
    if (c == '{')
        return parse_count(s, list);
    s->repeat = -1;
    if (c == '(')
        return parse_group(s, list);
    if (c == '[')
        return parse_class(s, list);
    if (c == '\\' && peek(s, 1) == 'Q') {
        parse_literal(s, list);
        return 0;
    }
    size_t n = assertion_at(s, &assertion);
    if (n) {
        add(s, list, RE_ASSERT)->assertion = assertion;
        s->i += n;
        return 0;
    }
    int named = parse_named(s, &set);
    if (named < 0)
        return -1;
    if (c == '.') {
        if (!(s->flags & FLAG_DOT_NL))
            set_add(s->a, &set, '\n', '\n');
        set_negate(s->a, &set);
        s->i++;
        named = 1;
    }
    if (named) {
        add_set(s, list, set);
        return 0;
    }
    if (c == '\\') {
        if (parse_escape(s, &rune) < 0)
            return -1;
    } else {
        rune = next_rune(s);
    }
    add_rune(s, list, rune);
    return 0;
}

/* Up to the end or the parenthesis that closes. NULL: refused. */
static struct re_node *parse_alternatives(struct scan *s)
{
    struct re_node *all = ARENA_NEW(s->a, struct re_node);

    all->op = RE_ALT;
    struct re_node *list = add(s, all, RE_CAT);
    while (s->i < s->all.n && peek(s, 0) != ')') {
        if (peek(s, 0) == '|') {
            s->i++;
            s->repeat = -1;
            list = add(s, all, RE_CAT);
        } else if (parse_one(s, list) < 0) {
            return NULL;
        }
    }
    return all;
}

const struct re_node *re_parse(struct arena *a, str text, struct err *e)
{
    struct scan s = { .a = a, .all = text, .repeat = -1, .tables = { .a = a }, .e = e };
    const struct re_node *root = parse_alternatives(&s);

    if (root && s.i < text.n) {
        refuse(&s, "unexpected )", 0, text.n);
        return NULL;
    }
    return root;
}
