/* LimitRange and ResourceQuota. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/resources.h"

/* ---- LimitRange */

static jv filled_from(struct arena *a, jv list, jv from)
{
    struct edit e = edit(a, list);

    JV_EACH (it, from)
        if (!jv_exists(jv_get(list, it.key)))
            edit_set(&e, it.key, it.value);
    return edit_done(&e);
}

static void set_if_any(struct edit *e, str key, jv list)
{
    if (jv_len(list))
        edit_set(e, key, list);
}

static jv limit_defaults(struct arena *a, jv item)
{
    static const char *const lists[] = { "max", "min", "default", "defaultRequest",
                                         "maxLimitRequestRatio" };
    struct edit e = edit(a, item);

    for (size_t i = 0; i < COUNT(lists); i++)
        edit_in(&e, str_of(lists[i]), resource_list_defaults);
    if (!str_eq(FIELD_STR(item, "type"), S("Container")))
        return edit_done(&e);
    jv limits = filled_from(a, edit_get(&e, S("default")), edit_get(&e, S("max")));
    jv requests = filled_from(a, edit_get(&e, S("defaultRequest")), limits);
    requests = filled_from(a, requests, edit_get(&e, S("min")));
    set_if_any(&e, S("default"), limits);
    set_if_any(&e, S("defaultRequest"), requests);
    return edit_done(&e);
}

jv limitrange_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);

    edit_each(&spec, S("limits"), limit_defaults);
    edit_set(&e, S("spec"), edit_done(&spec));
    return edit_done(&e);
}

static void limit_names_check(struct problems *ps, const struct path *p, jv item, const char *list)
{
    str type = FIELD_STR(item, "type");
    bool container = str_eq(type, S("Pod")) || str_eq(type, S("Container"));

    JV_EACH (it, jv_get(item, str_of(list))) {
        const struct path *q = ATK(ATZ(p, list), it.key);
        if (container)
            resource_container_name_check(ps, q, it.key);
        else
            resource_name_check(ps, q, it.key);
    }
}

static int compare(jv x, jv y)
{
    struct quantity a = quantity_of_jv(x);
    struct quantity b = quantity_of_jv(y);

    return jv_exists(x) && jv_exists(y) ? quantity_cmp(&a, &b) : 0;
}

static void ratio_check(struct problems *ps, const struct path *p, jv ratio, jv min, jv max)
{
    struct quantity r = quantity_of_jv(ratio);
    struct quantity one = quantity_of(1, QUANTITY_DECIMAL_SI);

    if (!jv_exists(ratio))
        return;
    if (quantity_cmp(&r, &one) < 0)
        problem_invalid(ps, p, ratio, "ratio %" PRI_STR " is less than 1",
                        STR_ARG(jv_str(ratio, S(""))));
    if (!jv_exists(min) || !jv_exists(max))
        return;
    struct quantity lo = quantity_of_jv(min);
    struct quantity hi = quantity_of_jv(max);
    double limit = quantity_double(&hi) / quantity_double(&lo);
    if (quantity_double(&r) > limit)
        problem_invalid(ps, p, ratio, "ratio %" PRI_STR " is greater than max/min = %f",
                        STR_ARG(jv_str(ratio, S(""))), limit);
}

/* What the lists of one item say of one resource must fit together. */
static void limit_amounts_check(struct problems *ps, const struct path *p, jv item, str key)
{
    bool pod = str_eq(FIELD_STR(item, "type"), S("Pod"));
    jv min = jv_get(FIELD(item, "min"), key);
    jv max = jv_get(FIELD(item, "max"), key);
    jv dflt = pod ? JV_ABSENT : jv_get(FIELD(item, "default"), key);
    jv request = pod ? JV_ABSENT : jv_get(FIELD(item, "defaultRequest"), key);
    const struct {
        jv low;
        jv high;
        const char *list;
        jv shown;
        const char *low_name;
        const char *high_name;
    } pairs[] = {
        { min, max, "min", min, "min value", "max value" },
        { min, request, "defaultRequest", request, "min value", "default request value" },
        { request, max, "defaultRequest", request, "default request value", "max value" },
        { request, dflt, "defaultRequest", request, "default request value",
          "default limit value" },
        { min, dflt, "default", min, "min value", "default value" },
        { dflt, max, "default", max, "default value", "max value" },
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (compare(pairs[i].low, pairs[i].high) > 0)
            problem_invalid(ps, ATK(ATZ(p, pairs[i].list), key), pairs[i].shown,
                            "%s %" PRI_STR " is greater than %s %" PRI_STR, pairs[i].low_name,
                            STR_ARG(jv_str(pairs[i].low, S(""))), pairs[i].high_name,
                            STR_ARG(jv_str(pairs[i].high, S(""))));
    ratio_check(ps, ATK(AT(p, "maxLimitRequestRatio"), key),
                jv_get(FIELD(item, "maxLimitRequestRatio"), key), min, max);
    if (!resource_can_overcommit(key) && compare(dflt, request) != 0)
        problem_invalid(ps, ATK(AT(p, "defaultRequest"), key), request,
                        "default value %" PRI_STR " must equal to defaultRequest value %" PRI_STR
                        " in %" PRI_STR,
                        STR_ARG(jv_str(dflt, S(""))), STR_ARG(jv_str(request, S(""))),
                        STR_ARG(key));
}

static void limit_type_check(struct problems *ps, const struct path *p, jv type)
{
    static const char *const standard[] = { "Pod", "Container", "PersistentVolumeClaim", NULL };
    str name = jv_str(type, S(""));
    size_t before = ps->n;

    name_check(ps, p, name, name_qualified);
    if (ps->n == before && str_find(name, '/') < 0 && !one_of(name, standard))
        problem_invalid(ps, p, type, "must be a standard limit type or fully qualified");
}

static void limit_check(struct problems *ps, const struct path *p, jv item)
{
    static const char not_for_pods[] = "may not be specified when `type` is 'Pod'";
    static const char *const lists[] = { "max", "min", "default", "defaultRequest",
                                         "maxLimitRequestRatio" };
    bool pod = str_eq(FIELD_STR(item, "type"), S("Pod"));
    struct edit keys = edit(ps->a, JV_EMPTY_OBJ);

    for (size_t i = 0; i < COUNT(lists); i++) {
        bool dflt = i == 2 || i == 3;
        if (i == 4 && str_eq(FIELD_STR(item, "type"), S("PersistentVolumeClaim")) &&
            !jv_exists(FIELD(FIELD(item, "min"), "storage")) &&
            !jv_exists(FIELD(FIELD(item, "max"), "storage")))
            problem_required(ps, AT(p, "limits"),
                             "either minimum or maximum storage value is required, but neither was "
                             "provided");
        if (dflt && pod) {
            if (jv_len(jv_get(item, str_of(lists[i]))))
                problem_forbidden(ps, ATZ(p, lists[i]), not_for_pods);
            continue;
        }
        limit_names_check(ps, p, item, lists[i]);
        JV_EACH (it, jv_get(item, str_of(lists[i])))
            edit_set(&keys, it.key, JV_TRUE);
    }
    JV_EACH (it, edit_done(&keys))
        limit_amounts_check(ps, p, item, it.key);
}

void limitrange_validate(struct problems *ps, jv obj)
{
    jv limits = FIELD(FIELD(obj, "spec"), "limits");

    JV_EACH (it, limits) {
        const struct path *p = ATI(AT(ROOT("spec"), "limits"), it.i - 1);
        limit_type_check(ps, AT(p, "type"), shown(ps->a, FIELD(it.value, "type")));
        if (seen_before(limits, it.i - 1, S("type"), FIELD_STR(it.value, "type")))
            problem_duplicate(ps, AT(p, "type"), FIELD(it.value, "type"));
        limit_check(ps, p, it.value);
    }
}

/* ---- ResourceQuota */

static void hard_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        resource_quota_name_check(ps, ATK(p, it.key), it.key);
        resource_amount_check(ps, ATK(p, it.key), it.key, it.value);
    }
}

static const char *const scopes[] = { "Terminating",
                                      "NotTerminating",
                                      "BestEffort",
                                      "NotBestEffort",
                                      "PriorityClass",
                                      "VolumeAttributesClass",
                                      "CrossNamespacePodAffinity",
                                      NULL };

/* A standard resource that the scope says nothing about. */
static bool scope_fits(str scope, str resource)
{
    static const char *const pods[] = {
        "pods",          "cpu",          "memory",          "limits.cpu",
        "limits.memory", "requests.cpu", "requests.memory", NULL
    };
    static const char *const claims[] = { "persistentvolumeclaims", "requests.storage", NULL };

    if (str_find(resource, '/') >= 0 || !one_of(scope, scopes))
        return true;
    if (str_eq(scope, S("BestEffort")))
        return str_eq(resource, S("pods"));
    return one_of(resource, str_eq(scope, S("VolumeAttributesClass")) ? claims : pods);
}

static void conflicts_check(struct problems *ps, const struct path *p, jv shown_list, jv names)
{
    static const char *const pairs[][2] = { { "BestEffort", "NotBestEffort" },
                                            { "Terminating", "NotTerminating" } };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (str_list_has(names, str_of(pairs[i][0])) && str_list_has(names, str_of(pairs[i][1])))
            problem_invalid(ps, p, shown_list, "conflicting scopes");
}

static void scopes_check(struct problems *ps, const struct path *p, jv spec)
{
    jv list = FIELD(spec, "scopes");

    JV_EACH (it, list) {
        str scope = jv_str(it.value, S(""));
        if (!one_of(scope, scopes))
            problem_invalid(ps, p, list, "unsupported scope");
        JV_EACH (h, FIELD(spec, "hard"))
            if (!scope_fits(scope, h.key))
                problem_invalid(ps, p, list, "unsupported scope applied to resource");
    }
    conflicts_check(ps, p, list, list);
}

static void scope_selector_check(struct problems *ps, const struct path *p, jv spec)
{
    struct jbuild names = jb_arr(ps->a);

    JV_EACH (it, FIELD(FIELD(spec, "scopeSelector"), "matchExpressions")) {
        str scope = FIELD_STR(it.value, "scopeName");
        str op = FIELD_STR(it.value, "operator");
        jv values = FIELD(it.value, "values");
        jb_push(&names, jstr(ps->a, scope));
        if (!one_of(scope, scopes))
            problem_invalid(ps, AT(p, "scopeName"), jstr(ps->a, scope), "unsupported scope");
        if (one_of(scope, scopes) && !str_eq(scope, S("PriorityClass")) &&
            !str_eq(scope, S("VolumeAttributesClass")) && !str_eq(op, S("Exists")))
            problem_invalid(ps, AT(p, "operator"), jstr(ps->a, op),
                            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                            "ResourceQuotaScopeNotBestEffort or "
                            "ResourceQuotaScopeCrossNamespacePodAffinity");
        if (str_eq(op, S("In")) || str_eq(op, S("NotIn"))) {
            if (!jv_len(values))
                problem_required(ps, AT(p, "values"),
                                 "must be at least one value when `operator` is 'In' or 'NotIn' "
                                 "for scope selector");
        } else if (str_eq(op, S("Exists")) || str_eq(op, S("DoesNotExist"))) {
            if (jv_len(values))
                problem_invalid(ps, AT(p, "values"), values,
                                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                                "scope selector");
        } else {
            problem_invalid(ps, AT(p, "operator"), jstr(ps->a, op),
                            "not a valid selector operator");
        }
    }
    conflicts_check(ps, p, FIELD(spec, "scopes"), jb_done(&names));
}

void resourcequota_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    hard_check(ps, AT(p, "hard"), FIELD(spec, "hard"));
    scopes_check(ps, AT(p, "scopes"), spec);
    scope_selector_check(ps, AT(AT(p, "scopeSelector"), "matchExpressions"), spec);
}

static bool same_set(jv x, jv y)
{
    JV_EACH (it, x)
        if (!str_list_has(y, jv_str(it.value, S(""))))
            return false;
    JV_EACH (it, y)
        if (!str_list_has(x, jv_str(it.value, S(""))))
            return false;
    return true;
}

void resourcequota_validate_update(struct problems *ps, jv obj, jv old)
{
    jv now = FIELD(FIELD(obj, "spec"), "scopes");

    if (!same_set(now, FIELD(FIELD(old, "spec"), "scopes")))
        problem_invalid(ps, AT(ROOT("spec"), "scopes"), now, "field is immutable");
}

void resourcequota_validate_status(struct problems *ps, jv obj, jv old)
{
    (void)old;
    hard_check(ps, AT(ROOT("status"), "hard"), FIELD(FIELD(obj, "status"), "hard"));
    hard_check(ps, AT(ROOT("status"), "used"), FIELD(FIELD(obj, "status"), "used"));
}
