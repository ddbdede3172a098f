/* Field problems and their texts, as k8s.io/apimachinery's field.ErrorList words them. */

#include "kube/problem.h"
#include "base/limits.h"
#include "base/vec.h"

#include <inttypes.h>

static const struct {
    str words;
    const char *reason;
} rows[] = {
#define X(type, words, reason) { S_INIT(words), reason },
    PROBLEM_TABLE(X)
#undef X
};

static void print_path(struct buf *b, const struct path *p)
{
    if (!p)
        return;
    print_path(b, p->up);
    if (p->index >= 0) {
        buf_printf(b, "[%" PRId64 "]", p->index);
    } else if (p->index == -2) {
        buf_addc(b, '[');
        buf_add(b, p->name);
        buf_addc(b, ']');
    } else {
        if (b->n)
            buf_addc(b, '.');
        buf_add(b, p->name);
    }
}

str path_str(struct arena *a, const struct path *p)
{
    AUTO(buf) struct buf b = { 0 };

    print_path(&b, p);
    return arena_str(a, buf_str(&b));
}

/* Asked before any text is made: there may be very many more, and each may quote megabytes. */
static bool is_full(const struct problems *ps)
{
    return ps->n >= LIMIT_PROBLEMS || ps->bytes >= LIMIT_PROBLEM_BYTES;
}

static void add(struct problems *ps, enum problem_type type, const struct path *p, str message,
                str detail)
{
    if (is_full(ps))
        return;
    vec_room_in(ps->a, ps);
    str field = path_str(ps->a, p);
    ps->bytes += field.n + message.n;
    ps->at[ps->n++] = (struct problem){ type, field, message, detail, false };
}

static bool shows_value(enum problem_type type)
{
    return type == PROBLEM_INVALID || type == PROBLEM_TYPE_INVALID || type == PROBLEM_DUPLICATE ||
           type == PROBLEM_NOT_FOUND || type == PROBLEM_NOT_SUPPORTED;
}

void problems_clear(struct problems *ps)
{
    ps->n = ps->bytes = 0;
}

/* Nobody reads a value of megabytes in a message. */
static void quote(struct buf *b, jv bad)
{
    str text = jv_str(bad, STR_NONE), shown = str_clip(text, LIMIT_QUOTED_BYTES);

    if (!jv_exists(bad)) {
        buf_add(b, S("null"));
    } else if (json_fits(bad, LIMIT_QUOTED_BYTES)) {
        json_print(b, bad);
    } else if (text.n) {
        json_print_str(b, shown);
        buf_printf(b, "... (%zu bytes more)", text.n - shown.n);
    } else {
        buf_add(b, S("(too long to be shown)"));
    }
}

void problem_add(struct problems *ps, enum problem_type type, const struct path *p, jv bad,
                 const char *fmt, ...)
{
    AUTO(buf) struct buf b = { 0 };
    va_list ap;

    if (is_full(ps))
        return;
    va_start(ap, fmt);
    str detail = arena_vprintf(ps->a, fmt, ap);
    va_end(ap);
    buf_add(&b, rows[type].words);
    if (shows_value(type) || (type == PROBLEM_TOO_MANY && jv_exists(bad))) {
        buf_add(&b, S(": "));
        quote(&b, bad);
    }
    if (detail.n) {
        buf_add(&b, S(": "));
        buf_add(&b, detail);
    }
    add(ps, type, p, arena_str(ps->a, buf_str(&b)), detail);
}

void problem_add_bare(struct problems *ps, enum problem_type type, const struct path *p,
                      const char *fmt, ...)
{
    va_list ap;

    if (is_full(ps))
        return;
    va_start(ap, fmt);
    str detail = arena_vprintf(ps->a, fmt, ap);
    va_end(ap);
    add(ps, type, p,
        arena_printf(ps->a, "%" PRI_STR ": %" PRI_STR, STR_ARG(rows[type].words), STR_ARG(detail)),
        detail);
}

void problem_say(struct problems *ps, const struct path *p, const char *fmt, ...)
{
    va_list ap;

    if (is_full(ps))
        return;
    va_start(ap, fmt);
    str text = arena_vprintf(ps->a, fmt, ap);
    va_end(ap);
    add(ps, PROBLEM_INVALID, p, text, text);
    ps->at[ps->n - 1].plain = true;
}

void problem_not_supported(struct problems *ps, const struct path *p, jv bad,
                           const char *const *supported)
{
    AUTO(buf) struct buf b = { 0 };

    for (; supported && *supported; supported++) {
        buf_add(&b, b.n ? S(", ") : S("supported values: "));
        json_print_str(&b, str_of(*supported));
    }
    problem_add(ps, PROBLEM_NOT_SUPPORTED, p, bad, "%" PRI_STR, STR_ARG(buf_str(&b)));
}

void problem_move(struct problems *ps, const struct path *prefix, const struct problem *from)
{
    add(ps, from->type, ATS(prefix, from->field), from->message, from->detail);
}

/* The next byte of a field; a[b] and a.b are the same, and .a is a. */
static char next_of(str *field, bool first)
{
    while (field->n && (*field->p == ']' || (first && *field->p == '.')))
        *field = str_sub(*field, 1, field->n);
    char c = field->n ? *field->p : 0;
    *field = str_sub(*field, 1, field->n);
    return c == '[' ? '.' : c;
}

enum kinship { STRANGERS, RELATED, SAME };

/* RELATED: one is within the other. */
static enum kinship kinship_of(str x, str y)
{
    char c = next_of(&x, true);
    char d = next_of(&y, true);

    while (c && c == d) {
        c = next_of(&x, false);
        d = next_of(&y, false);
    }
    if (c == d)
        return SAME;
    return (c == '.' && !d) || (!c && d == '.') ? RELATED : STRANGERS;
}

static bool says_the_same(const struct problem *own, const struct problem *other)
{
    enum kinship k = kinship_of(own->field, other->field);

    return k == SAME || (k == RELATED && other->detail.n && str_starts(own->detail, other->detail));
}

void problems_join(struct problems *ps, size_t from, const struct problems *others)
{
    size_t end = ps->n;

    for (size_t i = 0; i < others->n; i++) {
        bool told = ps->n == end && end > from && str_eqz(others->at[i].field, "<nil>");
        for (size_t k = from; k < end; k++)
            told = told || says_the_same(&ps->at[k], &others->at[i]);
        if (!told)
            problem_move(ps, NULL, &others->at[i]);
    }
}

static bool said_before(const struct problems *ps, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(ps->at[j].field, ps->at[i].field) &&
            str_eq(ps->at[j].message, ps->at[i].message))
            return true;
    return false;
}

str problems_text(struct arena *a, const struct problems *ps)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < ps->n; i++) {
        if (said_before(ps, i))
            continue;
        if (n++)
            buf_add(&b, S(", "));
        if (!ps->at[i].plain) {
            buf_add(&b, ps->at[i].field);
            buf_add(&b, S(": "));
        }
        buf_add(&b, ps->at[i].message);
    }
    return n > 1 ? arena_printf(a, "[%" PRI_STR "]", STR_ARG(buf_str(&b)))
                 : arena_str(a, buf_str(&b));
}

const char *problem_reason(enum problem_type type)
{
    return rows[type].reason;
}
