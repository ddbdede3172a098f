/* JSON text to values, RFC 8259 and nothing more: UTF-8 checked, depth limited, one pass. Children
 * gather on a scratch stack and move to the arena when their container closes. */

#include "base/json.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stdlib.h>

struct frame {
    size_t first; /* of its children on the stack */
    bool is_obj;
};

struct parser {
    struct arena *a;
    const char *p;
    const char *start;
    const char *end;
    const struct json_opts *opts;
    struct err *e;
    struct jnode *stack;
    size_t n;
    size_t cap;
    struct frame *frames;
    size_t depth;
    size_t frames_cap;
    size_t told; /* duplicate keys */
};

static int fail(struct parser *s, const char *at, const char *what)
{
    size_t line = 1;
    const char *row = s->start;

    for (const char *p = s->start; p < at; p++)
        if (*p == '\n')
            line++, row = p + 1;
    return err_set(s->e, ERR_BAD_REQUEST, "line %zu column %zu: %s", line, (size_t)(at - row) + 1,
                   what);
}

static void push(struct parser *s, struct jnode node)
{
    if (!s->stack || s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->stack = mem_resize(s->stack, s->cap * sizeof(*s->stack));
    }
    s->stack[s->n++] = node;
}

static void skip_space(struct parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

static int hex4(const char *p, unsigned *out)
{
    unsigned v = 0;

    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];
        unsigned digit = c - '0' < 10u ? c - '0' : (c | 32) - 'a' < 6u ? (c | 32) - 'a' + 10 : 16;
        if (digit > 15)
            return -1;
        v = v << 4 | digit;
    }
    *out = v;
    return 0;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* \uXXXX at p; a pair of surrogates is one character, a lone one becomes U+FFFD as in Go. */
static const char *unicode_escape(const char *p, const char *end, char **to)
{
    unsigned c;
    unsigned low;

    if (end - p < 6 || hex4(p + 2, &c) < 0)
        return NULL;
    p += 6;
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        hex4(p + 2, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    } else if (c >= 0xd800 && c < 0xe000) {
        c = 0xfffd;
    }
    *to = put_utf8(*to, c);
    return p;
}

/* From p to the closing quote at end, with escapes, into the arena. */
static int unescape(struct parser *s, const char *p, const char *end, struct jnode *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char into[] = "\"\\/\b\f\n\r\t";
    char *start = arena_alloc(s->a, (size_t)(end - p) + 1);
    char *to = start;

    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        if (p[1] == 'u') {
            const char *next = unicode_escape(p, end, &to);
            if (!next)
                return fail(s, p, "bad \\u escape in string");
            p = next;
            continue;
        }
        const char *hit = p[1] ? strchr(from, p[1]) : NULL;
        if (!hit)
            return fail(s, p, "unknown escape in string");
        *to++ = into[hit - from];
        p += 2;
    }
    *to = 0;
    *out = (struct jnode){ .type = JV_STR, .n = (uint32_t)(to - start), .u.text = start };
    return 0;
}

static int parse_string(struct parser *s, struct jnode *out)
{
    const char *open = s->p;
    const char *p = open + 1;
    bool escaped = false;
    uint64_t seen = 0;

    for (;;) {
        p = json_skip_plain(p, s->end, &seen);
        if (p >= s->end)
            return fail(s, open, "string without an end");
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            break;
        if (c < 0x20)
            return fail(s, p, "control character in string");
        if (c == '\\') {
            if (s->end - p < 2)
                return fail(s, open, "string without an end");
            escaped = true;
            p++;
        }
        seen |= (unsigned char)*p;
        p++;
    }
    str raw = { open + 1, (size_t)(p - open - 1) };
    s->p = p + 1;
    if ((seen & 0x8080808080808080u) && !str_is_utf8(raw))
        return fail(s, open, "string is not UTF-8");
    if (escaped)
        return unescape(s, raw.p, p, out);
    *out = (struct jnode){ .type = JV_STR, .n = (uint32_t)raw.n, .u.text = raw.p };
    return 0;
}

static bool digits(struct parser *s)
{
    const char *from = s->p;

    while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        s->p++;
    return s->p > from;
}

static int parse_number(struct parser *s, struct jnode *out)
{
    const char *from = s->p;
    bool whole = true;

    if (*s->p == '-')
        s->p++;
    if (s->p < s->end && *s->p == '0')
        s->p++;
    else if (!digits(s))
        return fail(s, from, "bad number");
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        whole = false;
        if (!digits(s))
            return fail(s, from, "bad number");
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        whole = false;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
            s->p++;
        if (!digits(s))
            return fail(s, from, "bad number");
    }
    str text = { from, (size_t)(s->p - from) };
    int64_t i;
    if (whole && !str_eq(text, S("-0")) && str_to_int(text, &i))
        *out = (struct jnode){ .type = JV_INT, .u.i = i };
    else
        *out = (struct jnode){ .type = JV_NUM, .n = (uint32_t)text.n, .u.text = text.p };
    return 0;
}

static int parse_word(struct parser *s, struct jnode *out)
{
    static const struct {
        str word;
        struct jnode node;
    } words[] = { { S_INIT("true"), { .type = JV_BOOL, .u.i = 1 } },
                  { S_INIT("false"), { .type = JV_BOOL } },
                  { S_INIT("null"), { .type = JV_NULL } } };
    str rest = { s->p, (size_t)(s->end - s->p) };

    for (size_t i = 0; i < COUNT(words); i++) {
        if (!str_starts(rest, words[i].word))
            continue;
        s->p += words[i].word.n;
        *out = words[i].node;
        return 0;
    }
    return fail(s, s->p, s->p < s->end ? "expected a value" : "unexpected end");
}

/* The path of the member `key` of the innermost object, as Kubernetes writes it. */
static str path_of(struct parser *s, struct buf *b, str key)
{
    for (size_t d = 1; d <= s->depth; d++) {
        const struct frame *f = &s->frames[d];
        size_t end = d == s->depth ? s->n : s->frames[d + 1].first;
        if (f->is_obj) {
            const struct jnode *k = &s->stack[end - 1]; /* the key whose value is being read */
            str name = d == s->depth ? key : (str){ k->u.text, k->n };
            if (b->n)
                buf_addc(b, '.');
            buf_add(b, name);
        } else {
            buf_printf(b, "[%zu]", end - f->first);
        }
    }
    return buf_str(b);
}

static void duplicate(struct parser *s, str key)
{
    AUTO(buf) struct buf b = { 0 };

    if (s->opts && s->opts->on_duplicate && s->told++ < LIMIT_STRICT)
        s->opts->on_duplicate(s->opts->ctx, path_of(s, &b, key),
                              key.p >= s->start && key.p < s->end ? (size_t)(key.p - s->start) : 0);
}

static int by_key(const void *x, const void *y)
{
    const struct jnode *a = *(const struct jnode *const *)x;
    const struct jnode *b = *(const struct jnode *const *)y;
    int c = str_cmp((str){ a->u.text, a->n }, (str){ b->u.text, b->n });

    return c ? c : a < b ? -1 : 1;
}

/* Marks members that a later one replaces (their key loses its type) and moves the value. */
static size_t mark_duplicates(struct parser *s, struct jnode *m, size_t n)
{
    size_t found = 0;

    if (n <= 16) {
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                struct jnode *x = &m[2 * j];
                struct jnode *y = &m[2 * i];
                if (x->type && x->n == y->n && memcmp(x->u.text, y->u.text, x->n) == 0) {
                    x[1] = y[1];
                    duplicate(s, (str){ y->u.text, y->n });
                    y->type = JV_NONE;
                    found++;
                    break;
                }
            }
        return found;
    }
    struct jnode **order = mem_room(n * sizeof(*order));
    for (size_t i = 0; i < n; i++)
        order[i] = &m[2 * i];
    qsort(order, n, sizeof(*order), by_key);
    for (size_t i = 0, first = 0; i < n; i++) {
        if (i == first || order[i]->n != order[first]->n ||
            memcmp(order[i]->u.text, order[first]->u.text, order[i]->n) != 0) {
            first = i;
            continue;
        }
        order[first][1] = order[i][1];
        duplicate(s, (str){ order[i]->u.text, order[i]->n });
        order[i]->type = JV_NONE;
        found++;
    }
    free(order);
    return found;
}

/* The children of the innermost container move to the arena; the container takes their place. */
static void close_container(struct parser *s)
{
    struct frame f = s->frames[s->depth];
    struct jnode *from = s->stack ? s->stack + f.first : NULL; /* [] is no arithmetic on NULL */
    size_t n = from ? s->n - f.first : 0;
    size_t gone = f.is_obj ? mark_duplicates(s, from, n / 2) : 0;
    struct jnode node = { .type = f.is_obj ? JV_OBJ : JV_ARR };

    if (n) {
        struct jnode *items = arena_alloc(s->a, n * sizeof(*items));
        if (!gone) {
            memcpy(items, from, n * sizeof(*items));
        } else {
            size_t to = 0;
            for (size_t i = 0; i < n; i += 2)
                if (from[i].type)
                    memcpy(&items[to], &from[i], 2 * sizeof(*items)), to += 2;
            n = to;
        }
        node.u.items = items;
    }
    node.n = (uint32_t)(f.is_obj ? n / 2 : n);
    s->n = f.first;
    s->depth--;
    push(s, node);
}

static int open_container(struct parser *s, bool is_obj)
{
    size_t max = s->opts && s->opts->max_depth ? s->opts->max_depth : LIMIT_JSON_DEPTH;

    if (s->depth >= max)
        return fail(s, s->p, "nested too deeply");
    s->depth++;
    if (s->depth >= s->frames_cap) {
        s->frames_cap = s->frames_cap ? s->frames_cap * 2 : 16;
        s->frames = mem_resize(s->frames, s->frames_cap * sizeof(*s->frames));
    }
    s->frames[s->depth] = (struct frame){ s->n, is_obj };
    s->p++;
    return 0;
}

static int parse_key(struct parser *s)
{
    struct jnode key;

    skip_space(s);
    if (s->p >= s->end || *s->p != '"')
        return fail(s, s->p, "expected a key in quotes");
    if (parse_string(s, &key) < 0)
        return -1;
    push(s, key);
    skip_space(s);
    if (s->p >= s->end || *s->p != ':')
        return fail(s, s->p, "expected ':' after the key");
    s->p++;
    return 0;
}

/* After a value: closes what closes here. 1: another value follows; 0: all is closed. */
static int after_value(struct parser *s)
{
    while (s->depth) {
        bool is_obj = s->frames[s->depth].is_obj;
        skip_space(s);
        if (s->p >= s->end)
            return fail(s, s->p, "unexpected end");
        if (*s->p == ',') {
            s->p++;
            return is_obj && parse_key(s) < 0 ? -1 : 1;
        }
        if (*s->p != (is_obj ? '}' : ']'))
            return fail(s, s->p, is_obj ? "expected ',' or '}'" : "expected ',' or ']'");
        s->p++;
        close_container(s);
    }
    return 0;
}

/* Opens a container. 1: its first value follows; 0: it was empty and is closed. */
static int parse_open(struct parser *s, bool is_obj)
{
    if (open_container(s, is_obj) < 0)
        return -1;
    skip_space(s);
    if (s->p < s->end && *s->p == (is_obj ? '}' : ']')) {
        s->p++;
        close_container(s);
        return 0;
    }
    return is_obj && parse_key(s) < 0 ? -1 : 1;
}

static int parse_scalar(struct parser *s)
{
    struct jnode node;
    char c = s->p < s->end ? *s->p : 0;
    int rc = c == '"'                             ? parse_string(s, &node)
             : (c >= '0' && c <= '9') || c == '-' ? parse_number(s, &node)
                                                  : parse_word(s, &node);

    if (rc == 0)
        push(s, node);
    return rc;
}

static int parse_all(struct parser *s)
{
    int more = 1;

    while (more > 0) {
        skip_space(s);
        char c = s->p < s->end ? *s->p : 0;
        int rc = c == '{' || c == '[' ? parse_open(s, c == '{') : parse_scalar(s);
        if (rc < 0)
            return -1;
        if (rc == 0)
            more = after_value(s);
    }
    if (more < 0)
        return -1;
    skip_space(s);
    return s->p == s->end ? 0 : fail(s, s->p, "text after the value");
}

jv json_parse(struct arena *a, str text, const struct json_opts *opts, struct err *e)
{
    struct parser s = { .a = a, .opts = opts, .e = e };
    jv root = JV_ABSENT;

    s.p = s.start = text.p ? text.p : "";
    s.end = s.p + text.n;
    if (text.n > UINT32_MAX)
        err_set(e, ERR_TOO_LARGE, "JSON text of %zu bytes is too large", text.n);
    else if (parse_all(&s) == 0) {
        struct jnode *node = arena_alloc(a, sizeof(*node));
        *node = s.stack[0];
        root = (jv){ node };
    }
    free(s.stack);
    free(s.frames);
    return root;
}
