/* Environment variables of containers, and references to fields of the pod. */

#include "builtin/pod.h"
#include "builtin/resources.h"

static const char *const env_fields[] = { "metadata.name",
                                          "metadata.namespace",
                                          "metadata.uid",
                                          "spec.nodeName",
                                          "spec.serviceAccountName",
                                          "status.hostIP",
                                          "status.hostIPs",
                                          "status.podIP",
                                          "status.podIPs",
                                          NULL };
static const char *const volume_fields[] = { "metadata.annotations", "metadata.labels",
                                             "metadata.name",        "metadata.namespace",
                                             "metadata.uid",         NULL };
static const char *const convertible[] = { "metadata.annotations",
                                           "metadata.labels",
                                           "metadata.name",
                                           "metadata.namespace",
                                           "metadata.uid",
                                           "spec.nodeName",
                                           "spec.restartPolicy",
                                           "spec.serviceAccountName",
                                           "spec.schedulerName",
                                           "status.phase",
                                           "status.hostIP",
                                           "status.hostIPs",
                                           "status.podIP",
                                           "status.podIPs",
                                           NULL };
static const char *const resource_fields[] = { "limits.cpu",
                                               "limits.ephemeral-storage",
                                               "limits.memory",
                                               "requests.cpu",
                                               "requests.ephemeral-storage",
                                               "requests.memory",
                                               NULL };
static const char *const memory_divisors[] = { "1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
                                               "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL };
static const char *const cpu_divisors[] = { "1m", "1", NULL };

/* metadata.labels['key'] */
static bool split_subscript(str path, str *head, str *key)
{
    if (!str_ends(path, S("']")))
        return false;
    str s = str_sub(path, 0, path.n - 2);
    const char *open = s.n ? memmem(s.p, s.n, "['", 2) : NULL;
    if (!open || open == s.p)
        return false;
    *head = (str){ s.p, (size_t)(open - s.p) };
    *key = str_sub(s, head->n + 2, s.n);
    return true;
}

static void subscript_check(struct problems *ps, const struct path *p, str path, str head, str key)
{
    if (str_eq(head, S("metadata.annotations")))
        name_check(ps, p, name_lower(ps->a, key), name_qualified);
    else if (str_eq(head, S("metadata.labels")))
        name_check(ps, p, key, name_qualified);
    else
        problem_invalid(ps, AT(p, "fieldPath"), jstr(ps->a, path),
                        "error converting fieldPath: field label does not support subscript: "
                        "%" PRI_STR,
                        STR_ARG(path));
}

void field_ref_check(struct problems *ps, const struct path *p, jv ref, bool volume)
{
    str version = FIELD_STR(ref, "apiVersion");
    str path = FIELD_STR(ref, "fieldPath");
    str head;
    str key;

    if (!version.n) {
        problem_required(ps, AT(p, "apiVersion"), "%s", "");
    } else if (!path.n) {
        problem_required(ps, AT(p, "fieldPath"), "%s", "");
    } else if (!str_eq(version, S("v1"))) {
        problem_invalid(ps, AT(p, "fieldPath"), FIELD(ref, "fieldPath"),
                        "error converting fieldPath: unsupported pod version: %" PRI_STR,
                        STR_ARG(version));
    } else if (split_subscript(path, &head, &key)) {
        subscript_check(ps, p, path, head, key);
    } else if (str_eq(path, S("spec.host"))) {
        if (volume)
            problem_not_supported(ps, AT(p, "fieldPath"), LSTR("spec.nodeName"), volume_fields);
    } else if (!one_of(path, convertible)) {
        problem_invalid(ps, AT(p, "fieldPath"), FIELD(ref, "fieldPath"),
                        "error converting fieldPath: field label not supported: %" PRI_STR,
                        STR_ARG(path));
    } else if (!one_of(path, volume ? volume_fields : env_fields)) {
        problem_not_supported(ps, AT(p, "fieldPath"), FIELD(ref, "fieldPath"),
                              volume ? volume_fields : env_fields);
    }
}

static bool is_hugepages_field(str resource)
{
    return str_starts(resource, S("requests.hugepages-")) ||
           str_starts(resource, S("limits.hugepages-"));
}

static void divisor_check(struct problems *ps, const struct path *p, jv ref)
{
    str resource = FIELD_STR(ref, "resource");
    struct quantity q = quantity_of_jv(FIELD(ref, "divisor"));
    const char *of = str_ends(resource, S(".memory"))              ? "memory"
                     : str_ends(resource, S(".ephemeral-storage")) ? "local ephemeral storage"
                     : is_hugepages_field(resource)                ? "hugepages"
                                                                   : NULL;

    if (quantity_sign(&q) == 0)
        return;
    str text = quantity_text(ps->a, &q);
    if (str_eq(resource, S("limits.cpu")) || str_eq(resource, S("requests.cpu"))) {
        if (!one_of(text, cpu_divisors))
            problem_invalid(ps, AT(p, "divisor"), jstr(ps->a, resource),
                            "only divisor's values 1m and 1 are supported with the cpu resource");
    } else if (of && (is_hugepages_field(resource) || one_of(resource, resource_fields)) &&
               !one_of(text, memory_divisors)) {
        problem_invalid(ps, AT(p, "divisor"), jstr(ps->a, resource),
                        "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, "
                        "1Ei are supported with the %s resource",
                        of);
    }
}

void resource_field_ref_check(struct problems *ps, const struct path *p, jv ref, bool volume)
{
    str resource = FIELD_STR(ref, "resource");

    if (volume && !FIELD_STR(ref, "containerName").n)
        problem_required(ps, AT(p, "containerName"), "%s", "");
    else if (!resource.n)
        problem_required(ps, AT(p, "resource"), "%s", "");
    else if (!one_of(resource, resource_fields) && !is_hugepages_field(resource))
        problem_not_supported(ps, AT(p, "resource"), FIELD(ref, "resource"), resource_fields);
    divisor_check(ps, p, ref);
}

static void key_ref_check(struct problems *ps, const struct path *p, jv ref)
{
    name_check(ps, AT(p, "name"), FIELD_STR(ref, "name"), name_dns1123_subdomain);
    name_required(ps, AT(p, "key"), FIELD_STR(ref, "key"), name_config_key);
}

static void value_from_check(struct problems *ps, const struct path *p, jv var)
{
    jv from = FIELD(var, "valueFrom");
    unsigned sources = 0;

    if (jv_is_null(from))
        return;
    if (!jv_is_null(FIELD(from, "fieldRef"))) {
        sources++;
        field_ref_check(ps, AT(p, "fieldRef"), FIELD(from, "fieldRef"), false);
    }
    if (!jv_is_null(FIELD(from, "resourceFieldRef"))) {
        sources++;
        resource_field_ref_check(ps, AT(p, "resourceFieldRef"), FIELD(from, "resourceFieldRef"),
                                 false);
    }
    if (!jv_is_null(FIELD(from, "configMapKeyRef"))) {
        sources++;
        key_ref_check(ps, AT(p, "configMapKeyRef"), FIELD(from, "configMapKeyRef"));
    }
    if (!jv_is_null(FIELD(from, "secretKeyRef"))) {
        sources++;
        key_ref_check(ps, AT(p, "secretKeyRef"), FIELD(from, "secretKeyRef"));
    }
    if (!sources)
        problem_invalid(ps, p, LSTR(""),
                        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                        "`secretKeyRef`");
    else if (FIELD_STR(var, "value").n)
        problem_invalid(ps, p, LSTR(""), "may not be specified when `value` is not empty");
    else if (sources > 1)
        problem_invalid(ps, p, LSTR(""), "may not have more than one field specified at a time");
}

void nul_check(struct problems *ps, const struct path *p, jv v)
{
    str text = jv_str(v, S(""));

    if (text.n && memchr(text.p, 0, text.n))
        problem_invalid(ps, p, v, "must not contain a NUL character: no program can be given one");
    JV_EACH (it, v)
        nul_check(ps, EACH_AT(p, it), it.value);
}

void env_check(struct problems *ps, const struct path *p, jv env)
{
    JV_EACH (it, env) {
        const struct path *q = EACH_AT(p, it);
        name_required(ps, AT(q, "name"), FIELD_STR(it.value, "name"), name_env_var);
        nul_check(ps, AT(q, "value"), FIELD(it.value, "value"));
        value_from_check(ps, AT(q, "valueFrom"), it.value);
    }
}

static bool env_source_check(struct problems *ps, const struct path *p, jv ref)
{
    if (jv_is_null(ref))
        return false;
    if (!FIELD_STR(ref, "name").n)
        problem_required(ps, AT(p, "name"), "%s", "");
    else
        name_is_subdomain(ps, AT(p, "name"), FIELD_STR(ref, "name"), true);
    return true;
}

void env_from_check(struct problems *ps, const struct path *p, jv env_from)
{
    JV_EACH (it, env_from) {
        const struct path *q = EACH_AT(p, it);
        if (FIELD_STR(it.value, "prefix").n)
            name_check(ps, AT(q, "prefix"), FIELD_STR(it.value, "prefix"), name_env_var);
        int sources = env_source_check(ps, AT(q, "configMapRef"), FIELD(it.value, "configMapRef"));
        sources += env_source_check(ps, AT(q, "secretRef"), FIELD(it.value, "secretRef"));
        if (!sources)
            problem_invalid(ps, p, LSTR(""), "must specify one of: `configMapRef` or `secretRef`");
        else if (sources > 1)
            problem_invalid(ps, p, LSTR(""),
                            "may not have more than one field specified at a time");
    }
}
