/* Roles and their bindings. */

#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"

#define GROUP "rbac.authorization.k8s.io"

static const char *const rbac_group[] = { GROUP, NULL };

static void rule_check(struct problems *ps, const struct path *p, jv rule, bool namespaced)
{
    jv urls = FIELD(rule, "nonResourceURLs");

    if (!jv_len(FIELD(rule, "verbs")))
        problem_required(ps, AT(p, "verbs"), "verbs must contain at least one value");
    if (jv_len(urls)) {
        if (namespaced)
            problem_invalid(ps, AT(p, "nonResourceURLs"), urls,
                            "namespaced rules cannot apply to non-resource URLs");
        if (jv_len(FIELD(rule, "apiGroups")) || jv_len(FIELD(rule, "resources")) ||
            jv_len(FIELD(rule, "resourceNames")))
            problem_invalid(ps, AT(p, "nonResourceURLs"), urls,
                            "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (!jv_len(FIELD(rule, "apiGroups")))
        problem_required(ps, AT(p, "apiGroups"),
                         "resource rules must supply at least one api group");
    if (!jv_len(FIELD(rule, "resources")))
        problem_required(ps, AT(p, "resources"),
                         "resource rules must supply at least one resource");
}

void role_validate(struct problems *ps, jv obj)
{
    JV_EACH (it, FIELD(obj, "rules"))
        rule_check(ps, ATI(ROOT("rules"), it.i - 1), it.value, true);
}

void clusterrole_validate(struct problems *ps, jv obj)
{
    jv aggregation = FIELD(obj, "aggregationRule");
    jv selectors = FIELD(aggregation, "clusterRoleSelectors");
    const struct path *p = AT(ROOT("aggregationRule"), "clusterRoleSelectors");

    JV_EACH (it, FIELD(obj, "rules"))
        rule_check(ps, ATI(ROOT("rules"), it.i - 1), it.value, false);
    if (!jv_is_null(aggregation) && !jv_len(selectors))
        problem_required(ps, p,
                         "at least one clusterRoleSelector required if aggregationRule is "
                         "non-nil");
    JV_EACH (it, selectors)
        label_selector_check(ps, EACH_AT(p, it), it.value);
}

static jv subject_defaults(struct arena *a, jv subject)
{
    struct edit e = edit(a, subject);
    str kind = FIELD_STR(subject, "kind");

    if (str_eq(kind, S("User")) || str_eq(kind, S("Group")))
        edit_default(&e, S("apiGroup"), LSTR(GROUP));
    return edit_done(&e);
}

static jv role_ref_defaults(struct arena *a, jv ref)
{
    struct edit e = edit(a, ref);

    edit_default(&e, S("apiGroup"), LSTR(GROUP));
    return edit_done(&e);
}

jv rolebinding_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_each(&e, S("subjects"), subject_defaults);
    edit_set(&e, S("roleRef"), role_ref_defaults(c->a, FIELD(obj, "roleRef")));
    return edit_done(&e);
}

static void subject_check(struct problems *ps, const struct path *p, jv subject, bool namespaced)
{
    static const char *const kinds[] = { "ServiceAccount", "User", "Group", NULL };
    static const char *const none[] = { "", NULL };
    str kind = FIELD_STR(subject, "kind");
    str name = FIELD_STR(subject, "name");

    if (!name.n)
        problem_required(ps, AT(p, "name"), "%s", "");
    if (str_eq(kind, S("ServiceAccount"))) {
        if (name.n)
            name_check(ps, AT(p, "name"), name, name_dns1123_subdomain);
        enum_check(ps, AT(p, "apiGroup"), FIELD(subject, "apiGroup"), none);
        if (!namespaced && !FIELD_STR(subject, "namespace").n)
            problem_required(ps, AT(p, "namespace"), "%s", "");
    } else if (str_eq(kind, S("User")) || str_eq(kind, S("Group"))) {
        enum_check(ps, AT(p, "apiGroup"), FIELD(subject, "apiGroup"), rbac_group);
    } else {
        problem_not_supported(ps, AT(p, "kind"), jstr(ps->a, kind), kinds);
    }
}

static void binding_rules(struct problems *ps, jv obj, bool namespaced)
{
    static const char *const both[] = { "Role", "ClusterRole", NULL };
    jv ref = FIELD(obj, "roleRef");
    const struct path *p = ROOT("roleRef");

    enum_check(ps, AT(p, "apiGroup"), FIELD(ref, "apiGroup"), rbac_group);
    enum_check(ps, AT(p, "kind"), FIELD(ref, "kind"), namespaced ? both : both + 1);
    name_required(ps, AT(p, "name"), FIELD_STR(ref, "name"), name_path_segment);
    JV_EACH (it, FIELD(obj, "subjects"))
        subject_check(ps, ATI(ROOT("subjects"), it.i - 1), it.value, namespaced);
}

void rolebinding_validate(struct problems *ps, jv obj)
{
    binding_rules(ps, obj, true);
}

void clusterrolebinding_validate(struct problems *ps, jv obj)
{
    binding_rules(ps, obj, false);
}

void rolebinding_validate_update(struct problems *ps, jv obj, jv old)
{
    jv ref = FIELD(obj, "roleRef");

    if (jv_equal_semantic(ref, FIELD(old, "roleRef")))
        return;
    problem_invalid(ps, ROOT("roleRef"),
                    jobj(ps->a, { "APIGroup", jstr(ps->a, FIELD_STR(ref, "apiGroup")) },
                         { "Kind", jstr(ps->a, FIELD_STR(ref, "kind")) },
                         { "Name", jstr(ps->a, FIELD_STR(ref, "name")) }),
                    "cannot change roleRef");
}
