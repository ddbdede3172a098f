/* Resources of a pod as a whole: its quality of service, and requests and limits of its own. */

#include "builtin/pod.h"
#include "builtin/resources.h"

/* ---- quality of service */

struct amounts {
    struct quantity cpu;
    struct quantity memory;
    bool has_cpu;
    bool has_memory;
};

static void add_amount(struct quantity *sum, bool *has, jv v)
{
    struct quantity q = quantity_of_jv(v);

    if (quantity_sign(&q) <= 0)
        return;
    if (*has)
        quantity_add(sum, &q);
    else
        *sum = q;
    *has = true;
}

/* Gives whether the list itself has both. */
static bool add_list(struct amounts *sum, jv list)
{
    struct amounts own = { .has_cpu = false };

    add_amount(&own.cpu, &own.has_cpu, FIELD(list, "cpu"));
    add_amount(&own.memory, &own.has_memory, FIELD(list, "memory"));
    add_amount(&sum->cpu, &sum->has_cpu, FIELD(list, "cpu"));
    add_amount(&sum->memory, &sum->has_memory, FIELD(list, "memory"));
    return own.has_cpu && own.has_memory;
}

static bool equal_amounts(const struct amounts *x, const struct amounts *y)
{
    return x->has_cpu == y->has_cpu && x->has_memory == y->has_memory &&
           (!x->has_cpu || quantity_cmp(&x->cpu, &y->cpu) == 0) &&
           (!x->has_memory || quantity_cmp(&x->memory, &y->memory) == 0);
}

const char *pod_qos(struct arena *a, jv spec)
{
    struct amounts requests = { .has_cpu = false };
    struct amounts limits = { .has_cpu = false };
    jv own = FIELD(spec, "resources");
    bool guaranteed = true;

    (void)a;
    if (!jv_is_null(own)) {
        add_list(&requests, FIELD(own, "requests"));
        if (jv_len(FIELD(own, "limits")) && !add_list(&limits, FIELD(own, "limits")))
            guaranteed = false;
    } else {
        static const char *const lists[] = { "containers", "initContainers" };
        for (size_t i = 0; i < COUNT(lists); i++) {
            JV_EACH (it, jv_get(spec, str_of(lists[i]))) {
                add_list(&requests, FIELD(FIELD(it.value, "resources"), "requests"));
                if (!add_list(&limits, FIELD(FIELD(it.value, "resources"), "limits")))
                    guaranteed = false;
            }
        }
    }
    if (!requests.has_cpu && !requests.has_memory && !limits.has_cpu && !limits.has_memory)
        return "BestEffort";
    return guaranteed && equal_amounts(&requests, &limits) ? "Guaranteed" : "Burstable";
}

/* ---- requests and limits of the pod itself */

enum { MAX_LIMITS = 1024 }; /* longer lists are refused by validation */

static bool is_sidecar(jv container)
{
    return str_eq(FIELD_STR(container, "restartPolicy"), S("Always"));
}

/* What all containers together need of one resource at any time: the running ones at once, init
 * containers one by one beside the sidecars started before them. */
static bool aggregate(jv spec, str which, str name, struct quantity *out)
{
    struct quantity zero = quantity_of(0, QUANTITY_DECIMAL_SI);
    struct quantity sum = zero;
    struct quantity sidecars = zero;
    struct quantity peak = zero;
    bool found = false;

    JV_EACH (it, FIELD(spec, "containers")) {
        jv v = jv_get(jv_get(FIELD(it.value, "resources"), which), name);
        struct quantity q = quantity_of_jv(v);
        if (!jv_exists(v))
            continue;
        if (!found)
            sum = q;
        else
            quantity_add(&sum, &q);
        found = true;
    }
    JV_EACH (it, FIELD(spec, "initContainers")) {
        jv v = jv_get(jv_get(FIELD(it.value, "resources"), which), name);
        struct quantity q = quantity_of_jv(v);
        if (!jv_exists(v))
            continue;
        found = true;
        struct quantity at_once = sidecars;
        quantity_add(&at_once, &q);
        if (is_sidecar(it.value)) {
            quantity_add(&sum, &q);
            sidecars = at_once;
        }
        if (quantity_cmp(&at_once, &peak) > 0)
            peak = at_once;
    }
    *out = quantity_cmp(&peak, &sum) > 0 ? peak : sum;
    return found;
}

static bool is_pod_level(str name)
{
    return str_eq(name, S("cpu")) || str_eq(name, S("memory")) || resource_is_hugepage(name);
}

void pod_resources_defaults(struct edit *spec)
{
    static const char *const shared[] = { "cpu", "memory" };
    jv own = edit_get(spec, S("resources"));
    struct quantity q;

    if (!jv_len(FIELD(own, "limits")) || jv_len(FIELD(own, "limits")) > MAX_LIMITS)
        return;
    jv all = jobj(spec->a, { "containers", edit_get(spec, S("containers")) },
                  { "initContainers", edit_get(spec, S("initContainers")) });
    struct edit requests = edit(spec->a, FIELD(own, "requests"));
    for (size_t i = 0; i < COUNT(shared); i++)
        if (!jv_exists(edit_get(&requests, str_of(shared[i]))) &&
            aggregate(all, S("requests"), str_of(shared[i]), &q))
            edit_set(&requests, str_of(shared[i]),
                     jstr(spec->a, arena_str(spec->a, quantity_text(spec->a, &q))));
    JV_EACH (it, FIELD(own, "limits"))
        if (is_pod_level(it.key) && !jv_exists(edit_get(&requests, it.key)))
            edit_set(&requests, it.key, it.value);
    edit_set(spec, S("resources"), jv_with(spec->a, own, edit_done(&requests), "requests"));
}

static void sums_check(struct problems *ps, const struct path *p, jv spec, str which)
{
    const struct path *list_at = ATS(p, which);
    struct quantity sum;

    JV_EACH (it, jv_get(FIELD(spec, "resources"), which)) {
        bool hugepage = resource_is_hugepage(it.key);
        struct quantity own = quantity_of_jv(it.value);
        if (str_eq(which, S("limits")) && !hugepage)
            continue;
        if (aggregate(spec, which, it.key, &sum) && quantity_cmp(&sum, &own) > 0)
            problem_invalid(ps, ATK(list_at, it.key), it.value,
                            "must be greater than or equal to aggregate container %" PRI_STR
                            " of %" PRI_STR,
                            STR_ARG(which), STR_ARG(quantity_text(ps->a, &sum)));
    }
}

void pod_resources_check(struct problems *ps, const struct path *p, jv spec)
{
    jv own = FIELD(spec, "resources");

    if (jv_is_null(own))
        return;
    if (str_eq(FIELD_STR(FIELD(spec, "os"), "name"), S("windows"))) {
        problem_forbidden(ps, p, "may not be set for a windows pod");
        return;
    }
    if (!jv_is_null(FIELD(own, "claims")))
        problem_forbidden(ps, AT(p, "claims"), "claims may not be set for Resources at pod-level");
    requirements_check(ps, p, own, FIELD(spec, "resourceClaims"), true);
    sums_check(ps, p, spec, S("requests"));
    sums_check(ps, p, spec, S("limits"));
    JV_EACH (c, FIELD(spec, "containers")) {
        JV_EACH (it, FIELD(FIELD(c.value, "resources"), "limits")) {
            jv limit = jv_get(FIELD(own, "limits"), it.key);
            struct quantity of_pod = quantity_of_jv(limit);
            struct quantity q = quantity_of_jv(it.value);
            if (jv_exists(limit) && quantity_cmp(&q, &of_pod) > 0)
                problem_invalid(ps, AT(ATK(ATI(AT(p, "containers"), c.i - 1), it.key), "limits"),
                                it.value, "must be less than or equal to pod limits of %" PRI_STR,
                                STR_ARG(jv_str(limit, S(""))));
        }
    }
}
