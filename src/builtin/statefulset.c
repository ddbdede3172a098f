/* StatefulSet, DaemonSet and ControllerRevision. */

#include "builtin/hooks.h"
#include "builtin/workload.h"

#include <inttypes.h>

static void default_int(struct edit *e, str key, int64_t value)
{
    if (jv_is_null(edit_get(e, key)))
        edit_set(e, key, LINT(value));
}

/* ---- StatefulSet */

static jv set_strategy_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    if (!FIELD_STR(v, "type").n) {
        edit_set(&e, S("type"), LSTR("RollingUpdate"));
        if (jv_is_null(FIELD(v, "rollingUpdate")))
            edit_set(&e, S("rollingUpdate"), JV_EMPTY_OBJ);
    }
    jv rolling = edit_get(&e, S("rollingUpdate"));
    if (str_eq(jv_str(edit_get(&e, S("type")), S("")), S("RollingUpdate")) &&
        !jv_is_null(rolling)) {
        struct edit r = edit(a, rolling);
        default_int(&r, S("partition"), 0);
        edit_set(&r, S("maxUnavailable"), JV_ABSENT); /* a feature that is off */
        edit_set(&e, S("rollingUpdate"), edit_done(&r));
    }
    return edit_done(&e);
}

static jv retention_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("whenDeleted"), LSTR("Retain"));
    edit_default(&e, S("whenScaled"), LSTR("Retain"));
    return edit_done(&e);
}

static jv claim_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);
    struct edit status = edit(a, FIELD(v, "status"));

    edit_default(&e, S("apiVersion"), LSTR("v1"));
    edit_default(&e, S("kind"), LSTR("PersistentVolumeClaim"));
    edit_set(&e, S("spec"), claim_spec_defaults(a, FIELD(v, "spec")));
    edit_default(&status, S("phase"), LSTR("Pending"));
    edit_set(&e, S("status"), edit_done(&status));
    return edit_done(&e);
}

jv statefulset_defaults(const struct kind_ctx *c, jv obj)
{
    jv was = FIELD(obj, "spec");
    struct edit spec = edit(c->a, was);

    edit_default(&spec, S("podManagementPolicy"), LSTR("OrderedReady"));
    edit_set(&spec, S("updateStrategy"), set_strategy_defaults(c->a, FIELD(was, "updateStrategy")));
    edit_set(&spec, S("persistentVolumeClaimRetentionPolicy"),
             retention_defaults(c->a, FIELD(was, "persistentVolumeClaimRetentionPolicy")));
    default_int(&spec, S("replicas"), 1);
    default_int(&spec, S("revisionHistoryLimit"), 10);
    edit_each(&spec, S("volumeClaimTemplates"), claim_defaults);
    edit_set(&spec, S("template"), pod_template_defaults(c->a, FIELD(was, "template")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

static jv set_strategy_shown(struct arena *a, jv v)
{
    jv rolling = FIELD(v, "rollingUpdate");
    jv r = JV_NULL_V;

    if (!jv_is_null(rolling))
        r = jobj(a, { "Partition", jint(a, FIELD_INT(rolling, "partition")) },
                 { "MaxUnavailable", JV_NULL_V });
    return jobj(a, { "Type", jstr(a, FIELD_STR(v, "type")) }, { "RollingUpdate", r });
}

static void set_strategy_check(struct problems *ps, const struct path *p, jv v)
{
    str type = FIELD_STR(v, "type");
    jv rolling = FIELD(v, "rollingUpdate");

    if (!type.n) {
        problem_required(ps, p, "%s", "");
    } else if (str_eq(type, S("OnDelete"))) {
        if (!jv_is_null(rolling))
            problem_invalid(ps, AT(p, "rollingUpdate"),
                            FIELD(set_strategy_shown(ps->a, v), "RollingUpdate"),
                            "only allowed for updateStrategy 'RollingUpdate'");
    } else if (str_eq(type, S("RollingUpdate"))) {
        nonnegative_check(ps, AT(AT(p, "rollingUpdate"), "partition"), FIELD(rolling, "partition"));
    } else {
        problem_invalid(ps, p, set_strategy_shown(ps->a, v),
                        "must be 'RollingUpdate' or 'OnDelete'");
    }
}

/* The template as its pods will be: claims of the set stand in for volumes of the same name, and
 * the set names its pods itself. */
static jv template_of_set(struct arena *a, jv spec)
{
    jv tmpl = FIELD(spec, "template");
    jv claims = FIELD(spec, "volumeClaimTemplates");
    struct jbuild volumes = jb_arr(a);

    tmpl = jv_without(a, jv_without(a, tmpl, "spec", "subdomain"), "spec", "hostname");
    if (!jv_len(claims))
        return tmpl;
    JV_EACH (it, claims) {
        jv name = jstr(a, meta_name(it.value));
        jb_push(&volumes, jobj(a, { "name", name },
                               { "persistentVolumeClaim", jobj(a, { "claimName", name }) }));
    }
    JV_EACH (it, FIELD(FIELD(tmpl, "spec"), "volumes")) {
        bool replaced = false;
        JV_EACH (cl, claims)
            replaced = replaced || str_eq(meta_name(cl.value), FIELD_STR(it.value, "name"));
        if (!replaced)
            jb_push(&volumes, it.value);
    }
    return jv_with(a, tmpl, jb_done(&volumes), "spec", "volumes");
}

static void retention_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const policies[] = { "Retain", "Delete", NULL };

    if (jv_is_null(v))
        return;
    enum_check(ps, AT(p, "whenDeleted"), FIELD(v, "whenDeleted"), policies);
    enum_check(ps, AT(p, "whenScaled"), FIELD(v, "whenScaled"), policies);
}

void statefulset_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    str policy = FIELD_STR(spec, "podManagementPolicy");
    const struct path *p = ROOT("spec");

    if (!policy.n)
        problem_required(ps, AT(p, "podManagementPolicy"), "%s", "");
    else if (!str_eq(policy, S("OrderedReady")) && !str_eq(policy, S("Parallel")))
        problem_invalid(ps, AT(p, "podManagementPolicy"), FIELD(spec, "podManagementPolicy"),
                        "must be 'OrderedReady' or 'Parallel'");
    set_strategy_check(ps, AT(p, "updateStrategy"), FIELD(spec, "updateStrategy"));
    retention_check(ps, AT(p, "persistentVolumeClaimRetentionPolicy"),
                    FIELD(spec, "persistentVolumeClaimRetentionPolicy"));
    if (!ps->is_update)
        JV_EACH (it, FIELD(spec, "volumeClaimTemplates"))
            claim_spec_check(ps, AT(ATI(AT(p, "volumeClaimTemplates"), it.i - 1), "spec"),
                             FIELD(it.value, "spec"));
    nonnegative_check(ps, AT(p, "replicas"), FIELD(spec, "replicas"));
    nonnegative_check(ps, AT(p, "minReadySeconds"), FIELD(spec, "minReadySeconds"));
    nonnegative_check(ps, AT(p, "ordinals.start"), FIELD(FIELD(spec, "ordinals"), "start"));
    if (!ps->is_update && FIELD_STR(spec, "serviceName").n)
        name_check(ps, AT(p, "serviceName"), FIELD_STR(spec, "serviceName"), name_dns1123_label);
    selector_check(ps, p, spec, "statefulset");
    jv tmpl = template_of_set(ps->a, spec);
    if (!selector_is_empty(FIELD(spec, "selector")))
        selector_matches_check(ps, AT(p, "template"), FIELD(spec, "selector"), tmpl);
    pod_template_check(ps, AT(p, "template"), tmpl);
    endless_template_check(ps, AT(p, "template"), tmpl, "StatefulSet");
}

void statefulset_validate_update(struct problems *ps, jv obj, jv old)
{
    static const char *const may_change[] = { "replicas",
                                              "template",
                                              "updateStrategy",
                                              "minReadySeconds",
                                              "ordinals",
                                              "revisionHistoryLimit",
                                              "persistentVolumeClaimRetentionPolicy" };
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");

    for (size_t i = 0; i < COUNT(may_change); i++)
        spec =
            jv_with_key(ps->a, spec, str_of(may_change[i]), jv_get(before, str_of(may_change[i])));
    if (!jv_equal_semantic(spec, before))
        problem_forbidden(ps, ROOT("spec"),
                          "updates to statefulset spec for fields other than 'replicas', "
                          "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                          "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                          "forbidden");
}

void statefulset_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = { "replicas",          "readyReplicas",
                                          "currentReplicas",   "updatedReplicas",
                                          "availableReplicas", "observedGeneration",
                                          "collisionCount",    NULL };
    static const char *const parts[] = { "readyReplicas", "currentReplicas", "updatedReplicas",
                                         "availableReplicas", NULL };

    counts_check(ps, ROOT("status"), FIELD(obj, "status"), counts);
    replicas_check(ps, ROOT("status"), FIELD(obj, "status"), parts, "status.readyReplicas");
    collisions_check(ps, ROOT("status"), FIELD(obj, "status"), FIELD(old, "status"));
}

/* ---- DaemonSet */

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static jv daemon_strategy_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("type"), LSTR("RollingUpdate"));
    if (str_eq(jv_str(edit_get(&e, S("type")), S("")), S("RollingUpdate"))) {
        struct edit r = edit(a, FIELD(v, "rollingUpdate"));
        default_int(&r, S("maxUnavailable"), 1);
        default_int(&r, S("maxSurge"), 0);
        edit_set(&e, S("rollingUpdate"), edit_done(&r));
    }
    return edit_done(&e);
}

jv daemonset_defaults(const struct kind_ctx *c, jv obj)
{
    jv was = FIELD(obj, "spec");
    struct edit spec = edit(c->a, was);

    edit_set(&spec, S("updateStrategy"),
             daemon_strategy_defaults(c->a, FIELD(was, "updateStrategy")));
    default_int(&spec, S("revisionHistoryLimit"), 10);
    edit_set(&spec, S("template"), pod_template_defaults(c->a, FIELD(was, "template")));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

/* How often the template has changed stands in an annotation, where v1 has no field for it. */
jv daemonset_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    int64_t n = 0;

    if (jv_exists(old)) {
        str_to_int(FIELD_STR(meta_annotations(old), TEMPLATE_GENERATION), &n);
        if (!jv_equal_semantic(FIELD(FIELD(obj, "spec"), "template"),
                               FIELD(FIELD(old, "spec"), "template")))
            n++;
    } else {
        str_to_int(FIELD_STR(meta_annotations(obj), TEMPLATE_GENERATION), &n);
    }
    str text = arena_printf(c->a, "%" PRId64, n < 1 ? 1 : n);
    obj = jv_with(c->a, obj, jstr(c->a, text), "metadata", "annotations", TEMPLATE_GENERATION);
    return status_is_the_servers(c, obj, old);
}

static void daemon_rolling_check(struct problems *ps, const struct path *p, jv rolling)
{
    jv unavailable = FIELD(rolling, "maxUnavailable");
    jv surge = FIELD(rolling, "maxSurge");

    int_or_percent_check(ps, AT(p, "maxUnavailable"), unavailable);
    int_or_percent_check(ps, AT(p, "maxSurge"), surge);
    at_most_100_percent(ps, AT(p, "maxUnavailable"), unavailable);
    at_most_100_percent(ps, AT(p, "maxSurge"), surge);
    if (int_or_percent(unavailable) && int_or_percent(surge))
        problem_invalid(ps, AT(p, "maxSurge"), surge,
                        "may not be set when maxUnavailable is non-zero");
    if (!int_or_percent(unavailable) && !int_or_percent(surge))
        problem_required(ps, AT(p, "maxUnavailable"), "cannot be 0 when maxSurge is 0");
}

static void daemon_strategy_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const types[] = { "RollingUpdate", "OnDelete", NULL };
    str type = FIELD_STR(v, "type");

    if (str_eq(type, S("RollingUpdate")))
        daemon_rolling_check(ps, AT(p, "rollingUpdate"), FIELD(v, "rollingUpdate"));
    else if (!str_eq(type, S("OnDelete")))
        problem_not_supported(ps, p, strategy_shown(ps->a, v), types);
}

void daemonset_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv selector = FIELD(spec, "selector");
    const struct path *p = ROOT("spec");

    label_selector_check(ps, AT(p, "selector"), selector);
    selector_matches_check(ps, AT(p, "template"), selector, FIELD(spec, "template"));
    if (selector_is_empty(selector))
        problem_invalid(ps, AT(p, "selector"), selector, "empty selector is invalid for daemonset");
    pod_template_check(ps, AT(p, "template"), FIELD(spec, "template"));
    endless_template_check(ps, AT(p, "template"), FIELD(spec, "template"), "DaemonSet");
    nonnegative_check(ps, AT(p, "minReadySeconds"), FIELD(spec, "minReadySeconds"));
    daemon_strategy_check(ps, AT(p, "updateStrategy"), FIELD(spec, "updateStrategy"));
    nonnegative_check(ps, AT(p, "revisionHistoryLimit"), FIELD(spec, "revisionHistoryLimit"));
}

void daemonset_validate_update(struct problems *ps, jv obj, jv old)
{
    selector_is_fixed(ps, obj, old);
}

void daemonset_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = { "currentNumberScheduled", "numberMisscheduled",
                                          "desiredNumberScheduled", "numberReady",
                                          "observedGeneration",     "updatedNumberScheduled",
                                          "numberAvailable",        "numberUnavailable",
                                          "collisionCount",         NULL };

    counts_check(ps, ROOT("status"), FIELD(obj, "status"), counts);
    collisions_check(ps, ROOT("status"), FIELD(obj, "status"), FIELD(old, "status"));
}

/* ---- ControllerRevision */

void controllerrevision_validate(struct problems *ps, jv obj)
{
    jv data = FIELD(obj, "data");

    nonnegative_check(ps, ROOT("revision"), FIELD(obj, "revision"));
    if (ps->is_update)
        return;
    if (jv_is_null(data))
        problem_required(ps, ROOT("data"), "data is mandatory");
    else if (!jv_is(data, JV_OBJ))
        problem_required(ps, ROOT("data"), "data must be a valid JSON object");
}

void controllerrevision_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("data"), FIELD(obj, "data"), FIELD(old, "data"));
}
