/* Label selectors made from objects, matched and printed; selector_parse.c reads their text. */

#include "kube/selector.h"
#include "kube/selector_parse.h"

#include "kube/names.h"

#include <stdlib.h>

static const struct {
    const char *name; /* in objects; NULL: only in text */
    const char *sign; /* between key and values */
} ops[] = {
    [SELECT_EQUALS] = { NULL, "=" },
    [SELECT_DOUBLE_EQUALS] = { NULL, "==" },
    [SELECT_NOT_EQUALS] = { NULL, "!=" },
    [SELECT_IN] = { "In", " in " },
    [SELECT_NOT_IN] = { "NotIn", " notin " },
    [SELECT_EXISTS] = { "Exists", "" },
    [SELECT_NOT_EXISTS] = { "DoesNotExist", "" },
    [SELECT_GREATER] = { NULL, ">" },
    [SELECT_LESS] = { NULL, "<" },
};

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static bool is_set(enum selector_op op)
{
    return op == SELECT_IN || op == SELECT_NOT_IN;
}

/* What is wrong with the number of values; NULL if nothing. */
static const char *wrong_count(enum selector_op op, size_t n)
{
    switch (op) {
    case SELECT_IN:
    case SELECT_NOT_IN:
        return n ? NULL : "for 'in', 'notin' operators, values set can't be empty";
    case SELECT_EQUALS:
    case SELECT_DOUBLE_EQUALS:
    case SELECT_NOT_EQUALS:
        return n == 1 ? NULL : "exact-match compatibility requires one single value";
    case SELECT_EXISTS:
    case SELECT_NOT_EXISTS:
        return n ? "values set must be empty for exists and does not exist" : NULL;
    case SELECT_GREATER:
    case SELECT_LESS:
        return n == 1 ? NULL : "for 'Gt', 'Lt' operators, exactly one value is required";
    }
    return NULL;
}

static jv values_json(struct arena *a, const str *values, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, jstr(a, values[i]));
    return n ? jb_done(&b) : JV_ABSENT;
}

static void check_name(struct problems *ps, const struct path *p, str value, name_rule *rule)
{
    struct name_errors errs = rule(value);

    if (errs.n)
        problem_invalid(ps, p, jstr(ps->a, value), "%" PRI_STR,
                        STR_ARG(name_join(ps->a, &errs, "; ")));
}

int requirement_init(struct arena *a, struct requirement *r, str *values, size_t n, str *why)
{
    struct problems ps = { .a = a };
    struct path list = path_field(NULL, S("values"));
    const char *count = wrong_count(r->op, n);

    check_name(&ps, ROOT("key"), r->key, name_qualified);
    if (count)
        problem_invalid(&ps, &list, values_json(a, values, n), "%s", count);
    for (size_t i = 0; i < n && (r->op == SELECT_GREATER || r->op == SELECT_LESS); i++) {
        struct path at = path_index(&list, i);
        str number = str_sub(values[i], values[i].n && values[i].p[0] == '+', values[i].n);
        if (!str_to_int(number, &r->bound))
            problem_invalid(&ps, &at, jstr(a, values[i]),
                            "for 'Gt', 'Lt' operators, the value must be an integer");
    }
    for (size_t i = 0; i < n; i++) {
        struct path at = path_index(&list, i);
        check_name(&ps, ATK(&at, r->key), values[i], name_label_value);
    }
    if (ps.n) {
        *why = problems_text(a, &ps);
        return -1;
    }
    if (n)
        qsort(values, n, sizeof(*values), by_bytes);
    r->values = values;
    r->n = n;
    return 0;
}

/* By key, those of one key in their order. Selectors are short but for hostile ones, so merging. */
static void sort(struct requirement *at, size_t n, struct requirement *spare)
{
    size_t half = n / 2;
    size_t i = 0;
    size_t j = half;

    if (n < 2)
        return;
    sort(at, half, spare);
    sort(at + half, n - half, spare);
    for (size_t k = 0; k < n; k++) {
        bool first = j == n || (i < half && str_cmp(at[i].key, at[j].key) <= 0);
        spare[k] = first ? at[i++] : at[j++];
    }
    memcpy(at, spare, n * sizeof(*at));
}

struct selector selector_of(struct arena *a, struct requirement *at, size_t n)
{
    sort(at, n, ARENA_ARRAY(a, struct requirement, n));
    return (struct selector){ .at = at, .n = n };
}

static int from_expression(struct arena *a, jv expression, struct requirement *r, str *why)
{
    str op = jv_str(jv_get(expression, S("operator")), S(""));
    jv list = jv_get(expression, S("values"));
    str *values = ARENA_ARRAY(a, str, jv_len(list));
    size_t n = 0;

    *r = (struct requirement){ .key = jv_str(jv_get(expression, S("key")), S("")) };
    for (r->op = 0; r->op < COUNT(ops); r->op++)
        if (ops[r->op].name && str_eqz(op, ops[r->op].name))
            break;
    if (r->op == COUNT(ops)) {
        *why =
            arena_printf(a, "\"%" PRI_STR "\" is not a valid label selector operator", STR_ARG(op));
        return -1;
    }
    JV_EACH (it, list)
        values[n++] = jv_str(it.value, S(""));
    return requirement_init(a, r, values, n, why);
}

int selector_from_object(struct arena *a, jv object, struct selector *out, str *why)
{
    jv labels = jv_get(object, S("matchLabels"));
    jv expressions = jv_get(object, S("matchExpressions"));
    size_t n = 0;

    if (jv_is_null(object)) {
        *out = (struct selector){ .nothing = true };
        return 0;
    }
    struct requirement *at =
        ARENA_ARRAY(a, struct requirement, jv_len(labels) + jv_len(expressions));
    for (struct jv_iter it = jv_iter(labels); jv_next(&it); n++) {
        str *value = ARENA_NEW(a, str);
        *value = jv_str(it.value, S(""));
        at[n] = (struct requirement){ .key = it.key, .op = SELECT_EQUALS };
        if (requirement_init(a, &at[n], value, 1, why) < 0)
            return -1;
    }
    for (struct jv_iter it = jv_iter(expressions); jv_next(&it); n++)
        if (from_expression(a, it.value, &at[n], why) < 0)
            return -1;
    *out = selector_of(a, at, n);
    return 0;
}

struct selector selector_from_labels(struct arena *a, jv labels)
{
    struct requirement *at = ARENA_ARRAY(a, struct requirement, jv_len(labels));
    size_t n = 0;

    for (struct jv_iter it = jv_iter(labels); jv_next(&it); n++) {
        str *value = ARENA_NEW(a, str);
        *value = jv_str(it.value, S(""));
        at[n] = (struct requirement){ it.key, SELECT_EQUALS, value, 1, 0 };
    }
    return selector_of(a, at, n);
}

static bool has_value(const struct requirement *r, str value)
{
    return bsearch(&value, r->values, r->n, sizeof(*r->values), by_bytes) != NULL;
}

static bool matches(const struct requirement *r, jv label)
{
    bool exists = jv_exists(label);
    str value = jv_str(label, S(""));
    int64_t number;

    switch (r->op) {
    case SELECT_EQUALS:
    case SELECT_DOUBLE_EQUALS:
        return exists && str_eq(value, r->values[0]);
    case SELECT_IN:
        return exists && has_value(r, value);
    case SELECT_NOT_EQUALS:
        return !exists || !str_eq(value, r->values[0]);
    case SELECT_NOT_IN:
        return !exists || !has_value(r, value);
    case SELECT_EXISTS:
        return exists;
    case SELECT_NOT_EXISTS:
        return !exists;
    case SELECT_GREATER:
        return exists && str_to_int(value, &number) && number > r->bound;
    case SELECT_LESS:
        return exists && str_to_int(value, &number) && number < r->bound;
    }
    return false;
}

bool selector_matches(const struct selector *s, jv labels)
{
    if (s->nothing)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!matches(&s->at[i], jv_get(labels, s->at[i].key)))
            return false;
    return true;
}

static void print(struct buf *b, const struct requirement *r)
{
    if (r->op == SELECT_NOT_EXISTS)
        buf_addc(b, '!');
    buf_add(b, r->key);
    buf_add(b, str_of(ops[r->op].sign));
    if (is_set(r->op))
        buf_addc(b, '(');
    for (size_t i = 0; i < r->n; i++) {
        if (i)
            buf_addc(b, ',');
        buf_add(b, r->values[i]);
    }
    if (is_set(r->op))
        buf_addc(b, ')');
}

str selector_text(struct arena *a, const struct selector *s)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < s->n; i++) {
        if (i)
            buf_addc(&b, ',');
        print(&b, &s->at[i]);
    }
    return arena_str(a, buf_str(&b));
}
