/* The text of a path to steps. Odd corners are client-go's: ['a.b'] is .a.b, and a comma within
 * brackets always separates. */

#include "kube/jsonpath_internal.h"

#include "base/limits.h"
#include "base/vec.h"

#include <stdlib.h>

struct parser {
    struct arena *a;
    str s;
    size_t pos;
    unsigned depth; /* of filters and unions */
};

static const struct jsonpath *compile(struct arena *a, str s, unsigned depth);

static struct step *add(struct parser *p, struct jsonpath *path, enum step_type type)
{
    vec_room_in(p->a, path);
    struct step *s = &path->at[path->n++];
    *s = (struct step){ .type = type };
    return s;
}

static bool ends_name(char c)
{
    return !c || strchr(" \t\r\n.,[]$@{}", c);
}

static bool is_name_start(char c)
{
    char low = (char)(c | 32);

    return c == '_' || (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* A name up to a terminator; a backslash takes the next character as it is. */
static int parse_field(struct parser *p, struct jsonpath *path)
{
    char *name = arena_alloc(p->a, p->s.n - p->pos + 1);
    size_t n = 0;

    while (p->pos < p->s.n && !ends_name(p->s.p[p->pos])) {
        if (p->s.p[p->pos] == '\\' && ++p->pos == p->s.n)
            break;
        if (p->s.p[p->pos] != '\\')
            name[n++] = p->s.p[p->pos];
        p->pos++;
    }
    name[n] = 0;
    if (n == 1 && name[0] == '*')
        add(p, path, STEP_ALL);
    else
        add(p, path, STEP_FIELD)->name = (str){ name, n };
    return 0;
}

static int parse_recursive(struct parser *p, struct jsonpath *path)
{
    if (path->n && path->at[path->n - 1].type == STEP_RECURSIVE)
        return -1;
    p->pos += 2;
    add(p, path, STEP_RECURSIVE);
    if (p->pos < p->s.n && is_name_start(p->s.p[p->pos]))
        return parse_field(p, path);
    return 0;
}

/* -1:2 and the like; the third is the step. */
static int parse_slice(str text, struct step *s)
{
    str rest = text;

    for (int i = 0; i < 3; i++) {
        struct slice_bound *b = &s->bounds[i];
        bool there = rest.p != NULL;
        str part = there ? str_cut(&rest, ':') : STR_NONE;
        if (!there && i == 1)
            *b = (struct slice_bound){ true, true, s->bounds[0].value + 1 };
        if (!part.n)
            continue;
        b->known = true;
        if (!str_to_int(part, &b->value) || llabs(b->value) > INT32_MAX)
            return -1;
    }
    if (rest.p)
        return -1;
    return 0;
}

static int parse_union(struct parser *p, struct jsonpath *path, str text)
{
    size_t most = 1;

    for (size_t i = 0; i < text.n; i++)
        most += text.p[i] == ',';
    const struct jsonpath **parts = ARENA_ARRAY(p->a, const struct jsonpath *, most);
    size_t n = 0;
    for (str rest = text; rest.p;) {
        str part = str_trim(str_cut(&rest, ','));
        str inner = arena_printf(p->a, "[%" PRI_STR "]", STR_ARG(part));
        parts[n] = compile(p->a, inner, p->depth + 1);
        if (!parts[n++])
            return -1;
    }
    struct step *s = add(p, path, STEP_UNION);
    s->parts = parts;
    s->n_parts = n;
    return 0;
}

/* From the opening bracket on. */
static int parse_array(struct parser *p, struct jsonpath *path)
{
    size_t end = ++p->pos;

    while (end < p->s.n && p->s.p[end] != ']' && p->s.p[end] != '\n')
        end++;
    if (end == p->s.n || p->s.p[end] == '\n')
        return -1;
    str text = str_sub(p->s, p->pos, end);
    p->pos = end + 1;
    if (str_find(text, ',') >= 0)
        return parse_union(p, path, text);
    str name = str_sub(text, 1, text.n ? text.n - 1 : 0);
    if (text.n >= 2 && text.p[0] == '\'' && text.p[text.n - 1] == '\'' &&
        str_find(name, '\'') < 0) {
        const struct jsonpath *inner = compile(p->a, arena_cat(p->a, S("."), name), p->depth + 1);
        for (size_t i = 0; inner && i < inner->n; i++)
            *add(p, path, STEP_FIELD) = inner->at[i];
        return inner ? 0 : -1;
    }
    if (str_eq(text, S("*")))
        text = S(":");
    return parse_slice(text, add(p, path, STEP_SLICE));
}

/* Where the filter that starts at pos ends, at its closing parenthesis; quotes hide others. */
static size_t filter_end(const struct parser *p)
{
    char quote = 0;
    bool closed = false;

    for (size_t i = p->pos; i < p->s.n && p->s.p[i] != '\n'; i++) {
        char c = p->s.p[i];
        if ((c == '"' || c == '\'') && !quote)
            quote = c;
        else if (quote && c == quote && p->s.p[i - 1] != '\\')
            closed = true;
        else if (c == ')' && (!quote || closed))
            return i;
    }
    return p->s.n;
}

static bool is_operator(char c)
{
    return c == '!' || c == '<' || c == '>' || c == '=';
}

static int filter_op(str text, enum filter_op *op)
{
    static const struct {
        const char *text;
        enum filter_op op;
    } rows[] = { { "==", FILTER_EQ }, { "!=", FILTER_NE }, { "<", FILTER_LT },
                 { "<=", FILTER_LE }, { ">", FILTER_GT },  { ">=", FILTER_GE } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!str_eqz(text, rows[i].text))
            continue;
        *op = rows[i].op;
        return 0;
    }
    return -1;
}

static int parse_filter(struct parser *p, struct jsonpath *path)
{
    p->pos += 3;
    size_t end = filter_end(p);
    if (end == p->s.n)
        return -1;
    str text = str_sub(p->s, p->pos, end);
    if (end + 1 == p->s.n || p->s.p[end + 1] != ']')
        return -1;
    p->pos = end + 2;
    size_t from = 0;
    while (from < text.n && !is_operator(text.p[from]))
        from++;
    size_t to = from;
    while (to < text.n && is_operator(text.p[to]))
        to++;
    struct step s = { .type = STEP_FILTER };
    if (from == 0 || from == to || to == text.n) { /* no comparison: what is asked is existence */
        s.left = compile(p->a, text, p->depth + 1);
        *add(p, path, STEP_FILTER) = s;
        return s.left ? 0 : -1;
    }
    if (filter_op(str_sub(text, from, to), &s.op) < 0)
        return -1;
    s.left = compile(p->a, str_sub(text, 0, from), p->depth + 1);
    s.right = s.left ? compile(p->a, str_sub(text, to, text.n), p->depth + 1) : NULL;
    *add(p, path, STEP_FILTER) = s;
    return s.right ? 0 : -1;
}

static int parse_quote(struct parser *p, struct jsonpath *path, char quote)
{
    static const char from[] = "\\\"'ntr";
    static const char into[] = "\\\"'\n\t\r";
    size_t end = ++p->pos;

    while (end < p->s.n && p->s.p[end] != '\n' && (p->s.p[end] != quote || p->s.p[end - 1] == '\\'))
        end++;
    if (end == p->s.n || p->s.p[end] == '\n')
        return -1;
    char *text = arena_alloc(p->a, end - p->pos + 1);
    size_t n = 0;
    for (size_t i = p->pos; i < end; i++) {
        char c = p->s.p[i];
        if (c == '\\') {
            const char *hit = i + 1 < end ? memchr(from, p->s.p[++i], sizeof(from) - 1) : NULL;
            if (!hit)
                return -1;
            c = into[hit - from];
        }
        text[n++] = c;
    }
    text[n] = 0;
    p->pos = end + 1;
    add(p, path, STEP_VALUE)->value = jstr(p->a, (str){ text, n });
    return 0;
}

static int parse_number(struct parser *p, struct jsonpath *path)
{
    size_t from = p->pos++;
    char *end = NULL;
    int64_t i;

    while (p->pos < p->s.n &&
           (p->s.p[p->pos] == '.' || (p->s.p[p->pos] >= '0' && p->s.p[p->pos] <= '9')))
        p->pos++;
    str text = arena_str(p->a, str_sub(p->s, from, p->pos));
    str bare = str_sub(text, text.p[0] == '+', text.n);
    if (str_to_int(bare, &i)) {
        add(p, path, STEP_VALUE)->value = jint(p->a, i);
        return 0;
    }
    double d = strtod(text.p, &end);
    if (*end || end == text.p)
        return -1;
    /* Always a float, even 1.0: 17 digits and an exponent say so and lose nothing. */
    add(p, path, STEP_VALUE)->value = jnum(p->a, arena_printf(p->a, "%.17e", d));
    return 0;
}

static int parse_word(struct parser *p, struct jsonpath *path)
{
    size_t from = p->pos;

    while (p->pos < p->s.n && !ends_name(p->s.p[p->pos]))
        p->pos++;
    str word = str_sub(p->s, from, p->pos);
    if (!str_eq(word, S("true")) && !str_eq(word, S("false")))
        return -1;
    add(p, path, STEP_VALUE)->value = jbool(word.n == 4);
    return 0;
}

static int parse_step(struct parser *p, struct jsonpath *path)
{
    str rest = str_sub(p->s, p->pos, p->s.n);
    char c = rest.p[0];

    if (str_starts(rest, S("[?(")))
        return parse_filter(p, path);
    if (str_starts(rest, S("..")))
        return parse_recursive(p, path);
    switch (c) {
    case ' ':
    case '@':
    case '$':
        p->pos++;
        return 0;
    case '[':
        return parse_array(p, path);
    case '"':
    case '\'':
        return parse_quote(p, path, c);
    case '.':
        p->pos++;
        return parse_field(p, path);
    case '\r':
    case '\n':
        return -1;
    default:
        break;
    }
    if (c == '+' || c == '-' || (c >= '0' && c <= '9'))
        return parse_number(p, path);
    if (is_name_start(c))
        return parse_word(p, path);
    return -1;
}

static const struct jsonpath *compile(struct arena *a, str s, unsigned depth)
{
    struct parser p = { .a = a, .s = s, .depth = depth };
    struct jsonpath *path = ARENA_NEW(a, struct jsonpath);

    if (depth > LIMIT_JSONPATH_DEPTH)
        return NULL;
    while (p.pos < p.s.n)
        if (parse_step(&p, path) < 0)
            return NULL;
    return path;
}

const struct jsonpath *jsonpath_compile(struct arena *a, str text)
{
    if (text.n > LIMIT_JSONPATH_BYTES)
        return NULL;
    if (text.n >= 2 && text.p[0] == '{' && text.p[text.n - 1] == '}')
        text = str_sub(text, 1, text.n - 1);
    return compile(a, text, 0);
}
