/* The pod spec as a whole, in pods and in templates; problems in kube-apiserver's order. */

#include "builtin/pod.h"
#include "builtin/resources.h"
#include "kube/ip.h"

static const char *const restart_policies[] = { "Always", "OnFailure", "Never", NULL };
static const char *const dns_policies[] = { "ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                            "None", NULL };
static const char *const preemption_policies[] = { "PreemptLowerPriority", "Never", NULL };

static void resource_claims_check(struct problems *ps, const struct path *p, jv claims)
{
    JV_EACH (it, claims) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        jv claim = FIELD(it.value, "resourceClaimName");
        jv tmpl = FIELD(it.value, "resourceClaimTemplateName");
        jv whole = jobj(ps->a, { "Name", jstr(ps->a, name) },
                        { "ResourceClaimName", jv_is_null(claim) ? JV_NULL_V : claim },
                        { "ResourceClaimTemplateName", jv_is_null(tmpl) ? JV_NULL_V : tmpl });
        if (!name.n)
            problem_required(ps, AT(q, "name"), "%s", "");
        else if (seen_before(claims, it.i - 1, S("name"), name))
            problem_duplicate(ps, AT(q, "name"), jstr(ps->a, name));
        else
            name_check(ps, AT(q, "name"), name, name_dns1123_label);
        if (!jv_is_null(claim) && !jv_is_null(tmpl))
            problem_invalid(ps, q, whole,
                            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may "
                            "be specified");
        if (jv_is_null(claim) && jv_is_null(tmpl))
            problem_invalid(ps, q, whole,
                            "must specify one of: `resourceClaimName`, "
                            "`resourceClaimTemplateName`");
        if (!jv_is_null(claim))
            name_check(ps, AT(q, "resourceClaimName"), jv_str(claim, S("")),
                       name_dns1123_subdomain);
        if (!jv_is_null(tmpl))
            name_check(ps, AT(q, "resourceClaimTemplateName"), jv_str(tmpl, S("")),
                       name_dns1123_subdomain);
    }
}

static void host_network_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    if (!FIELD_BOOL(seen->spec, "hostNetwork"))
        return;
    JV_EACH (c, FIELD(seen->spec, "containers")) {
        JV_EACH (it, FIELD(c.value, "ports")) {
            int64_t host = FIELD_INT(it.value, "hostPort");
            if ((seen->is_pod || host) && host != FIELD_INT(it.value, "containerPort"))
                problem_invalid(
                    ps,
                    AT(ATI(AT(ATI(AT(p, "containers"), c.i - 1), "ports"), it.i - 1), "hostPort"),
                    LINT(host), "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void dns_config_check(struct problems *ps, const struct path *p, jv spec)
{
    jv config = FIELD(spec, "dnsConfig");
    jv servers = FIELD(config, "nameservers");
    jv searches = FIELD(config, "searches");
    size_t chars = 0;

    if (str_eq(FIELD_STR(spec, "dnsPolicy"), S("None"))) {
        if (jv_is_null(config)) {
            problem_required(ps, p, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if (!jv_len(servers)) {
            problem_required(ps, AT(p, "nameservers"),
                             "must provide at least one DNS nameserver when `dnsPolicy` is None");
            return;
        }
    }
    if (jv_len(servers) > 3)
        problem_invalid(ps, AT(p, "nameservers"), servers, "must not have more than 3 nameservers");
    JV_EACH (it, servers)
        ip_check_legacy(ps, ATI(AT(p, "nameservers"), it.i - 1), jv_str(it.value, S("")));
    if (jv_len(searches) > 32)
        problem_invalid(ps, AT(p, "searches"), searches, "must not have more than 32 search paths");
    JV_EACH (it, searches)
        chars += jv_str(it.value, S("")).n + (it.i > 1);
    if (chars > 2048)
        problem_invalid(ps, AT(p, "searches"), searches,
                        "must not have more than 2048 characters (including spaces) in the search "
                        "list");
    JV_EACH (it, searches) {
        str search = jv_str(it.value, S(""));
        if (str_eq(search, S(".")))
            continue;
        if (str_ends(search, S(".")))
            search.n--;
        name_check(ps, ATI(AT(p, "searches"), it.i - 1), search, name_dns1123_subdomain_underscore);
    }
    JV_EACH (it, FIELD(config, "options"))
        if (!FIELD_STR(it.value, "name").n)
            problem_required(ps, ATI(AT(p, "options"), it.i - 1), "must not be empty");
}

static void gates_check(struct problems *ps, const struct path *p, jv spec)
{
    jv gates = FIELD(spec, "schedulingGates");
    const struct path *gates_at = AT(p, "schedulingGates");

    JV_EACH (it, FIELD(spec, "readinessGates"))
        name_check(ps, AT(ATI(AT(p, "readinessGates"), it.i - 1), "conditionType"),
                   FIELD_STR(it.value, "conditionType"), name_qualified);
    JV_EACH (it, gates) {
        name_check(ps, EACH_AT(gates_at, it), FIELD_STR(it.value, "name"), name_qualified);
        if (seen_before(gates, it.i - 1, S("name"), FIELD_STR(it.value, "name")))
            problem_duplicate(ps, EACH_AT(gates_at, it), shown(ps->a, FIELD(it.value, "name")));
    }
}

/* Decoding leaves it only where PodGroups of Kubernetes are served. */
static void group_check(struct problems *ps, const struct path *p, jv group)
{
    jv name = FIELD(group, "podGroupName");

    if (jv_is_null(group))
        return;
    if (jv_is_null(name))
        problem_required(ps, AT(p, "podGroupName"), "%s", "");
    else
        name_check(ps, AT(p, "podGroupName"), jv_str(name, S("")), name_dns1123_subdomain);
}

static void host_users_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    if (seen->host_users)
        return;
    if (FIELD_BOOL(seen->spec, "hostNetwork"))
        problem_forbidden(ps, AT(p, "hostNetwork"), "when `hostUsers` is false");
    if (FIELD_BOOL(seen->spec, "hostPID"))
        problem_forbidden(ps, AT(p, "HostPID"), "when `hostUsers` is false");
    if (FIELD_BOOL(seen->spec, "hostIPC"))
        problem_forbidden(ps, AT(p, "HostIPC"), "when `hostUsers` is false");
}

static void optional_name(struct problems *ps, const struct path *p, jv v, name_rule *rule)
{
    str name = jv_str(v, S(""));

    if (name.n)
        name_check(ps, p, name, rule);
}

static void host_aliases_check(struct problems *ps, const struct path *p, jv aliases)
{
    JV_EACH (it, aliases) {
        const struct path *q = EACH_AT(p, it);
        ip_check_legacy(ps, AT(q, "ip"), FIELD_STR(it.value, "ip"));
        JV_EACH (h, FIELD(it.value, "hostnames"))
            name_check(ps, ATI(AT(q, "hostnames"), h.i - 1), jv_str(h.value, S("")),
                       name_dns1123_subdomain);
    }
}

static void os_check(struct problems *ps, const struct path *p, jv os)
{
    static const char *const names[] = { "linux", "windows", NULL };

    if (jv_is_null(os))
        return;
    if (!FIELD_STR(os, "name").n)
        problem_required(ps, AT(p, "name"), "%s", "");
    else
        enum_check(ps, p, FIELD(os, "name"), names);
}

static void names_check(struct problems *ps, const struct path *p, jv spec)
{
    jv deadline = FIELD(spec, "activeDeadlineSeconds");

    optional_name(ps, AT(p, "serviceAccountName"), FIELD(spec, "serviceAccountName"),
                  name_dns1123_subdomain);
    optional_name(ps, AT(p, "nodeName"), FIELD(spec, "nodeName"), name_dns1123_subdomain);
    if (!jv_is_null(deadline))
        range_check(ps, AT(p, "activeDeadlineSeconds"), deadline, 1, INT32_MAX);
    optional_name(ps, AT(p, "hostname"), FIELD(spec, "hostname"), name_dns1123_label);
    optional_name(ps, AT(p, "subdomain"), FIELD(spec, "subdomain"), name_dns1123_label);
    tolerations_check(ps, AT(p, "tolerations"), FIELD(spec, "tolerations"));
    host_aliases_check(ps, AT(p, "hostAliases"), FIELD(spec, "hostAliases"));
    optional_name(ps, AT(p, "priorityClassName"), FIELD(spec, "priorityClassName"),
                  name_dns1123_subdomain);
    if (!jv_is_null(FIELD(spec, "runtimeClassName")))
        name_check(ps, AT(p, "runtimeClassName"), FIELD_STR(spec, "runtimeClassName"),
                   name_dns1123_subdomain);
    if (!jv_is_null(FIELD(spec, "preemptionPolicy")))
        enum_required(ps, AT(p, "preemptionPolicy"), FIELD(spec, "preemptionPolicy"),
                      preemption_policies);
    if (jv_len(FIELD(spec, "overhead")))
        requirements_check(ps, AT(p, "overhead"),
                           jobj(ps->a, { "limits", FIELD(spec, "overhead") }), JV_ABSENT, false);
    os_check(ps, AT(p, "os"), FIELD(spec, "os"));
}

void pod_spec_check(struct problems *ps, const struct path *p, jv spec, jv meta, bool is_pod)
{
    AUTO(by_field) struct by_field volumes = by_field(FIELD(spec, "volumes"), S("name"));
    AUTO(by_field) struct by_field containers = by_field(FIELD(spec, "containers"), S("name"));
    AUTO(by_field) struct by_field init = by_field(FIELD(spec, "initContainers"), S("name"));
    struct pod_seen seen = {
        .spec = spec,
        .meta = meta,
        .claims = FIELD(spec, "resourceClaims"),
        .grace = FIELD_INT(spec, "terminationGracePeriodSeconds"),
        .has_grace = !jv_is_null(FIELD(spec, "terminationGracePeriodSeconds")),
        .restart_policy = FIELD_STR(spec, "restartPolicy"),
        .host_users = jv_bool(FIELD(spec, "hostUsers"), true),
        .is_pod = is_pod,
        .volumes = FIELD(spec, "volumes"),
        .volume_names = &volumes,
        .container_names = &containers,
        .init_names = &init,
    };

    if (!seen.has_grace)
        problem_required(ps, AT(p, "terminationGracePeriodSeconds"), "%s", "");
    volumes_check(ps, AT(p, "volumes"), &seen);
    resource_claims_check(ps, AT(p, "resourceClaims"), seen.claims);
    containers_check(ps, AT(p, "containers"), &seen);
    init_containers_check(ps, AT(p, "initContainers"), &seen);
    ephemeral_containers_check(ps, AT(p, "ephemeralContainers"), &seen);
    pod_resources_check(ps, AT(p, "resources"), spec);
    host_network_check(ps, p, &seen);
    enum_required(ps, AT(p, "restartPolicy"), FIELD(spec, "restartPolicy"), restart_policies);
    enum_required(ps, AT(p, "dnsPolicy"), FIELD(spec, "dnsPolicy"), dns_policies);
    labels_check(ps, AT(p, "nodeSelector"), FIELD(spec, "nodeSelector"));
    pod_security_check(ps, AT(p, "securityContext"), spec);
    affinity_check(ps, AT(p, "affinity"), FIELD(spec, "affinity"));
    dns_config_check(ps, AT(p, "dnsConfig"), spec);
    gates_check(ps, p, spec);
    group_check(ps, AT(p, "schedulingGroup"), FIELD(spec, "schedulingGroup"));
    spread_check(ps, AT(p, "topologySpreadConstraints"), FIELD(spec, "topologySpreadConstraints"));
    host_users_check(ps, p, &seen);
    names_check(ps, p, spec);
}

static bool is_int32(str s)
{
    int64_t i;

    return str_to_int(s, &i) && i >= INT32_MIN && i <= INT32_MAX && !str_starts(s, S("-0")) &&
           (s.n == 1 || s.p[0] != '0');
}

void pod_annotations_check(struct problems *ps, const struct path *p, jv annotations, jv spec)
{
    jv mirror = FIELD(annotations, "kubernetes.io/config.mirror");
    jv cost = FIELD(annotations, "controller.kubernetes.io/pod-deletion-cost");

    if (jv_exists(mirror) && !FIELD_STR(spec, "nodeName").n)
        problem_invalid(ps, ATK(p, S("kubernetes.io/config.mirror")), mirror,
                        "must set spec.nodeName if mirror pod annotation is set");
    if (jv_exists(cost) && !is_int32(jv_str(cost, S(""))))
        problem_invalid(ps, ATK(p, S("controller.kubernetes.io/pod-deletion-cost")), cost,
                        "must be a 32bit integer");
}

void pod_template_check(struct problems *ps, const struct path *p, jv tmpl)
{
    jv spec = FIELD(tmpl, "spec");

    labels_check(ps, AT(p, "labels"), meta_labels(tmpl));
    annotations_check(ps, AT(p, "annotations"), meta_annotations(tmpl));
    pod_annotations_check(ps, AT(p, "annotations"), meta_annotations(tmpl), spec);
    pod_spec_check(ps, AT(p, "spec"), spec, JV_ABSENT, false);
    if (jv_len(FIELD(spec, "ephemeralContainers")))
        problem_forbidden(ps, AT(AT(p, "spec"), "ephemeralContainers"),
                          "ephemeral containers not allowed in pod template");
}
