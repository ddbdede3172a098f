/* Looking things up in schemas, and the scalars that all built-in types share. */

#include "kube/schema.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

const struct schema schema_string = { .type = SCHEMA_STRING, .go_name = "string" };
const struct schema schema_bool = { .type = SCHEMA_BOOL, .go_name = "bool" };
const struct schema schema_int32 = { .type = SCHEMA_INT32, .go_name = "int32" };
const struct schema schema_int64 = { .type = SCHEMA_INT64, .go_name = "int64" };
const struct schema schema_double = { .type = SCHEMA_NUMBER, .go_name = "float64" };
const struct schema schema_bytes = { .type = SCHEMA_BYTES, .go_name = "[]uint8" };
const struct schema schema_int_or_string = {
    .type = SCHEMA_INT_OR_STRING,
    .name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    .go_name = "intstr.IntOrString",
};
const struct schema schema_quantity = {
    .type = SCHEMA_QUANTITY,
    .name = "io.k8s.apimachinery.pkg.api.resource.Quantity",
    .go_name = "resource.Quantity",
};
const struct schema schema_time = {
    .type = SCHEMA_TIME,
    .name = META "Time",
    .go_name = "v1.Time",
};
const struct schema schema_micro_time = {
    .type = SCHEMA_MICRO_TIME,
    .name = META "MicroTime",
    .go_name = "v1.MicroTime",
};
const struct schema schema_duration = {
    .type = SCHEMA_DURATION,
    .name = META "Duration",
    .go_name = "v1.Duration",
};
const struct schema schema_raw = {
    .type = SCHEMA_ANY,
    .name = "io.k8s.apimachinery.pkg.runtime.RawExtension",
    .go_name = "runtime.RawExtension",
};
const struct schema schema_fields_v1 = {
    .type = SCHEMA_ANY,
    .name = META "FieldsV1",
    .go_name = "v1.FieldsV1",
};

const struct schema_field *schema_field(const struct schema *s, str name)
{
    if (!s || s->type != SCHEMA_OBJECT)
        return NULL;
    if (!s->sorted) {
        for (size_t i = 0; i < s->n_fields; i++)
            if (str_eq(s->fields[i].name, name))
                return &s->fields[i];
        return NULL;
    }
    for (size_t lo = 0, hi = s->n_fields; lo < hi;) {
        size_t mid = (lo + hi) / 2;
        int c = str_cmp(name, s->fields[mid].name);
        if (c == 0)
            return &s->fields[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

const struct schema *schema_member(const struct schema *s, str name)
{
    const struct schema_field *f = schema_field(s, name);

    if (f)
        return f->schema;
    return s && (s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP) ? s->items : NULL;
}
