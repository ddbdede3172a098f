/* From openAPIV3Schema to struct schema with rules. Runs once a definition; everything is looked up
 * by name here so that validation does not have to. */

#include "base/map.h"
#include "crd/rules.h"

#include <stdlib.h>

/* Parts that are written alike are built once: a pod template says {"type": "string"} six hundred
 * times, and what a probe is nine times. */
enum { SHARED_BYTES = 4096 };

struct builder {
    struct arena *a;
    const struct schema *object_meta;
    struct arena *scratch;
    struct map shared; /* by their text */
};

/* clang-format off */
#define NO_BOUNDS                        \
    .min_length = -1, .max_length = -1,  \
    .min_items = -1, .max_items = -1,    \
    .min_props = -1, .max_props = -1
/* clang-format on */

static const struct crd_rules no_rules = { NO_BOUNDS };
static const struct crd_rules string_rules = { .types = TYPE_STRING,
                                               .type_text = S_INIT("string"),
                                               NO_BOUNDS };
static const struct schema any_string = { .type = SCHEMA_STRING, .rules = &string_rules };
static const struct schema anything = { .type = SCHEMA_ANY, .rules = &no_rules };

static const struct schema_field meta_fields[] = {
    { S_INIT("generateName"), &any_string, 0, NULL },
    { S_INIT("name"), &any_string, 0, NULL },
};
static const struct crd_rules meta_rules = {
    .props = meta_fields,
    .n_props = COUNT(meta_fields),
    .types = TYPE_OBJECT,
    .type_text = S_INIT("object"),
    NO_BOUNDS,
};
static const struct schema metadata = { .type = SCHEMA_OBJECT, .rules = &meta_rules };
const struct schema *const schema_metadata = &metadata;
const struct schema *const schema_text = &any_string;

static const struct {
    str name;
    unsigned bit;
    enum schema_type type;
} types[] = {
    { S_INIT("boolean"), TYPE_BOOLEAN, SCHEMA_BOOL },
    { S_INIT("integer"), TYPE_INTEGER, SCHEMA_INT64 },
    { S_INIT("number"), TYPE_NUMBER, SCHEMA_NUMBER },
    { S_INIT("string"), TYPE_STRING, SCHEMA_STRING },
    { S_INIT("array"), TYPE_ARRAY, SCHEMA_LIST },
    { S_INIT("object"), TYPE_OBJECT, SCHEMA_OBJECT },
};

static const struct schema *build(struct builder *b, jv json);

static int by_name(const void *x, const void *y)
{
    const struct schema_field *a = x;
    const struct schema_field *b = y;

    return str_cmp(a->name, b->name);
}

/* n_props: none of that name. */
static size_t prop_index(const struct crd_rules *r, str name)
{
    size_t lo = 0;
    size_t hi = r->n_props;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = str_cmp(name, r->props[mid].name);
        if (c == 0)
            return mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return r->n_props;
}

const struct schema *rules_prop(const struct crd_rules *r, str name)
{
    size_t i = prop_index(r, name);

    return i < r->n_props ? r->props[i].schema : NULL;
}

static void build_props(struct builder *b, struct crd_rules *r, jv json)
{
    jv props = jv_at(json, "properties");
    struct schema_field *fields = ARENA_ARRAY(b->a, struct schema_field, jv_len(props));

    JV_EACH (it, props) {
        jv doc = jv_at(it.value, "description");
        fields[r->n_props++] = (struct schema_field){
            .name = it.key,
            .schema = build(b, it.value),
            .doc = jv_exists(doc) ? arena_z(b->a, jv_str(doc, STR_NONE)) : NULL,
        };
    }
    if (r->n_props)
        qsort(fields, r->n_props, sizeof(*fields), by_name);
    r->props = fields;
    JV_EACH (it, jv_at(json, "required")) {
        size_t i = prop_index(r, jv_str(it.value, STR_NONE));
        if (i < r->n_props)
            fields[i].flags = FIELD_REQUIRED;
    }
}

static struct schema_list_of build_list(struct builder *b, jv list)
{
    const struct schema **at = ARENA_ARRAY(b->a, const struct schema *, jv_len(list));
    size_t n = 0;

    JV_EACH (it, list)
        at[n++] = build(b, it.value);
    return (struct schema_list_of){ at, n };
}

static int by_text(const void *x, const void *y)
{
    const str *a = x;
    const str *b = y;

    return str_cmp(*a, *b);
}

static void build_enum(struct builder *b, struct crd_rules *r, jv list)
{
    str *texts = ARENA_ARRAY(b->a, str, jv_len(list));

    JV_EACH (it, list)
        if (jv_is(it.value, JV_STR))
            texts[r->n_texts++] = jv_str(it.value, STR_NONE);
    if (r->n_texts)
        qsort(texts, r->n_texts, sizeof(*texts), by_text);
    r->texts = texts;
    r->enums = list;
}

static void build_limits(struct builder *b, struct crd_rules *r, jv json)
{
    jv required = jv_at(json, "required");
    str *names = ARENA_ARRAY(b->a, str, jv_len(required));

    r->has_min = jv_exists(jv_at(json, "minimum"));
    r->has_max = jv_exists(jv_at(json, "maximum"));
    r->has_multiple = jv_exists(jv_at(json, "multipleOf"));
    r->min = jv_double(jv_at(json, "minimum"), 0);
    r->max = jv_double(jv_at(json, "maximum"), 0);
    r->multiple = jv_double(jv_at(json, "multipleOf"), 0);
    r->exclusive_min = jv_bool(jv_at(json, "exclusiveMinimum"), false);
    r->exclusive_max = jv_bool(jv_at(json, "exclusiveMaximum"), false);
    r->unique = jv_bool(jv_at(json, "uniqueItems"), false);
    r->min_length = jv_int(jv_at(json, "minLength"), -1);
    r->max_length = jv_int(jv_at(json, "maxLength"), -1);
    r->min_items = jv_int(jv_at(json, "minItems"), -1);
    r->max_items = jv_int(jv_at(json, "maxItems"), -1);
    r->min_props = jv_int(jv_at(json, "minProperties"), -1);
    r->max_props = jv_int(jv_at(json, "maxProperties"), -1);
    if (jv_len(jv_at(json, "enum")))
        build_enum(b, r, jv_at(json, "enum"));
    r->pattern_text = jv_str(jv_at(json, "pattern"), STR_NONE);
    if (r->pattern_text.n)
        r->pattern = pattern_new(b->a, r->pattern_text, NULL);
    JV_EACH (it, required)
        names[r->n_required++] = jv_str(it.value, STR_NONE);
    r->required = names;
}

static void build_type(struct crd_rules *r, struct schema *s, jv json)
{
    str type = jv_str(jv_at(json, "type"), STR_NONE);
    str format = jv_str(jv_at(json, "format"), STR_NONE);

    for (size_t i = 0; i < COUNT(types); i++)
        if (str_eq(type, types[i].name)) {
            r->types = types[i].bit;
            r->type_text = types[i].name;
            s->type = types[i].type;
        }
    if (jv_bool(jv_at(json, "x-kubernetes-int-or-string"), false)) {
        r->types = TYPE_INTEGER | TYPE_STRING;
        r->type_text = S("integer,string");
        s->type = SCHEMA_INT_OR_STRING;
    }
    if (s->type == SCHEMA_ANY && r->n_props)
        s->type = SCHEMA_OBJECT;
    if (s->type == SCHEMA_ANY && r->items)
        s->type = SCHEMA_LIST;
    if ((s->type == SCHEMA_ANY || s->type == SCHEMA_OBJECT) && r->additional && !r->n_props)
        s->type = SCHEMA_MAP;
    r->format_check = format_find(format);
    if (r->format_check)
        r->format = format;
}

/* The fields that others see: of a resource also apiVersion, kind and metadata. */
static void build_fields(struct builder *b, struct schema *s, const struct crd_rules *r, bool root)
{
    static const str implied[] = { S_INIT("apiVersion"), S_INIT("kind"), S_INIT("metadata") };
    struct schema_field *fields;

    s->fields = r->props;
    s->n_fields = r->n_props;
    s->sorted = true;
    if (!root && !s->embedded_resource)
        return;
    s->type = SCHEMA_OBJECT;
    fields = ARENA_ARRAY(b->a, struct schema_field, r->n_props + COUNT(implied));
    memcpy(fields, r->props, r->n_props * sizeof(*fields));
    for (size_t i = 0; i < COUNT(implied); i++) {
        struct schema_field *f = fields;
        while (f < fields + s->n_fields && !str_eq(f->name, implied[i]))
            f++;
        if (f == fields + s->n_fields) {
            *f = (struct schema_field){ .name = implied[i], .schema = &any_string };
            s->n_fields++;
        }
        if (i == 2) {
            f->schema = b->object_meta ? b->object_meta : &anything;
            f->doc = NULL;
        }
    }
    qsort(fields, s->n_fields, sizeof(*fields), by_name);
    s->fields = fields;
}

static void build_merge(struct builder *b, struct schema *s, jv json)
{
    str list = jv_str(jv_at(json, "x-kubernetes-list-type"), STR_NONE);
    jv keys = jv_at(json, "x-kubernetes-list-map-keys");

    s->map_atomic = str_eq(jv_str(jv_at(json, "x-kubernetes-map-type"), STR_NONE), S("atomic"));
    if (str_eq(list, S("set")))
        s->list = LIST_SET;
    if (!str_eq(list, S("map")))
        return;
    const char **names = ARENA_ARRAY(b->a, const char *, jv_len(keys) + 1);
    JV_EACH (it, keys)
        names[it.i - 1] = arena_z(b->a, jv_str(it.value, STR_NONE));
    s->list = LIST_MAP;
    s->list_keys = names;
}

static void note_below(const struct schema *s, struct crd_rules *r)
{
    for (size_t i = 0; i < r->n_props; i++)
        r->below |= r->props[i].schema->rules->below;
    if (r->items)
        r->below |= r->items->rules->below;
    if (r->more)
        r->below |= r->more->rules->below;
    if (jv_exists(s->dflt))
        r->below |= BELOW_DEFAULT;
    if (s->list != LIST_ATOMIC)
        r->below |= BELOW_LIST;
    if (s->embedded_resource)
        r->below |= BELOW_EMBEDDED;
}

static struct schema *build_new(struct builder *b, jv json, bool root)
{
    struct schema *s = ARENA_NEW(b->a, struct schema);
    struct crd_rules *r = ARENA_NEW(b->a, struct crd_rules);
    jv more = jv_at(json, "additionalProperties");
    jv dflt = jv_at(json, "default");

    build_props(b, r, json);
    build_limits(b, r, json);
    if (jv_is(jv_at(json, "items"), JV_OBJ))
        r->items = build(b, jv_at(json, "items"));
    if (jv_is(more, JV_OBJ) || jv_is(more, JV_BOOL)) {
        r->additional = true;
        r->additional_allowed = jv_bool(more, true);
        r->more = jv_is(more, JV_OBJ) ? build(b, more) : NULL;
    }
    r->any_of = build_list(b, jv_at(json, "anyOf"));
    r->one_of = build_list(b, jv_at(json, "oneOf"));
    r->all_of = build_list(b, jv_at(json, "allOf"));
    if (jv_is(jv_at(json, "not"), JV_OBJ))
        r->not = build(b, jv_at(json, "not"));
    build_type(r, s, json);
    if (jv_len(jv_at(json, "x-kubernetes-validations"))) {
        r->cel = jv_at(json, "x-kubernetes-validations");
        r->below |= BELOW_CEL;
    }
    if (jv_exists(jv_at(json, "description")))
        s->doc = arena_z(b->a, jv_str(jv_at(json, "description"), STR_NONE));
    s->preserve_unknown = jv_bool(jv_at(json, "x-kubernetes-preserve-unknown-fields"), false);
    s->embedded_resource = jv_bool(jv_at(json, "x-kubernetes-embedded-resource"), false);
    s->nullable = jv_bool(jv_at(json, "nullable"), false);
    if (!jv_is_null(dflt))
        s->dflt = dflt;
    s->items = s->type == SCHEMA_LIST ? r->items : r->more;
    if (!s->items && (s->type == SCHEMA_LIST || s->type == SCHEMA_MAP))
        s->items = &anything;
    build_merge(b, s, json);
    build_fields(b, s, r, root);
    note_below(s, r);
    r->resource = root || s->embedded_resource;
    s->rules = r;
    if (jv_exists(r->cel))
        r->programs = rules_compile(b->a, r->cel, s);
    return s;
}

static const struct schema *build(struct builder *b, jv json)
{
    struct schema *s = NULL;
    str text = STR_NONE;

    if (json_fits(json, SHARED_BYTES)) {
        text = json_text(b->scratch, json);
        s = map_get(&b->shared, text);
    }
    if (s)
        return s;
    s = build_new(b, json, false);
    if (text.n)
        map_put(&b->shared, text, s);
    return s;
}

const struct schema *schema_build(struct arena *a, jv json, const struct schema *object_meta)
{
    AUTO(arena) struct arena *scratch = arena_new();
    struct builder b = { .a = a, .object_meta = object_meta, .scratch = scratch };
    const struct schema *s = build_new(&b, json, true);

    map_done(&b.shared);
    return s;
}
