/* Pod: the hooks of its row, and what admission fills in on a cluster without further plugins. */

#include "builtin/pod.h"
#include "base/time.h"
#include "builtin/hooks.h"
#include "builtin/pod_admission.h"

#include <inttypes.h>

enum { TOLERATE_S = 300, MAX_LIMITS = 1024 };

/* ---- defaults */

static jv requests_from_limits(struct arena *a, jv container)
{
    jv resources = FIELD(container, "resources");
    jv limits = FIELD(resources, "limits");
    jv requests = FIELD(resources, "requests");

    if (!jv_len(limits) || jv_len(limits) > MAX_LIMITS) /* refused by validation */
        return container;
    struct edit r = edit(a, requests);
    JV_EACH (it, limits)
        if (!jv_exists(jv_get(requests, it.key)))
            edit_set(&r, it.key, it.value);
    return jv_with(a, container, edit_done(&r), "resources", "requests");
}

jv pod_spec_requests(struct arena *a, jv spec)
{
    struct edit e = edit(a, spec);

    edit_each(&e, S("containers"), requests_from_limits);
    edit_each(&e, S("initContainers"), requests_from_limits);
    return edit_done(&e);
}

static jv host_port_default(struct arena *a, jv port)
{
    struct edit e = edit(a, port);

    edit_default_zero(&e, S("hostPort"), FIELD_INT(port, "containerPort"));
    return edit_done(&e);
}

static jv host_ports_defaults(struct arena *a, jv container)
{
    struct edit e = edit(a, container);

    edit_each(&e, S("ports"), host_port_default);
    return edit_done(&e);
}

/* status.podIP is the first of status.podIPs, whichever of the two was written. */
static jv with_pod_ips(struct arena *a, jv obj)
{
    jv ip = jv_at(obj, "status", "podIP");
    jv ips = jv_at(obj, "status", "podIPs");

    if (jv_str(ip, STR_NONE).n && !jv_len(ips))
        return jv_with(a, obj, jarr(a, jobj(a, { "ip", ip })), "status", "podIPs");
    if (!jv_str(ip, STR_NONE).n && jv_len(ips))
        return jv_with(a, obj, jv_at(jv_index(ips, 0), "ip"), "status", "podIP");
    return obj;
}

jv pod_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec =
        edit(c->a, pod_spec_requests(c->a, pod_spec_defaults(c->a, FIELD(obj, "spec"))));
    struct edit e = edit(c->a, obj);

    pod_resources_defaults(&spec);
    if (jv_int(edit_get(&spec, S("terminationGracePeriodSeconds")), 0) < 0)
        edit_set(&spec, S("terminationGracePeriodSeconds"), LINT(1));
    if (jv_is_null(edit_get(&spec, S("enableServiceLinks"))))
        edit_set(&spec, S("enableServiceLinks"), JV_TRUE);
    if (jv_bool(edit_get(&spec, S("hostNetwork")), false)) {
        edit_each(&spec, S("containers"), host_ports_defaults);
        edit_each(&spec, S("initContainers"), host_ports_defaults);
    }
    edit_set(&e, S("spec"), edit_done(&spec));
    return with_pod_ips(c->a, edit_done(&e));
}

/* ---- what admission does */

static bool tolerates(jv tolerations, str key)
{
    JV_EACH (it, tolerations) {
        str k = FIELD_STR(it.value, "key");
        str effect = FIELD_STR(it.value, "effect");
        if ((!k.n || str_eq(k, key)) && (!effect.n || str_eq(effect, S("NoExecute"))))
            return true;
    }
    return false;
}

static jv tolerate(struct arena *a, jv list, str key)
{
    if (tolerates(list, key))
        return list;
    jv toleration =
        jobj(a, { "key", jstr(a, key) }, { "operator", LSTR("Exists") },
             { "effect", LSTR("NoExecute") }, { "tolerationSeconds", LINT(TOLERATE_S) });
    return jv_with_index(a, list, jv_len(list), toleration);
}

static void admit_tolerations(struct edit *spec)
{
    jv list = edit_get(spec, S("tolerations"));

    list = tolerate(spec->a, list, S("node.kubernetes.io/not-ready"));
    list = tolerate(spec->a, list, S("node.kubernetes.io/unreachable"));
    edit_set(spec, S("tolerations"), list);
}

static void keep_from(struct edit *spec, jv before, str field)
{
    if (jv_is_null(edit_get(spec, field)))
        edit_set(spec, field, jv_get(before, field));
}

static jv gated_condition(const struct kind_ctx *c)
{
    struct arena *a = c->a;

    return jobj(a, { "type", LSTR("PodScheduled") }, { "status", LSTR("False") },
                { "lastProbeTime", JV_NULL_V },
                { "lastTransitionTime", jstr(a, time_text(a, c->now_ms)) },
                { "reason", LSTR("SchedulingGated") },
                { "message", LSTR("Scheduling is blocked due to non-empty scheduling gates") });
}

static jv first_status(const struct kind_ctx *c, jv spec)
{
    struct arena *a = c->a;
    struct edit status = edit(a, JV_EMPTY_OBJ);

    edit_set(&status, S("phase"), LSTR("Pending"));
    edit_set(&status, S("qosClass"), jstr(a, str_of(pod_qos(a, spec))));
    if (jv_len(FIELD(spec, "schedulingGates")))
        edit_set(&status, S("conditions"), jarr(a, gated_condition(c)));
    return edit_done(&status);
}

jv pod_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);

    admit_tolerations(&spec);
    if (jv_exists(old)) {
        keep_from(&spec, FIELD(old, "spec"), S("priority"));
        keep_from(&spec, FIELD(old, "spec"), S("preemptionPolicy"));
        edit_set(&e, S("spec"), edit_done(&spec));
        edit_set(&e, S("status"), FIELD(old, "status"));
        return edit_done(&e);
    }
    add_label_keys(&spec, meta_labels(obj));
    edit_default(&spec, S("serviceAccountName"), LSTR("default"));
    edit_default(&spec, S("serviceAccount"), edit_get(&spec, S("serviceAccountName")));
    if (!jv_str(edit_get(&spec, S("priorityClassName")), S("")).n) {
        if (jv_is_null(edit_get(&spec, S("priority"))))
            edit_set(&spec, S("priority"), LINT(0));
        edit_default(&spec, S("preemptionPolicy"), LSTR("PreemptLowerPriority"));
    }
    edit_set(&e, S("spec"), edit_done(&spec));
    edit_set(&e, S("status"), first_status(c, edit_done(&spec)));
    return edit_done(&e);
}

int pod_resolve_priority(struct arena *a, jv pod, jv class, jv *out, struct err *e)
{
    jv spec = FIELD(pod, "spec");
    int64_t value = jv_int(FIELD(class, "value"), 0);
    jv policy = FIELD(class, "preemptionPolicy");
    struct edit s = edit(a, spec);

    if (jv_is_null(policy))
        policy = jstr(a, S("PreemptLowerPriority"));
    if (!jv_is_null(FIELD(spec, "priority")) && FIELD_INT(spec, "priority") != value)
        return err_set(e, ERR_FORBIDDEN,
                       "the integer value of priority (%" PRId64
                       ") must not be provided in pod spec; priority admission controller computed "
                       "%" PRId64 " from the given PriorityClass name",
                       FIELD_INT(spec, "priority"), value);
    if (FIELD_STR(spec, "preemptionPolicy").n && !jv_equal(FIELD(spec, "preemptionPolicy"), policy))
        return err_set(e, ERR_FORBIDDEN,
                       "the string value of PreemptionPolicy (%" PRI_STR
                       ") must not be provided in pod spec; priority admission controller computed "
                       "%" PRI_STR " from the given PriorityClass name",
                       STR_ARG(FIELD_STR(spec, "preemptionPolicy")),
                       STR_ARG(jv_str(policy, S(""))));
    if (jv_exists(class))
        edit_default(&s, S("priorityClassName"), FIELD(FIELD(class, "metadata"), "name"));
    edit_set(&s, S("priority"), LINT(value));
    edit_set(&s, S("preemptionPolicy"), policy);
    *out = jv_with_key(a, pod, S("spec"), edit_done(&s));
    return 0;
}

/* ---- validation */

static void images_check(struct problems *ps, const struct path *p, jv containers)
{
    JV_EACH (it, containers) {
        str image = FIELD_STR(it.value, "image");
        if (str_trim(image).n != image.n)
            problem_invalid(ps, AT(EACH_AT(p, it), "image"), FIELD(it.value, "image"),
                            "must not have leading or trailing whitespace");
    }
}

void pod_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    pod_annotations_check(ps, AT(ROOT("metadata"), "annotations"), meta_annotations(obj), spec);
    pod_spec_check(ps, p, spec, meta_of(obj), true);
    images_check(ps, AT(p, "containers"), FIELD(spec, "containers"));
    images_check(ps, AT(p, "initContainers"), FIELD(spec, "initContainers"));
    if (ps->is_update)
        return;
    if (jv_len(FIELD(spec, "ephemeralContainers")))
        problem_forbidden(ps, AT(p, "ephemeralContainers"), "cannot be set on create");
    if (FIELD_STR(spec, "nodeName").n && jv_len(FIELD(spec, "schedulingGates")))
        problem_forbidden(ps, AT(p, "nodeName"),
                          "cannot be set until all schedulingGates have been cleared");
}

jv podtemplate_defaults(const struct kind_ctx *c, jv obj)
{
    return edit_member(c->a, obj, S("template"), pod_template_defaults);
}

void podtemplate_validate(struct problems *ps, jv obj)
{
    pod_template_check(ps, ROOT("template"), FIELD(obj, "template"));
}
