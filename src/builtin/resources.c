/* Resource names and amounts, as core/v1 validates them. */

#include "builtin/resources.h"
#include "builtin/pod.h"

#define HUGEPAGES S("hugepages-")

/* No container has more; it keeps the work small that a hostile one can make. */
enum { LOOK_BACK = 512, MAX_NAMES = 128, MAX_SHOWN = 50 };

static const char *const container_names[] = { "cpu", "memory", "ephemeral-storage", NULL };
static const char *const quota_names[] = { "cpu",
                                           "memory",
                                           "ephemeral-storage",
                                           "requests.cpu",
                                           "requests.memory",
                                           "requests.storage",
                                           "requests.ephemeral-storage",
                                           "limits.cpu",
                                           "limits.memory",
                                           "limits.ephemeral-storage",
                                           "pods",
                                           "resourcequotas",
                                           "services",
                                           "replicationcontrollers",
                                           "secrets",
                                           "persistentvolumeclaims",
                                           "configmaps",
                                           "services.nodeports",
                                           "services.loadbalancers",
                                           NULL };
static const char *const integer_names[] = { "pods",
                                             "resourcequotas",
                                             "services",
                                             "replicationcontrollers",
                                             "secrets",
                                             "configmaps",
                                             "persistentvolumeclaims",
                                             "services.nodeports",
                                             "services.loadbalancers",
                                             NULL };

bool resource_is_native(str name)
{
    return str_find(name, '/') < 0 || str_contains(name, S("kubernetes.io/"));
}

bool resource_is_hugepage(str name)
{
    return str_starts(name, HUGEPAGES);
}

/* A quota counts it as requests.NAME, so that must be a name as well. */
bool resource_is_extended(str name)
{
    ptrdiff_t slash = str_find(name, '/');

    return !resource_is_native(name) && !str_starts(name, S("requests.")) &&
           name_ok(name, name_qualified) && (size_t)slash + sizeof("requests.") - 1 <= 253;
}

static bool resource_is_integer(str name)
{
    return one_of(name, integer_names) || resource_is_extended(name);
}

bool resource_can_overcommit(str name)
{
    return resource_is_native(name) && !resource_is_hugepage(name);
}

struct quantity quantity_of_jv(jv v)
{
    struct quantity q = quantity_of(0, QUANTITY_DECIMAL_SI);

    if (jv_is(v, JV_STR))
        quantity_parse(jv_str(v, S("")), &q, NULL);
    else if (jv_is(v, JV_INT))
        q = quantity_of(jv_int(v, 0), QUANTITY_DECIMAL_SI);
    return q;
}

static bool is_quota_hugepage(str name)
{
    return resource_is_hugepage(name) || str_starts(name, S("requests.hugepages-"));
}

static bool name_rules(struct problems *ps, const struct path *p, str name)
{
    if (one_of(name, container_names))
        return true;
    size_t before = ps->n;
    name_check(ps, p, name, name_qualified);
    if (ps->n > before)
        return false;
    if (str_find(name, '/') < 0 && !one_of(name, quota_names) && !str_eq(name, S("storage")) &&
        !is_quota_hugepage(name)) {
        problem_invalid(ps, p, jstr(ps->a, name),
                        "must be a standard resource type or fully qualified");
        return false;
    }
    return true;
}

void resource_name_check(struct problems *ps, const struct path *p, str name)
{
    name_rules(ps, p, name);
}

void resource_container_name_check(struct problems *ps, const struct path *p, str name)
{
    name_rules(ps, p, name);
    if (str_find(name, '/') < 0) {
        if (!one_of(name, container_names) && !resource_is_hugepage(name))
            problem_invalid(ps, p, jstr(ps->a, name), "must be a standard resource for containers");
    } else if (!resource_is_native(name) && !resource_is_extended(name)) {
        problem_invalid(ps, p, jstr(ps->a, name), "doesn't follow extended resource name standard");
    }
}

void resource_quota_name_check(struct problems *ps, const struct path *p, str name)
{
    name_rules(ps, p, name);
    if (str_find(name, '/') < 0 && !one_of(name, quota_names) && !is_quota_hugepage(name))
        problem_invalid(ps, p, jstr(ps->a, name), "must be a standard resource for quota");
}

static void resource_pod_name_check(struct problems *ps, const struct path *p, str name)
{
    static const char *const supported[] = { "cpu", "hugepages-", "memory", NULL };

    if (name_rules(ps, p, name) && !str_eq(name, S("cpu")) && !str_eq(name, S("memory")) &&
        !resource_is_hugepage(name))
        problem_not_supported(ps, p, jstr(ps->a, name), supported);
}

void quantity_nonnegative_check(struct problems *ps, const struct path *p, jv amount)
{
    struct quantity q = quantity_of_jv(amount);

    if (quantity_sign(&q) < 0)
        problem_invalid(ps, p, amount, "must be greater than or equal to 0");
}

void quantity_positive_check(struct problems *ps, const struct path *p, jv amount)
{
    struct quantity q = quantity_of_jv(amount);

    if (quantity_sign(&q) <= 0)
        problem_invalid(ps, p, amount, "must be greater than zero");
}

void resource_amount_check(struct problems *ps, const struct path *p, str name, jv amount)
{
    quantity_nonnegative_check(ps, p, amount);
    if (!one_of(name, container_names) && resource_is_integer(name)) {
        struct quantity q = quantity_of_jv(amount);
        if (quantity_milli(&q) % 1000)
            problem_invalid(ps, p, amount, "must be an integer");
    }
}

static void hugepage_check(struct problems *ps, const struct path *p, str name, jv amount)
{
    struct quantity q = quantity_of_jv(amount);
    struct quantity page;

    if (quantity_parse(str_sub(name, HUGEPAGES.n, name.n), &page, NULL) == 0 &&
        quantity_sign(&page) > 0 && quantity_milli(&page) % 1000 == 0 &&
        quantity_value(&q) % quantity_value(&page) == 0)
        return;
    problem_invalid(ps, p, amount, "%" PRI_STR " is not positive integer multiple of %" PRI_STR,
                    STR_ARG(jv_str(amount, S(""))), STR_ARG(name));
}

static void request_against_limit(struct problems *ps, const struct path *p, str name, jv request,
                                  jv limit)
{
    if (!jv_exists(limit)) {
        if (!resource_can_overcommit(name))
            problem_required(ps, AT(p, "limits"),
                             "Limit must be set for non overcommitable resources");
        return;
    }
    struct quantity r = quantity_of_jv(request);
    struct quantity l = quantity_of_jv(limit);
    int order = quantity_cmp(&r, &l);
    if (order != 0 && !resource_can_overcommit(name))
        problem_invalid(ps, AT(p, "requests"), request,
                        "must be equal to %" PRI_STR " limit of %" PRI_STR, STR_ARG(name),
                        STR_ARG(jv_str(limit, S(""))));
    else if (order > 0)
        problem_invalid(ps, AT(p, "requests"), request,
                        "must be less than or equal to %" PRI_STR " limit of %" PRI_STR,
                        STR_ARG(name), STR_ARG(jv_str(limit, S(""))));
}

struct found {
    bool compute; /* cpu or memory */
    bool hugepages;
};

static void list_check(struct problems *ps, const struct path *p, jv requirements, str which,
                       bool pod_level, struct found *found)
{
    const struct path list_at = path_field(p, which);

    JV_EACH (it, jv_get(requirements, which)) {
        const struct path *q = ATK(&list_at, it.key);
        if (pod_level)
            resource_pod_name_check(ps, q, it.key);
        else
            resource_container_name_check(ps, q, it.key);
        resource_amount_check(ps, q, it.key, it.value);
        if (str_eq(which, S("requests")))
            request_against_limit(ps, p, it.key, it.value,
                                  jv_get(FIELD(requirements, "limits"), it.key));
        if (resource_is_hugepage(it.key)) {
            found->hugepages = true;
            hugepage_check(ps, q, it.key, it.value);
        }
        if (str_eq(it.key, S("cpu")) || str_eq(it.key, S("memory")))
            found->compute = true;
    }
}

static str claim_names(struct arena *a, jv claims)
{
    str text = STR_NONE;

    for (struct jv_iter it = jv_iter(claims); it.i < MAX_SHOWN && jv_next(&it);)
        text = arena_printf(a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(text), text.n ? ", " : "",
                            STR_ARG(FIELD_STR(it.value, "name")));
    return text;
}

static bool claimed_before(jv claims, size_t n, str name, str request)
{
    for (size_t i = n > LOOK_BACK ? n - LOOK_BACK : 0; i < n; i++) {
        jv c = jv_index(claims, i);
        if (!str_eq(FIELD_STR(c, "name"), name))
            continue;
        if (!FIELD_STR(c, "request").n || !request.n || str_eq(FIELD_STR(c, "request"), request))
            return true;
    }
    return false;
}

static void claims_check(struct problems *ps, const struct path *p, jv used, jv claims)
{
    AUTO(by_field) struct by_field names = by_field(claims, S("name"));

    JV_EACH (it, used) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        str request = FIELD_STR(it.value, "request");
        if (!name.n) {
            problem_required(ps, q, "%s", "");
            continue;
        }
        if (request.n)
            name_check(ps, AT(q, "request"), request, name_dns1123_label);
        if (claimed_before(used, it.i - 1, name, request))
            problem_duplicate(ps, q, jstr(ps->a, name));
        if (by_first(&names, name) >= 0)
            continue;
        if (jv_len(claims))
            problem_add(ps, PROBLEM_NOT_FOUND, q, jstr(ps->a, name),
                        "must be one of the names in pod.spec.resourceClaims: %" PRI_STR,
                        STR_ARG(claim_names(ps->a, claims)));
        else
            problem_add(ps, PROBLEM_NOT_FOUND, q, jstr(ps->a, name),
                        "must be one of the names in pod.spec.resourceClaims which is empty");
    }
}

void requirements_check(struct problems *ps, const struct path *p, jv requirements, jv claims,
                        bool pod_level)
{
    struct found found = { false, false };

    if (!jv_len(requirements))
        return;
    if (jv_len(FIELD(requirements, "limits")) > MAX_NAMES ||
        jv_len(FIELD(requirements, "requests")) > MAX_NAMES) {
        too_many(ps, p,
                 jv_len(FIELD(requirements, "limits")) + jv_len(FIELD(requirements, "requests")),
                 MAX_NAMES);
        return;
    }
    list_check(ps, p, requirements, S("limits"), pod_level, &found);
    list_check(ps, p, requirements, S("requests"), pod_level, &found);
    if (found.hugepages && !found.compute)
        problem_forbidden(ps, p, "HugePages require cpu or memory");
    claims_check(ps, AT(p, "claims"), FIELD(requirements, "claims"), claims);
}

/* Kubernetes rounds every amount up to a thousandth when it is written. */
jv resource_list_defaults(struct arena *a, jv list)
{
    struct edit e = edit(a, list);

    JV_EACH (it, list) {
        struct quantity q = quantity_of_jv(it.value);
        if (q.scale >= -3)
            continue;
        struct quantity milli = quantity_of_milli(quantity_milli(&q), q.format);
        if (quantity_cmp(&q, &milli) != 0)
            edit_set(&e, it.key, jstr(a, quantity_text(a, &milli)));
    }
    return edit_done(&e);
}
