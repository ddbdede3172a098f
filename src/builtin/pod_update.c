/* What may change in a pod once it is there: very little of its spec, its status with care. */

#include "base/time.h"
#include "builtin/godiff.h"
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
    EACH (it, now) {
        str image = FS(it.value, "image");
        const struct path *q = AT(EACH_AT(p, it), "image");
        if (!image.n)
            problem_required(ps, q, "%s", "");
        if (str_trim(image).n != image.n)
            problem_invalid(ps, q, F(it.value, "image"),
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

    EACH (it, tolerations)
        if (it.i <= LOOK_AT &&
            jv_equal_semantic(jv_without(a, it.value, "tolerationSeconds"), bare))
            return true;
    return false;
}

static void tolerations_update_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    EACH (it, before) {
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

    EACH (it, now) {
        str name = FS(it.value, "name");
        if (by_first(&names, name) < 0)
            problem_forbidden(ps, AT(EACH_AT(p, it), "name"),
                              "only deletion is allowed, but found new scheduling gate '%" PRI_STR
                              "'",
                              STR_ARG(name));
    }
}

static bool selector_extends(jv now, jv before)
{
    EACH (it, before)
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
    if (!jv_len(F(before, "matchExpressions")) && !jv_len(F(before, "matchFields")))
        return !jv_len(F(now, "matchExpressions")) && !jv_len(F(now, "matchFields"));
    return list_extends(F(now, "matchExpressions"), F(before, "matchExpressions")) &&
           list_extends(F(now, "matchFields"), F(before, "matchFields"));
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

    if (!selector_extends(F(munged, "nodeSelector"), F(before, "nodeSelector")))
        problem_invalid(ps, AT(p, "nodeSelector"), F(munged, "nodeSelector"),
                        "only additions to spec.nodeSelector are allowed (no mutations or "
                        "deletions)");
    munged = jv_with(a, munged, F(before, "nodeSelector"), "nodeSelector");
    if (jv_equal_semantic(jv_at(munged, "affinity", "nodeAffinity"),
                          jv_at(before, "affinity", "nodeAffinity")))
        return munged;
    if (jv_len(old_terms) && jv_len(old_terms) != jv_len(new_terms))
        problem_invalid(ps, q, new_terms,
                        "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    else
        EACH (it, old_terms)
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
    EACH (it, now)
        jb_push(&b, jv_with(a, it.value, F(jv_index(old, it.i - 1), "image"), "image"));
    return jv_with_key(a, spec, str_of(list), jb_done(&b));
}

static void rest_is_fixed(struct problems *ps, const struct path *p, jv spec, jv before)
{
    struct arena *a = ps->a;

    if (jv_equal_semantic(spec, before))
        return;
    spec = with_old_images(a, spec, before, "containers");
    spec = with_old_images(a, spec, before, "initContainers");
    spec = jv_with(a, spec, F(before, "activeDeadlineSeconds"), "activeDeadlineSeconds");
    spec = jv_with(a, spec, F(before, "schedulingGates"), "schedulingGates");
    spec = jv_with(a, spec, F(before, "tolerations"), "tolerations");
    if (FI(before, "terminationGracePeriodSeconds") < 0 &&
        FI(spec, "terminationGracePeriodSeconds") == 1)
        spec = jv_with(a, spec, F(before, "terminationGracePeriodSeconds"),
                       "terminationGracePeriodSeconds");
    if (jv_len(F(before, "schedulingGates")))
        spec = gated_update_check(ps, p, spec, before);
    if (jv_equal_semantic(spec, before))
        return;
    problem_forbidden(ps, p,
                      "pod updates may not change fields other than `spec.containers[*].image`,"
                      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                      "`spec.tolerations` (only additions to existing tolerations),"
                      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
                      "previously negative)\n%" PRI_STR,
                      STR_ARG(go_diff(a, "PodSpec", before, spec)));
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

void pod_validate_update(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
{
    jv spec = F(obj, "spec");
    jv before = F(old, "spec");
    const struct path *p = ROOT("spec");

    (void)c;
    annotations_update_check(ps, AT(ROOT("metadata"), "annotations"), obj, old);
    if (!containers_update_check(ps, AT(p, "containers"), F(spec, "containers"),
                                 F(before, "containers")) ||
        !containers_update_check(ps, AT(p, "initContainers"), F(spec, "initContainers"),
                                 F(before, "initContainers")) ||
        !deadline_update_check(ps, AT(p, "activeDeadlineSeconds"), F(spec, "activeDeadlineSeconds"),
                               F(before, "activeDeadlineSeconds")))
        return;
    tolerations_update_check(ps, AT(p, "tolerations"), F(spec, "tolerations"),
                             F(before, "tolerations"));
    gates_update_check(ps, AT(p, "schedulingGates"), F(spec, "schedulingGates"),
                       F(before, "schedulingGates"));
    rest_is_fixed(ps, p, spec, before);
}

/* ---- status */

static bool may_restart(jv spec, const char *list, str name, int64_t exit_code)
{
    str policy = FS(spec, "restartPolicy");

    if (str_eqz(str_of(list), "initContainers"))
        EACH (it, F(spec, "initContainers"))
            if (str_eq(FS(it.value, "name"), name) &&
                str_eq(FS(it.value, "restartPolicy"), S("Always")))
                return true;
    return str_eq(policy, S("Always")) || (str_eq(policy, S("OnFailure")) && exit_code != 0);
}

static void transitions_check(struct problems *ps, const struct path *p, jv now, jv before, jv spec,
                              const char *list)
{
    EACH (old, before) {
        jv end = F(F(old.value, "state"), "terminated");
        if (jv_is_null(end) || may_restart(spec, list, FS(old.value, "name"), FI(end, "exitCode")))
            continue;
        EACH (it, now)
            if (str_eq(FS(it.value, "name"), FS(old.value, "name")) &&
                jv_is_null(F(F(it.value, "state"), "terminated")))
                problem_forbidden(ps, AT(EACH_AT(p, old), "state"),
                                  "may not be transitioned to non-terminated state");
    }
}

static void conditions_names_check(struct problems *ps, const struct path *p, jv conditions)
{
    EACH (it, conditions)
        name_check(ps, AT(EACH_AT(p, it), "Type"), FS(it.value, "type"), name_qualified);
}

static void ips_check(struct problems *ps, const struct path *p, jv ips)
{
    EACH (it, ips)
        ip_check_legacy(ps, EACH_AT(p, it), FS(it.value, "ip"));
}

void pod_validate_status(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
{
    jv status = F(obj, "status");
    jv before = F(old, "status");
    jv spec = F(old, "spec");
    const struct path *p = ROOT("status");
    str nominated = FS(status, "nominatedNodeName");

    (void)c;
    conditions_names_check(ps, AT(p, "conditions"), F(status, "conditions"));
    if (nominated.n && !str_eq(nominated, FS(before, "nominatedNodeName")))
        name_check(ps, AT(p, "nominatedNodeName"), nominated, name_dns1123_subdomain);
    immutable_check(ps, AT(p, "qosClass"), shown(ps->a, F(status, "qosClass")),
                    F(before, "qosClass"));
    transitions_check(ps, AT(p, "containerStatuses"), F(status, "containerStatuses"),
                      F(before, "containerStatuses"), spec, "containers");
    transitions_check(ps, AT(p, "initContainerStatuses"), F(status, "initContainerStatuses"),
                      F(before, "initContainerStatuses"), spec, "initContainers");
    ips_check(ps, AT(p, "podIPs"), F(status, "podIPs"));
    if (jv_len(F(status, "hostIPs")) &&
        !str_eq(FS(status, "hostIP"), FS(jv_index(F(status, "hostIPs"), 0), "ip")))
        problem_invalid(ps, AT(ATI(AT(p, "hostIPs"), 0), "ip"),
                        shown(ps->a, F(jv_index(F(status, "hostIPs"), 0), "ip")),
                        "must be equal to `hostIP`");
    ips_check(ps, AT(p, "hostIPs"), F(status, "hostIPs"));
}

/* ---- subresources */

void binding_check(struct problems *ps, jv binding)
{
    static const char *const kinds[] = { "Node", "<empty>", NULL };
    jv target = F(binding, "target");
    str kind = FS(target, "kind");

    if (kind.n && !str_eq(kind, S("Node")))
        problem_not_supported(ps, AT(ROOT("target"), "kind"), F(target, "kind"), kinds);
    required_check(ps, AT(ROOT("target"), "name"), F(target, "name"));
}

/* The pod's conditions with PodScheduled true since now, unless it was. */
static jv scheduled(const struct kind_ctx *c, jv pod)
{
    struct arena *a = c->a;
    jv now = jobj(a, { "type", LSTR("PodScheduled") }, { "status", LSTR("True") },
                  { "lastProbeTime", JV_NULL_V },
                  { "lastTransitionTime", jstr(a, time_text(a, c->now_ms)) });
    jv conditions = jv_at(pod, "status", "conditions");

    EACH (it, conditions)
        if (str_eq(FS(it.value, "type"), S("PodScheduled")))
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
    EACH (it, meta_annotations(binding))
        edit_set(&e, it.key, it.value);
    return jv_with(a, pod, edit_done(&e), "metadata", "annotations");
}

str pod_bind(const struct kind_ctx *c, jv pod, jv binding, jv *out)
{
    struct arena *a = c->a;
    jv spec = F(pod, "spec");
    str name = meta_name(pod), node = FS(spec, "nodeName"), uid = meta_uid(binding);

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
    if (jv_len(F(spec, "schedulingGates")))
        return arena_printf(a, "pod %" PRI_STR " has non-empty .spec.schedulingGates",
                            STR_ARG(name));
    pod = jv_with(a, pod, F(F(binding, "target"), "name"), "spec", "nodeName");
    *out = scheduled(c, with_annotations(a, pod, binding));
    return STR_NONE;
}

void pod_ephemeral_check(struct problems *ps, jv obj, jv old)
{
    const struct path *p = AT(ROOT("spec"), "ephemeralContainers");
    jv now = F(F(obj, "spec"), "ephemeralContainers");
    AUTO(by_field) struct by_field names = by_field(now, S("name"));

    EACH (it, F(F(old, "spec"), "ephemeralContainers")) {
        str name = FS(it.value, "name");
        int64_t i = by_first(&names, name);
        jv same = i < 0 ? JV_ABSENT : jv_index(now, (size_t)i);
        if (!jv_exists(same))
            problem_forbidden(ps, p,
                              "existing ephemeral containers \"%" PRI_STR "\" may not be removed\n",
                              STR_ARG(name));
        else if (!jv_equal_semantic(same, it.value))
            problem_forbidden(
                ps, p,
                "existing ephemeral containers \"%" PRI_STR "\" may not be changed\n%" PRI_STR,
                STR_ARG(name), STR_ARG(go_diff(ps->a, "EphemeralContainer", it.value, same)));
    }
}

void pod_resize_check(struct problems *ps, jv obj)
{
    jv class = F(F(obj, "status"), "qosClass");

    if (jv_is(class, JV_STR) && !str_eqz(jv_str(class, STR_NONE), pod_qos(ps->a, F(obj, "spec"))))
        problem_invalid(ps, ROOT("spec"), class,
                        "Pod QOS Class may not change as a result of resizing");
}
