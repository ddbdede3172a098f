/* Walking a value and its schema together, in the order of kube-openapi's validator. On update a
 * part that is as it was before may be as wrong as it was before (ratcheting). */

#include "crd/check.h"

#include "crd/members.h"

#include <inttypes.h>
#include <limits.h>

static void check(struct verdict *out, const struct schema *s, struct at at, jv v);

/* A child with its pair: what it finds is dropped when nothing there changed. */
static void check_child(struct verdict *out, const struct schema *s, const struct path *path,
                        const struct pair *pair, jv v)
{
    struct at at = { path, pair };

    if (!pair) {
        check(out, s, at, v);
        return;
    }
    struct verdict own = {
        .a = out->a, .quiet = out->quiet, .spent = out->spent, .patterns = out->patterns
    };
    check(&own, s, at, v);
    if (own.n && pair_unchanged(pair))
        own.n = 0;
    verdict_merge(out, &own);
}

static void check_member(struct verdict *out, const struct schema *s, struct at at,
                         const struct old_list *old, str key, jv v)
{
    struct pair pair;
    bool type_meta = !at.path && (str_eq(key, S("kind")) || str_eq(key, S("apiVersion")));

    check_child(out, s, ATS(at.path, key),
                !type_meta && pair_key(old, key, v, &pair) ? &pair : NULL, v);
}

static void check_array(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    int64_t n = (int64_t)jv_len(v);

    struct old_list old;
    old_list_init(&old, at.pair);
    for (size_t i = 0; r->items && i < jv_len(v); i++) {
        struct pair pair;
        check_child(out, r->items, ATI(at.path, i), pair_index(&old, i, &pair) ? &pair : NULL,
                    jv_index(v, i));
    }
    old_list_done(&old);
    if (r->min_items >= 0 && n < r->min_items)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = jint(out->a, n) },
                 "should have at least %" PRId64 " items", r->min_items);
    if (r->max_items >= 0 && n > r->max_items)
        flaw_add(out, at,
                 (struct flaw){
                     .type = PROBLEM_TOO_MANY, .value = jint(out->a, n), .limit = r->max_items },
                 "should have at most %" PRId64 " items", r->max_items);
    bool twice = false;
    for (size_t i = 1; r->unique && !twice && i < jv_len(v); i++)
        for (size_t k = 0; k < i; k++)
            twice = twice || jv_equal(jv_index(v, i), jv_index(v, k));
    if (twice)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID }, "shouldn't contain duplicates");
    out->matches += 2;
}

static void check_required(struct verdict *out, const struct crd_rules *r, struct at at,
                           const struct members *m)
{
    for (size_t i = 0; i < r->n_required; i++) {
        if (jv_exists(members_get(m, r->required[i])))
            continue;
        flaw_add(out, (struct at){ ATS(at.path, r->required[i]), NULL },
                 (struct flaw){ .type = PROBLEM_REQUIRED }, "is required");
    }
}

static void check_object(struct verdict *out, const struct crd_rules *r, struct at at, jv v)
{
    int64_t n = (int64_t)jv_len(v);

    if (r->min_props >= 0 && n < r->min_props)
        flaw_add(out, at, (struct flaw){ .type = PROBLEM_INVALID, .value = jint(out->a, n) },
                 "should have at least %" PRId64 " properties", r->min_props);
    if (r->max_props >= 0 && n > r->max_props)
        flaw_add(out, at,
                 (struct flaw){
                     .type = PROBLEM_TOO_MANY, .value = jint(out->a, n), .limit = r->max_props },
                 "should have at most %" PRId64 " properties", r->max_props);
    struct old_list old;
    old_list_init(&old, at.pair);
    for (struct jv_iter it = jv_iter(v); r->additional && jv_next(&it);) {
        if (rules_prop(r, it.key))
            continue;
        if (r->more)
            check_member(out, r->more, at, &old, it.key, it.value);
        else if (!r->additional_allowed && !verdict_is_full(out))
            flaw_add_plain(out, at, jstr(out->a, it.key),
                           "%" PRI_STR ".%" PRI_STR " in body is a forbidden property",
                           STR_ARG(path_str(out->a, at.path)), STR_ARG(it.key));
    }
    struct members m;
    members_init(&m, v, r->n_props + r->n_required);
    for (size_t i = 0; i < r->n_props; i++) {
        jv member = members_get(&m, r->props[i].name);
        if (jv_exists(member))
            check_member(out, r->props[i].schema, at, &old, r->props[i].name, member);
    }
    check_required(out, r, at, &m);
    members_done(&m);
    old_list_done(&old);
    out->matches++;
}

/* ---- anyOf and its like */

/* How many of the list hold; *matches gets those of the first. Nothing is told. */
static int count_valid(struct verdict *out, const struct schema_list_of *l, struct at at, jv v,
                       int at_most, int *matches)
{
    int valid = 0;

    for (size_t i = 0; i < l->n && valid < at_most; i++) {
        struct verdict one = { .a = out->a, .quiet = true, .patterns = out->patterns };
        check(&one, l->at[i], at, v);
        if (!one.n && !valid++)
            *matches = one.matches;
    }
    return valid;
}

/* None holds: the flaws of the one that went furthest. */
static void tell_best(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    struct verdict best = {
        .a = out->a, .spent = out->spent, .patterns = out->patterns, .matches = -1
    };

    for (size_t i = 0; !out->quiet && i < l->n; i++) { /* nobody counts the matches of a failure */
        struct verdict one = { .a = out->a, .spent = out->spent, .patterns = out->patterns };
        check(&one, l->at[i], at, v);
        if (one.matches > best.matches)
            best = one;
    }
    verdict_merge(out, &best);
}

static void check_any(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    int matches = 0;

    if (count_valid(out, l, at, v, 1, &matches)) {
        out->matches += matches;
        return;
    }
    flaw_add_shapeless(out, at, "must validate at least one schema (anyOf)");
    tell_best(out, l, at, v);
}

static void check_one(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    int matches = 0;
    int valid = count_valid(out, l, at, v, INT_MAX, &matches);

    if (valid == 1) {
        out->matches += matches;
    } else if (valid) {
        flaw_add_shapeless(
            out, at, "must validate one and only one schema (oneOf). Found %d valid alternatives",
            valid);
    } else {
        flaw_add_shapeless(out, at,
                           "must validate one and only one schema (oneOf). Found none valid");
        tell_best(out, l, at, v);
    }
}

static void check_all(struct verdict *out, const struct schema_list_of *l, struct at at, jv v)
{
    size_t valid = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct verdict one = {
            .a = out->a, .quiet = out->quiet, .spent = out->spent, .patterns = out->patterns
        };
        check(&one, l->at[i], at, v);
        valid += !one.n;
        verdict_merge(out, &one);
    }
    if (valid != l->n)
        flaw_add_shapeless(out, at, "must validate all the schemas (allOf)%s",
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
        struct verdict one = { .a = out->a, .quiet = true, .patterns = out->patterns };
        check(&one, r->not, at, v);
        if (!one.n)
            flaw_add_shapeless(out, at, "must not validate the schema (not)");
    }
    out->matches += 2;
}

static void check(struct verdict *out, const struct schema *s, struct at at, jv v)
{
    const struct crd_rules *r = s->rules;

    if (!r)
        return;
    if (jv_is_null(v)) {
        keyword_type(out, s, at, v);
        keyword_enum(out, r, at, v);
        return;
    }
    if (r->types || r->format.n) {
        keyword_type(out, s, at, v);
        out->matches++;
    }
    check_junctors(out, r, at, v);
    if (jv_is(v, JV_STR))
        keyword_string(out, r, at, v);
    else if (jv_is(v, JV_INT) || jv_is(v, JV_NUM))
        keyword_number(out, r, at, v);
    else if (jv_is(v, JV_ARR))
        check_array(out, r, at, v);
    keyword_enum(out, r, at, v);
    if (jv_is(v, JV_OBJ))
        check_object(out, r, at, v);
    out->matches += 2; /* the enum's, and the schema's own */
}

void check_values(struct problems *ps, const struct schema *s, const struct path *prefix, jv v,
                  jv old, bool has_old)
{
    size_t spent = 0;
    struct verdict out = { .a = ps->a,
                           .spent = &spent,
                           .patterns = pattern_work_new(ps->a, ps->brief) };
    struct pair pair = { s, v, old };

    check_child(&out, s, NULL, has_old ? &pair : NULL, v);
    ps->cut = ps->cut || (ps->brief && pattern_work_gave_up(out.patterns));
    verdict_tell(&out, ps, prefix);
}
