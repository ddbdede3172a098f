/* Types as OpenAPI schemas: the built-in ones from their tables, custom ones from their own. */

#include "builtin/types/types.h"
#include "builtin/openapi/internal.h"

/* ---- which types a document needs */

static bool has_members(const struct schema *s)
{
    return s->type == SCHEMA_OBJECT || s->type == SCHEMA_LIST || s->type == SCHEMA_MAP ||
           s->type == SCHEMA_ANY;
}

void types_need(struct types_needed *t, const struct schema *s)
{
    if (s->name) {
        if (map_get(&t->seen, str_of(s->name)))
            return;
        vec_push(t, s);
        map_put(&t->seen, str_of(s->name), t);
    }
    if (!has_members(s))
        return;
    for (size_t i = 0; i < s->n_fields; i++)
        types_need(t, s->fields[i].schema);
    if (s->items)
        types_need(t, s->items);
}

void types_needed_done(struct types_needed *t)
{
    map_done(&t->seen);
    vec_done(t);
}

/* ---- built-in types */

static void print_strings(struct writer *w, const char *key, const char *const *strings)
{
    w_open_member(w, key, '[');
    for (; *strings; strings++)
        w_str(w, str_of(*strings));
    w_close(w, ']');
}

static void print_merging(struct writer *w, const struct schema *s)
{
    if (s->type == SCHEMA_LIST && s->list == LIST_MAP) {
        print_strings(w, "x-kubernetes-list-map-keys", s->list_keys);
        w_member(w, "x-kubernetes-list-type", S("map"));
    } else if (s->type == SCHEMA_LIST && s->list == LIST_SET) {
        w_member(w, "x-kubernetes-list-type", S("set"));
    } else if (s->type == SCHEMA_MAP && s->map_atomic) {
        w_member(w, "x-kubernetes-map-type", S("atomic"));
    }
    if (s->patch_key)
        w_member(w, "x-kubernetes-patch-merge-key", str_of(s->patch_key));
    if (s->patch_merge)
        w_member(w, "x-kubernetes-patch-strategy",
                 s->patch_retain_keys ? S("merge,retainKeys") : S("merge"));
    else if (s->patch_retain_keys)
        w_member(w, "x-kubernetes-patch-strategy", S("retainKeys"));
    else if (s->patch_replace)
        w_member(w, "x-kubernetes-patch-strategy", S("replace"));
}

static const struct {
    const char *type;
    const char *format;
} forms[] = {
    [SCHEMA_ANY] = { NULL, NULL },
    [SCHEMA_OBJECT] = { "object", NULL },
    [SCHEMA_MAP] = { "object", NULL },
    [SCHEMA_LIST] = { "array", NULL },
    [SCHEMA_STRING] = { "string", NULL },
    [SCHEMA_BOOL] = { "boolean", NULL },
    [SCHEMA_INT32] = { "integer", "int32" },
    [SCHEMA_INT64] = { "integer", "int64" },
    [SCHEMA_NUMBER] = { "number", "double" },
    [SCHEMA_INT_OR_STRING] = { "string", "int-or-string" },
    [SCHEMA_QUANTITY] = { "string", NULL },
    [SCHEMA_TIME] = { "string", "date-time" },
    [SCHEMA_MICRO_TIME] = { "string", "date-time" },
    [SCHEMA_DURATION] = { "string", NULL },
    [SCHEMA_BYTES] = { "string", "byte" },
};

/* v3 can say that a value is of one of two types; v2 clients are used to "string". */
static void print_either(struct writer *w, const char *one, const char *other)
{
    const char *const types[] = { one, other };

    w_open_member(w, "oneOf", '[');
    for (size_t i = 0; i < COUNT(types); i++) {
        w_open(w, '{');
        w_member(w, "type", str_of(types[i]));
        w_close(w, '}');
    }
    w_close(w, ']');
}

static void print_form(struct writer *w, const struct schema *s)
{
    bool free_object = s == &schema_raw || s == &schema_fields_v1;
    bool either = !w->v2 && (s->type == SCHEMA_QUANTITY || s->type == SCHEMA_INT_OR_STRING);

    if (free_object)
        w_member(w, "type", S("object"));
    else if (forms[s->type].type && !either)
        w_member(w, "type", str_of(forms[s->type].type));
    if (forms[s->type].format)
        w_member(w, "format", str_of(forms[s->type].format));
    if (either)
        print_either(w, s->type == SCHEMA_QUANTITY ? "string" : "integer",
                     s->type == SCHEMA_QUANTITY ? "number" : "string");
    if (s->values)
        print_strings(w, "enum", s->values);
}

static void print_property(struct writer *w, const struct schema *s, const char *doc)
{
    bool bare = !doc && !s->patch_retain_keys && !s->patch_replace;

    w_open(w, '{');
    if (doc)
        w_member(w, "description", str_of(doc));
    if (s->name && (w->v2 || bare)) {
        w_ref(w, str_of(s->name));
    } else if (s->name) { /* v3 does not look at what stands beside a $ref */
        w_open_member(w, "allOf", '[');
        w_open(w, '{');
        w_ref(w, str_of(s->name));
        w_close(w, '}');
        w_close(w, ']');
    } else {
        print_form(w, s);
        if (s->items) {
            w_key(w, s->type == SCHEMA_LIST ? S("items") : S("additionalProperties"));
            print_property(w, s->items, NULL);
        }
    }
    print_merging(w, s);
    w_close(w, '}');
}

static void print_gvk(struct writer *w, str group, str version, str kind)
{
    w_open_member(w, "x-kubernetes-group-version-kind", '[');
    w_open(w, '{');
    w_member(w, "group", group);
    w_member(w, "kind", kind);
    w_member(w, "version", version);
    w_close(w, '}');
    w_close(w, ']');
}

/* Types that clients send although no row of kinds.c has them. */
static const struct {
    const struct schema *schema;
    const char *group;
    const char *version;
    const char *kind;
} loose_kinds[] = {
    { &autoscaling1_Scale, "autoscaling", "v1", "Scale" },
    { &policy_Eviction, "policy", "v1", "Eviction" },
    { &authn_TokenRequest, "authentication.k8s.io", "v1", "TokenRequest" },
    { &meta_DeleteOptions, "", "v1", "DeleteOptions" },
    { &meta_Status, "", "v1", "Status" },
};

static void print_gvk_of(struct writer *w, const struct schema *s)
{
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (k->schema == s)
            print_gvk(w, str_of(k->group), str_of(k->version), str_of(k->kind));
    }
    for (size_t i = 0; i < METRICS_KINDS; i++) {
        const struct builtin_kind *k = &metrics_kinds[i];
        if (k->schema == s)
            print_gvk(w, str_of(k->group), str_of(k->version), str_of(k->kind));
    }
    for (size_t i = 0; i < COUNT(loose_kinds); i++)
        if (loose_kinds[i].schema == s)
            print_gvk(w, str_of(loose_kinds[i].group), str_of(loose_kinds[i].version),
                      str_of(loose_kinds[i].kind));
}

static void print_fields(struct writer *w, const struct schema *s)
{
    bool any_required = false;

    for (size_t i = 0; i < s->n_fields; i++) {
        if (!(s->fields[i].flags & FIELD_REQUIRED))
            continue;
        if (!any_required)
            w_open_member(w, "required", '[');
        any_required = true;
        w_str(w, s->fields[i].name);
    }
    if (any_required)
        w_close(w, ']');
    if (!s->n_fields)
        return;
    w_open_member(w, "properties", '{');
    for (size_t i = 0; i < s->n_fields; i++) {
        w_key(w, s->fields[i].name);
        print_property(w, s->fields[i].schema, s->fields[i].doc);
    }
    w_close(w, '}');
}

void print_type(struct writer *w, const struct schema *s)
{
    w_open_member(w, s->name, '{');
    if (s->doc)
        w_member(w, "description", str_of(s->doc));
    print_form(w, s);
    if (s->type == SCHEMA_OBJECT) {
        print_fields(w, s);
        if (s->map_atomic)
            w_member(w, "x-kubernetes-map-type", S("atomic"));
        print_gvk_of(w, s);
    }
    w_close(w, '}');
}

/* ---- lists, all alike */

static void print_ref_property(struct writer *w, const char *key, str name)
{
    w_open_member(w, key, '{');
    w_ref(w, name);
    w_close(w, '}');
}

static void print_string_property(struct writer *w, const char *key)
{
    w_open_member(w, key, '{');
    w_member(w, "type", S("string"));
    w_close(w, '}');
}

void print_list_type(struct writer *w, const struct resource *r)
{
    str package = str_sub(r->type, 0, (size_t)(str_rfind(r->type, '.') + 1));
    AUTO(buf) struct buf name = { 0 };

    buf_add(&name, package);
    buf_add(&name, r->list_kind);
    w_key(w, buf_str(&name));
    w_open(w, '{');
    w_member(w, "type", S("object"));
    w_open_member(w, "required", '[');
    w_str(w, S("items"));
    w_close(w, ']');
    w_open_member(w, "properties", '{');
    print_string_property(w, "apiVersion");
    w_open_member(w, "items", '{');
    w_member(w, "type", S("array"));
    print_ref_property(w, "items", r->type);
    w_close(w, '}');
    print_string_property(w, "kind");
    print_ref_property(w, "metadata", str_of(meta_ListMeta.name));
    w_close(w, '}');
    print_gvk(w, r->group, r->version, r->list_kind);
    w_close(w, '}');
}

/* ---- custom types */

/* v2 knows less: what it cannot say is left out, and where null is fine nothing is said of the
 * type, so that old clients do not refuse what the server takes. */
static bool v2_lacks(str key)
{
    static const char *const keys[] = { "default", "oneOf", "anyOf", "allOf", "not", "nullable" };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (str_eqz(key, keys[i]))
            return true;
    return false;
}

static bool v2_says_shape(str key)
{
    return str_eqz(key, "type") || str_eqz(key, "properties") || str_eqz(key, "items") ||
           str_eqz(key, "additionalProperties") || str_eqz(key, "required");
}

static void print_custom(struct writer *w, jv schema);

static void print_custom_map(struct writer *w, jv schemas)
{
    w_open(w, '{');
    JV_EACH (it, schemas) {
        w_key(w, it.key);
        print_custom(w, it.value);
    }
    w_close(w, '}');
}

/* One schema of a custom resource, root excepted. v3 takes it as it is. */
static void print_custom(struct writer *w, jv schema)
{
    bool open = jv_bool(jv_at(schema, "x-kubernetes-preserve-unknown-fields"), false) ||
                jv_bool(jv_at(schema, "nullable"), false);

    if (!w->v2 || !jv_is(schema, JV_OBJ)) {
        w_value(w, schema);
        return;
    }
    w_open(w, '{');
    JV_EACH (it, schema) {
        if (v2_lacks(it.key) || (open && v2_says_shape(it.key)))
            continue;
        w_key(w, it.key);
        if (str_eqz(it.key, "properties"))
            print_custom_map(w, it.value);
        else if (str_eqz(it.key, "items") || str_eqz(it.key, "additionalProperties"))
            print_custom(w, it.value);
        else
            w_value(w, it.value);
    }
    w_close(w, '}');
}

static bool is_header(str name)
{
    return str_eqz(name, "apiVersion") || str_eqz(name, "kind") || str_eqz(name, "metadata");
}

void print_custom_type(struct writer *w, const struct resource *r)
{
    w_key(w, r->type);
    w_open(w, '{');
    JV_EACH (it, r->custom) {
        if (str_eqz(it.key, "properties") || str_eqz(it.key, "type") || (w->v2 && v2_lacks(it.key)))
            continue;
        w_key(w, it.key);
        w_value(w, it.value);
    }
    w_member(w, "type", S("object"));
    w_open_member(w, "properties", '{');
    print_string_property(w, "apiVersion");
    print_string_property(w, "kind");
    print_ref_property(w, "metadata", str_of(meta_ObjectMeta.name));
    JV_EACH (it, jv_at(r->custom, "properties")) {
        if (is_header(it.key))
            continue;
        w_key(w, it.key);
        print_custom(w, it.value);
    }
    w_close(w, '}');
    print_gvk(w, r->group, r->version, r->kind);
    w_close(w, '}');
}
