/* Parts of a definition beside its schema: columns, subresources, selectable fields, conversion. */

#include "crd/define.h"
#include "kube/names.h"

enum { SELECTABLE_MAX = 8 };

static bool is_one_of(str s, const char *const *names)
{
    for (; *names; names++)
        if (str_eqz(s, *names))
            return true;
    return false;
}

/* A path must start with a dot; gives whether it does. */
static bool check_json_path(struct problems *ps, const struct path *p, str path)
{
    if (path.n && path.p[0] == '.')
        return true;
    problem_invalid(ps, p, jstr(ps->a, path), "must be a simple json path starting with .");
    return false;
}

void define_columns_check(struct problems *ps, const struct path *p, jv columns)
{
    static const char *const types[] = { "boolean", "date", "integer", "number", "string", NULL };
    static const char *const formats[] = { "byte",  "date",  "date-time", "double", "float",
                                           "int32", "int64", "password",  NULL };

    JV_EACH (it, columns) {
        struct path at = path_index(p, it.i - 1);
        struct path type = path_field(&at, S("type"));
        struct path path = path_field(&at, S("JSONPath"));
        static const char one_of[] = "must be one of boolean,date,integer,number,string";
        if (!text_of(it.value, "name").n)
            problem_required(ps, AT(&at, "name"), "%s", "");
        if (!text_of(it.value, "type").n)
            problem_required(ps, &type, "%s", one_of);
        else if (!is_one_of(text_of(it.value, "type"), types))
            problem_invalid(ps, &type, jv_at(it.value, "type"), "%s", one_of);
        if (text_of(it.value, "format").n && !is_one_of(text_of(it.value, "format"), formats))
            problem_invalid(ps, AT(&at, "format"), jv_at(it.value, "format"),
                            "must be one of byte,date,date-time,double,float,int32,int64,password");
        if (!text_of(it.value, "jsonPath").n)
            problem_required(ps, &path, "%s", "");
        else
            check_json_path(ps, &path, text_of(it.value, "jsonPath"));
    }
}

void define_subresources_check(struct problems *ps, const struct path *p, jv subresources)
{
    jv scale = jv_at(subresources, "scale");
    struct path spec = path_field(p, S("scale.specReplicasPath"));
    struct path status = path_field(p, S("scale.statusReplicasPath"));
    struct path selector = path_field(p, S("scale.labelSelectorPath"));
    str spec_path = text_of(scale, "specReplicasPath");
    str status_path = text_of(scale, "statusReplicasPath");
    str selector_path = text_of(scale, "labelSelectorPath");

    if (jv_is_null(scale))
        return;
    if (!spec_path.n)
        problem_required(ps, &spec, "%s", "");
    else if (check_json_path(ps, &spec, spec_path) && !str_starts(spec_path, S(".spec.")))
        problem_invalid(ps, &spec, jv_at(scale, "specReplicasPath"),
                        "should be a json path under .spec");
    if (!status_path.n)
        problem_required(ps, &status, "%s", "");
    else if (check_json_path(ps, &status, status_path) && !str_starts(status_path, S(".status.")))
        problem_invalid(ps, &status, jv_at(scale, "statusReplicasPath"),
                        "should be a json path under .status");
    if (selector_path.n && check_json_path(ps, &selector, selector_path) &&
        !str_starts(selector_path, S(".spec.")) && !str_starts(selector_path, S(".status.")))
        problem_invalid(ps, &selector, jv_at(scale, "labelSelectorPath"),
                        "should be a json path under either .spec or .status");
}

void define_selectable_check(struct problems *ps, const struct path *p, jv fields, jv schema)
{
    size_t unique = 0;

    JV_EACH (it, fields) {
        static const char *const types[] = { "string", "boolean", "integer", NULL };
        struct path at = path_field(EACH_AT(p, it), S("jsonPath"));
        jv path = jv_at(it.value, "jsonPath");
        struct err e = { 0 };
        bool twice = false;
        if (!jv_str(path, S("")).n) {
            problem_required(ps, &at, "%s", "");
            continue;
        }
        jv found = schema_at_path(schema, jv_str(path, S("")), false, &e);
        if (!jv_exists(found)) {
            problem_invalid(ps, &at, path, "is an invalid path: %s", e.msg);
            continue;
        }
        if (str_starts(jv_str(path, S("")), S(".metadata")))
            problem_invalid(ps, &at, path, "must not point to fields in metadata");
        if (!is_one_of(text_of(found, "type"), types))
            problem_invalid(ps, &at, path,
                            "must point to a field of type string, boolean or integer. Enum "
                            "string fields and strings with formats are allowed.");
        for (size_t i = 0; i + 1 < it.i; i++)
            twice = twice || jv_equal(jv_at(jv_index(fields, i), "jsonPath"), path);
        if (twice)
            problem_duplicate(ps, &at, path);
        unique += !twice;
    }
    if (unique > SELECTABLE_MAX)
        problem_add(ps, PROBLEM_TOO_MANY, p, jint(ps->a, (int64_t)unique),
                    "must have at most %d items", SELECTABLE_MAX);
}

/* ---- conversion */

static void check_review_versions(struct problems *ps, const struct path *p, jv versions)
{
    bool accepted = false;

    if (!jv_len(versions)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    JV_EACH (it, versions) {
        struct path at = path_index(p, it.i - 1);
        str name = jv_str(it.value, S(""));
        bool twice = false;
        for (size_t i = 0; i + 1 < it.i; i++)
            twice = twice || str_eq(jv_str(jv_index(versions, i), S("")), name);
        if (twice)
            problem_invalid(ps, &at, it.value, "duplicate version");
        else
            name_check(ps, &at, name, name_dns1035_label);
        accepted = accepted || str_eq(name, S("v1")) || str_eq(name, S("v1beta1"));
    }
    if (!accepted)
        problem_invalid(ps, p, versions, "must include at least one of v1, v1beta1");
}

static void check_url(struct problems *ps, const struct path *p, str url)
{
    static const char format[] = "desired format: https://host[/path]";
    str scheme = str_sub(url, 0, (size_t)(str_find(url, ':') < 0 ? 0 : str_find(url, ':')));
    str rest = str_sub(url, scheme.n + 1, url.n);
    str fragment = rest;
    str query = str_cut(&fragment, '#');
    str host = str_cut(&query, '?');

    if (!str_eq(scheme, S("https")))
        problem_invalid(ps, p, jstr(ps->a, scheme), "'https' is the only allowed URL scheme; %s",
                        format);
    host = str_starts(host, S("//")) ? str_sub(host, 2, host.n) : S("");
    str path = host;
    str authority = str_cut(&path, '/');
    ptrdiff_t at = str_rfind(authority, '@');
    if (at + 1 == (ptrdiff_t)authority.n)
        problem_invalid(ps, p, jstr(ps->a, S("")), "host must be specified; %s", format);
    if (at >= 0)
        problem_invalid(ps, p, jstr(ps->a, str_sub(authority, 0, (size_t)at)),
                        "user information is not permitted in the URL");
    if (fragment.n)
        problem_invalid(ps, p, jstr(ps->a, fragment), "fragments are not permitted in the URL");
    if (query.n)
        problem_invalid(ps, p, jstr(ps->a, query), "query parameters are not permitted in the URL");
}

static void check_service_path(struct problems *ps, const struct path *p, jv value)
{
    str path = jv_str(value, S(""));

    if (!path.n || str_eq(path, S("/")))
        return;
    if (path.p[0] != '/')
        problem_invalid(ps, p, value, "must start with a '/'");
    str rest = str_sub(path, 1, path.n - (path.n > 2 && path.p[path.n - 1] == '/'));
    for (int i = 0; rest.p; i++) {
        str part = str_cut(&rest, '/');
        struct name_errors errs = name_dns1123_subdomain(part);
        if (!part.n)
            problem_invalid(ps, p, value, "segment[%d] may not be empty", i);
        for (unsigned k = 0; part.n && k < errs.n; k++)
            problem_invalid(ps, p, value, "segment[%d]: %s", i, errs.at[k]);
    }
}

static void check_service(struct problems *ps, const struct path *p, jv service)
{
    int64_t number = jv_int(jv_at(service, "port"), 443);

    if (!text_of(service, "name").n)
        problem_required(ps, AT(p, "name"), "%s", "");
    if (!text_of(service, "namespace").n)
        problem_required(ps, AT(p, "namespace"), "%s", "");
    if (!port_in_range(number))
        problem_invalid(ps, AT(p, "port"), jint(ps->a, number),
                        "port is not valid: must be between 1 and 65535, inclusive");
    if (!jv_is_null(jv_at(service, "path")))
        check_service_path(ps, AT(p, "path"), jv_at(service, "path"));
}

static void check_client(struct problems *ps, const struct path *p, jv client)
{
    bool by_url = !jv_is_null(jv_at(client, "url"));
    bool by_service = !jv_is_null(jv_at(client, "service"));

    if (by_url == by_service)
        problem_required(ps, p, "exactly one of url or service is required");
    else if (by_url)
        check_url(ps, AT(p, "url"), text_of(client, "url"));
    else
        check_service(ps, AT(p, "service"), jv_at(client, "service"));
}

void define_conversion_check(struct problems *ps, const struct path *p, jv conversion)
{
    static const char *const strategies[] = { "None", "Webhook", NULL };
    static const char unwanted[] = "should not be set when strategy is not set to Webhook";
    struct path strategy_at = path_field(p, S("strategy"));
    struct path client_at = path_field(p, S("webhookClientConfig"));
    struct path reviews_at = path_field(p, S("conversionReviewVersions"));
    str strategy = text_of(conversion, "strategy");
    jv client = jv_at(conversion, "webhook", "clientConfig");
    jv reviews = jv_at(conversion, "webhook", "conversionReviewVersions");

    if (jv_is_null(conversion))
        return;
    if (!strategy.n)
        problem_required(ps, &strategy_at, "%s", "");
    else if (!is_one_of(strategy, strategies))
        problem_not_supported(ps, &strategy_at, jv_at(conversion, "strategy"), strategies);
    if (!str_eq(strategy, S("Webhook"))) {
        if (!jv_is_null(client))
            problem_forbidden(ps, &client_at, "%s", unwanted);
        if (jv_len(reviews))
            problem_forbidden(ps, &reviews_at, "%s", unwanted);
        return;
    }
    if (jv_is_null(client))
        problem_required(ps, &client_at, "required when strategy is set to Webhook");
    else
        check_client(ps, &client_at, client);
    check_review_versions(ps, &reviews_at, reviews);
}
