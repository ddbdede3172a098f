/* CEL's grammar, by recursive descent. */

#include "crd/cel_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum token { T_END, T_IDENT, T_INT, T_DOUBLE, T_STRING, T_OP };

struct parser {
    struct arena *a;
    str text;
    size_t i; /* after the token at hand */
    enum token token;
    str word; /* IDENT and OP as written; STRING as meant */
    struct cel_value number;
    size_t depth;
    struct err *e;
    bool failed;
};

static struct cel_node *fail(struct parser *p, const char *what)
{
    if (!p->failed)
        err_set(p->e, ERR_INVALID, "Syntax error: %s at %zu", what, p->i);
    p->failed = true;
    p->token = T_END;
    return NULL;
}

/* ---- tokens */

static int peek(const struct parser *p, size_t ahead)
{
    return p->i + ahead < p->text.n ? (unsigned char)p->text.p[p->i + ahead] : -1;
}

static void add_rune(struct buf *b, unsigned long c)
{
    if (c < 0x80) {
        buf_addc(b, (char)c);
    } else if (c < 0x800) {
        buf_addc(b, (char)(0xc0 | c >> 6));
        buf_addc(b, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_addc(b, (char)(0xe0 | c >> 12));
        buf_addc(b, (char)(0x80 | (c >> 6 & 63)));
        buf_addc(b, (char)(0x80 | (c & 63)));
    } else {
        buf_addc(b, (char)(0xf0 | c >> 18));
        buf_addc(b, (char)(0x80 | (c >> 12 & 63)));
        buf_addc(b, (char)(0x80 | (c >> 6 & 63)));
        buf_addc(b, (char)(0x80 | (c & 63)));
    }
}

/* After a backslash: n digits of a base as one rune. */
static void read_code(struct parser *p, struct buf *b, size_t n, int base)
{
    char digits[9] = { 0 };

    for (size_t i = 0; i < n; i++) {
        int c = peek(p, i);
        if (c < 0 || !(base == 16 ? isxdigit(c) : (c >= '0' && c <= '7'))) {
            fail(p, "bad escape");
            return;
        }
        digits[i] = (char)c;
    }
    unsigned long rune = strtoul(digits, NULL, base);
    if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000) || !rune)
        fail(p, "bad escape");
    else
        add_rune(b, rune);
    p->i += n;
}

static void read_escape(struct parser *p, struct buf *b)
{
    static const char names[] = "a\ab\bf\fn\nr\rt\tv\v\\\\''\"\"``??";
    int c = peek(p, 0);

    for (const char *n = names; c > 0 && *n; n += 2)
        if (*n == (char)c) {
            buf_addc(b, n[1]);
            p->i++;
            return;
        }
    if (c >= '0' && c <= '3') {
        read_code(p, b, 3, 8);
        return;
    }
    if (c != 'x' && c != 'X' && c != 'u' && c != 'U') {
        fail(p, "bad escape");
        return;
    }
    p->i++;
    read_code(p, b, c == 'u' ? 4 : c == 'U' ? 8 : 2, 16);
}

static void read_string(struct parser *p, bool raw)
{
    AUTO(buf) struct buf b = { 0 };
    int quote = peek(p, 0);
    size_t n = peek(p, 1) == quote && peek(p, 2) == quote ? 3 : 1;

    p->i += n;
    while (!p->failed) {
        int c = peek(p, 0);
        bool ends = c == quote && (n == 1 || (peek(p, 1) == quote && peek(p, 2) == quote));
        if (c < 0 || (n == 1 && (c == '\n' || c == '\r'))) {
            fail(p, "unterminated string");
            return;
        }
        p->i++;
        if (ends) {
            p->i += n - 1;
            break;
        }
        if (c == '\\' && !raw)
            read_escape(p, &b);
        else
            buf_addc(&b, (char)c);
    }
    p->token = T_STRING;
    p->word = arena_str(p->a, buf_str(&b));
}

static void read_number(struct parser *p)
{
    size_t start = p->i;
    bool hex = peek(p, 0) == '0' && (peek(p, 1) | 32) == 'x';
    bool real = false;

    for (p->i += hex ? 2 : 0; peek(p, 0) >= 0; p->i++) {
        int c = peek(p, 0);
        bool part = hex ? isxdigit(c) : isdigit(c);
        if (!hex && c == '.' && isdigit(peek(p, 1) < 0 ? 0 : peek(p, 1)))
            part = real = true;
        if (!hex && (c | 32) == 'e' && p->i > start) {
            part = real = true;
            if (peek(p, 1) == '-' || peek(p, 1) == '+')
                p->i++;
        }
        if (!part)
            break;
    }
    const char *text = arena_z(p->a, str_sub(p->text, start, p->i));
    if ((peek(p, 0) | 32) == 'u') {
        fail(p, "unsigned integers are not supported");
        return;
    }
    p->token = real ? T_DOUBLE : T_INT;
    p->number = (struct cel_value){ .kind = real ? CEL_DOUBLE : CEL_INT };
    if (real)
        p->number.d = strtod(text, NULL);
    else if (hex)
        p->number.i = (int64_t)strtoull(text, NULL, 16);
    else if (!str_to_int(str_of(text), &p->number.i))
        fail(p, "integer out of range");
}

static void advance(struct parser *p)
{
    static const char *const twos[] = { "&&", "||", "==", "!=", "<=", ">=" };

    while (peek(p, 0) > 0 && isspace(peek(p, 0)))
        p->i++;
    int c = p->failed ? -1 : peek(p, 0);
    p->token = T_END;
    if (c < 0)
        return;
    if (c == '/' && peek(p, 1) == '/') {
        fail(p, "comments are not supported");
        return;
    }
    if ((c == 'r' || c == 'R') && (peek(p, 1) == '\'' || peek(p, 1) == '"')) {
        p->i++;
        read_string(p, true);
        return;
    }
    if (c == '\'' || c == '"') {
        read_string(p, false);
        return;
    }
    if (isdigit(c) || (c == '.' && peek(p, 1) > 0 && isdigit(peek(p, 1)))) {
        read_number(p);
        return;
    }
    size_t start = p->i;
    if (isalpha(c) || c == '_') {
        while (peek(p, 0) > 0 && (isalnum(peek(p, 0)) || peek(p, 0) == '_'))
            p->i++;
        p->token = T_IDENT;
    } else {
        p->i++;
        for (size_t k = 0; k < COUNT(twos); k++)
            if (c == twos[k][0] && peek(p, 0) == twos[k][1]) {
                p->i++;
                break;
            }
        p->token = T_OP;
    }
    p->word = str_sub(p->text, start, p->i);
}

static bool is_op(const struct parser *p, const char *op)
{
    return (p->token == T_OP || p->token == T_IDENT) && str_eqz(p->word, op);
}

static bool take(struct parser *p, const char *op)
{
    if (p->token != T_OP || !str_eqz(p->word, op))
        return false;
    advance(p);
    return true;
}

static bool expect(struct parser *p, const char *op)
{
    if (take(p, op))
        return true;
    fail(p, "unexpected input");
    return false;
}

/* ---- tree */

static struct cel_node *expr(struct parser *p);

/* Whoever walks the tree goes as deep. */
static void measure(struct parser *p, struct cel_node *n)
{
    for (size_t i = 0; i < n->n; i++)
        if (n->kids[i] && n->kids[i]->height >= n->height)
            n->height = n->kids[i]->height + 1;
    if (n->height > CEL_MAX_HEIGHT)
        fail(p, "expression nests too deeply");
}

static struct cel_node *node(struct parser *p, enum cel_op op, struct cel_node *x,
                             struct cel_node *y, struct cel_node *z)
{
    struct cel_node *n = ARENA_NEW(p->a, struct cel_node);
    struct cel_node *kids[] = { x, y, z };

    n->op = op;
    n->kids = ARENA_ARRAY(p->a, struct cel_node *, COUNT(kids));
    for (size_t i = 0; i < COUNT(kids) && kids[i]; i++)
        n->kids[n->n++] = kids[i];
    if (p->failed || (y == NULL && z != NULL))
        fail(p, "unexpected end");
    measure(p, n);
    return n;
}

/* Expressions up to `close`; entries of maps have a colon between. */
static struct cel_node *list(struct parser *p, enum cel_op op, struct cel_node *first,
                             const char *close)
{
    struct cel_node *n = ARENA_NEW(p->a, struct cel_node);

    n->op = op;
    n->kids = ARENA_ARRAY(p->a, struct cel_node *, CEL_MAX_KIDS);
    if (first)
        n->kids[n->n++] = first;
    while (!p->failed && !is_op(p, close)) {
        if (n->n + 2 > CEL_MAX_KIDS)
            return fail(p, "too many arguments");
        n->kids[n->n++] = expr(p);
        if (op == CEL_MAKE_MAP && expect(p, ":"))
            n->kids[n->n++] = expr(p);
        if (!take(p, ","))
            break;
    }
    expect(p, close);
    measure(p, n);
    return n;
}

static struct cel_node *literal(struct parser *p, struct cel_value v)
{
    struct cel_node *n = ARENA_NEW(p->a, struct cel_node);

    n->op = CEL_LITERAL;
    n->literal = v;
    advance(p);
    return n;
}

static struct cel_node *identifier(struct parser *p)
{
    str name = p->word;

    if (str_eq(name, S("true")) || str_eq(name, S("false")))
        return literal(p, (struct cel_value){ .kind = CEL_BOOL, .b = name.n == 4 });
    if (str_eq(name, S("null")))
        return literal(p, (struct cel_value){ .kind = CEL_NULL });
    advance(p);
    if (!take(p, "(")) {
        struct cel_node *n = node(p, CEL_IDENT, NULL, NULL, NULL);
        n->name = name;
        return n;
    }
    struct cel_node *n = list(p, CEL_CALL, NULL, ")");
    if (!n || !str_eq(name, S("has"))) {
        if (n)
            n->name = name;
        return n;
    }
    if (n->n != 1 || !n->kids[0] || n->kids[0]->op != CEL_SELECT)
        return fail(p, "invalid argument to has() macro");
    n->kids[0]->op = CEL_HAS;
    return n->kids[0];
}

static struct cel_node *primary(struct parser *p)
{
    if (p->token == T_INT || p->token == T_DOUBLE)
        return literal(p, p->number);
    if (p->token == T_STRING)
        return literal(p, (struct cel_value){ .kind = CEL_STRING, .s = p->word });
    if (p->token == T_IDENT)
        return identifier(p);
    if (take(p, "(")) {
        struct cel_node *n = expr(p);
        expect(p, ")");
        return n;
    }
    if (take(p, "["))
        return list(p, CEL_MAKE_LIST, NULL, "]");
    if (take(p, "{"))
        return list(p, CEL_MAKE_MAP, NULL, "}");
    return fail(p, "unexpected input");
}

static bool is_macro(str name)
{
    static const char *const names[] = { "all", "exists", "exists_one", "map", "filter" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eqz(name, names[i]))
            return true;
    return false;
}

static struct cel_node *method(struct parser *p, struct cel_node *receiver, str name)
{
    struct cel_node *n = list(p, CEL_CALL, receiver, ")");

    if (!n)
        return n;
    n->name = name;
    n->is_method = true;
    bool threes = str_eq(name, S("map")) && n->n == 4;
    if (!is_macro(name) || (n->n != 3 && !threes) || !n->kids[1] || n->kids[1]->op != CEL_IDENT)
        return n;
    n->op = CEL_MACRO;
    n->variable = n->kids[1]->name;
    n->kids[1] = n->kids[2];
    n->kids[2] = threes ? n->kids[3] : NULL;
    n->n--;
    return n;
}

static struct cel_node *member(struct parser *p)
{
    struct cel_node *n = primary(p);

    while (!p->failed) {
        if (take(p, ".")) {
            str name = p->word;
            if (p->token != T_IDENT)
                return fail(p, "no viable alternative");
            advance(p);
            if (take(p, "(")) {
                n = method(p, n, name);
                continue;
            }
            n = node(p, CEL_SELECT, n, NULL, NULL);
            n->name = name;
        } else if (take(p, "[")) {
            n = node(p, CEL_INDEX, n, expr(p), NULL);
            expect(p, "]");
        } else {
            break;
        }
    }
    return n;
}

static struct cel_node *unary(struct parser *p)
{
    if (++p->depth > CEL_MAX_DEPTH)
        return fail(p, "expression nests too deeply");
    struct cel_node *n;
    if (take(p, "!")) {
        n = node(p, CEL_NOT, unary(p), NULL, NULL);
    } else if (take(p, "-")) {
        n = unary(p);
        if (n && n->op == CEL_LITERAL && n->literal.kind == CEL_INT) {
            n->literal.i = (int64_t)(0 - (uint64_t)n->literal.i);
        } else if (n && n->op == CEL_LITERAL && n->literal.kind == CEL_DOUBLE) {
            n->literal.d = -n->literal.d;
        } else {
            n = node(p, CEL_NEG, n, NULL, NULL);
        }
    } else {
        n = member(p);
    }
    p->depth--;
    return n;
}

struct level {
    const char *text;
    enum cel_op op;
    int level;
};

static const struct level levels[] = {
    { "||", CEL_OR, 0 }, { "&&", CEL_AND, 1 }, { "==", CEL_EQ, 2 }, { "!=", CEL_NE, 2 },
    { "<", CEL_LT, 2 },  { "<=", CEL_LE, 2 },  { ">", CEL_GT, 2 },  { ">=", CEL_GE, 2 },
    { "in", CEL_IN, 2 }, { "+", CEL_ADD, 3 },  { "-", CEL_SUB, 3 }, { "*", CEL_MUL, 4 },
    { "/", CEL_DIV, 4 }, { "%", CEL_MOD, 4 },
};

static struct cel_node *binary(struct parser *p, int level)
{
    struct cel_node *n = level == 5 ? unary(p) : binary(p, level + 1);

    for (size_t i = 0; level < 5 && i < COUNT(levels) && !p->failed; i++) {
        if (levels[i].level != level || !is_op(p, levels[i].text))
            continue;
        advance(p);
        n = node(p, levels[i].op, n, binary(p, level + 1), NULL);
        i = (size_t)-1; /* once more: they associate to the left */
    }
    return n;
}

static struct cel_node *expr(struct parser *p)
{
    if (++p->depth > CEL_MAX_DEPTH)
        return fail(p, "expression nests too deeply");
    struct cel_node *n = binary(p, 0);
    if (take(p, "?")) {
        struct cel_node *yes = binary(p, 0);
        if (expect(p, ":"))
            n = node(p, CEL_COND, n, yes, expr(p));
    }
    p->depth--;
    return n;
}

struct cel_node *cel_parse(struct arena *a, str text, struct err *e)
{
    struct parser p = { .a = a, .text = text, .e = e };

    advance(&p);
    struct cel_node *n = expr(&p);
    if (!p.failed && p.token != T_END)
        fail(&p, "extraneous input");
    return p.failed ? NULL : n;
}
