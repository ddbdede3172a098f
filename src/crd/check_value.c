/* Checking a value against a schema's rules, in the order and words of kube-openapi's validator. On
 * update a part that is as it was before may be as wrong as it was before (ratcheting). */

#include "crd/gotext.h"
#include "crd/rules.h"
#include "crd/verdict.h"
#include "kube/goprint.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

/* A value and what it was, walked down together by the structural schema. */
struct pair {
    const struct schema *schema;
    jv now;
    jv old;
};

struct at { /* where we are */
    const struct path *path;
    const struct pair *pair; /* NULL: nothing to compare with */
};

static void check(struct verdict *out, const struct schema *s, struct at at, jv v);

/* ---- saying what is wrong */

static str name_of(struct verdict *out, struct at at)
{
    return path_str(out->a, at.path);
}

__attribute__((format(printf, 4, 5))) static void flaw(struct verdict *out, struct at at,
                                                       struct flaw f, const char *fmt, ...)
{
    va_list ap;

    if (out->quiet) {
        out->n++;
        return;
    }
    f.name = name_of(out, at);
    va_start(ap, fmt);
    str words = arena_vprintf(out->a, fmt, ap);
    va_end(ap);
    f.text =
        arena_printf(out->a, "%" PRI_STR " in body %" PRI_STR, STR_ARG(f.name), STR_ARG(words));
    verdict_add(out, f);
}

__attribute__((format(printf, 3, 4))) static void flaw_shapeless(struct verdict *out, struct at at,
                                                                 const char *fmt, ...)
{
    va_list ap;

    if (out->quiet) {
        out->n++;
        return;
    }
    va_start(ap, fmt);
    str words = arena_vprintf(out->a, fmt, ap);
    va_end(ap);
    str name = go_quote(out->a, name_of(out, at));
    verdict_add(out, (struct flaw){ .type = PROBLEM_INVALID,
                                    .shapeless = true,
                                    .text = arena_printf(out->a, "%" PRI_STR " %" PRI_STR,
                                                         STR_ARG(name), STR_ARG(words)) });
}

static void flaw_type(struct verdict *out, struct at at, str want, str got)
{
    if (out->quiet) {
        out->n++;
        return;
    }
    flaw(out, at, (struct flaw){ .type = PROBLEM_TYPE_INVALID, .value = jstr(out->a, got) },
         "must be of type %" PRI_STR ": %" PRI_STR, STR_ARG(want), STR_ARG(go_quote(out->a, got)));
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

static void check_type(struct verdict *out, const struct schema *s, struct at at, jv v)
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

static void check_string(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    str s = jv_str(v, STR_NONE);
    bool counted = r->max_length >= 0 || r->min_length >= 0;
    int64_t n = counted ? (int64_t)rune_count(s) : 0;

    if (r->max_length >= 0 && n > r->max_length)
        flaw(out, at, (struct flaw){ .type = PROBLEM_TOO_LONG, .limit = r->max_length },
             "should be at most %" PRId64 " chars long", r->max_length);
    else if (r->min_length >= 0 && n < r->min_length)
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
             "should be at least %" PRId64 " chars long", r->min_length);
    else if (r->pattern && !pattern_match(r->pattern, s))
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
             "should match '%" PRI_STR "'", STR_ARG(r->pattern_text));
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

static void check_number(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    if (r->has_multiple && (jv_is(v, JV_INT) ? to_int(r->multiple) <= 0 : r->multiple <= 0)) {
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
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
             "should be a multiple of %" PRI_STR, STR_ARG(bound_text(out->a, v, r->multiple)));
    }
    if (r->has_min && compare(v, r->min) < (r->exclusive_min ? 1 : 0))
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
             "should be greater than %s%" PRI_STR, r->exclusive_min ? "" : "or equal to ",
             STR_ARG(bound_text(out->a, v, r->min)));
    if (r->has_max && compare(v, r->max) > (r->exclusive_max ? -1 : 0))
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = v },
             "should be less than %s%" PRI_STR, r->exclusive_max ? "" : "or equal to ",
             STR_ARG(bound_text(out->a, v, r->max)));
    out->matches += 2;
}

static void check_enum(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    if (!jv_exists(r->enums))
        return;
    for (struct jv_iter it = jv_iter(r->enums); jv_next(&it) && !jv_is_null(v);) {
        bool cut =
            jv_is(v, JV_NUM) && jv_is(it.value, JV_INT); /* compared as integers, as Go does */
        if (cut ? to_int(jv_double(v, 0)) == jv_int(it.value, 0) : jv_equal(it.value, v))
            return;
    }
    flaw(out, at, (struct flaw){ .type = PROBLEM_NOT_SUPPORTED, .value = v, .enums = r->enums },
         "should be one of %" PRI_STR, STR_ARG(goprint_text(out->a, r->enums)));
}

/* ---- walking down */

/* The old element with the same keys; absent: none, or the list is not told apart by keys. */
static jv old_element(const struct schema *s, jv old, jv element)
{
    if (s->list != LIST_MAP || !jv_is(element, JV_OBJ))
        return JV_ABSENT;
    for (struct jv_iter it = jv_iter(old); jv_next(&it);) {
        bool same = jv_is(it.value, JV_OBJ);
        for (const char *const *k = s->list_keys; same && *k; k++)
            same = jv_equal(jv_get(it.value, str_of(*k)), jv_get(element, str_of(*k)));
        if (same)
            return it.value;
    }
    return JV_ABSENT;
}

static const struct schema *member_schema(const struct schema *s, str key)
{
    const struct schema *prop = s->rules ? rules_prop(s->rules, key) : NULL;

    return prop || !s->rules ? prop : s->rules->more;
}

static bool pair_key(const struct pair *up, str key, struct pair *out)
{
    if (!up || !up->schema)
        return false;
    *out =
        (struct pair){ member_schema(up->schema, key), jv_get(up->now, key), jv_get(up->old, key) };
    return out->schema && jv_exists(out->now) && jv_exists(out->old);
}

static bool pair_index(const struct pair *up, size_t i, struct pair *out)
{
    if (!up || !up->schema || !up->schema->rules || !up->schema->rules->items)
        return false;
    jv now = jv_index(up->now, i);
    *out = (struct pair){ up->schema->rules->items, now, old_element(up->schema, up->old, now) };
    return jv_exists(out->old);
}

/* As it was before; what cannot be followed by the schema counts as changed. */
static bool is_unchanged(const struct pair *p)
{
    struct pair child;

    if (jv_is_null(p->now) || jv_is_null(p->old))
        return jv_is_null(p->now) && jv_is_null(p->old);
    if (jv_is(p->now, JV_OBJ) && jv_is(p->old, JV_OBJ)) {
        if (jv_len(p->now) != jv_len(p->old))
            return false;
        for (struct jv_iter it = jv_iter(p->now); jv_next(&it);)
            if (!pair_key(p, it.key, &child) || !is_unchanged(&child))
                return false;
        return true;
    }
    if (jv_is(p->now, JV_ARR) && jv_is(p->old, JV_ARR) && p->schema->list == LIST_MAP) {
        if (jv_len(p->now) != jv_len(p->old))
            return false;
        for (size_t i = 0; i < jv_len(p->now); i++)
            if (!pair_index(p, i, &child) || !is_unchanged(&child))
                return false;
        return true;
    }
    return jv_equal(p->now, p->old);
}

/* A child with its pair: what it finds is dropped when nothing there changed. */
static void check_child(struct verdict *out, const struct schema *s, const struct path *path,
                        const struct pair *pair, jv v)
{
    struct at at = { path, pair };

    if (!pair) {
        check(out, s, at, v);
        return;
    }
    struct verdict own = { .a = out->a, .quiet = out->quiet };
    check(&own, s, at, v);
    if (own.n && is_unchanged(pair))
        own.n = 0;
    verdict_merge(out, &own);
}

static void check_member(struct verdict *out, const struct schema *s, struct at at, str key, jv v)
{
    struct path path = path_field(at.path, key);
    struct pair pair;
    bool type_meta = !at.path && (str_eq(key, S("kind")) || str_eq(key, S("apiVersion")));

    check_child(out, s, &path, !type_meta && pair_key(at.pair, key, &pair) ? &pair : NULL, v);
}

static void check_array(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    int64_t n = (int64_t)jv_len(v);

    for (size_t i = 0; r->items && i < jv_len(v); i++) {
        struct path path = path_index(at.path, i);
        struct pair pair;
        check_child(out, r->items, &path, pair_index(at.pair, i, &pair) ? &pair : NULL,
                    jv_index(v, i));
    }
    if (r->min_items >= 0 && n < r->min_items)
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = jint(out->a, n) },
             "should have at least %" PRId64 " items", r->min_items);
    if (r->max_items >= 0 && n > r->max_items)
        flaw(out, at,
             (struct flaw){
                 .type = PROBLEM_TOO_MANY, .value = jint(out->a, n), .limit = r->max_items },
             "should have at most %" PRId64 " items", r->max_items);
    bool twice = false;
    for (size_t i = 1; r->unique && !twice && i < jv_len(v); i++)
        for (size_t k = 0; k < i; k++)
            twice = twice || jv_equal(jv_index(v, i), jv_index(v, k));
    if (twice)
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID }, "shouldn't contain duplicates");
    out->matches += 2;
}

static void check_required(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    for (size_t i = 0; i < r->n_required; i++) {
        if (jv_exists(jv_get(v, r->required[i])))
            continue;
        struct path path = path_field(at.path, r->required[i]);
        flaw(out, (struct at){ &path, NULL }, (struct flaw){ .type = PROBLEM_REQUIRED },
             "is required");
    }
}

static void check_object(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    int64_t n = (int64_t)jv_len(v);

    if (r->min_props >= 0 && n < r->min_props)
        flaw(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = jint(out->a, n) },
             "should have at least %" PRId64 " properties", r->min_props);
    if (r->max_props >= 0 && n > r->max_props)
        flaw(out, at,
             (struct flaw){
                 .type = PROBLEM_TOO_MANY, .value = jint(out->a, n), .limit = r->max_props },
             "should have at most %" PRId64 " properties", r->max_props);
    for (struct jv_iter it = jv_iter(v); r->additional && jv_next(&it);) {
        if (rules_prop(r, it.key))
            continue;
        if (r->more)
            check_member(out, r->more, at, it.key, it.value);
        else if (!r->additional_allowed)
            verdict_add(out, (struct flaw){ .type = PROBLEM_INVALID,
                                            .name = name_of(out, at),
                                            .value = jstr(out->a, it.key),
                                            .text = arena_printf(out->a,
                                                                 "%" PRI_STR ".%" PRI_STR
                                                                 " in body is a forbidden property",
                                                                 STR_ARG(name_of(out, at)),
                                                                 STR_ARG(it.key)) });
    }
    for (size_t i = 0; i < r->n_props; i++) {
        jv member = jv_get(v, r->props[i].name);
        if (jv_exists(member))
            check_member(out, r->props[i].schema, at, r->props[i].name, member);
    }
    check_required(out, r, at, v);
    out->matches++;
}

/* ---- anyOf and its like */

/* How many of the list hold; *matches gets those of the first. Nothing is told. */
static int count_valid(struct arena *a, const struct schema_list_of *l, struct at at, jv v,
                       int at_most, int *matches)
{
    int valid = 0;

    for (size_t i = 0; i < l->n && valid < at_most; i++) {
        struct verdict one = { .a = a, .quiet = true };
        check(&one, l->at[i], at, v);
        if (!one.n && !valid++)
            *matches = one.matches;
    }
    return valid;
}

/* None holds: the flaws of the one that went furthest. */
static void tell_best(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    struct verdict best = { .a = out->a, .matches = -1 };

    for (size_t i = 0; !out->quiet && i < l->n; i++) { /* nobody counts the matches of a failure */
        struct verdict one = { .a = out->a };
        check(&one, l->at[i], at, v);
        if (one.matches > best.matches)
            best = one;
    }
    verdict_merge(out, &best);
}

static void check_any(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    int matches = 0;

    if (count_valid(out->a, l, at, v, 1, &matches)) {
        out->matches += matches;
        return;
    }
    flaw_shapeless(out, at, "must validate at least one schema (anyOf)");
    tell_best(out, l, at, v);
}

static void check_one(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    int matches = 0;
    int valid = count_valid(out->a, l, at, v, INT_MAX, &matches);

    if (valid == 1) {
        out->matches += matches;
    } else if (valid) {
        flaw_shapeless(out, at,
                       "must validate one and only one schema (oneOf). Found %d valid alternatives",
                       valid);
    } else {
        flaw_shapeless(out, at, "must validate one and only one schema (oneOf). Found none valid");
        tell_best(out, l, at, v);
    }
}

static void check_all(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    size_t valid = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct verdict one = { .a = out->a, .quiet = out->quiet };
        check(&one, l->at[i], at, v);
        valid += !one.n;
        verdict_merge(out, &one);
    }
    if (valid != l->n)
        flaw_shapeless(out, at, "must validate all the schemas (allOf)%s",
                       valid ? "" : ". None validated");
}

static void check_junctors(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    if (r->any_of.n)
        check_any(out, &r->any_of, at, v);
    if (r->one_of.n)
        check_one(out, &r->one_of, at, v);
    if (r->all_of.n)
        check_all(out, &r->all_of, at, v);
    if (r->not ) {
        struct verdict one = { .a = out->a, .quiet = true };
        check(&one, r->not, at, v);
        if (!one.n)
            flaw_shapeless(out, at, "must not validate the schema (not)");
    }
    out->matches += 2;
}

static void check(struct verdict *out, const struct schema *s, struct at at, jv v)
{
    const struct crd_rules *r = s->rules;

    if (!r)
        return;
    if (jv_is_null(v)) {
        check_type(out, s, at, v);
        check_enum(out, r, at, v);
        return;
    }
    if (r->types || r->format.n) {
        check_type(out, s, at, v);
        out->matches++;
    }
    check_junctors(out, r, at, v);
    if (jv_is(v, JV_STR))
        check_string(out, r, at, v);
    else if (jv_is(v, JV_INT) || jv_is(v, JV_NUM))
        check_number(out, r, at, v);
    else if (jv_is(v, JV_ARR))
        check_array(out, r, at, v);
    check_enum(out, r, at, v);
    if (jv_is(v, JV_OBJ))
        check_object(out, r, at, v);
    out->matches += 2; /* the enum's, and the schema's own */
}

void check_values(struct problems *ps, const struct schema *s, const struct path *prefix, jv v,
                  jv old, bool has_old)
{
    struct verdict out = { .a = ps->a };
    struct pair pair = { s, v, old };

    check_child(&out, s, NULL, has_old ? &pair : NULL, v);
    verdict_tell(&out, ps, prefix);
}
