/* What makes a schema structural: every value has a type, and anyOf, allOf, oneOf and not only
 * restrict what is declared outside of them. */

#include "crd/define.h"

#include <stdlib.h>

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

static bool is_on(jv s, const char *key)
{
    return jv_bool(jv_get(s, str_of(key)), false);
}

bool structural_possible(jv s)
{
    static const char *const never[] = { "id",           "$schema",
                                         "$ref",         "patternProperties",
                                         "dependencies", "additionalItems",
                                         "definitions" };
    static const char *const one[] = { "items", "not", "additionalProperties" };
    static const char *const many[] = { "properties", "anyOf", "allOf", "oneOf" };

    if (!jv_is(s, JV_OBJ))
        return true;
    for (size_t i = 0; i < COUNT(never); i++)
        if (!jv_is_null(jv_get(s, str_of(never[i]))))
            return false;
    if (jv_is(jv_at(s, "items"), JV_ARR) ||
        !jv_bool(jv_at(s, "x-kubernetes-preserve-unknown-fields"), true))
        return false;
    for (size_t i = 0; i < COUNT(one); i++)
        if (!structural_possible(jv_get(s, str_of(one[i]))))
            return false;
    for (size_t i = 0; i < COUNT(many); i++)
        JV_EACH (it, jv_get(s, str_of(many[i])))
            if (!structural_possible(it.value))
                return false;
    return true;
}

/* ---- inside anyOf and its like */

static void check_nested(struct problems *ps, const struct path *p, jv s, bool skip_any);

static void check_junctors(struct problems *ps, const struct path *p, jv s, bool skip_any,
                           bool skip_first_all)
{
    static const char *const lists[] = { "anyOf", "allOf", "oneOf" };
    str pattern = text_of(s, "pattern");
    struct err e = { 0 };

    for (size_t k = 0; k < COUNT(lists); k++) {
        JV_EACH (it, jv_get(s, str_of(lists[k]))) {
            struct path at = path_index(ATZ(p, lists[k]), it.i - 1);
            if (k > 0 || !skip_any)
                check_nested(ps, &at, it.value, k == 1 && it.i == 1 && skip_first_all);
        }
    }
    if (jv_is(jv_at(s, "not"), JV_OBJ))
        check_nested(ps, AT(p, "not"), jv_at(s, "not"), false);
    if (pattern.n && !pattern_new(ps->a, pattern, &e)) {
        struct path at = path_field(p, S("pattern"));
        problem_invalid(ps, &at, jv_at(s, "pattern"),
                        "must be a valid regular expression, but isn't: %s", e.msg);
    }
}

/* What may only be said outside, with the words for it. */
static void check_forbidden(struct problems *ps, const struct path *p, jv s)
{
    static const struct {
        const char *key;
        const char *words;
    } rows[] = {
        { "type", "empty" },
        { "additionalProperties", "undefined" },
        { "default", "undefined" },
        { "title", "empty" },
        { "description", "empty" },
        { "nullable", "false" },
        { "x-kubernetes-preserve-unknown-fields", "false" },
        { "x-kubernetes-embedded-resource", "false" },
        { "x-kubernetes-int-or-string", "false" },
        { "x-kubernetes-list-map-keys", "empty" },
        { "x-kubernetes-list-type", "undefined" },
        { "x-kubernetes-map-type", "undefined" },
        { "x-kubernetes-validations", "empty" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        jv v = jv_get(s, str_of(rows[i].key));
        bool empty = jv_is_null(v) || (jv_is(v, JV_BOOL) && !jv_bool(v, false)) ||
                     (jv_is(v, JV_STR) && !jv_str(v, STR_NONE).n && i != 2) ||
                     (jv_is(v, JV_ARR) && !jv_len(v) && i != 2);
        if (!empty || (i == 2 && !jv_is_null(v)))
            problem_forbidden(ps, ATZ(p, rows[i].key), "must be %s to be structural",
                              rows[i].words);
    }
}

static void check_nested(struct problems *ps, const struct path *p, jv s, bool skip_any)
{
    struct path props = path_field(p, S("properties"));

    check_junctors(ps, p, s, skip_any, false);
    if (jv_is(jv_at(s, "items"), JV_OBJ))
        check_nested(ps, AT(p, "items"), jv_at(s, "items"), false);
    JV_EACH (it, jv_at(s, "properties")) {
        check_nested(ps, ATK(&props, it.key), it.value, false);
    }
    check_forbidden(ps, p, s);
    if (jv_exists(jv_at(s, "properties", "metadata")))
        problem_forbidden(ps, ATK(&props, S("metadata")),
                          "must not be specified in a nested context");
}

/* anyOf: [{type: integer}, {type: string}], which int-or-string may say. */
static bool is_int_or_string(jv any)
{
    jv first = jv_index(any, 0);
    jv second = jv_index(any, 1);

    return jv_len(any) == 2 && jv_len(first) == 1 && jv_len(second) == 1 &&
           str_eq(text_of(first, "type"), S("integer")) &&
           str_eq(text_of(second, "type"), S("string"));
}

/* ---- the structure */

static void check_type(struct problems *ps, const struct path *p, jv s, enum level level)
{
    static const char *const where[] = { "at the root", "for specified array items",
                                         "for specified object fields" };
    struct path type = path_field(p, S("type"));
    bool embedded = is_on(s, "x-kubernetes-embedded-resource");
    bool open = is_on(s, "x-kubernetes-preserve-unknown-fields");
    str name = text_of(s, "type");

    if (embedded && !name.n)
        problem_required(ps, &type, "must be object if x-kubernetes-embedded-resource is true");
    else if (embedded && !str_eq(name, S("object")))
        problem_invalid(ps, &type, jv_at(s, "type"),
                        "must be object if x-kubernetes-embedded-resource is true");
    else if (!name.n && !open && !is_on(s, "x-kubernetes-int-or-string"))
        problem_required(ps, &type, "must not be empty %s", where[level]);
    if (level == LEVEL_ROOT && name.n && !str_eq(name, S("object")))
        problem_invalid(ps, &type, jv_at(s, "type"), "must be object at the root");
    if (embedded && !open && !jv_len(jv_at(s, "properties")))
        problem_required(ps, AT(p, "properties"),
                         "must not be empty if x-kubernetes-embedded-resource is true "
                         "without x-kubernetes-preserve-unknown-fields");
}

static void check_extensions(struct problems *ps, const struct path *p, jv s)
{
    static const char *const keys[] = { "x-kubernetes-preserve-unknown-fields",
                                        "x-kubernetes-embedded-resource" };

    for (size_t i = 0; i < COUNT(keys); i++) {
        if (is_on(s, "x-kubernetes-int-or-string") && is_on(s, keys[i]))
            problem_invalid(ps, ATZ(p, keys[i]), JV_TRUE,
                            "must be false if x-kubernetes-int-or-string is true");
    }
}

/* Root metadata may restrict name and generateName, and say nothing else. */
static bool is_plain_metadata(jv meta)
{
    JV_EACH (it, meta) {
        bool fine = str_eq(it.key, S("type")) || str_eq(it.key, S("default")) ||
                    str_eq(it.key, S("example")) || str_eq(it.key, S("externalDocs"));
        bool empty = jv_is_null(it.value) || !jv_bool(it.value, true) ||
                     (jv_is(it.value, JV_STR) && !jv_str(it.value, STR_NONE).n) ||
                     ((jv_is(it.value, JV_ARR) || jv_is(it.value, JV_OBJ)) && !jv_len(it.value));
        if (str_eq(it.key, S("properties"))) {
            size_t known = (size_t)jv_exists(jv_at(it.value, "name")) +
                           (size_t)jv_exists(jv_at(it.value, "generateName"));
            fine = known == jv_len(it.value);
        }
        if (!fine && !empty)
            return false;
    }
    return true;
}

static void check_meta(struct problems *ps, const struct path *p, jv s, enum level level)
{
    static const char *const strings[] = { "kind", "apiVersion" };
    struct path props = path_field(p, S("properties"));
    bool resource = level == LEVEL_ROOT || is_on(s, "x-kubernetes-embedded-resource");
    jv meta = jv_at(s, "properties", "metadata");

    for (size_t i = 0; resource && i < COUNT(strings); i++) {
        jv field = jv_at(s, "properties", strings[i]);
        struct path at = path_key(&props, str_of(strings[i]));
        struct path type = path_field(&at, S("type"));
        if (jv_exists(field) && !str_eq(text_of(field, "type"), S("string")))
            problem_invalid(ps, &type, jstr(ps->a, text_of(field, "type")), "must be string");
    }
    if (!jv_exists(meta))
        return;
    struct path at = path_key(&props, S("metadata"));
    struct path type = path_field(&at, S("type"));
    if (resource && !str_eq(text_of(meta, "type"), S("object")))
        problem_invalid(ps, &type, jstr(ps->a, text_of(meta, "type")), "must be object");
    if (level == LEVEL_ROOT && !is_plain_metadata(meta))
        problem_forbidden(ps, &at,
                          "must not specify anything other than name and generateName, but "
                          "metadata is implicitly specified");
}

static void check_invariants(struct problems *ps, const struct path *p, jv s, enum level level)
{
    struct path items = path_field(p, S("items"));
    struct path more = path_field(p, S("additionalProperties"));
    jv additional = jv_at(s, "additionalProperties");

    if (str_eq(text_of(s, "type"), S("array")) && !jv_is(jv_at(s, "items"), JV_OBJ))
        problem_required(ps, &items, "must be specified");
    if (jv_is(jv_at(s, "items"), JV_OBJ))
        check_invariants(ps, &items, jv_at(s, "items"), LEVEL_ITEM);
    JV_EACH (it, jv_at(s, "properties")) {
        check_invariants(ps, ATK(AT(p, "properties"), it.key), it.value, LEVEL_FIELD);
    }
    if (!jv_is_null(additional) && level == LEVEL_ROOT)
        problem_forbidden(ps, &more, "must not be used at the root");
    if (jv_is(additional, JV_OBJ))
        check_invariants(ps, &more, additional, LEVEL_FIELD);
    if (!jv_is_null(additional) && is_on(s, "x-kubernetes-embedded-resource"))
        problem_forbidden(ps, &more, "must not be used if x-kubernetes-embedded-resource is set");
    check_extensions(ps, p, s);
    check_junctors(ps, p, s, is_int_or_string(jv_at(s, "anyOf")),
                   is_int_or_string(jv_at(jv_index(jv_at(s, "allOf"), 0), "anyOf")));
    check_type(ps, p, s, level);
    check_meta(ps, p, s, level);
}

/* ---- completeness: what the root's anyOf and its like speak of must be declared outside */

static void check_complete(struct problems *ps, jv nested, jv s, const struct path *sp,
                           const struct path *np);

static void check_complete_junctors(struct problems *ps, jv nested, jv s, const struct path *sp,
                                    const struct path *np)
{
    static const char *const lists[] = { "allOf", "anyOf", "oneOf" };

    if (jv_is(jv_at(nested, "not"), JV_OBJ))
        check_complete(ps, jv_at(nested, "not"), s, sp, AT(np, "not"));
    for (size_t k = 0; k < COUNT(lists); k++) {
        JV_EACH (it, jv_get(nested, str_of(lists[k]))) {
            check_complete(ps, it.value, s, sp, EACH_AT(ATZ(np, lists[k]), it));
        }
    }
}

static void check_complete(struct problems *ps, jv nested, jv s, const struct path *sp,
                           const struct path *np)
{
    if (!jv_is(s, JV_OBJ)) {
        problem_required(ps, sp, "because it is defined in %" PRI_STR,
                         STR_ARG(path_str(ps->a, np)));
        return;
    }
    check_complete_junctors(ps, nested, s, sp, np);
    if (jv_is(jv_at(nested, "items"), JV_OBJ))
        check_complete(ps, jv_at(nested, "items"), jv_at(s, "items"), AT(sp, "items"),
                       AT(np, "items"));
    JV_EACH (it, jv_at(nested, "properties")) {
        check_complete(ps, it.value, jv_get(jv_at(s, "properties"), it.key),
                       ATK(AT(sp, "properties"), it.key), ATK(AT(np, "properties"), it.key));
    }
}

static int by_text(const void *x, const void *y)
{
    const struct problem *a = x;
    const struct problem *b = y;
    int c = str_cmp(a->field, b->field);

    return c ? c : str_cmp(a->message, b->message);
}

void structural_check(struct problems *ps, const struct path *p, jv schema)
{
    struct problems own = { .a = ps->a };

    check_invariants(&own, p, schema, LEVEL_ROOT);
    check_complete_junctors(&own, schema, schema, p, p);
    if (own.n)
        qsort(own.at, own.n, sizeof(*own.at), by_text);
    for (size_t i = 0; i < own.n; i++)
        problem_move(ps, NULL, &own.at[i]);
}
