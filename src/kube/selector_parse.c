/* Text of label selectors: a lexer with one token of lookahead and a parser that fails with the
 * words of k8s.io/apimachinery/pkg/labels. */

#include "kube/selector_parse.h"

#include "base/limits.h"
#include "base/vec.h"
#include "kube/names.h"

#include <stdlib.h>

enum token { END, WORD, WORD_IN, WORD_NOTIN, SIGN };

struct lexer {
    struct arena *a;
    str rest;
    enum token tok; /* the next one */
    str text;
    str *why;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_sign(char c)
{
    return c && strchr("=!(),><", c);
}

static void advance(struct lexer *l)
{
    str s = l->rest;
    size_t n = 0;

    while (s.n && is_space(s.p[0]))
        s = str_sub(s, 1, s.n);
    if (!s.n || !s.p[0]) { /* a NUL ends the text, as in Kubernetes */
        l->tok = END;
    } else if (is_sign(s.p[0])) {
        bool two = s.n > 1 && s.p[1] == '=' && (s.p[0] == '=' || s.p[0] == '!');
        l->tok = SIGN;
        n = two ? 2 : 1;
    } else {
        while (n < s.n && s.p[n] && !is_sign(s.p[n]) && !is_space(s.p[n]))
            n++;
        str word = str_sub(s, 0, n);
        l->tok = str_eq(word, S("in")) ? WORD_IN : str_eq(word, S("notin")) ? WORD_NOTIN : WORD;
    }
    l->text = str_sub(s, 0, n);
    bool swallowed = n < s.n && !s.p[n]; /* the NUL that ended a token */
    l->rest = str_sub(s, n + swallowed, s.n);
}

/* "in" and "notin" are plain words wherever a key or a value stands. */
static bool at_word(const struct lexer *l)
{
    return l->tok == WORD || l->tok == WORD_IN || l->tok == WORD_NOTIN;
}

static bool at_sign(const struct lexer *l, const char *sign)
{
    return l->tok == SIGN && str_eqz(l->text, sign);
}

static int unexpected(struct lexer *l, const char *expected)
{
    *l->why = arena_printf(l->a, "found '%" PRI_STR "'%s", STR_ARG(l->text), expected);
    return -1;
}

struct values {
    str *at;
    size_t n;
    size_t cap;
};

static void add_value(struct arena *a, struct values *v, str value)
{
    vec_push_in(a, v, value);
}

/* x,,y up to the closing parenthesis; what is missing between commas is the empty text. */
static int parse_list(struct lexer *l, struct values *v)
{
    for (;;) {
        if (at_word(l)) {
            add_value(l->a, v, l->text);
            advance(l);
            if (at_sign(l, ")"))
                return 0;
            if (!at_sign(l, ","))
                return unexpected(l, ", expected: ',' or ')'");
        } else if (at_sign(l, ",")) {
            if (!v->n)
                add_value(l->a, v, S(""));
            advance(l);
            if (at_sign(l, ")")) {
                add_value(l->a, v, S(""));
                return 0;
            }
            if (at_sign(l, ",")) {
                advance(l);
                add_value(l->a, v, S(""));
            }
        } else {
            return unexpected(l, ", expected: ',', or identifier");
        }
    }
}

static int parse_set(struct lexer *l, struct values *v)
{
    if (!at_sign(l, "("))
        return unexpected(l, " expected: '('");
    advance(l);
    if (at_sign(l, ")"))
        add_value(l->a, v, S(""));
    else if (!at_word(l) && !at_sign(l, ","))
        return unexpected(l, ", expected: ',', ')' or identifier");
    else if (parse_list(l, v) < 0)
        return -1;
    advance(l); /* the closing parenthesis */
    return 0;
}

static int parse_exact(struct lexer *l, struct values *v)
{
    if (l->tok == END || at_sign(l, ",")) {
        add_value(l->a, v, S(""));
        return 0;
    }
    if (!at_word(l))
        return unexpected(l, ", expected: identifier");
    add_value(l->a, v, l->text);
    advance(l);
    return 0;
}

static int parse_operator(struct lexer *l, enum selector_op *op)
{
    static const struct {
        const char *text;
        enum selector_op op;
    } rows[] = {
        { "in", SELECT_IN },         { "notin", SELECT_NOT_IN },
        { "=", SELECT_EQUALS },      { "==", SELECT_DOUBLE_EQUALS },
        { "!=", SELECT_NOT_EQUALS }, { ">", SELECT_GREATER },
        { "<", SELECT_LESS },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!str_eqz(l->text, rows[i].text))
            continue;
        *op = rows[i].op;
        advance(l);
        return 0;
    }
    return unexpected(l, ", expected: in, notin, =, ==, !=, gt, lt");
}

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* Values are a set: sorted, no doubles. */
static void make_set(struct values *v)
{
    size_t n = 0;

    if (v->n)
        qsort(v->at, v->n, sizeof(*v->at), by_bytes);
    for (size_t i = 0; i < v->n; i++)
        if (!n || !str_eq(v->at[n - 1], v->at[i]))
            v->at[n++] = v->at[i];
    v->n = n;
}

static int check_key(struct lexer *l, str key)
{
    struct name_errors errs = name_qualified(key);
    struct problems ps = { .a = l->a };

    if (!errs.n)
        return 0;
    problem_invalid(&ps, ROOT("<nil>"), jstr(l->a, key), "%" PRI_STR,
                    STR_ARG(name_join(l->a, &errs, "; ")));
    *l->why = problems_text(l->a, &ps);
    return -1;
}

static int parse_requirement(struct lexer *l, struct requirement *r)
{
    struct values v = { 0 };
    bool negated = at_sign(l, "!");

    if (negated)
        advance(l);
    if (!at_word(l))
        return unexpected(l, ", expected: identifier");
    *r = (struct requirement){ .key = l->text };
    advance(l);
    if (check_key(l, r->key) < 0)
        return -1;
    if (negated || l->tok == END || at_sign(l, ",")) {
        r->op = negated ? SELECT_NOT_EXISTS : SELECT_EXISTS;
        return 0;
    }
    if (parse_operator(l, &r->op) < 0)
        return -1;
    bool set = r->op == SELECT_IN || r->op == SELECT_NOT_IN;
    if ((set ? parse_set(l, &v) : parse_exact(l, &v)) < 0)
        return -1;
    make_set(&v);
    return requirement_init(l->a, r, v.at, v.n, l->why);
}

static int parse(struct lexer *l, struct selector *out)
{
    struct {
        VEC(struct requirement);
    } all = { 0 };

    while (l->tok != END) {
        if (!at_word(l) && !at_sign(l, "!"))
            return unexpected(l, ", expected: !, identifier, or 'end of string'");
        vec_push_in(l->a, &all, (struct requirement){ 0 });
        if (parse_requirement(l, &all.at[all.n - 1]) < 0) {
            *l->why = arena_cat(l->a, S("unable to parse requirement: "), *l->why);
            return -1;
        }
        if (l->tok == END)
            break;
        if (!at_sign(l, ","))
            return unexpected(l, ", expected: ',' or 'end of string'");
        advance(l);
        if (!at_word(l) && !at_sign(l, "!"))
            return unexpected(l, ", expected: identifier after ','");
    }
    *out = selector_of(l->a, all.at, all.n);
    return 0;
}

int selector_parse(struct arena *a, str text, struct selector *out, str *why)
{
    struct lexer l = { .a = a, .rest = text, .why = why };

    if (text.n > LIMIT_SELECTOR_BYTES) {
        *why = arena_printf(a, "a selector of %zu bytes is too long", text.n);
        return -1;
    }
    advance(&l);
    return parse(&l, out);
}
