/* openAPIV3Schema of a definition, keyword by keyword. What makes it structural is elsewhere. */

#include "crd/define.h"

struct scope {
    const char *no_defaults; /* why a default may not be here; NULL: it may */
    bool in_meta;            /* inside apiVersion, kind or metadata of a resource */
};

static void check_keywords(struct problems *ps, const struct path *p, jv s, struct scope scope)
{
    static const char *const types[] = { "array",  "boolean", "integer", "number",
                                         "object", "string",  NULL };
    static const char *const unsupported[] = {
        "id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"
    };
    struct path type = path_field(p, S("type"));
    str name = text_of(s, "type");
    bool known = !name.n;

    for (size_t i = 0; types[i]; i++)
        known = known || str_eqz(name, types[i]);
    if (!known)
        problem_not_supported(ps, &type, jv_at(s, "type"), types);
    if (scope.no_defaults && !jv_is_null(jv_at(s, "default")))
        problem_forbidden(ps, AT(p, "default"), "must not be set %s", scope.no_defaults);
    for (size_t i = 0; i < COUNT(unsupported); i++) {
        jv v = jv_get(s, str_of(unsupported[i]));
        if (!jv_is_null(v) && !(jv_is(v, JV_OBJ) && !jv_len(v) && i != 4))
            problem_forbidden(ps, ATZ(p, unsupported[i]), "%s is not supported", unsupported[i]);
    }
    if (str_eq(name, S("null")))
        problem_forbidden(ps, &type, "type cannot be set to null, use nullable as an alternative");
    if (jv_len(jv_at(s, "items")) && jv_is(jv_at(s, "items"), JV_ARR))
        problem_forbidden(ps, AT(p, "items"), "items must be a schema object and not an array");
    if (scope.in_meta && jv_bool(jv_at(s, "x-kubernetes-embedded-resource"), false))
        problem_forbidden(ps, AT(p, "x-kubernetes-embedded-resource"),
                          "must not be used inside of resource meta");
    if (jv_bool(jv_at(s, "uniqueItems"), false))
        problem_forbidden(ps, AT(p, "uniqueItems"),
                          "uniqueItems cannot be set to true since the runtime complexity becomes "
                          "quadratic");
}

/* type must be `want` where the extension is given. */
static void check_type_for(struct problems *ps, const struct path *p, jv s, const char *want,
                           const char *extension)
{
    struct path type = path_field(p, S("type"));
    str name = text_of(s, "type");

    if (!name.n)
        problem_required(ps, &type, "must be %s if %s is specified", want, extension);
    else if (!str_eqz(name, want))
        problem_invalid(ps, &type, jv_at(s, "type"), "must be %s if %s is specified", want,
                        extension);
}

static void check_set(struct problems *ps, const struct path *p, jv items)
{
    struct path at = path_field(p, S("items"));
    jv type = jv_at(items, "x-kubernetes-list-type");
    static const char words[] = "must be atomic as item of a list with x-kubernetes-list-type=set";

    if (str_eq(text_of(items, "type"), S("array")) && !jv_is_null(type) &&
        !str_eq(jv_str(type, STR_NONE), S("atomic")))
        problem_invalid(ps, AT(&at, "x-kubernetes-list-type"), type, "%s", words);
    if (str_eq(text_of(items, "type"), S("object")) &&
        !str_eq(text_of(items, "x-kubernetes-map-type"), S("atomic")))
        problem_invalid(ps, AT(&at, "x-kubernetes-map-type"), type, "%s",
                        words); /* it shows the list type here, too */
}

static bool holds(jv list, str text)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(it.value, STR_NONE), text))
            return true;
    return false;
}

static void check_map_keys(struct problems *ps, const struct path *p, jv items, jv keys)
{
    struct path at = path_field(p, S("x-kubernetes-list-map-keys"));

    JV_EACH (it, keys) {
        str key = jv_str(it.value, S(""));
        jv prop = jv_get(jv_at(items, "properties"), key);
        struct path type = path_field(ATK(AT(AT(p, "items"), "properties"), key), S("type"));
        if (!jv_exists(prop))
            problem_invalid(ps, &at, keys, "entries must all be names of item properties");
        else if (str_eq(text_of(prop, "type"), S("array")) ||
                 str_eq(text_of(prop, "type"), S("object")))
            problem_invalid(
                ps, &type, jv_at(items, "type"),
                "must be a scalar type if parent array's x-kubernetes-list-type is map");
        for (size_t i = 0; i + 1 < it.i; i++)
            if (str_eq(jv_str(jv_index(keys, i), S("")), key))
                problem_invalid(ps, &at, keys, "must not contain duplicate entries");
    }
}

static void check_map(struct problems *ps, const struct path *p, jv s)
{
    struct path items_at = path_field(p, S("items"));
    jv keys = jv_at(s, "x-kubernetes-list-map-keys");
    jv items = jv_at(s, "items");

    if (!jv_len(keys))
        problem_required(ps, AT(p, "x-kubernetes-list-map-keys"),
                         "must not be empty if x-kubernetes-list-type is map");
    if (jv_is_null(items))
        problem_required(ps, &items_at, "must have a schema if x-kubernetes-list-type is map");
    if (!jv_is(items, JV_OBJ))
        return;
    if (!str_eq(text_of(items, "type"), S("object")))
        problem_invalid(ps, AT(&items_at, "type"), jstr(ps->a, text_of(items, "type")),
                        "must be object if parent array's x-kubernetes-list-type is map");
    else
        check_map_keys(ps, p, items, keys);
}

/* Elements and their keys are never null and always there. */
static void check_members(struct problems *ps, const struct path *p, jv s, str list)
{
    struct path items_at = path_field(p, S("items"));
    jv items = jv_at(s, "items");

    if (jv_bool(jv_at(items, "nullable"), false))
        problem_forbidden(ps, AT(&items_at, "nullable"),
                          "cannot be nullable when x-kubernetes-list-type is %" PRI_STR,
                          STR_ARG(list));
    if (!str_eq(list, S("map")))
        return;
    JV_EACH (it, jv_at(s, "x-kubernetes-list-map-keys")) {
        str key = jv_str(it.value, S(""));
        jv prop = jv_get(jv_at(items, "properties"), key);
        struct path field = path_key(AT(&items_at, "properties"), key);
        if (jv_exists(prop) && !holds(jv_at(items, "required"), key) &&
            jv_is_null(jv_at(prop, "default")))
            problem_required(ps, AT(&field, "default"),
                             "this property is in x-kubernetes-list-map-keys, so it must have a "
                             "default or be a required property");
        if (jv_bool(jv_at(prop, "nullable"), false))
            problem_forbidden(
                ps, AT(&field, "nullable"),
                "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
}

static void check_merge(struct problems *ps, const struct path *p, jv s)
{
    static const char *const maps[] = { "atomic", "granular", NULL };
    static const char *const lists[] = { "atomic", "set", "map", NULL };
    struct path list_at = path_field(p, S("x-kubernetes-list-type"));
    jv list = jv_at(s, "x-kubernetes-list-type");
    jv map = jv_at(s, "x-kubernetes-map-type");
    str kind = jv_str(list, S(""));
    jv items = jv_at(s, "items");

    if (!jv_is_null(map)) {
        str name = jv_str(map, S(""));
        check_type_for(ps, p, s, "object", "x-kubernetes-map-type");
        if (!str_eqz(name, maps[0]) && !str_eqz(name, maps[1]))
            problem_not_supported(ps, AT(p, "x-kubernetes-map-type"), map, maps);
    }
    if (!jv_is_null(list)) {
        check_type_for(ps, p, s, "array", "x-kubernetes-list-type");
        if (str_eq(text_of(s, "type"), S("array")) && str_eq(kind, S("set")))
            check_set(ps, p, items);
        if (!str_eqz(kind, lists[0]) && !str_eqz(kind, lists[1]) && !str_eqz(kind, lists[2]))
            problem_not_supported(ps, &list_at, list, lists);
    }
    if (jv_len(jv_at(s, "x-kubernetes-list-map-keys"))) {
        if (jv_is_null(list))
            problem_required(ps, &list_at,
                             "must be map if x-kubernetes-list-map-keys is non-empty");
        else if (!str_eq(kind, S("map")))
            problem_invalid(ps, &list_at, list,
                            "must be map if x-kubernetes-list-map-keys is non-empty");
    }
    if (str_eq(kind, S("map")))
        check_map(ps, p, s);
    if (jv_is(items, JV_OBJ) && (str_eq(kind, S("map")) || str_eq(kind, S("set"))))
        check_members(ps, p, s, kind);
}

/* ---- x-kubernetes-validations, but for the expressions themselves */

static bool has_lines(str s)
{
    return str_find(s, '\n') >= 0 || str_find(s, '\r') >= 0;
}

static void check_rule_texts(struct problems *ps, const struct path *p, jv rule)
{
    struct path message_at = path_field(p, S("message"));
    str message = text_of(rule, "message");

    if (!str_trim(text_of(rule, "rule")).n)
        problem_required(ps, AT(p, "rule"), "rule is not specified");
    else if (message.n && !str_trim(message).n)
        problem_invalid(ps, &message_at, jv_at(rule, "message"), "must be non-empty if specified");
    else if (has_lines(str_trim(message)))
        problem_invalid(ps, &message_at, jv_at(rule, "message"), "must not contain line breaks");
    else if (has_lines(str_trim(text_of(rule, "rule"))) && !message.n)
        problem_required(ps, &message_at, "message must be specified if rule contains line breaks");
}

static void check_rule(struct problems *ps, const struct path *p, jv s, jv rule)
{
    static const char *const reasons[] = { "FieldValueDuplicate", "FieldValueForbidden",
                                           "FieldValueInvalid", "FieldValueRequired", NULL };
    struct path path_at = path_field(p, S("fieldPath"));
    jv reason = jv_at(rule, "reason");
    str path = text_of(rule, "fieldPath");
    bool known = jv_is_null(reason);

    check_rule_texts(ps, p, rule);
    if (text_of(rule, "messageExpression").n && !str_trim(text_of(rule, "messageExpression")).n)
        problem_required(ps, AT(p, "messageExpression"),
                         "messageExpression must be non-empty if specified");
    for (size_t i = 0; reasons[i]; i++)
        known = known || str_eqz(jv_str(reason, S("")), reasons[i]);
    if (!known)
        problem_not_supported(ps, AT(p, "reason"), reason, reasons);
    if (!path.n)
        return;
    if (!str_trim(path).n)
        problem_invalid(ps, &path_at, jv_at(rule, "fieldPath"), "must be non-empty if specified");
    if (has_lines(path))
        problem_invalid(ps, &path_at, jv_at(rule, "fieldPath"), "must not contain line breaks");
    if (!jv_exists(schema_at_path(s, path, true, NULL)))
        problem_invalid(ps, &path_at, jv_at(rule, "fieldPath"), "must be a valid path");
}

/* ---- walking */

static void check(struct problems *ps, const struct path *p, jv s, struct scope scope, bool root);

static void check_list(struct problems *ps, const struct path *p, jv s, const char *key,
                       struct scope scope)
{
    JV_EACH (it, jv_get(s, str_of(key))) {
        check(ps, EACH_AT(ATZ(p, key), it), it.value, scope, false);
    }
}

static void check_properties(struct problems *ps, const struct path *p, jv s, struct scope scope,
                             bool root)
{
    static const struct {
        const char *name;
        const char *no_defaults;
    } meta[] = { { "metadata", "in top-level metadata" },
                 { "kind", "in top-level kind" },
                 { "apiVersion", "in top-level apiVersion" } };
    bool resource = root || jv_bool(jv_at(s, "x-kubernetes-embedded-resource"), false);

    JV_EACH (it, jv_at(s, "properties")) {
        struct scope sub = scope;
        for (size_t i = 0; resource && i < COUNT(meta); i++)
            if (str_eqz(it.key, meta[i].name)) {
                sub.in_meta = true;
                sub.no_defaults = root ? meta[i].no_defaults : sub.no_defaults;
            }
        check(ps, ATK(AT(p, "properties"), it.key), it.value, sub, false);
    }
}

static void check(struct problems *ps, const struct path *p, jv s, struct scope scope, bool root)
{
    struct path more = path_field(p, S("additionalProperties"));
    jv additional = jv_at(s, "additionalProperties");

    check_keywords(ps, p, s, scope);
    if (jv_len(jv_at(s, "properties")) && !jv_is_null(additional) && !jv_bool(additional, false))
        problem_forbidden(ps, &more, "additionalProperties and properties are mutual exclusive");
    if (jv_is(additional, JV_OBJ)) {
        struct scope sub = scope;
        if (scope.in_meta)
            sub.no_defaults = "inside additionalProperties applying to object metadata";
        check(ps, &more, additional, sub, false);
    }
    check_properties(ps, p, s, scope, root);
    if (jv_is(jv_at(s, "not"), JV_OBJ))
        check(ps, AT(p, "not"), jv_at(s, "not"), scope, false);
    check_list(ps, p, s, "allOf", scope);
    check_list(ps, p, s, "oneOf", scope);
    check_list(ps, p, s, "anyOf", scope);
    if (jv_is(jv_at(s, "items"), JV_OBJ))
        check(ps, AT(p, "items"), jv_at(s, "items"), scope, false);
    else
        check_list(ps, p, s, "items", scope);
    if (!jv_bool(jv_at(s, "x-kubernetes-preserve-unknown-fields"), true))
        problem_invalid(ps, AT(p, "x-kubernetes-preserve-unknown-fields"), JV_FALSE,
                        "must be true or undefined");
    check_merge(ps, p, s);
    JV_EACH (it, jv_at(s, "x-kubernetes-validations")) {
        check_rule(ps, EACH_AT(AT(p, "x-kubernetes-validations"), it), s, it.value);
    }
}

void define_schema_check(struct problems *ps, const struct path *p, jv schema)
{
    check(ps, p, schema, (struct scope){ 0 }, true);
}
