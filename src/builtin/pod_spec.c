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
    EACH (it, claims) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        jv claim = F(it.value, "resourceClaimName");
        jv tmpl = F(it.value, "resourceClaimTemplateName");
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
    if (!FB(seen->spec, "hostNetwork"))
        return;
    EACH (c, F(seen->spec, "containers")) {
        EACH (it, F(c.value, "ports")) {
            int64_t host = FI(it.value, "hostPort");
            if ((seen->is_pod || host) && host != FI(it.value, "containerPort"))
                problem_invalid(
                    ps,
                    AT(ATI(AT(ATI(AT(p, "containers"), c.i - 1), "ports"), it.i - 1), "hostPort"),
                    LINT(host), "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void dns_config_check(struct problems *ps, const struct path *p, jv spec)
{
    jv config = F(spec, "dnsConfig");
    jv servers = F(config, "nameservers");
    jv searches = F(config, "searches");
    size_t chars = 0;

    if (str_eq(FS(spec, "dnsPolicy"), S("None"))) {
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
    EACH (it, servers)
        ip_check_legacy(ps, ATI(AT(p, "nameservers"), it.i - 1), jv_str(it.value, S("")));
    if (jv_len(searches) > 32)
        problem_invalid(ps, AT(p, "searches"), searches, "must not have more than 32 search paths");
    EACH (it, searches)
        chars += jv_str(it.value, S("")).n + (it.i > 1);
    if (chars > 2048)
        problem_invalid(ps, AT(p, "searches"), searches,
                        "must not have more than 2048 characters (including spaces) in the search "
                        "list");
    EACH (it, searches) {
        str search = jv_str(it.value, S(""));
        if (str_eq(search, S(".")))
            continue;
        if (str_ends(search, S(".")))
            search.n--;
        name_check(ps, ATI(AT(p, "searches"), it.i - 1), search, name_dns1123_subdomain_underscore);
    }
    EACH (it, F(config, "options"))
        if (!FS(it.value, "name").n)
            problem_required(ps, ATI(AT(p, "options"), it.i - 1), "must not be empty");
}

static void gates_check(struct problems *ps, const struct path *p, jv spec)
{
    jv gates = F(spec, "schedulingGates");
    const struct path *gates_at = AT(p, "schedulingGates");

    EACH (it, F(spec, "readinessGates"))
        name_check(ps, AT(ATI(AT(p, "readinessGates"), it.i - 1), "conditionType"),
                   FS(it.value, "conditionType"), name_qualified);
    EACH (it, gates) {
        name_check(ps, EACH_AT(gates_at, it), FS(it.value, "name"), name_qualified);
        if (seen_before(gates, it.i - 1, S("name"), FS(it.value, "name")))
            problem_duplicate(ps, EACH_AT(gates_at, it), shown(ps->a, F(it.value, "name")));
    }
}

static void host_users_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    if (seen->host_users)
        return;
    if (FB(seen->spec, "hostNetwork"))
        problem_forbidden(ps, AT(p, "hostNetwork"), "when `hostUsers` is false");
    if (FB(seen->spec, "hostPID"))
        problem_forbidden(ps, AT(p, "HostPID"), "when `hostUsers` is false");
    if (FB(seen->spec, "hostIPC"))
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
    EACH (it, aliases) {
        const struct path *q = EACH_AT(p, it);
        ip_check_legacy(ps, AT(q, "ip"), FS(it.value, "ip"));
        EACH (h, F(it.value, "hostnames"))
            name_check(ps, ATI(AT(q, "hostnames"), h.i - 1), jv_str(h.value, S("")),
                       name_dns1123_subdomain);
    }
}

static void os_check(struct problems *ps, const struct path *p, jv os)
{
    static const char *const names[] = { "linux", "windows", NULL };

    if (jv_is_null(os))
        return;
    if (!FS(os, "name").n)
        problem_required(ps, AT(p, "name"), "%s", "");
    else
        enum_check(ps, p, F(os, "name"), names);
}

static void names_check(struct problems *ps, const struct path *p, jv spec)
{
    jv deadline = F(spec, "activeDeadlineSeconds");

    optional_name(ps, AT(p, "serviceAccountName"), F(spec, "serviceAccountName"),
                  name_dns1123_subdomain);
    optional_name(ps, AT(p, "nodeName"), F(spec, "nodeName"), name_dns1123_subdomain);
    if (!jv_is_null(deadline))
        range_check(ps, AT(p, "activeDeadlineSeconds"), deadline, 1, INT32_MAX);
    optional_name(ps, AT(p, "hostname"), F(spec, "hostname"), name_dns1123_label);
    optional_name(ps, AT(p, "subdomain"), F(spec, "subdomain"), name_dns1123_label);
    tolerations_check(ps, AT(p, "tolerations"), F(spec, "tolerations"));
    host_aliases_check(ps, AT(p, "hostAliases"), F(spec, "hostAliases"));
    optional_name(ps, AT(p, "priorityClassName"), F(spec, "priorityClassName"),
                  name_dns1123_subdomain);
    if (!jv_is_null(F(spec, "runtimeClassName")))
        name_check(ps, AT(p, "runtimeClassName"), FS(spec, "runtimeClassName"),
                   name_dns1123_subdomain);
    if (!jv_is_null(F(spec, "preemptionPolicy")))
        enum_required(ps, AT(p, "preemptionPolicy"), F(spec, "preemptionPolicy"),
                      preemption_policies);
    if (jv_len(F(spec, "overhead")))
        requirements_check(ps, AT(p, "overhead"), jobj(ps->a, { "limits", F(spec, "overhead") }),
                           JV_ABSENT, false);
    os_check(ps, AT(p, "os"), F(spec, "os"));
}

void pod_spec_check(struct problems *ps, const struct path *p, jv spec, jv meta, bool is_pod)
{
    AUTO(by_field) struct by_field volumes = by_field(F(spec, "volumes"), S("name"));
    AUTO(by_field) struct by_field containers = by_field(F(spec, "containers"), S("name"));
    AUTO(by_field) struct by_field init = by_field(F(spec, "initContainers"), S("name"));
    struct pod_seen seen = {
        .spec = spec,
        .meta = meta,
        .claims = F(spec, "resourceClaims"),
        .grace = FI(spec, "terminationGracePeriodSeconds"),
        .has_grace = !jv_is_null(F(spec, "terminationGracePeriodSeconds")),
        .restart_policy = FS(spec, "restartPolicy"),
        .host_users = jv_bool(F(spec, "hostUsers"), true),
        .is_pod = is_pod,
        .volumes = F(spec, "volumes"),
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
    enum_required(ps, AT(p, "restartPolicy"), F(spec, "restartPolicy"), restart_policies);
    enum_required(ps, AT(p, "dnsPolicy"), F(spec, "dnsPolicy"), dns_policies);
    labels_check(ps, AT(p, "nodeSelector"), F(spec, "nodeSelector"));
    pod_security_check(ps, AT(p, "securityContext"), spec);
    affinity_check(ps, AT(p, "affinity"), F(spec, "affinity"));
    dns_config_check(ps, AT(p, "dnsConfig"), spec);
    gates_check(ps, p, spec);
    spread_check(ps, AT(p, "topologySpreadConstraints"), F(spec, "topologySpreadConstraints"));
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
    jv mirror = F(annotations, "kubernetes.io/config.mirror");
    jv cost = F(annotations, "controller.kubernetes.io/pod-deletion-cost");

    if (jv_exists(mirror) && !FS(spec, "nodeName").n)
        problem_invalid(ps, ATK(p, S("kubernetes.io/config.mirror")), mirror,
                        "must set spec.nodeName if mirror pod annotation is set");
    if (jv_exists(cost) && !is_int32(jv_str(cost, S(""))))
        problem_invalid(ps, ATK(p, S("controller.kubernetes.io/pod-deletion-cost")), cost,
                        "must be a 32bit integer");
}

void pod_template_check(struct problems *ps, const struct path *p, jv tmpl)
{
    jv spec = F(tmpl, "spec");

    labels_check(ps, AT(p, "labels"), meta_labels(tmpl));
    annotations_check(ps, AT(p, "annotations"), meta_annotations(tmpl));
    pod_annotations_check(ps, AT(p, "annotations"), meta_annotations(tmpl), spec);
    pod_spec_check(ps, AT(p, "spec"), spec, JV_ABSENT, false);
    if (jv_len(F(spec, "ephemeralContainers")))
        problem_forbidden(ps, AT(AT(p, "spec"), "ephemeralContainers"),
                          "ephemeral containers not allowed in pod template");
}
