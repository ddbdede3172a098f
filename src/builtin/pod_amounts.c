/* Sums over a pod. Sidecars (init containers that are restarted) run beside everything after them;
 * other init containers run alone before, so the pod needs the greater of the two. */

#include "builtin/pod_amounts.h"

#include "builtin/check.h"
#include "builtin/resources.h"

struct sum {
    struct arena *a;
    jv pod;
    str list; /* "requests" or "limits" */
    unsigned flags;
};

static bool is_own(str name)
{
    return str_eqz(name, "cpu") || str_eqz(name, "memory") || resource_is_hugepage(name);
}

bool pod_has_own_amounts(jv pod)
{
    jv own = jv_at(pod, "spec", "resources");

    JV_EACH (it, FIELD(own, "requests"))
        if (is_own(it.key))
            return true;
    JV_EACH (it, FIELD(own, "limits"))
        if (is_own(it.key))
            return true;
    return false;
}

static jv status_of(jv pod, str name)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_get(FIELD(pod, "status"), str_of(lists[i])))
            if (str_eq(FIELD_STR(it.value, "name"), name))
                return it.value;
    return JV_ABSENT;
}

static bool resize_is_infeasible(jv pod)
{
    return str_eqz(FIELD_STR(meta_condition(pod, S("PodResizePending")), "reason"), "Infeasible");
}

static struct amounts container_amounts(const struct sum *s, jv container, bool may_resize)
{
    jv asked = jv_get(FIELD(container, "resources"), s->list);
    jv status = may_resize && (s->flags & POD_USE_STATUS)
                    ? status_of(s->pod, FIELD_STR(container, "name"))
                    : JV_ABSENT;

    if (jv_is_null(FIELD(status, "resources")))
        return amounts_of(s->a, asked);
    struct amounts now = amounts_of(s->a, jv_get(FIELD(status, "resources"), s->list));
    if (str_eqz(s->list, "requests")) {
        struct amounts allocated = amounts_of(s->a, FIELD(status, "allocatedResources"));
        amounts_max(&now, &allocated);
    }
    if (!resize_is_infeasible(s->pod)) {
        struct amounts wanted = amounts_of(s->a, asked);
        amounts_max(&now, &wanted);
    }
    return now;
}

static void add_init_containers(const struct sum *s, struct amounts *total)
{
    struct amounts sidecars = amounts_new(s->a);
    struct amounts starting = amounts_new(s->a);

    JV_EACH (it, jv_at(s->pod, "spec", "initContainers")) {
        bool stays = str_eqz(FIELD_STR(it.value, "restartPolicy"), "Always");
        struct amounts own = container_amounts(s, it.value, stays);
        if (stays) {
            amounts_add(total, &own);
            amounts_add(&sidecars, &own);
            amounts_max(&starting, &sidecars);
        } else {
            amounts_add(&own, &sidecars);
            amounts_max(&starting, &own);
        }
    }
    amounts_max(total, &starting);
}

static void add_overhead(const struct sum *s, struct amounts *total)
{
    struct amounts over = amounts_of(s->a, jv_at(s->pod, "spec", "overhead"));
    bool is_limits = str_eqz(s->list, "limits");

    for (size_t i = 0; i < over.n; i++) {
        const struct quantity *q = amounts_get(total, over.at[i].name);
        if (!is_limits || (q && quantity_sign(q))) /* no limit stays no limit */
            amounts_add_one(total, over.at[i].name, &over.at[i].q);
    }
}

struct amounts pod_amounts(struct arena *a, jv pod, enum pod_amounts_what what, unsigned flags)
{
    struct sum s = { a, pod, what == POD_REQUESTS ? S("requests") : S("limits"), flags };
    struct amounts total = amounts_new(a);

    JV_EACH (it, jv_at(pod, "spec", "containers")) {
        struct amounts own = container_amounts(&s, it.value, true);
        amounts_add(&total, &own);
    }
    add_init_containers(&s, &total);
    JV_EACH (it, jv_get(jv_at(pod, "spec", "resources"), s.list))
        if (is_own(it.key)) {
            struct quantity q = quantity_of_jv(it.value);
            amounts_set(&total, it.key, &q);
        }
    if (flags & POD_OVERHEAD)
        add_overhead(&s, &total);
    return total;
}
