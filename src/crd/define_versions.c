/* The versions of a definition. Parts that are the same in all versions are told of once. */

#include "crd/define.h"
#include "kube/names.h"

static void check_warning(struct problems *ps, const struct path *p, jv version)
{
    struct path at = path_field(p, S("deprecationWarning"));
    jv warning = jv_at(version, "deprecationWarning");
    str text = jv_str(warning, S(""));

    if (jv_is_null(warning))
        return;
    if (!jv_bool(jv_at(version, "deprecated"), false)) {
        problem_invalid(ps, &at, warning, "can only be set for deprecated versions");
        return;
    }
    if (text.n > 256)
        problem_invalid(ps, &at, warning, "must be <= 256 characters long");
    if (!text.n)
        problem_invalid(ps, &at, warning, "must not be an empty string");
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f) {
            problem_invalid(ps, &at, warning,
                            "must only contain printable UTF-8 characters; non-printable "
                            "character found at index %zu",
                            i);
            return;
        }
}

/* With the status subresource the root may only say what still holds of .status by itself. */
static void check_root_keys(struct problems *ps, const struct path *p, jv schema)
{
    static const char *const allowed[] = {
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    };

    JV_EACH (it, schema) {
        bool fine = jv_is_null(it.value) || !jv_bool(it.value, true);
        for (size_t i = 0; i < COUNT(allowed); i++)
            fine = fine || str_eqz(it.key, allowed[i]);
        if (fine)
            continue;
        problem_invalid(
            ps, p, schema,
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
            "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
            "MultipleOf Required Items Properties ExternalDocs Example "
            "XPreserveUnknownFields XValidations] fields are allowed at the root of the "
            "schema if the status subresource is enabled");
        return;
    }
}

static void check_schema(struct problems *ps, const struct path *p, jv schema, bool has_status)
{
    struct path root = path_field(p, S("openAPIV3Schema"));
    str name = text_of(schema, "type");

    if (!jv_is(schema, JV_OBJ))
        return;
    if (has_status && name.n && !str_eq(name, S("object")))
        problem_invalid(ps, AT(&root, "type"), jv_at(schema, "type"),
                        "only \"object\" is allowed as the type at the root of the schema if the "
                        "status subresource is enabled");
    else if (has_status)
        check_root_keys(ps, &root, schema);
    if (jv_bool(jv_at(schema, "nullable"), false))
        problem_forbidden(ps, AT(&root, "nullable"), "nullable cannot be true at the root");
    size_t before = ps->n;
    if (structural_possible(schema)) {
        structural_check(ps, &root, schema);
        if (ps->n == before)
            define_defaults_check(ps, &root, schema);
    }
    define_schema_check(ps, &root, schema);
}

static bool is_same(jv versions, const char *key)
{
    for (size_t i = 1; i < jv_len(versions); i++)
        if (!jv_equal_semantic(jv_get(jv_index(versions, i), str_of(key)),
                               jv_get(jv_index(versions, 0), str_of(key))))
            return false;
    return jv_len(versions) > 0;
}

static bool has_status(jv subresources)
{
    return !jv_is_null(jv_at(subresources, "status"));
}

struct sameness {
    bool schema, subresources, columns, selectable;
};

static struct sameness sameness_of(jv versions)
{
    return (struct sameness){
        .schema = is_same(versions, "schema"),
        .subresources = is_same(versions, "subresources"),
        .columns = is_same(versions, "additionalPrinterColumns"),
        .selectable = is_same(versions, "selectableFields"),
    };
}

static void check_version(struct problems *ps, const struct path *p, jv v, struct sameness same)
{
    jv root = jv_at(v, "schema", "openAPIV3Schema");
    struct name_errors errs = name_dns1035_label(text_of(v, "name"));

    if (errs.n)
        problem_invalid(ps, AT(p, "name"), jstr(ps->a, text_of(v, "name")), "%" PRI_STR,
                        STR_ARG(name_join(ps->a, &errs, ",")));
    check_warning(ps, p, v);
    if (!same.schema)
        check_schema(ps, AT(p, "schema"), root, has_status(jv_at(v, "subresources")));
    if (!same.subresources)
        define_subresources_check(ps, AT(p, "subresources"), jv_at(v, "subresources"));
    if (!same.columns)
        define_columns_check(ps, AT(p, "additionalPrinterColumns"),
                             jv_at(v, "additionalPrinterColumns"));
    if (!same.selectable)
        define_selectable_check(ps, AT(p, "selectableFields"), jv_at(v, "selectableFields"), root);
}

void define_common_check(struct problems *ps, const struct path *spec, jv versions)
{
    struct sameness same = sameness_of(versions);
    jv v = jv_index(versions, 0);
    jv root = jv_at(v, "schema", "openAPIV3Schema");
    bool status = false;

    JV_EACH (it, versions)
        status = status || has_status(jv_at(it.value, "subresources"));
    if (same.schema)
        check_schema(ps, AT(spec, "validation"), root, status);
    if (same.subresources)
        define_subresources_check(ps, AT(spec, "subresources"), jv_at(v, "subresources"));
    if (same.columns)
        define_columns_check(ps, AT(spec, "additionalPrinterColumns"),
                             jv_at(v, "additionalPrinterColumns"));
    if (same.selectable)
        define_selectable_check(ps, AT(spec, "selectableFields"), jv_at(v, "selectableFields"),
                                root);
}

static void check_version_list(struct problems *ps, const struct path *p, jv versions)
{
    size_t storage = 0;
    bool unique = true;

    JV_EACH (it, versions) {
        storage += jv_bool(jv_at(it.value, "storage"), false);
        for (size_t i = 0; i + 1 < it.i; i++)
            unique = unique &&
                     !str_eq(text_of(jv_index(versions, i), "name"), text_of(it.value, "name"));
    }
    if (unique && storage == 1)
        return;
    if (!unique)
        problem_invalid(ps, p, versions, "must contain unique version names");
    if (storage != 1)
        problem_invalid(ps, p, versions, "must have exactly one version marked as storage version");
}

void define_versions_check(struct problems *ps, const struct path *spec, jv versions)
{
    struct sameness same = sameness_of(versions);
    struct path list = path_field(spec, S("versions"));

    JV_EACH (it, versions) {
        struct path at = path_index(&list, it.i - 1);
        if (!jv_is(jv_at(it.value, "schema", "openAPIV3Schema"), JV_OBJ))
            problem_required(ps, AT(&at, "schema.openAPIV3Schema"), "%s", "");
    }
    JV_EACH (it, versions) {
        struct path at = path_index(&list, it.i - 1);
        check_version(ps, &at, it.value, same);
    }
    check_version_list(ps, &list, versions);
    jv first = jv_at(jv_index(versions, 0), "name");
    struct name_errors errs = name_dns1035_label(jv_str(first, S("")));
    if (jv_str(first, S("")).n && errs.n) /* told of the field it had before there were several */
        problem_invalid(ps, AT(spec, "version"), first, "%" PRI_STR,
                        STR_ARG(name_join(ps->a, &errs, ",")));
}
