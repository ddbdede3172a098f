/* Field selectors: terms joined by commas, each a field, = == or !=, and a value with escapes. */

#include "kube/selector.h"

#include "base/limits.h"

#include <stdlib.h>

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* Cuts at the first comma without a backslash before it. */
static str cut_term(str *rest)
{
    str s = *rest;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\') {
            i++;
        } else if (s.p[i] == ',') {
            *rest = str_sub(s, i + 1, s.n);
            return str_sub(s, 0, i);
        }
    }
    *rest = STR_NONE;
    return s;
}

/* The character at i, whole even if it has several bytes. */
static str character(str s, size_t i)
{
    size_t n = 1;

    while (n < 4 && i + n < s.n && ((unsigned char)s.p[i + n] & 0xc0) == 0x80)
        n++;
    return str_sub(s, i, i + n);
}

static int unescape(struct arena *a, str s, str *out, str *why)
{
    static const char where[] = "invalid field selector:";

    if (str_find(s, '\\') < 0 && str_find(s, ',') < 0 && str_find(s, '=') < 0) {
        *out = s;
        return 0;
    }
    char *start = arena_alloc(a, s.n + 1);
    char *to = start;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ',' || s.p[i] == '=') {
            *why = arena_printf(a, "%s unescaped character in value: %d", where, s.p[i]);
            return -1;
        }
        if (s.p[i] == '\\') {
            i++;
            if (i == s.n || !s.p[i] || !strchr("\\,=", s.p[i])) {
                str bad = character(s, i);
                *why =
                    arena_printf(a, "%s invalid escape sequence: \\%" PRI_STR, where, STR_ARG(bad));
                return -1;
            }
        }
        *to++ = s.p[i];
    }
    *to = 0;
    *out = (str){ start, (size_t)(to - start) };
    return 0;
}

static int parse_term(struct arena *a, str all, str term, struct field_term *out, str *why)
{
    for (size_t i = 0; i < term.n; i++) {
        str rest = str_sub(term, i, term.n);
        bool unequal = str_starts(rest, S("!="));
        if (!unequal && rest.p[0] != '=')
            continue;
        bool two = unequal || str_starts(rest, S("=="));
        out->field = str_sub(term, 0, i);
        out->equal = !unequal;
        return unescape(a, str_sub(rest, two ? 2 : 1, rest.n), &out->value, why);
    }
    *why = arena_printf(a, "invalid selector: '%" PRI_STR "'; can't understand '%" PRI_STR "'",
                        STR_ARG(all), STR_ARG(term));
    return -1;
}

int field_selector_parse(struct arena *a, str text, struct field_selector *out, str *why)
{
    size_t most = 1;
    size_t n = 0;

    if (text.n > LIMIT_SELECTOR_BYTES) {
        *why = arena_printf(a, "a selector of %zu bytes is too long", text.n);
        return -1;
    }
    for (size_t i = 0; i < text.n; i++)
        most += text.p[i] == ',';
    str *terms = ARENA_ARRAY(a, str, most);
    for (str rest = text; rest.p;) {
        str term = cut_term(&rest);
        if (term.n)
            terms[n++] = term;
    }
    if (n)
        qsort(terms, n, sizeof(*terms), by_bytes); /* so that the same terms print the same */
    struct field_selector s = { ARENA_ARRAY(a, struct field_term, n), 0 };
    for (size_t i = 0; i < n; i++) {
        struct field_term *t = &s.at[s.n];
        if (parse_term(a, text, terms[i], t, why) < 0)
            return -1;
        s.n += t->field.n || t->value.n; /* a mere "=" says nothing, as in Kubernetes */
    }
    *out = s;
    return 0;
}

bool field_selector_matches(const struct field_selector *s, field_lookup *lookup, const void *ctx)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(lookup(ctx, s->at[i].field), s->at[i].value) != s->at[i].equal)
            return false;
    return true;
}

str field_selector_text(struct arena *a, const struct field_selector *s)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < s->n; i++) {
        const struct field_term *t = &s->at[i];
        if (i)
            buf_addc(&b, ',');
        buf_add(&b, t->field);
        buf_add(&b, t->equal ? S("=") : S("!="));
        for (size_t j = 0; j < t->value.n; j++) {
            if (t->value.p[j] && strchr("\\,=", t->value.p[j]))
                buf_addc(&b, '\\');
            buf_addc(&b, t->value.p[j]);
        }
    }
    return arena_str(a, buf_str(&b));
}
