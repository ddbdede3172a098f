/* PodDisruptionBudget, PriorityClass and Lease. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/workload.h"

/* ---- PodDisruptionBudget */

static jv budget_shown(struct arena *a, jv spec)
{
    static const struct {
        const char *go;
        const char *json;
    } fields[] = { { "MinAvailable", "minAvailable" },
                   { "Selector", "selector" },
                   { "MaxUnavailable", "maxUnavailable" },
                   { "UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy" } };
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < COUNT(fields); i++) {
        jv v = jv_get(spec, str_of(fields[i].json));
        jb_add(&b, str_of(fields[i].go), jv_is_null(v) ? JV_NULL_V : v);
    }
    return jb_done(&b);
}

void poddisruptionbudget_validate(struct problems *ps, jv obj)
{
    static const char *const policies[] = { "AlwaysAllow", "IfHealthyBudget", NULL };
    static const char *const bounds[] = { "minAvailable", "maxUnavailable" };
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    if (!jv_is_null(FIELD(spec, "minAvailable")) && !jv_is_null(FIELD(spec, "maxUnavailable")))
        problem_invalid(ps, p, budget_shown(ps->a, spec),
                        "minAvailable and maxUnavailable cannot be both set");
    for (size_t i = 0; i < COUNT(bounds); i++) {
        jv v = jv_get(spec, str_of(bounds[i]));
        int_or_percent_check(ps, ATZ(p, bounds[i]), v);
        at_most_100_percent(ps, ATZ(p, bounds[i]), v);
    }
    label_selector_check(ps, AT(p, "selector"), FIELD(spec, "selector"));
    enum_optional(ps, AT(p, "unhealthyPodEvictionPolicy"),
                  FIELD(spec, "unhealthyPodEvictionPolicy"), policies);
}

void poddisruptionbudget_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = { "disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                          "expectedPods", NULL };

    (void)old;
    conditions_check(ps, AT(ROOT("status"), "conditions"),
                     FIELD(FIELD(obj, "status"), "conditions"));
    counts_check(ps, ROOT("status"), FIELD(obj, "status"), counts);
}

/* ---- PriorityClass */

enum { HIGHEST_USER_PRIORITY = 1000000000 };

static const struct {
    const char *name;
    int64_t value;
} system_classes[] = { { "system-node-critical", 2000001000 },
                       { "system-cluster-critical", 2000000000 } };

jv priorityclass_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_default(&e, S("preemptionPolicy"), LSTR("PreemptLowerPriority"));
    return edit_done(&e);
}

static str system_complaint(struct arena *a, jv obj)
{
    str name = meta_name(obj);

    for (size_t i = 0; i < COUNT(system_classes); i++) {
        if (!str_eqz(name, system_classes[i].name))
            continue;
        if (FIELD_INT(obj, "value") != system_classes[i].value)
            return arena_printf(a, "value of %" PRI_STR " PriorityClass must be %lld",
                                STR_ARG(name), (long long)system_classes[i].value);
        if (FIELD_BOOL(obj, "globalDefault"))
            return arena_printf(a, "globalDefault of %" PRI_STR " PriorityClass must be false",
                                STR_ARG(name));
        return STR_NONE;
    }
    return arena_printf(a, "%" PRI_STR " is not a known system priority class", STR_ARG(name));
}

void priorityclass_validate(struct problems *ps, jv obj)
{
    static const char *const policies[] = { "PreemptLowerPriority", "Never", NULL };

    if (str_starts(meta_name(obj), S("system-"))) {
        str why = system_complaint(ps->a, obj);
        if (why.n)
            problem_forbidden(ps, AT(ROOT("metadata"), "name"),
                              "priority class names with 'system-' prefix are reserved for system "
                              "use only. error: %" PRI_STR,
                              STR_ARG(why));
    } else if (FIELD_INT(obj, "value") > HIGHEST_USER_PRIORITY) {
        problem_forbidden(ps, ROOT("value"),
                          "maximum allowed value of a user defined priority is %d",
                          HIGHEST_USER_PRIORITY);
    }
    enum_required(ps, ROOT("preemptionPolicy"), FIELD(obj, "preemptionPolicy"), policies);
}

void priorityclass_validate_update(struct problems *ps, jv obj, jv old)
{
    if (FIELD_INT(obj, "value") != FIELD_INT(old, "value"))
        problem_forbidden(ps, ROOT("value"), "may not be changed in an update.");
    immutable_check(ps, ROOT("preemptionPolicy"), FIELD(obj, "preemptionPolicy"),
                    FIELD(old, "preemptionPolicy"));
}

/* ---- Lease */

/* Coordinated leader election is a feature that is off. */
jv lease_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);

    if (!jv_is(FIELD(obj, "spec"), JV_OBJ))
        return obj;
    edit_set(&spec, S("strategy"), JV_ABSENT);
    edit_set(&spec, S("preferredHolder"), JV_ABSENT);
    edit_set(&e, S("spec"), edit_done(&spec));
    return edit_done(&e);
}

void lease_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv duration = FIELD(spec, "leaseDurationSeconds");
    const struct path *p = ROOT("spec");

    if (!jv_is_null(duration) && jv_int(duration, 0) <= 0)
        problem_invalid(ps, AT(p, "leaseDurationSeconds"), duration, "must be greater than 0");
    if (FIELD_INT(spec, "leaseTransitions") < 0)
        problem_invalid(ps, AT(p, "leaseTransitions"), FIELD(spec, "leaseTransitions"),
                        "must be greater than or equal to 0");
}
