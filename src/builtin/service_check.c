/* Service: validation. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/service.h"
#include "kube/ip.h"

static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

static void port_checks(struct problems *ps, const struct path *p, jv ports, size_t i)
{
    jv port = jv_index(ports, i);
    str name = FIELD_STR(port, "name");

    if (name.n) {
        name_check(ps, AT(p, "name"), name, name_dns1123_label);
        if (seen_before(ports, i, S("name"), name))
            problem_duplicate(ps, AT(p, "name"), FIELD(port, "name"));
    } else if (jv_len(ports) > 1) {
        problem_required(ps, AT(p, "name"), "%s", "");
    }
    port_check(ps, AT(p, "port"), FIELD(port, "port"));
    enum_required(ps, AT(p, "protocol"), FIELD(port, "protocol"), protocols);
    port_or_name_check(ps, AT(p, "targetPort"), FIELD(port, "targetPort"));
    if (!jv_is_null(FIELD(port, "appProtocol")))
        name_check(ps, AT(p, "appProtocol"), FIELD_STR(port, "appProtocol"), name_qualified);
}

static void external_name_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const unset[] = { "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
    str name = FIELD_STR(spec, "externalName");

    for (size_t i = 0; i < COUNT(unset); i++) {
        jv v = jv_get(spec, str_of(unset[i]));
        if (jv_len(v) || jv_is(v, JV_STR))
            problem_forbidden(ps, ATZ(p, unset[i]), "may not be set for ExternalName services");
    }
    if (str_ends(name, S(".")))
        name.n--;
    name_required(ps, AT(p, "externalName"), name, name_dns1123_subdomain);
}

static void affinity_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const kinds[] = { "ClientIP", "None", NULL };
    jv timeout = jv_at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds");

    enum_required(ps, AT(p, "sessionAffinity"), FIELD(spec, "sessionAffinity"), kinds);
    if (str_eq(FIELD_STR(spec, "sessionAffinity"), S("ClientIP")) &&
        (jv_int(timeout, 0) <= 0 || jv_int(timeout, 0) > 86400))
        problem_invalid(ps, AT(AT(AT(p, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds"),
                        timeout, "must be greater than 0 and less than 86400");
}

static void families_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const families[] = { "IPv4", "IPv6", NULL };
    static const char *const policies[] = { "PreferDualStack", "RequireDualStack", "SingleStack",
                                            NULL };
    jv list = FIELD(spec, "ipFamilies");

    JV_EACH (it, list) {
        const struct path *q = ATI(AT(p, "ipFamilies"), it.i - 1);
        enum_check(ps, q, it.value, families);
        for (size_t i = 0; i + 1 < it.i && i < 2; i++)
            if (jv_equal(jv_index(list, i), it.value))
                problem_duplicate(ps, q, it.value);
    }
    enum_optional(ps, AT(p, "ipFamilyPolicy"), FIELD(spec, "ipFamilyPolicy"), policies);
}

static void cluster_ips_check(struct problems *ps, const struct path *p, jv spec)
{
    jv ips = FIELD(spec, "clusterIPs");
    str ip = FIELD_STR(spec, "clusterIP");
    const struct path *q = AT(p, "clusterIPs");
    bool bad = false;

    if (ip.n && !jv_len(ips))
        problem_required(ps, q, "%s", "");
    else if (ip.n && !str_eq(jv_str(jv_index(ips, 0), S("")), ip))
        problem_invalid(ps, q, ips, "first value must match `clusterIP`");
    else if (!ip.n && jv_len(ips))
        problem_invalid(ps, q, ips, "must be empty when `clusterIP` is not specified");
    families_check(ps, p, spec);
    JV_EACH (it, ips) {
        size_t before = ps->n;
        if (it.i == 1 && str_eq(jv_str(it.value, S("")), S("None"))) {
            if (jv_len(ips) > 1)
                problem_invalid(ps, q, ips, "'None' must be the first and only value");
        } else {
            ip_check_legacy(ps, EACH_AT(q, it), jv_str(it.value, S("")));
        }
        bad = bad || ps->n > before;
    }
    if (jv_len(ips) > 2)
        problem_invalid(ps, q, ips, "may only hold up to 2 values");
    if (bad || jv_len(ips) != 2)
        return;
    bool six0 = str_find(jv_str(jv_index(ips, 0), S("")), ':') >= 0;
    bool six1 = str_find(jv_str(jv_index(ips, 1), S("")), ':') >= 0;
    if (six0 == six1)
        problem_invalid(ps, q, ips, "may specify no more than one IP for each IP family");
}

static void family_of_ip_check(struct problems *ps, const struct path *p, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv families = FIELD(spec, "ipFamilies");

    if (service_is_headless(obj))
        return;
    JV_EACH (it, FIELD(spec, "clusterIPs")) {
        struct ip ip;
        str family = jv_str(jv_index(families, it.i - 1), S(""));
        if (!family.n || !ip_parse(jv_str(it.value, S("")), &ip) ||
            ip.is4 == str_eq(family, S("IPv4")))
            continue;
        problem_invalid(ps, ATI(AT(p, "clusterIPs"), it.i - 1), it.value,
                        "expected an %" PRI_STR " value as indicated by `ipFamilies[%zu]`",
                        STR_ARG(family), it.i - 1);
    }
}

void endpoint_ip_check(struct problems *ps, const struct path *p, str text)
{
    struct ip ip;
    jv v = jstr(ps->a, text);

    if (!ip_parse(text, &ip)) {
        problem_invalid(ps, p, v, "must be a valid IP address");
        return;
    }
    if (ip_is_unspecified(&ip))
        problem_invalid(ps, p, v, "may not be unspecified (%" PRI_STR ")", STR_ARG(text));
    if (ip_is_loopback(&ip))
        problem_invalid(ps, p, v, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    if (ip_is_link_local(&ip))
        problem_invalid(ps, p, v, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    if (ip_is_link_local_multicast(&ip))
        problem_invalid(ps, p, v,
                        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

static void external_ips_check(struct problems *ps, const struct path *p, jv ips)
{
    JV_EACH (it, ips) {
        size_t before = ps->n;
        ip_check_legacy(ps, EACH_AT(p, it), jv_str(it.value, S("")));
        if (ps->n == before)
            endpoint_ip_check(ps, EACH_AT(p, it), jv_str(it.value, S("")));
    }
}

static jv port_key_shown(struct arena *a, jv port)
{
    return jobj(a, { "Name", jstr(a, S("")) }, { "Protocol", FIELD(port, "protocol") },
                { "AppProtocol", JV_NULL_V }, { "Port", FIELD(port, "port") },
                { "TargetPort", jint(a, 0) }, { "NodePort", jint(a, 0) });
}

enum { LOOK_BACK = 512 }; /* more ports than any service has */

static bool same_before(jv ports, size_t i, str field)
{
    jv port = jv_index(ports, i);

    for (size_t j = i > LOOK_BACK ? i - LOOK_BACK : 0; j < i; j++) {
        jv other = jv_index(ports, j);
        if (str_eq(FIELD_STR(other, "protocol"), FIELD_STR(port, "protocol")) &&
            jv_int(jv_get(other, field), 0) == jv_int(jv_get(port, field), 0))
            return true;
    }
    return false;
}

static void port_numbers_check(struct problems *ps, const struct path *p, jv obj)
{
    jv ports = FIELD(FIELD(obj, "spec"), "ports");

    if (service_is(obj, "ClusterIP"))
        JV_EACH (it, ports)
            if (FIELD_INT(it.value, "nodePort"))
                problem_forbidden(ps, AT(EACH_AT(p, it), "nodePort"),
                                  "may not be used when `type` is 'ClusterIP'");
    JV_EACH (it, ports)
        if (FIELD_INT(it.value, "nodePort") && same_before(ports, it.i - 1, S("nodePort")))
            problem_duplicate(ps, AT(EACH_AT(p, it), "nodePort"), FIELD(it.value, "nodePort"));
    JV_EACH (it, ports)
        if (same_before(ports, it.i - 1, S("port")))
            problem_duplicate(ps, EACH_AT(p, it), port_key_shown(ps->a, it.value));
}

static void load_balancer_check(struct problems *ps, const struct path *p, jv obj)
{
    static const char only[] = "may only be used when `type` is 'LoadBalancer'";
    jv spec = FIELD(obj, "spec");
    jv ranges = FIELD(spec, "loadBalancerSourceRanges");
    bool is_lb = service_is(obj, "LoadBalancer");

    if (jv_len(ranges) && !is_lb)
        problem_forbidden(ps, AT(p, "LoadBalancerSourceRanges"), only);
    JV_EACH (it, ranges)
        cidr_check_legacy(ps, ATI(AT(p, "LoadBalancerSourceRanges"), it.i - 1),
                          str_trim(jv_str(it.value, S(""))));
    if (!jv_is_null(FIELD(spec, "allocateLoadBalancerNodePorts")) && !is_lb)
        problem_forbidden(ps, AT(p, "allocateLoadBalancerNodePorts"), only);
    if (jv_is_null(FIELD(spec, "loadBalancerClass")))
        return;
    if (is_lb)
        name_check(ps, AT(p, "loadBalancerClass"), FIELD_STR(spec, "loadBalancerClass"),
                   name_qualified);
    else
        problem_forbidden(ps, AT(p, "loadBalancerClass"), only);
}

static void traffic_check(struct problems *ps, const struct path *p, jv obj)
{
    static const char *const policies[] = { "Cluster", "Local", NULL };
    static const char *const distributions[] = { "PreferClose", "PreferSameZone", "PreferSameNode",
                                                 NULL };
    jv spec = FIELD(obj, "spec");
    jv external = FIELD(spec, "externalTrafficPolicy");

    if (service_is_external(obj))
        enum_required(ps, AT(p, "externalTrafficPolicy"), external, policies);
    else if (jv_str(external, S("")).n)
        problem_invalid(ps, AT(p, "externalTrafficPolicy"), external,
                        "may only be set for externally-accessible services");
    if (!service_needs_health_check(obj)) {
        if (FIELD_INT(spec, "healthCheckNodePort"))
            problem_invalid(ps, AT(p, "healthCheckNodePort"), FIELD(spec, "healthCheckNodePort"),
                            "may only be set when `type` is 'LoadBalancer' and "
                            "`externalTrafficPolicy` is 'Local'");
    } else if (FIELD_INT(spec, "healthCheckNodePort")) {
        port_check(ps, AT(p, "healthCheckNodePort"), FIELD(spec, "healthCheckNodePort"));
    }
    enum_optional(ps, AT(p, "internalTrafficPolicy"), FIELD(spec, "internalTrafficPolicy"),
                  policies);
    enum_optional(ps, AT(p, "trafficDistribution"), FIELD(spec, "trafficDistribution"),
                  distributions);
}

/* One family is served. kube-apiserver finds out when it allocates: once all else is fine. */
static void single_stack_check(struct problems *ps, const struct path *p, jv obj)
{
    jv spec = FIELD(obj, "spec");
    bool listed = service_is_headless(obj) && !jv_len(FIELD(spec, "selector"));

    if (ps->n || listed || service_is(obj, "ExternalName"))
        return;
    JV_EACH (it, FIELD(spec, "ipFamilies"))
        if (!str_eq(jv_str(it.value, S("")), S("IPv4")))
            problem_invalid(ps, ATI(AT(p, "ipFamilies"), it.i - 1), it.value,
                            "not configured on this cluster");
    if (str_eq(FIELD_STR(spec, "ipFamilyPolicy"), S("RequireDualStack")))
        problem_invalid(ps, AT(p, "ipFamilyPolicy"), FIELD(spec, "ipFamilyPolicy"),
                        "this cluster is not configured for dual-stack services");
}

void service_validate(struct problems *ps, jv obj)
{
    static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                         NULL };
    jv spec = FIELD(obj, "spec");
    jv ports = FIELD(spec, "ports");
    const struct path *p = ROOT("spec");

    if (!jv_len(ports) && !service_is_headless(obj) && !service_is(obj, "ExternalName"))
        problem_required(ps, AT(p, "ports"), "%s", "");
    if (service_is_headless(obj) &&
        (service_is(obj, "LoadBalancer") || service_is(obj, "NodePort")))
        problem_invalid(ps, ATI(AT(p, "clusterIPs"), 0), LSTR("None"),
                        "may not be set to 'None' for %" PRI_STR " services",
                        STR_ARG(FIELD_STR(spec, "type")));
    if (service_is(obj, "ExternalName"))
        external_name_check(ps, p, spec);
    JV_EACH (it, ports)
        port_checks(ps, ATI(AT(p, "ports"), it.i - 1), ports, it.i - 1);
    labels_check(ps, AT(p, "selector"), FIELD(spec, "selector"));
    affinity_check(ps, p, spec);
    if (!service_is(obj, "ExternalName")) {
        cluster_ips_check(ps, p, spec);
        family_of_ip_check(ps, p, obj);
    }
    external_ips_check(ps, AT(p, "externalIPs"), FIELD(spec, "externalIPs"));
    enum_required(ps, AT(p, "type"), FIELD(spec, "type"), types);
    port_numbers_check(ps, AT(p, "ports"), obj);
    load_balancer_check(ps, p, obj);
    traffic_check(ps, p, obj);
    single_stack_check(ps, p, obj);
}

static void ips_update_check(struct problems *ps, const struct path *p, jv obj, jv old)
{
    jv now = FIELD(FIELD(obj, "spec"), "clusterIPs");
    jv before = FIELD(FIELD(old, "spec"), "clusterIPs");

    if (service_is_headless(obj) && service_is_headless(old))
        return;
    if (!jv_len(now) && jv_len(before)) {
        problem_invalid(ps, ATI(p, 0), JV_ABSENT, "primary clusterIP can not be unset");
        return;
    }
    for (size_t i = 0; i < jv_len(before) && i < jv_len(now); i++)
        if (!jv_equal(jv_index(now, i), jv_index(before, i)))
            problem_invalid(ps, ATI(p, i), now, "may not change once set");
}

static void families_update_check(struct problems *ps, const struct path *p, jv obj, jv old)
{
    jv now = FIELD(FIELD(obj, "spec"), "ipFamilies");
    jv before = FIELD(FIELD(old, "spec"), "ipFamilies");

    if (service_is_headless(obj) || service_is_headless(old))
        return;
    for (size_t i = 0; i < jv_len(before) && i < jv_len(now); i++)
        if (!jv_equal(jv_index(now, i), jv_index(before, i)))
            problem_invalid(ps, ATI(p, 0), now, "may not change once set");
}

void service_validate_update(struct problems *ps, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");
    const struct path *p = ROOT("spec");

    if (!service_is(obj, "ExternalName") && !service_is(old, "ExternalName")) {
        ips_update_check(ps, AT(p, "clusterIPs"), obj, old);
        families_update_check(ps, AT(p, "ipFamilies"), obj, old);
    }
    if (service_is(obj, "LoadBalancer") && service_is(old, "LoadBalancer") &&
        !jv_equal_semantic(FIELD(spec, "loadBalancerClass"), FIELD(before, "loadBalancerClass")))
        problem_invalid(ps, AT(p, "loadBalancerClass"), FIELD(spec, "loadBalancerClass"),
                        "may not change once set");
    if (service_needs_health_check(obj) && service_needs_health_check(old) &&
        FIELD_INT(spec, "healthCheckNodePort") != FIELD_INT(before, "healthCheckNodePort"))
        problem_forbidden(ps, AT(p, "healthCheckNodePort"), "field is immutable");
}

void load_balancer_status_check(struct problems *ps, const struct path *p, jv status)
{
    static const char *const modes[] = { "Proxy", "VIP", NULL };

    JV_EACH (it, FIELD(status, "ingress")) {
        const struct path *q = ATI(AT(p, "ingress"), it.i - 1);
        str ip = FIELD_STR(it.value, "ip");
        str host = FIELD_STR(it.value, "hostname");
        struct ip parsed;
        if (ip.n)
            ip_check_legacy(ps, AT(q, "ip"), ip);
        enum_optional(ps, AT(q, "ipMode"), FIELD(it.value, "ipMode"), modes);
        if (!host.n)
            continue;
        name_check(ps, AT(q, "hostname"), host, name_dns1123_subdomain);
        if (ip_parse(host, &parsed))
            problem_invalid(ps, AT(q, "hostname"), FIELD(it.value, "hostname"),
                            "must be a DNS name, not an IP address");
    }
}

void service_validate_status(struct problems *ps, jv obj, jv old)
{
    const struct path *p = AT(ROOT("status"), "loadBalancer");
    jv status = FIELD(FIELD(obj, "status"), "loadBalancer");

    (void)old;
    if (!service_is(obj, "LoadBalancer") && jv_len(FIELD(status, "ingress")))
        problem_forbidden(ps, AT(p, "ingress"),
                          "may only be used when `spec.type` is 'LoadBalancer'");
    else
        load_balancer_status_check(ps, p, status);
}
