/* Some problems show a value of Go's internal types, which have other names and leave nothing out.
 */

#include "crd/define.h"

enum kind { TEXT, FLAG, ANY, SCHEMA, SCHEMAS, SCHEMA_OF, ITEMS, ADDITIONAL };

struct row {
    const char *go;
    const char *json;
    enum kind kind;
};

static const struct row schema_rows[] = {
    { "ID", "id", TEXT },
    { "Schema", "$schema", TEXT },
    { "Ref", "$ref", ANY },
    { "Description", "description", TEXT },
    { "Type", "type", TEXT },
    { "Nullable", "nullable", FLAG },
    { "Format", "format", TEXT },
    { "Title", "title", TEXT },
    { "Default", "default", ANY },
    { "Maximum", "maximum", ANY },
    { "ExclusiveMaximum", "exclusiveMaximum", FLAG },
    { "Minimum", "minimum", ANY },
    { "ExclusiveMinimum", "exclusiveMinimum", FLAG },
    { "MaxLength", "maxLength", ANY },
    { "MinLength", "minLength", ANY },
    { "Pattern", "pattern", TEXT },
    { "MaxItems", "maxItems", ANY },
    { "MinItems", "minItems", ANY },
    { "UniqueItems", "uniqueItems", FLAG },
    { "MultipleOf", "multipleOf", ANY },
    { "Enum", "enum", ANY },
    { "MaxProperties", "maxProperties", ANY },
    { "MinProperties", "minProperties", ANY },
    { "Required", "required", ANY },
    { "Items", "items", ITEMS },
    { "AllOf", "allOf", SCHEMAS },
    { "OneOf", "oneOf", SCHEMAS },
    { "AnyOf", "anyOf", SCHEMAS },
    { "Not", "not", SCHEMA },
    { "Properties", "properties", SCHEMA_OF },
    { "AdditionalProperties", "additionalProperties", ADDITIONAL },
    { "PatternProperties", "patternProperties", SCHEMA_OF },
    { "Dependencies", "dependencies", ANY },
    { "AdditionalItems", "additionalItems", ADDITIONAL },
    { "Definitions", "definitions", SCHEMA_OF },
    { "ExternalDocs", "externalDocs", ANY },
    { "Example", "example", ANY },
    { "XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", ANY },
    { "XEmbeddedResource", "x-kubernetes-embedded-resource", FLAG },
    { "XIntOrString", "x-kubernetes-int-or-string", FLAG },
    { "XListMapKeys", "x-kubernetes-list-map-keys", ANY },
    { "XListType", "x-kubernetes-list-type", ANY },
    { "XMapType", "x-kubernetes-map-type", ANY },
    { "XValidations", "x-kubernetes-validations", ANY },
};

static const struct row column_rows[] = {
    { "Name", "name", TEXT },        { "Type", "type", TEXT },
    { "Format", "format", TEXT },    { "Description", "description", TEXT },
    { "Priority", "priority", ANY }, { "JSONPath", "jsonPath", TEXT },
};

static jv go_value_of(struct arena *a, jv v, enum kind kind)
{
    struct jbuild b = jb_arr(a);

    if (jv_is_null(v))
        return kind == TEXT ? jstr(a, S("")) : kind == FLAG ? JV_FALSE : JV_NULL_V;
    switch (kind) {
    case TEXT:
    case FLAG:
    case ANY:
        return v;
    case SCHEMA:
        return go_schema(a, v);
    case SCHEMAS:
        JV_EACH (it, v)
            jb_push(&b, go_schema(a, it.value));
        return jb_done(&b);
    case SCHEMA_OF:
        b = jb_obj(a);
        JV_EACH (it, v)
            jb_add(&b, it.key, go_schema(a, it.value));
        return jb_done(&b);
    case ITEMS:
        return jobj(a, { "Schema", jv_is(v, JV_OBJ) ? go_schema(a, v) : JV_NULL_V },
                    { "JSONSchemas", jv_is(v, JV_ARR) ? go_value_of(a, v, SCHEMAS) : JV_NULL_V });
    case ADDITIONAL:
        return jobj(a, { "Allows", jbool(jv_bool(v, true)) },
                    { "Schema", jv_is(v, JV_OBJ) ? go_schema(a, v) : JV_NULL_V });
    }
    return v;
}

static jv go_struct(struct arena *a, jv v, const struct row *rows, size_t n)
{
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < n; i++)
        jb_add(&b, str_of(rows[i].go),
               go_value_of(a, jv_get(v, str_of(rows[i].json)), rows[i].kind));
    return jb_done(&b);
}

jv go_schema(struct arena *a, jv schema)
{
    return go_struct(a, schema, schema_rows, COUNT(schema_rows));
}

static jv go_columns(struct arena *a, jv columns)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, columns) {
        jv column = go_struct(a, it.value, column_rows, COUNT(column_rows));
        if (jv_is(jv_at(column, "Priority"), JV_NULL))
            column = jv_with(a, column, jint(a, 0), "Priority");
        jb_push(&b, column);
    }
    return jv_len(columns) ? jb_done(&b) : JV_NULL_V;
}

static jv go_selectable(struct arena *a, jv fields)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, fields)
        jb_push(&b, jobj(a, { "JSONPath", jv_at(it.value, "jsonPath") }));
    return jv_len(fields) ? jb_done(&b) : JV_NULL_V;
}

static jv go_subresources(struct arena *a, jv sub)
{
    jv scale = jv_at(sub, "scale");
    jv selector = jv_at(scale, "labelSelectorPath");

    if (jv_is_null(sub))
        return JV_NULL_V;
    jv go_scale = jobj(a, { "SpecReplicasPath", jv_at(scale, "specReplicasPath") },
                       { "StatusReplicasPath", jv_at(scale, "statusReplicasPath") },
                       { "LabelSelectorPath", jv_is_null(selector) ? JV_NULL_V : selector });
    return jobj(a, { "Status", jv_is_null(jv_at(sub, "status")) ? JV_NULL_V : JV_EMPTY_OBJ },
                { "Scale", jv_is_null(scale) ? JV_NULL_V : go_scale });
}

jv go_versions(struct arena *a, jv versions, bool same_schema, bool same_subresources,
               bool same_columns, bool same_selectable)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, versions) {
        jv v = it.value;
        jv schema = jv_at(v, "schema");
        jv root = jv_at(schema, "openAPIV3Schema");
        jv warning = jv_at(v, "deprecationWarning");
        jv go = jobj(a, { "OpenAPIV3Schema", jv_is_null(root) ? JV_NULL_V : go_schema(a, root) });
        jb_push(
            &b,
            jobj(a, { "Name", jstr(a, jv_str(jv_at(v, "name"), S(""))) },
                 { "Served", jbool(jv_bool(jv_at(v, "served"), false)) },
                 { "Storage", jbool(jv_bool(jv_at(v, "storage"), false)) },
                 { "Deprecated", jbool(jv_bool(jv_at(v, "deprecated"), false)) },
                 { "DeprecationWarning", jv_is_null(warning) ? JV_NULL_V : warning },
                 { "Schema", same_schema || jv_is_null(schema) ? JV_NULL_V : go },
                 { "Subresources",
                   same_subresources ? JV_NULL_V : go_subresources(a, jv_at(v, "subresources")) },
                 { "AdditionalPrinterColumns",
                   same_columns ? JV_NULL_V : go_columns(a, jv_at(v, "additionalPrinterColumns")) },
                 { "SelectableFields",
                   same_selectable ? JV_NULL_V : go_selectable(a, jv_at(v, "selectableFields")) }));
    }
    return jb_done(&b);
}
