/* Types become structural schemas. They accept, drop and fill in what those do that Kubernetes'
 * own generator makes of the same types: no known values are listed, lists are atomic unless said
 * otherwise, embedded metadata keeps five members. */

#include "manifest/shape.h"

#include "builtin/types/types.h"
#include "manifest/types.h"

#define QUANTITY_PATTERN                          \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))" \
    "(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"

/* Members with a default, whichever object they are in. JSON text. */
static const struct {
    const char *type;
    const char *field;
    const char *value;
} defaults[] = {
    { "AzureDiskVolumeSource", "cachingMode", "\"ReadWrite\"" },
    { "AzureDiskVolumeSource", "fsType", "\"ext4\"" },
    { "AzureDiskVolumeSource", "kind", "\"Shared\"" },
    { "AzureDiskVolumeSource", "readOnly", "false" },
    { "ConfigMapEnvSource", "name", "\"\"" },
    { "ConfigMapKeySelector", "name", "\"\"" },
    { "ConfigMapProjection", "name", "\"\"" },
    { "ConfigMapVolumeSource", "name", "\"\"" },
    { "ContainerPort", "protocol", "\"TCP\"" },
    { "FileKeySelector", "optional", "false" },
    { "GRPCAction", "service", "\"\"" },
    { "ISCSIVolumeSource", "iscsiInterface", "\"default\"" },
    { "LocalObjectReference", "name", "\"\"" },
    { "RBDVolumeSource", "keyring", "\"/etc/ceph/keyring\"" },
    { "RBDVolumeSource", "pool", "\"rbd\"" },
    { "RBDVolumeSource", "user", "\"admin\"" },
    { "RunPolicy", "suspend", "false" },
    { "ScaleIOVolumeSource", "fsType", "\"xfs\"" },
    { "ScaleIOVolumeSource", "storageMode", "\"ThinProvisioned\"" },
    { "SecretEnvSource", "name", "\"\"" },
    { "SecretKeySelector", "name", "\"\"" },
    { "SecretProjection", "name", "\"\"" },
};

/* Scalars: type, format and further keywords. */
static const struct {
    const char *type;
    const char *format;
} scalars[] = {
    [SCHEMA_STRING] = { "string", NULL },
    [SCHEMA_BOOL] = { "boolean", NULL },
    [SCHEMA_INT32] = { "integer", "int32" },
    [SCHEMA_INT64] = { "integer", "int64" },
    [SCHEMA_NUMBER] = { "number", NULL },
    [SCHEMA_TIME] = { "string", "date-time" },
    [SCHEMA_MICRO_TIME] = { "string", "date-time" },
    [SCHEMA_DURATION] = { "string", NULL },
    [SCHEMA_BYTES] = { "string", "byte" },
    [SCHEMA_OBJECT] = { "object", NULL },
    [SCHEMA_MAP] = { "object", NULL },
    [SCHEMA_LIST] = { "array", NULL },
};

static jv text(struct arena *a, const char *z)
{
    return z ? jstr(a, str_of(z)) : JV_ABSENT;
}

static jv type_of(struct arena *a, const char *type)
{
    return jobj(a, { "type", text(a, type) });
}

static jv default_of(struct arena *a, const struct schema *in, const struct schema_field *f)
{
    str type = str_of(in->name);
    ptrdiff_t dot = str_rfind(type, '.');

    if (dot >= 0)
        type = str_sub(type, (size_t)dot + 1, type.n);
    for (size_t i = 0; i < COUNT(defaults); i++)
        if (str_eqz(type, defaults[i].type) && str_eqz(f->name, defaults[i].field))
            return json_parse(a, str_of(defaults[i].value), NULL, NULL);
    return JV_ABSENT;
}

jv shape_documented(struct arena *a, jv shape, const char *doc)
{
    return doc ? jv_with(a, shape, text(a, doc), "description") : shape;
}

static void add_members(struct jbuild *b, const struct schema *s, bool docs)
{
    struct jbuild members = jb_obj(b->a);
    struct jbuild required = jb_arr(b->a);

    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        bool ours = docs && !str_starts(str_of(s->name), S("io.k8s."));
        jv shape = shape_of(b->a, f->schema, ours);
        jv value = default_of(b->a, s, f);
        if (jv_exists(value))
            shape = jv_with(b->a, shape, value, "default");
        jb_add(&members, f->name, ours ? shape_documented(b->a, shape, f->doc) : shape);
        if (f->flags & FIELD_REQUIRED)
            jb_push(&required, jstr(b->a, f->name));
    }
    if (members.n)
        jb_add(b, S("properties"), jb_done(&members));
    if (required.n)
        jb_add(b, S("required"), jb_done(&required));
}

static void add_list(struct jbuild *b, const struct schema *s)
{
    struct jbuild keys = jb_arr(b->a);

    if (s->list == LIST_ATOMIC)
        return;
    jb_add(b, S("x-kubernetes-list-type"), text(b->a, s->list == LIST_SET ? "set" : "map"));
    if (s->list == LIST_SET)
        return;
    for (size_t i = 0; s->list_keys[i]; i++)
        jb_push(&keys, text(b->a, s->list_keys[i]));
    jb_add(b, S("x-kubernetes-list-map-keys"), jb_done(&keys));
}

static jv int_or_string(struct arena *a, const char *pattern)
{
    return jobj(a, { "anyOf", jarr(a, type_of(a, "integer"), type_of(a, "string")) },
                { "pattern", text(a, pattern) }, { "x-kubernetes-int-or-string", JV_TRUE });
}

/* A type that job/ can only name, as it knows nothing of the built-in ones. */
static const struct schema *named(const struct schema *s)
{
    const struct schema *spec = schema_member(&autoscaling2_HorizontalPodAutoscaler, S("spec"));
    const struct schema *metric = schema_member(spec, S("metrics"))->items;

    return s->name && strcmp(s->name, metric->name) == 0 ? metric : s;
}

jv shape_of(struct arena *a, const struct schema *s, bool docs)
{
    struct jbuild b = jb_obj(a);

    if (s->type == SCHEMA_ANY)
        s = named(s);

    if (s == &meta_ObjectMeta)
        return shape_of(a, &job_TemplateMeta, false);
    if (s->type == SCHEMA_ANY)
        return jobj(a, { "x-kubernetes-preserve-unknown-fields", JV_TRUE });
    if (s->type == SCHEMA_INT_OR_STRING || s->type == SCHEMA_QUANTITY)
        return int_or_string(a, s->type == SCHEMA_QUANTITY ? QUANTITY_PATTERN : NULL);
    jb_add(&b, S("type"), text(a, scalars[s->type].type));
    if (scalars[s->type].format)
        jb_add(&b, S("format"), text(a, scalars[s->type].format));
    if (s->type == SCHEMA_OBJECT)
        add_members(&b, s, docs);
    else if (s->type == SCHEMA_MAP)
        jb_add(&b, S("additionalProperties"), shape_of(a, s->items, docs));
    else if (s->type == SCHEMA_LIST) {
        jb_add(&b, S("items"), shape_of(a, s->items, docs));
        add_list(&b, s);
    }
    if (s->map_atomic)
        jb_add(&b, S("x-kubernetes-map-type"), text(a, "atomic"));
    return jb_done(&b);
}
