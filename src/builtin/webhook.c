/* Webhook configurations and validating admission policies; expressions are not compiled. */

#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"

/* ---- defaults */

static jv rule_defaults(struct arena *a, jv rule)
{
    struct edit e = edit(a, rule);

    edit_default(&e, S("scope"), LSTR("*"));
    return edit_done(&e);
}

static jv service_defaults_of(struct arena *a, jv service)
{
    struct edit e = edit(a, service);

    if (jv_is_null(edit_get(&e, S("port"))))
        edit_set(&e, S("port"), LINT(443));
    return edit_done(&e);
}

static jv client_defaults(struct arena *a, jv config)
{
    struct edit e = edit(a, config);

    edit_in(&e, S("service"), service_defaults_of);
    return edit_done(&e);
}

static void match_defaults(struct edit *e)
{
    edit_default(e, S("matchPolicy"), LSTR("Equivalent"));
    if (jv_is_null(edit_get(e, S("namespaceSelector"))))
        edit_set(e, S("namespaceSelector"), JV_EMPTY_OBJ);
    if (jv_is_null(edit_get(e, S("objectSelector"))))
        edit_set(e, S("objectSelector"), JV_EMPTY_OBJ);
}

static jv hook_defaults(struct arena *a, jv hook)
{
    struct edit e = edit(a, hook);

    edit_default(&e, S("failurePolicy"), LSTR("Fail"));
    match_defaults(&e);
    if (jv_is_null(edit_get(&e, S("timeoutSeconds"))))
        edit_set(&e, S("timeoutSeconds"), LINT(10));
    edit_each(&e, S("rules"), rule_defaults);
    edit_in(&e, S("clientConfig"), client_defaults);
    return edit_done(&e);
}

static jv mutating_defaults(struct arena *a, jv hook)
{
    struct edit e = edit(a, hook_defaults(a, hook));

    edit_default(&e, S("reinvocationPolicy"), LSTR("Never"));
    return edit_done(&e);
}

jv validatingwebhook_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_each(&e, S("webhooks"), hook_defaults);
    return edit_done(&e);
}

jv mutatingwebhook_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_each(&e, S("webhooks"), mutating_defaults);
    return edit_done(&e);
}

static jv match_resources_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    match_defaults(&e);
    edit_each(&e, S("resourceRules"), rule_defaults);
    edit_each(&e, S("excludeResourceRules"), rule_defaults);
    return edit_done(&e);
}

jv admissionpolicy_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    edit_default(&spec, S("failurePolicy"), LSTR("Fail"));
    edit_in(&spec, S("matchConstraints"), match_resources_defaults);
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

jv admissionbinding_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    edit_in(&spec, S("matchResources"), match_resources_defaults);
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

/* ---- validation */

static void alone_check(struct problems *ps, const struct path *p, jv list, const char *what)
{
    if (jv_len(list) > 1 && str_list_has(list, S("*")))
        problem_invalid(ps, p, list, "if '*' is present, must not specify other %s", what);
}

static void resources_check(struct problems *ps, const struct path *p, jv list)
{
    struct jbuild whole = jb_arr(ps->a); /* res of res/ *, and sub of * / sub */
    struct jbuild subs = jb_arr(ps->a);
    bool plain = false;

    if (!jv_len(list))
        problem_required(ps, p, "%s", "");
    JV_EACH (it, list) {
        str text = jv_str(it.value, S(""));
        str sub = text;
        str res = str_cut(&sub, '/');
        if (!text.n) {
            problem_required(ps, EACH_AT(p, it), "%s", "");
            continue;
        }
        if (!sub.p) {
            plain = !str_eq(text, S("*"));
            continue;
        }
        if (str_list_has(jb_done(&whole), res))
            problem_invalid(ps, EACH_AT(p, it), it.value,
                            "if '%" PRI_STR "/*' is present, must not specify %" PRI_STR,
                            STR_ARG(res), STR_ARG(text));
        if (str_list_has(jb_done(&subs), sub))
            problem_invalid(ps, EACH_AT(p, it), it.value,
                            "if '*/%" PRI_STR "' is present, must not specify %" PRI_STR,
                            STR_ARG(sub), STR_ARG(text));
        if (str_eq(sub, S("*")))
            jb_push(&whole, jstr(ps->a, res));
        if (str_eq(res, S("*")))
            jb_push(&subs, jstr(ps->a, sub));
    }
    if (jv_len(list) > 1 && str_list_has(list, S("*/*")))
        problem_invalid(ps, p, list, "if '*/*' is present, must not specify other resources");
    if (plain && str_list_has(list, S("*")))
        problem_invalid(ps, p, list,
                        "if '*' is present, must not specify other resources without "
                        "subresources");
}

static void hook_rule_check(struct problems *ps, const struct path *p, jv rule)
{
    static const char *const operations[] = { "*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL };
    static const char *const scopes[] = { "*", "Cluster", "Namespaced", NULL };
    jv ops = FIELD(rule, "operations");

    if (!jv_len(ops))
        problem_required(ps, AT(p, "operations"), "%s", "");
    alone_check(ps, AT(p, "operations"), ops, "operations");
    JV_EACH (it, ops)
        enum_check(ps, ATI(AT(p, "operations"), it.i - 1), it.value, operations);
    if (!jv_len(FIELD(rule, "apiGroups")))
        problem_required(ps, AT(p, "apiGroups"), "%s", "");
    alone_check(ps, AT(p, "apiGroups"), FIELD(rule, "apiGroups"), "API groups");
    if (!jv_len(FIELD(rule, "apiVersions")))
        problem_required(ps, AT(p, "apiVersions"), "%s", "");
    alone_check(ps, AT(p, "apiVersions"), FIELD(rule, "apiVersions"), "API versions");
    JV_EACH (it, FIELD(rule, "apiVersions"))
        if (!jv_str(it.value, S("")).n)
            problem_required(ps, ATI(AT(p, "apiVersions"), it.i - 1), "%s", "");
    resources_check(ps, AT(p, "resources"), FIELD(rule, "resources"));
    enum_optional(ps, AT(p, "scope"), FIELD(rule, "scope"), scopes);
}

static void hook_name_check(struct problems *ps, const struct path *p, str name)
{
    struct name_errors e = name_dns1123_subdomain(name);
    size_t dots = 0;

    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    if (!name.n)
        problem_required(ps, p, "%s", "");
    else if (e.n)
        problem_invalid(ps, p, jstr(ps->a, name), "%" PRI_STR, STR_ARG(name_join(ps->a, &e, ",")));
    else if (dots < 2)
        problem_invalid(ps, p, jstr(ps->a, name),
                        "should be a domain with at least three segments separated by dots");
}

static void url_check(struct problems *ps, const struct path *p, str url)
{
    static const char form[] = "; desired format: https://host[/path]";
    ptrdiff_t colon = str_find(url, ':');
    str scheme = str_sub(url, 0, colon < 0 ? 0 : (size_t)colon);
    str rest = str_sub(url, colon < 0 ? 0 : (size_t)colon + 1, url.n);
    str host = STR_NONE;

    if (str_starts(rest, S("//"))) {
        rest = str_sub(rest, 2, rest.n);
        size_t n = 0;
        while (n < rest.n && !strchr("/?#", rest.p[n]))
            n++;
        host = str_sub(rest, 0, n);
    }
    if (!str_eq(scheme, S("https")))
        problem_invalid(ps, p, jstr(ps->a, scheme), "'https' is the only allowed URL scheme%s",
                        form);
    if (!host.n)
        problem_invalid(ps, p, LSTR(""), "host must be specified%s", form);
    ptrdiff_t user = str_rfind(host, '@');
    if (user >= 0)
        problem_invalid(ps, p, jstr(ps->a, str_sub(host, 0, (size_t)user)),
                        "user information is not permitted in the URL");
    str fragment = rest;
    str before = str_cut(&fragment, '#');
    if (fragment.n)
        problem_invalid(ps, p, jstr(ps->a, fragment), "fragments are not permitted in the URL");
    str_cut(&before, '?');
    if (before.n)
        problem_invalid(ps, p, jstr(ps->a, before),
                        "query parameters are not permitted in the URL");
}

static void service_path_check(struct problems *ps, const struct path *p, jv v)
{
    str path = jv_str(v, S(""));

    if (!path.n || str_eq(path, S("/")))
        return;
    if (str_eq(path, S("//"))) {
        problem_invalid(ps, p, v, "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        problem_invalid(ps, p, v, "must start with a '/'");
    str rest = str_sub(path, 1, path.n);
    if (str_ends(rest, S("/")))
        rest.n--;
    for (size_t i = 0; rest.p; i++) {
        str step = str_cut(&rest, '/');
        struct name_errors e = name_dns1123_subdomain(step);
        if (!step.n)
            problem_invalid(ps, p, v, "segment[%zu] may not be empty", i);
        for (unsigned k = 0; step.n && k < e.n; k++)
            problem_invalid(ps, p, v, "segment[%zu]: %s", i, e.at[k]);
    }
}

static void client_check(struct problems *ps, const struct path *p, jv config)
{
    jv url = FIELD(config, "url");
    jv service = FIELD(config, "service");
    const struct path *q = AT(p, "service");

    if (jv_is_null(url) == jv_is_null(service)) {
        problem_required(ps, p, "exactly one of url or service is required");
    } else if (!jv_is_null(url)) {
        url_check(ps, AT(p, "url"), jv_str(url, S("")));
    } else {
        required_check(ps, AT(q, "name"), FIELD(service, "name"));
        required_check(ps, AT(q, "namespace"), FIELD(service, "namespace"));
        if (!port_in_range(FIELD_INT(service, "port")))
            problem_invalid(ps, AT(q, "port"), LINT(FIELD_INT(service, "port")),
                            "port is not valid: must be between 1 and 65535, inclusive");
        service_path_check(ps, AT(q, "path"), FIELD(service, "path"));
    }
}

static void review_versions_check(struct problems *ps, const struct path *p, jv versions)
{
    bool accepted = false;

    if (!jv_len(versions)) {
        problem_required(ps, p, "must specify one of v1, v1beta1");
        return;
    }
    JV_EACH (it, versions) {
        str v = jv_str(it.value, S(""));
        bool again = false;
        /* of thousands only the first are compared: the work grows with the square */
        for (size_t i = 0; i + 1 < it.i && i < 512; i++)
            again = again || jv_equal(jv_index(versions, i), it.value);
        if (again) {
            problem_invalid(ps, EACH_AT(p, it), it.value, "duplicate version");
            continue;
        }
        name_check(ps, EACH_AT(p, it), v, name_dns1035_label);
        accepted = accepted || str_eq(v, S("v1")) || str_eq(v, S("v1beta1"));
    }
    if (!accepted)
        problem_invalid(ps, p, versions, "must include at least one of v1, v1beta1");
}

static void conditions_of_hook_check(struct problems *ps, const struct path *p, jv list)
{
    if (jv_len(list) > 64)
        too_many(ps, p, jv_len(list), 64);
    JV_EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        if (!str_trim(FIELD_STR(it.value, "expression")).n)
            problem_required(ps, AT(q, "expression"), "%s", "");
        name_required(ps, AT(q, "name"), name, name_qualified);
        if (name.n && seen_before(list, it.i - 1, S("name"), name))
            problem_duplicate(ps, AT(q, "name"), FIELD(it.value, "name"));
    }
}

static void hook_check(struct problems *ps, const struct path *p, jv hook)
{
    static const char *const failures[] = { "Fail", "Ignore", NULL };
    static const char *const matches[] = { "Equivalent", "Exact", NULL };
    static const char *const effects[] = { "None", "NoneOnDryRun", NULL };
    static const char *const reinvocations[] = { "IfNeeded", "Never", NULL };
    int64_t timeout = FIELD_INT(hook, "timeoutSeconds");

    hook_name_check(ps, AT(p, "name"), FIELD_STR(hook, "name"));
    JV_EACH (it, FIELD(hook, "rules"))
        hook_rule_check(ps, ATI(AT(p, "rules"), it.i - 1), it.value);
    enum_optional(ps, AT(p, "failurePolicy"), FIELD(hook, "failurePolicy"), failures);
    enum_optional(ps, AT(p, "matchPolicy"), FIELD(hook, "matchPolicy"), matches);
    if (jv_is_null(FIELD(hook, "sideEffects")))
        problem_required(ps, AT(p, "sideEffects"), "must specify one of None, NoneOnDryRun");
    else
        enum_check(ps, AT(p, "sideEffects"), FIELD(hook, "sideEffects"), effects);
    if (timeout > 30 || timeout < 1)
        problem_invalid(ps, AT(p, "timeoutSeconds"), LINT(timeout),
                        "the timeout value must be between 1 and 30 seconds");
    label_selector_check(ps, AT(p, "namespaceSelector"), FIELD(hook, "namespaceSelector"));
    label_selector_check(ps, AT(p, "objectSelector"), FIELD(hook, "objectSelector"));
    enum_optional(ps, AT(p, "reinvocationPolicy"), FIELD(hook, "reinvocationPolicy"),
                  reinvocations);
    client_check(ps, AT(p, "clientConfig"), FIELD(hook, "clientConfig"));
    conditions_of_hook_check(ps, AT(p, "matchConditions"), FIELD(hook, "matchConditions"));
}

void webhookconfiguration_validate(struct problems *ps, jv obj)
{
    jv hooks = FIELD(obj, "webhooks");

    JV_EACH (it, hooks) {
        const struct path *p = ATI(ROOT("webhooks"), it.i - 1);
        str name = FIELD_STR(it.value, "name");
        hook_check(ps, p, it.value);
        review_versions_check(ps, AT(p, "admissionReviewVersions"),
                              FIELD(it.value, "admissionReviewVersions"));
        if (name.n && seen_before(hooks, it.i - 1, S("name"), name))
            problem_duplicate(ps, AT(p, "name"), FIELD(it.value, "name"));
    }
}
