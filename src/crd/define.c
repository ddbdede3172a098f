/* What must hold of a definition as a whole. */

#include "crd/define.h"
#include "kube/meta.h"
#include "kube/names.h"

/* ---- checks */

static void check_label(struct problems *ps, const struct path *p, str key, jv v, bool mixed)
{
    str text = jv_str(v, S(""));
    struct name_errors errs = name_dns1035_label(mixed ? arena_lower(ps->a, text) : text);

    if (text.n && errs.n)
        problem_invalid(ps, ATS(p, key), v, "%s%" PRI_STR,
                        mixed ? "may have mixed case, but should otherwise match: " : "",
                        STR_ARG(name_join(ps->a, &errs, ",")));
}

static void check_labels(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        struct name_errors errs = name_dns1035_label(jv_str(it.value, S("")));
        if (errs.n)
            problem_invalid(ps, EACH_AT(p, it), it.value, "%" PRI_STR,
                            STR_ARG(name_join(ps->a, &errs, ",")));
    }
}

static void check_names(struct problems *ps, const struct path *p, jv names)
{
    check_label(ps, p, S("plural"), jv_at(names, "plural"), false);
    check_label(ps, p, S("singular"), jv_at(names, "singular"), false);
    check_label(ps, p, S("kind"), jv_at(names, "kind"), true);
    check_label(ps, p, S("listKind"), jv_at(names, "listKind"), true);
    check_labels(ps, AT(p, "shortNames"), jv_at(names, "shortNames"));
    if (text_of(names, "kind").n && str_eq(text_of(names, "kind"), text_of(names, "listKind")))
        problem_invalid(ps, AT(p, "listKind"), jv_at(names, "listKind"),
                        "kind and listKind may not be the same");
    check_labels(ps, AT(p, "categories"), jv_at(names, "categories"));
}

static void check_required_names(struct problems *ps, const struct path *p, jv names)
{
    static const char *const keys[] = { "plural", "singular", "kind", "listKind" };

    for (size_t i = 0; i < COUNT(keys); i++) {
        if (!text_of(names, keys[i]).n)
            problem_required(ps, ATZ(p, keys[i]), "%s", "");
    }
}

static void check_group(struct problems *ps, const struct path *spec, jv value)
{
    struct path at = path_field(spec, S("group"));
    str group = jv_str(value, S(""));
    struct name_errors errs = name_dns1123_subdomain(group);

    if (!group.n)
        problem_required(ps, &at, "%s", "");
    else if (errs.n)
        problem_invalid(ps, &at, value, "%" PRI_STR, STR_ARG(name_join(ps->a, &errs, ",")));
    else if (str_find(group, '.') < 0)
        problem_invalid(ps, &at, value, "should be a domain with at least one dot");
}

static bool has_default(jv s)
{
    static const char *const one[] = { "items", "not", "additionalProperties" };
    static const char *const many[] = { "properties", "anyOf", "allOf", "oneOf" };

    if (!jv_is_null(jv_at(s, "default")))
        return true;
    for (size_t i = 0; i < COUNT(one); i++)
        if (jv_is(jv_get(s, str_of(one[i])), JV_OBJ) && has_default(jv_get(s, str_of(one[i]))))
            return true;
    for (size_t i = 0; i < COUNT(many); i++)
        JV_EACH (it, jv_get(s, str_of(many[i])))
            if (has_default(it.value))
                return true;
    return false;
}

static void check_open(struct problems *ps, const struct path *spec, jv value)
{
    struct path at = path_field(spec, S("preserveUnknownFields"));
    bool defaults = false;

    if (!jv_bool(jv_at(value, "preserveUnknownFields"), false))
        return;
    JV_EACH (it, jv_at(value, "versions"))
        defaults = defaults || has_default(jv_at(it.value, "schema", "openAPIV3Schema"));
    if (defaults)
        problem_invalid(ps, &at, JV_TRUE, "must be false in order to use defaults in the schema");
    if (str_eq(jv_str(jv_at(value, "conversion", "strategy"), S("")), S("Webhook")))
        problem_invalid(ps, AT(spec, "conversion.strategy"), jv_at(value, "conversion", "strategy"),
                        "must be None if spec.preserveUnknownFields is true");
    problem_invalid(ps, &at, JV_TRUE,
                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                    "spec.versions[*].schema instead");
}

static void check_spec(struct problems *ps, const struct path *spec, jv value)
{
    static const char *const scopes[] = { "Cluster", "Namespaced", NULL };
    struct path scope = path_field(spec, S("scope"));
    struct path names = path_field(spec, S("names"));
    str scope_name = text_of(value, "scope");

    check_group(ps, spec, jv_at(value, "group"));
    if (!scope_name.n)
        problem_required(ps, &scope, "%s", "");
    else if (!str_eqz(scope_name, scopes[0]) && !str_eqz(scope_name, scopes[1]))
        problem_not_supported(ps, &scope, jv_at(value, "scope"), scopes);
    define_versions_check(ps, spec, jv_at(value, "versions"));
    check_required_names(ps, &names, jv_at(value, "names"));
    check_names(ps, &names, jv_at(value, "names"));
    define_common_check(ps, spec, jv_at(value, "versions"));
    define_conversion_check(ps, AT(spec, "conversion"), jv_at(value, "conversion"));
}

static void check_stored(struct problems *ps, jv crd)
{
    struct path at = path_field(ROOT("status"), S("storedVersions"));
    jv stored = jv_at(crd, "status", "storedVersions");
    jv versions = jv_at(crd, "spec", "versions");

    if (!jv_len(stored)) {
        problem_invalid(ps, &at, jv_is(stored, JV_ARR) ? stored : JV_NULL_V,
                        "must have at least one stored version");
        return;
    }
    JV_EACH (it, versions) {
        bool found = false;
        JV_EACH (s, stored)
            found = found || str_eq(jv_str(s.value, S("")), text_of(it.value, "name"));
        if (jv_bool(jv_at(it.value, "storage"), false) && !found)
            problem_invalid(ps, &at, stored, "must have the storage version %" PRI_STR,
                            STR_ARG(text_of(it.value, "name")));
    }
    JV_EACH (s, stored) {
        str name = jv_str(s.value, S(""));
        bool found = false;
        JV_EACH (it, versions)
            found = found || str_eq(name, text_of(it.value, "name"));
        if (!found)
            problem_invalid(
                ps, EACH_AT(&at, s), s.value,
                "missing from spec.versions; %" PRI_STR
                " was previously a storage version, and must remain in spec.versions "
                "until a storage migration ensures no data remains persisted in %" PRI_STR
                " and removes %" PRI_STR " from status.storedVersions",
                STR_ARG(name), STR_ARG(name), STR_ARG(name));
    }
}

static void check_approval(struct problems *ps, jv crd)
{
    struct path at = path_key(AT(ROOT("metadata"), "annotations"), S(API_APPROVED));
    jv value = jv_get(meta_annotations(crd), S(API_APPROVED));
    str words;

    switch (approval_of(ps->a, crd, &words)) {
    case APPROVAL_MISSING:
        problem_required(ps, &at, "%" PRI_STR, STR_ARG(words));
        break;
    case APPROVAL_INVALID:
        problem_invalid(ps, &at, value, "%" PRI_STR, STR_ARG(words));
        break;
    case APPROVAL_NOT_NEEDED:
    case APPROVAL_GIVEN:
    case APPROVAL_BYPASSED:
        break;
    }
}

void crd_definition_validate(struct problems *ps, jv crd)
{
    struct path spec = path_field(NULL, S("spec"));
    str plural = jv_str(jv_at(crd, "spec", "names", "plural"), S(""));
    str group = jv_str(jv_at(crd, "spec", "group"), S(""));
    str full = arena_printf(ps->a, "%" PRI_STR ".%" PRI_STR, STR_ARG(plural), STR_ARG(group));

    if (meta_name(crd).n && !str_eq(meta_name(crd), full))
        problem_invalid(ps, AT(ROOT("metadata"), "name"), jv_at(crd, "metadata", "name"),
                        "must be spec.names.plural+\".\"+spec.group");
    check_spec(ps, &spec, jv_at(crd, "spec"));
    check_stored(ps, crd);
    check_approval(ps, crd);
    check_open(ps, &spec, jv_at(crd, "spec"));
}

void crd_definition_validate_update(struct problems *ps, jv crd, jv old)
{
    struct path spec = path_field(NULL, S("spec"));
    struct path names = path_field(&spec, S("names"));
    bool was_open = jv_bool(jv_at(old, "spec", "preserveUnknownFields"), false);

    check_spec(ps, &spec, jv_at(crd, "spec"));
    if (meta_condition_is(old, S("Established"), S("True"))) {
        immutable_check(ps, AT(&spec, "scope"), jv_at(crd, "spec", "scope"),
                        jv_at(old, "spec", "scope"));
        immutable_check(ps, AT(&names, "kind"), jv_at(crd, "spec", "names", "kind"),
                        jv_at(old, "spec", "names", "kind"));
    }
    immutable_check(ps, AT(&spec, "group"), jv_at(crd, "spec", "group"),
                    jv_at(old, "spec", "group"));
    immutable_check(ps, AT(&names, "plural"), jv_at(crd, "spec", "names", "plural"),
                    jv_at(old, "spec", "names", "plural"));
    check_names(ps, AT(ROOT("status"), "acceptedNames"), jv_at(crd, "status", "acceptedNames"));
    check_stored(ps, crd);
    if (!jv_equal(jv_get(meta_annotations(crd), S(API_APPROVED)),
                  jv_get(meta_annotations(old), S(API_APPROVED))))
        check_approval(ps, crd);
    if (!was_open)
        check_open(ps, &spec, jv_at(crd, "spec"));
}

void crd_definition_check_served(struct problems *ps, jv crd)
{
    static const char *const served[] = { "None", NULL };
    jv strategy = jv_at(crd, "spec", "conversion", "strategy");

    if (str_eq(jv_str(strategy, S("")), S("Webhook")) && jv_len(jv_at(crd, "spec", "versions")) > 1)
        problem_not_supported(ps, AT(AT(ROOT("spec"), "conversion"), "strategy"), strategy, served);
}
