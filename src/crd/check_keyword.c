/* The keywords that look at one value only, in the words of kube-openapi's validator. */

#include "crd/check.h"
#include "crd/gotext.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static str name_of(struct verdict *out, struct at at)
{
    return path_str(out->a, at.path);
}

void flaw_add(struct verdict *out, struct at at, struct flaw f, const char *fmt, ...)
{
    va_list ap;

    if (verdict_is_full(out))
        return;
    f.name = name_of(out, at);
    va_start(ap, fmt);
    str words = arena_vprintf(out->a, fmt, ap);
    va_end(ap);
    f.text =
        arena_printf(out->a, "%" PRI_STR " in body %" PRI_STR, STR_ARG(f.name), STR_ARG(words));
    verdict_add(out, f);
}

void flaw_add_shapeless(struct verdict *out, struct at at, const char *fmt, ...)
{
    va_list ap;

    if (verdict_is_full(out))
        return;
    va_start(ap, fmt);
    str words = arena_vprintf(out->a, fmt, ap);
    va_end(ap);
    str name = go_quote(out->a, name_of(out, at));
    verdict_add(out, (struct flaw){ .type = PROBLEM_INVALID,
                                    .shapeless = true,
                                    .text = arena_printf(out->a, "%" PRI_STR " %" PRI_STR,
                                                         STR_ARG(name), STR_ARG(words)) });
}

void flaw_add_plain(struct verdict *out, struct at at, jv value, const char *fmt, ...)
{
    va_list ap;

    if (verdict_is_full(out))
        return;
    va_start(ap, fmt);
    str words = arena_vprintf(out->a, fmt, ap);
    va_end(ap);
    verdict_add(out, (struct flaw){ .type = PROBLEM_INVALID,
                                    .name = name_of(out, at),
                                    .value = value,
                                    .text = words });
}

static void flaw_type(struct verdict *out, struct at at, str want, str got)
{
    if (verdict_is_full(out))
        return;
    flaw_add(out, at, (struct flaw){ .type = PROBLEM_TYPE_INVALID, .value = jstr(out->a, got) },
             "must be of type %" PRI_STR ": %" PRI_STR, STR_ARG(want),
             STR_ARG(go_quote(out->a, got)));
}

/* ---- one keyword each */

static const struct {
    str type;
    str format;
    unsigned bit;
} kinds[] = {
    [JV_NONE] = { S_INIT("null"), S_INIT(""), TYPE_NULL },
    [JV_NULL] = { S_INIT("null"), S_INIT(""), TYPE_NULL },
    [JV_BOOL] = { S_INIT("boolean"), S_INIT(""), TYPE_BOOLEAN },
    [JV_INT] = { S_INIT("integer"), S_INIT("int64"), TYPE_INTEGER },
    [JV_NUM] = { S_INIT("number"), S_INIT("float64"), TYPE_NUMBER },
    [JV_STR] = { S_INIT("string"), S_INIT(""), TYPE_STRING },
    [JV_ARR] = { S_INIT("array"), S_INIT(""), TYPE_ARRAY },
    [JV_OBJ] = { S_INIT("object"), S_INIT(""), TYPE_OBJECT },
};

static bool is_whole(double d)
{
    return fabs(d) <= 9007199254740991.0 && floor(d) >= d;
}

void keyword_type(struct verdict *out, const struct schema *s, struct at at, jv v)
{
    const struct crd_rules *r = s->rules;
    enum jv_type t = jv_type(v);

    if (jv_is_null(v)) {
        if (r->types && !s->nullable)
            flaw_type(out, at, r->type_text, S("null"));
        else
            out->matches++;
        return;
    }
    bool fits = (r->types & kinds[t].bit) ||
                (t == JV_NUM && (r->types & TYPE_INTEGER) && is_whole(jv_double(v, 0))) ||
                (t == JV_INT && (r->types & TYPE_NUMBER));
    if (r->format.n && !(r->types & (TYPE_NUMBER | TYPE_INTEGER)) && (t == JV_STR || t == JV_ARR))
        fits = true; /* left to the format; lists slip through, as they do in Kubernetes */
    if (fits)
        out->matches++;
    else if (r->format.n && t != JV_STR && t != JV_ARR)
        flaw_type(out, at, r->format, kinds[t].format);
    else
        flaw_type(out, at, r->type_text, kinds[t].type);
}

static size_t rune_count(str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static void check_pattern(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    enum pattern_result rc = pattern_match(r->pattern, jv_str(v, STR_NONE), out->patterns);

    if (rc == PATTERN_DIFFERS)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
                 "should match '%" PRI_STR "'", STR_ARG(r->pattern_text));
    else if (rc == PATTERN_GIVEN_UP)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID },
                 "takes more steps to match '%" PRI_STR "' than are allowed for its length",
                 STR_ARG(r->pattern_text));
}

void keyword_string(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    str s = jv_str(v, STR_NONE);
    bool counted = r->max_length >= 0 || r->min_length >= 0;
    int64_t n = counted ? (int64_t)rune_count(s) : 0;

    if (r->max_length >= 0 && n > r->max_length)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_TOO_LONG, .limit = r->max_length },
                 "should be at most %" PRId64 " chars long", r->max_length);
    else if (r->min_length >= 0 && n < r->min_length)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
                 "should be at least %" PRId64 " chars long", r->min_length);
    else if (r->pattern)
        check_pattern(out, r, at, v);
    out->matches++;
    if (!r->format_check)
        return;
    if (!r->format_check(s))
        flaw_type(out, at, r->format, s);
    out->matches++;
}

/* As Go's int64(d) on amd64: the smallest integer where d does not fit. */
static int64_t to_int(double d)
{
    return d >= -9223372036854775808.0 && d < 9223372036854775808.0 ? (int64_t)d : INT64_MIN;
}

/* A bound as the text shows it: cut to an integer beside integers. */
static str bound_text(struct arena *a, jv v, double bound)
{
    return jv_is(v, JV_INT) ? arena_printf(a, "%" PRId64, to_int(bound)) : go_float(a, bound);
}

static bool is_multiple(jv v, double factor)
{
    if (jv_is(v, JV_INT))
        return jv_int(v, 0) % to_int(factor) == 0;
    double d = jv_double(v, 0);
    return is_whole(factor < 1 ? 1 / factor * d : d / factor);
}

/* Below 0, 0, above 0 as v compares with bound. */
static int compare(jv v, double bound)
{
    if (jv_is(v, JV_INT)) {
        int64_t i = jv_int(v, 0);
        int64_t b = to_int(bound);
        return (i > b) - (i < b);
    }
    double d = jv_double(v, 0);
    return (d > bound) - (d < bound);
}

void keyword_number(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    if (r->has_multiple && (jv_is(v, JV_INT) ? to_int(r->multiple) <= 0 : r->multiple <= 0)) {
        if (verdict_is_full(out))
            return;
        str text = bound_text(out->a, v, r->multiple);
        verdict_add(
            out, (struct flaw){ .type = PROBLEM_INVALID,
                                .name = name_of(out, at),
                                .value = jnum(out->a, text),
                                .text = arena_printf(out->a,
                                                     "factor MultipleOf declared for %" PRI_STR
                                                     " must be positive: %" PRI_STR,
                                                     STR_ARG(name_of(out, at)), STR_ARG(text)) });
    } else if (r->has_multiple && !is_multiple(v, r->multiple)) {
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
                 "should be a multiple of %" PRI_STR, STR_ARG(bound_text(out->a, v, r->multiple)));
    }
    if (r->has_min && compare(v, r->min) < (r->exclusive_min ? 1 : 0))
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
                 "should be greater than %s%" PRI_STR, r->exclusive_min ? "" : "or equal to ",
                 STR_ARG(bound_text(out->a, v, r->min)));
    if (r->has_max && compare(v, r->max) > (r->exclusive_max ? -1 : 0))
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
                 "should be less than %s%" PRI_STR, r->exclusive_max ? "" : "or equal to ",
                 STR_ARG(bound_text(out->a, v, r->max)));
    out->matches += 2;
}

static int by_text(const void *x, const void *y)
{
    const str *a = x;
    const str *b = y;

    return str_cmp(*a, *b);
}

static bool is_listed(const struct crd_rules *r, jv v)
{
    if (jv_is(v, JV_STR)) {
        str text = jv_str(v, STR_NONE);
        return bsearch(&text, r->texts, r->n_texts, sizeof(text), by_text);
    }
    for (struct jv_iter it = jv_iter(r->enums); jv_next(&it) && !jv_is_null(v);) {
        bool cut =
            jv_is(v, JV_NUM) && jv_is(it.value, JV_INT); /* compared as integers, as Go does */
        if (cut ? to_int(jv_double(v, 0)) == jv_int(it.value, 0) : jv_equal(it.value, v))
            return true;
    }
    return false;
}

void keyword_enum(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    if (!jv_exists(r->enums) || is_listed(r, v))
        return;
    flaw_add(out, at, (struct flaw){ .type = PROBLEM_NOT_SUPPORTED, .value = v, .enums = r->enums },
             "should be one of");
}
