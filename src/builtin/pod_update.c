/* What may change in a pod once it is there: very little of its spec, its status with care. */

#include "base/time.h"
#include "builtin/changed_fields.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/pod_admission.h"
#include "kube/ip.h"

static bool containers_update_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    if (jv_len(now) != jv_len(before)) {
        problem_forbidden(ps, p, "pod updates may not add or remove containers");
        return false;
    }
    JV_EACH (it, now) {
        str image = FIELD_STR(it.value, "image");
        const struct path *q = AT(EACH_AT(p, it), "image");
        if (!image.n)
            problem_required(ps, q, "%s", "");
        if (str_trim(image).n != image.n)
            problem_invalid(ps, q, FIELD(it.value, "image"),
                            "must not have leading or trailing whitespace");
    }
    return true;
}

static bool deadline_update_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    if (jv_is_null(now)) {
        if (!jv_is_null(before))
            problem_invalid(ps, p, JV_ABSENT,
                            "must not update from a positive integer to nil value");
        return true;
    }
    if (jv_int(now, 0) < 0 || jv_int(now, 0) > INT32_MAX) {
        range_check(ps, p, now, 0, INT32_MAX);
        return false;
    }
    if (!jv_is_null(before) && jv_int(before, 0) < jv_int(now, 0)) {
        problem_invalid(ps, p, now, "must be less than or equal to previous value");
        return false;
    }
    return true;
}

enum { LOOK_AT = 512 }; /* tolerations: more than any pod has */

static bool kept(struct arena *a, jv tolerations, jv old)
{
    jv bare = jv_without(a, old, "tolerationSeconds");

    JV_EACH (it, tolerations)
        if (it.i <= LOOK_AT &&
            jv_equal_semantic(jv_without(a, it.value, "tolerationSeconds"), bare))
            return true;
    return false;
}

static void tolerations_update_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    JV_EACH (it, before) {
        if (kept(ps->a, now, it.value))
            continue;
        problem_forbidden(ps, p,
                          "existing toleration can not be modified except its tolerationSeconds");
        return;
    }
    tolerations_check(ps, p, now);
}

static void gates_update_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    AUTO(by_field) struct by_field names = by_field(before, S("name"));

    JV_EACH (it, now) {
        str name = FIELD_STR(it.value, "name");
        if (by_first(&names, name) < 0)
            problem_forbidden(ps, AT(EACH_AT(p, it), "name"),
                              "only deletion is allowed, but found new scheduling gate '%" PRI_STR
                              "'",
                              STR_ARG(name));
    }
}

static bool selector_extends(jv now, jv before)
{
    JV_EACH (it, before)
        if (!jv_equal(jv_get(now, it.key), it.value))
            return false;
    return true;
}

static bool list_extends(jv now, jv before)
{
    if (jv_len(now) < jv_len(before))
        return false;
    for (size_t i = 0; i < jv_len(before); i++)
        if (!jv_equal_semantic(jv_index(now, i), jv_index(before, i)))
            return false;
    return true;
}

static bool term_extends(jv now, jv before)
{
    if (!jv_len(FIELD(before, "matchExpressions")) && !jv_len(FIELD(before, "matchFields")))
        return !jv_len(FIELD(now, "matchExpressions")) && !jv_len(FIELD(now, "matchFields"));
    return list_extends(FIELD(now, "matchExpressions"), FIELD(before, "matchExpressions")) &&
           list_extends(FIELD(now, "matchFields"), FIELD(before, "matchFields"));
}

static jv required_terms(jv spec)
{
    return jv_at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                 "nodeSelectorTerms");
}

/* A gated pod may still be narrowed to fewer nodes. Gives the spec without what was allowed. */
static jv gated_update_check(struct problems *ps, const struct path *p, jv munged, jv before)
{
    struct arena *a = ps->a;
    jv old_terms = required_terms(before);
    jv new_terms = required_terms(munged);
    const struct path *q = AT(
        AT(AT(AT(p, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution"),
        "nodeSelectorTerms");

    if (!selector_extends(FIELD(munged, "nodeSelector"), FIELD(before, "nodeSelector")))
        problem_invalid(ps, AT(p, "nodeSelector"), FIELD(munged, "nodeSelector"),
                        "only additions to spec.nodeSelector are allowed (no mutations or "
                        "deletions)");
    munged = jv_with(a, munged, FIELD(before, "nodeSelector"), "nodeSelector");
    if (jv_equal_semantic(jv_at(munged, "affinity", "nodeAffinity"),
                          jv_at(before, "affinity", "nodeAffinity")))
        return munged;
    if (jv_len(old_terms) && jv_len(old_terms) != jv_len(new_terms))
        problem_invalid(ps, q, new_terms,
                        "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    else
        JV_EACH (it, old_terms)
            if (!term_extends(jv_index(new_terms, it.i - 1), it.value))
                problem_invalid(ps, EACH_AT(q, it), jv_index(new_terms, it.i - 1),
                                "only additions are allowed (no mutations or deletions)");
    return jv_with(a, munged, jv_at(before, "affinity", "nodeAffinity"), "affinity",
                   "nodeAffinity");
}

static jv with_old_images(struct arena *a, jv spec, jv before, const char *list)
{
    jv now = jv_get(spec, str_of(list));
    jv old = jv_get(before, str_of(list));
    struct jbuild b = jb_arr(a);

    if (!jv_len(now))
        return spec;
    JV_EACH (it, now)
        jb_push(&b, jv_with(a, it.value, FIELD(jv_index(old, it.i - 1), "image"), "image"));
    return jv_with_key(a, spec, str_of(list), jb_done(&b));
}

static void rest_is_fixed(struct problems *ps, const struct path *p, jv spec, jv before)
{
    struct arena *a = ps->a;

    if (jv_equal_semantic(spec, before))
        return;
    spec = with_old_images(a, spec, before, "containers");
    spec = with_old_images(a, spec, before, "initContainers");
    spec = jv_with(a, spec, FIELD(before, "activeDeadlineSeconds"), "activeDeadlineSeconds");
    spec = jv_with(a, spec, FIELD(before, "schedulingGates"), "schedulingGates");
    spec = jv_with(a, spec, FIELD(before, "tolerations"), "tolerations");
    if (FIELD_INT(before, "terminationGracePeriodSeconds") < 0 &&
        FIELD_INT(spec, "terminationGracePeriodSeconds") == 1)
        spec = jv_with(a, spec, FIELD(before, "terminationGracePeriodSeconds"),
                       "terminationGracePeriodSeconds");
    if (jv_len(FIELD(before, "schedulingGates")))
        spec = gated_update_check(ps, p, spec, before);
    if (jv_equal_semantic(spec, before))
        return;
    problem_forbidden(ps, p,
                      "pod updates may not change fields other than `spec.containers[*].image`,"
                      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                      "`spec.tolerations` (only additions to existing tolerations),"
                      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
                      "previously negative); %" PRI_STR,
                      STR_ARG(changed_fields(a, before, spec)));
}

static void annotations_update_check(struct problems *ps, const struct path *p, jv obj, jv old)
{
    static const char mirror[] = "kubernetes.io/config.mirror";
    jv now = jv_get(meta_annotations(obj), str_of(mirror));
    jv before = jv_get(meta_annotations(old), str_of(mirror));

    if (jv_exists(before) && !jv_equal(now, before))
        problem_forbidden(ps, ATK(p, str_of(mirror)),
                          "may not remove or update mirror pod annotation");
    if (jv_exists(now) && !jv_exists(before))
        problem_forbidden(ps, ATK(p, str_of(mirror)), "may not add mirror pod annotation");
}

void pod_validate_update(struct problems *ps, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");
    const struct path *p = ROOT("spec");

    annotations_update_check(ps, AT(ROOT("metadata"), "annotations"), obj, old);
    if (!containers_update_check(ps, AT(p, "containers"), FIELD(spec, "containers"),
                                 FIELD(before, "containers")) ||
        !containers_update_check(ps, AT(p, "initContainers"), FIELD(spec, "initContainers"),
                                 FIELD(before, "initContainers")) ||
        !deadline_update_check(ps, AT(p, "activeDeadlineSeconds"),
                               FIELD(spec, "activeDeadlineSeconds"),
                               FIELD(before, "activeDeadlineSeconds")))
        return;
    tolerations_update_check(ps, AT(p, "tolerations"), FIELD(spec, "tolerations"),
                             FIELD(before, "tolerations"));
    gates_update_check(ps, AT(p, "schedulingGates"), FIELD(spec, "schedulingGates"),
                       FIELD(before, "schedulingGates"));
    rest_is_fixed(ps, p, spec, before);
}

/* ---- status */

static bool may_restart(jv spec, const char *list, str name, int64_t exit_code)
{
    str policy = FIELD_STR(spec, "restartPolicy");

    if (str_eqz(str_of(list), "initContainers"))
        JV_EACH (it, FIELD(spec, "initContainers"))
            if (str_eq(FIELD_STR(it.value, "name"), name) &&
                str_eq(FIELD_STR(it.value, "restartPolicy"), S("Always")))
                return true;
    return str_eq(policy, S("Always")) || (str_eq(policy, S("OnFailure")) && exit_code != 0);
}

static void transitions_check(struct problems *ps, const struct path *p, jv now, jv before, jv spec,
                              const char *list)
{
    JV_EACH (old, before) {
        jv end = FIELD(FIELD(old.value, "state"), "terminated");
        if (jv_is_null(end) ||
            may_restart(spec, list, FIELD_STR(old.value, "name"), FIELD_INT(end, "exitCode")))
            continue;
        JV_EACH (it, now)
            if (str_eq(FIELD_STR(it.value, "name"), FIELD_STR(old.value, "name")) &&
                jv_is_null(FIELD(FIELD(it.value, "state"), "terminated")))
                problem_forbidden(ps, AT(EACH_AT(p, old), "state"),
                                  "may not be transitioned to non-terminated state");
    }
}

static void conditions_names_check(struct problems *ps, const struct path *p, jv conditions)
{
    JV_EACH (it, conditions)
        name_check(ps, AT(EACH_AT(p, it), "Type"), FIELD_STR(it.value, "type"), name_qualified);
}

static void ips_check(struct problems *ps, const struct path *p, jv ips)
{
    JV_EACH (it, ips)
        ip_check_legacy(ps, EACH_AT(p, it), FIELD_STR(it.value, "ip"));
}

void pod_validate_status(struct problems *ps, jv obj, jv old)
{
    jv status = FIELD(obj, "status");
    jv before = FIELD(old, "status");
    jv spec = FIELD(old, "spec");
    const struct path *p = ROOT("status");
    str nominated = FIELD_STR(status, "nominatedNodeName");

    conditions_names_check(ps, AT(p, "conditions"), FIELD(status, "conditions"));
    if (nominated.n && !str_eq(nominated, FIELD_STR(before, "nominatedNodeName")))
        name_check(ps, AT(p, "nominatedNodeName"), nominated, name_dns1123_subdomain);
    immutable_check(ps, AT(p, "qosClass"), shown(ps->a, FIELD(status, "qosClass")),
                    FIELD(before, "qosClass"));
    transitions_check(ps, AT(p, "containerStatuses"), FIELD(status, "containerStatuses"),
                      FIELD(before, "containerStatuses"), spec, "containers");
    transitions_check(ps, AT(p, "initContainerStatuses"), FIELD(status, "initContainerStatuses"),
                      FIELD(before, "initContainerStatuses"), spec, "initContainers");
    ips_check(ps, AT(p, "podIPs"), FIELD(status, "podIPs"));
    if (jv_len(FIELD(status, "hostIPs")) &&
        !str_eq(FIELD_STR(status, "hostIP"),
                FIELD_STR(jv_index(FIELD(status, "hostIPs"), 0), "ip")))
        problem_invalid(ps, AT(ATI(AT(p, "hostIPs"), 0), "ip"),
                        shown(ps->a, FIELD(jv_index(FIELD(status, "hostIPs"), 0), "ip")),
                        "must be equal to `hostIP`");
    ips_check(ps, AT(p, "hostIPs"), FIELD(status, "hostIPs"));
}

/* ---- subresources */

void binding_check(struct problems *ps, jv binding)
{
    static const char *const kinds[] = { "Node", "<empty>", NULL };
    jv target = FIELD(binding, "target");
    str kind = FIELD_STR(target, "kind");

    if (kind.n && !str_eq(kind, S("Node")))
        problem_not_supported(ps, AT(ROOT("target"), "kind"), FIELD(target, "kind"), kinds);
    required_check(ps, AT(ROOT("target"), "name"), FIELD(target, "name"));
}

/* The pod's conditions with PodScheduled true since now, unless it was. */
static jv scheduled(const struct kind_ctx *c, jv pod)
{
    struct arena *a = c->a;
    jv now = jobj(a, { "type", LSTR("PodScheduled") }, { "status", LSTR("True") },
                  { "lastProbeTime", JV_NULL_V },
                  { "lastTransitionTime", jstr(a, time_text(a, c->now_ms)) });
    jv conditions = jv_at(pod, "status", "conditions");

    JV_EACH (it, conditions)
        if (str_eq(FIELD_STR(it.value, "type"), S("PodScheduled")))
            return jv_with(a, pod, jv_with_index(a, conditions, it.i - 1, now), "status",
                           "conditions");
    return jv_with(a, pod, jv_with_index(a, conditions, jv_len(conditions), now), "status",
                   "conditions");
}

static jv with_annotations(struct arena *a, jv pod, jv binding)
{
    struct edit e = edit(a, meta_annotations(pod));

    if (!jv_len(meta_annotations(binding)))
        return pod;
    JV_EACH (it, meta_annotations(binding))
        edit_set(&e, it.key, it.value);
    return jv_with(a, pod, edit_done(&e), "metadata", "annotations");
}

str pod_bind(const struct kind_ctx *c, jv pod, jv binding, jv *out)
{
    struct arena *a = c->a;
    jv spec = FIELD(pod, "spec");
    str name = meta_name(pod), node = FIELD_STR(spec, "nodeName"), uid = meta_uid(binding);

    if (uid.n && !str_eq(uid, meta_uid(pod)))
        return arena_printf(a,
                            "Precondition failed: UID in precondition: %" PRI_STR
                            ", UID in object meta: %" PRI_STR,
                            STR_ARG(uid), STR_ARG(meta_uid(pod)));
    if (meta_being_deleted(pod))
        return arena_printf(a, "pod %" PRI_STR " is being deleted, cannot be assigned to a host",
                            STR_ARG(name));
    if (node.n)
        return arena_printf(a, "pod %" PRI_STR " is already assigned to node \"%" PRI_STR "\"",
                            STR_ARG(name), STR_ARG(node));
    if (jv_len(FIELD(spec, "schedulingGates")))
        return arena_printf(a, "pod %" PRI_STR " has non-empty .spec.schedulingGates",
                            STR_ARG(name));
    pod = jv_with(a, pod, FIELD(FIELD(binding, "target"), "name"), "spec", "nodeName");
    *out = scheduled(c, with_annotations(a, pod, binding));
    return STR_NONE;
}

void pod_ephemeral_check(struct problems *ps, jv obj, jv old)
{
    const struct path *p = AT(ROOT("spec"), "ephemeralContainers");
    jv now = FIELD(FIELD(obj, "spec"), "ephemeralContainers");
    AUTO(by_field) struct by_field names = by_field(now, S("name"));

    JV_EACH (it, FIELD(FIELD(old, "spec"), "ephemeralContainers")) {
        str name = FIELD_STR(it.value, "name");
        int64_t i = by_first(&names, name);
        jv same = i < 0 ? JV_ABSENT : jv_index(now, (size_t)i);
        if (!jv_exists(same))
            problem_forbidden(ps, p,
                              "existing ephemeral containers \"%" PRI_STR "\" may not be removed\n",
                              STR_ARG(name));
        else if (!jv_equal_semantic(same, it.value))
            problem_forbidden(ps, p,
                              "existing ephemeral containers \"%" PRI_STR
                              "\" may not be changed; %" PRI_STR,
                              STR_ARG(name), STR_ARG(changed_fields(ps->a, it.value, same)));
    }
}

void pod_resize_check(struct problems *ps, jv obj)
{
    jv class = FIELD(FIELD(obj, "status"), "qosClass");

    if (jv_is(class, JV_STR) &&
        !str_eqz(jv_str(class, STR_NONE), pod_qos(ps->a, FIELD(obj, "spec"))))
        problem_invalid(ps, ROOT("spec"), class,
                        "Pod QOS Class may not change as a result of resizing");
}
