/* Service: defaults, the life of its addresses across updates, and what the caller allocates. */

#include "builtin/service.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/service_alloc.h"

enum { AFFINITY_S = 10800 };

bool service_is(jv obj, const char *type)
{
    return str_eqz(FIELD_STR(FIELD(obj, "spec"), "type"), type);
}

bool service_is_headless(jv obj)
{
    jv ips = FIELD(FIELD(obj, "spec"), "clusterIPs");

    return jv_len(ips) == 1 && str_eq(jv_str(jv_index(ips, 0), S("")), S("None"));
}

bool service_is_external(jv obj)
{
    return service_is(obj, "LoadBalancer") || service_is(obj, "NodePort") ||
           (service_is(obj, "ClusterIP") && jv_len(FIELD(FIELD(obj, "spec"), "externalIPs")));
}

bool service_needs_health_check(jv obj)
{
    return service_is(obj, "LoadBalancer") &&
           str_eq(FIELD_STR(FIELD(obj, "spec"), "externalTrafficPolicy"), S("Local"));
}

static bool needs_node_ports(jv obj)
{
    return service_is(obj, "NodePort") || service_is(obj, "LoadBalancer");
}

/* ---- defaults */

static jv port_defaults(struct arena *a, jv port)
{
    struct edit e = edit(a, port);
    jv target = FIELD(port, "targetPort");

    edit_default(&e, S("protocol"), LSTR("TCP"));
    if (jv_is_null(target) || (jv_is(target, JV_INT) && !jv_int(target, 0)) ||
        (jv_is(target, JV_STR) && !jv_str(target, S("")).n))
        edit_set(&e, S("targetPort"), LINT(FIELD_INT(port, "port")));
    return edit_done(&e);
}

static void affinity_defaults(struct edit *e)
{
    edit_default(e, S("sessionAffinity"), LSTR("None"));
    str affinity = jv_str(edit_get(e, S("sessionAffinity")), S(""));
    if (str_eq(affinity, S("None")))
        edit_set(e, S("sessionAffinityConfig"), JV_ABSENT);
    if (str_eq(affinity, S("ClientIP")) &&
        jv_is_null(jv_at(edit_get(e, S("sessionAffinityConfig")), "clientIP", "timeoutSeconds")))
        edit_set(e, S("sessionAffinityConfig"),
                 jobj(e->a, { "clientIP", jobj(e->a, { "timeoutSeconds", LINT(AFFINITY_S) }) }));
}

static jv ingress_defaults(struct arena *a, jv ingress)
{
    struct edit e = edit(a, ingress);

    if (FIELD_STR(ingress, "ip").n)
        edit_default(&e, S("ipMode"), LSTR("VIP"));
    return edit_done(&e);
}

jv service_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));

    affinity_defaults(&spec);
    edit_default(&spec, S("type"), LSTR("ClusterIP"));
    edit_each(&spec, S("ports"), port_defaults);
    jv v = jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
    if (service_is_external(v))
        edit_default(&spec, S("externalTrafficPolicy"), LSTR("Cluster"));
    if (!service_is(v, "ExternalName"))
        edit_default(&spec, S("internalTrafficPolicy"), LSTR("Cluster"));
    if (service_is(v, "LoadBalancer") &&
        jv_is_null(edit_get(&spec, S("allocateLoadBalancerNodePorts"))))
        edit_set(&spec, S("allocateLoadBalancerNodePorts"), JV_TRUE);
    v = jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
    jv ingress = jv_at(v, "status", "loadBalancer", "ingress");
    if (service_is(v, "LoadBalancer") && jv_len(ingress))
        v = jv_with(c->a, v, edit_list(c->a, ingress, ingress_defaults), "status", "loadBalancer",
                    "ingress");
    return v;
}

/* ---- before validation */

/* clusterIP is the first of clusterIPs; a user may give only the old field. */
static void normalize_ips(struct edit *spec, jv before)
{
    jv ip = edit_get(spec, S("clusterIP"));
    jv ips = edit_get(spec, S("clusterIPs"));
    str text = jv_str(ip, S(""));

    if (text.n && !jv_len(ips))
        edit_set(spec, S("clusterIPs"), jarr(spec->a, ip));
    if (!jv_exists(before) || !jv_len(ips))
        return;
    if (str_eq(text, FIELD_STR(before, "clusterIP")) ||
        !jv_equal_semantic(ips, FIELD(before, "clusterIPs")))
        return;
    if (!text.n)
        edit_set(spec, S("clusterIPs"), JV_ABSENT);
    else
        edit_set(spec, S("clusterIPs"), jarr(spec->a, ip));
}

static jv node_port_before(jv before, jv port)
{
    JV_EACH (it, FIELD(before, "ports"))
        if (FIELD_INT(it.value, "port") == FIELD_INT(port, "port") &&
            str_eq(FIELD_STR(it.value, "protocol"), FIELD_STR(port, "protocol")))
            return FIELD(it.value, "nodePort");
    return JV_ABSENT;
}

/* What was allocated stays when the user does not repeat it. */
static void keep_allocated(struct edit *spec, jv obj, jv old)
{
    jv before = FIELD(old, "spec");
    bool was = !service_is(old, "ExternalName");
    bool is = !service_is(obj, "ExternalName");

    if (was && is) {
        if (!jv_str(edit_get(spec, S("clusterIP")), S("")).n &&
            !jv_len(edit_get(spec, S("clusterIPs")))) {
            edit_set(spec, S("clusterIP"), FIELD(before, "clusterIP"));
            edit_set(spec, S("clusterIPs"), FIELD(before, "clusterIPs"));
        }
        if (!jv_len(edit_get(spec, S("ipFamilies"))))
            edit_set(spec, S("ipFamilies"), FIELD(before, "ipFamilies"));
        if (jv_is_null(edit_get(spec, S("ipFamilyPolicy"))))
            edit_set(spec, S("ipFamilyPolicy"), FIELD(before, "ipFamilyPolicy"));
    }
    if (needs_node_ports(old) && needs_node_ports(obj)) {
        struct jbuild ports = jb_arr(spec->a);
        JV_EACH (it, edit_get(spec, S("ports"))) {
            struct edit p = edit(spec->a, it.value);
            jv had = node_port_before(before, it.value);
            if (jv_int(had, 0))
                edit_default_zero(&p, S("nodePort"), jv_int(had, 0));
            jb_push(&ports, edit_done(&p));
        }
        edit_set(spec, S("ports"), jb_done(&ports));
    }
    if (service_needs_health_check(old) && service_needs_health_check(obj))
        edit_default_zero(spec, S("healthCheckNodePort"), FIELD_INT(before, "healthCheckNodePort"));
}

static void forget(struct edit *spec, jv before, str field)
{
    if (jv_equal_semantic(edit_get(spec, field), jv_get(before, field)))
        edit_set(spec, field, JV_ABSENT);
}

static jv without_node_port(struct arena *a, jv port)
{
    return jv_without(a, port, "nodePort");
}

/* A change of type gives up what the new type cannot have, unless the user asks for it. */
static void forget_allocated(struct edit *spec, jv obj, jv old)
{
    jv before = FIELD(old, "spec");

    if (!service_is(old, "ExternalName") && service_is(obj, "ExternalName")) {
        if (jv_equal_semantic(edit_get(spec, S("clusterIP")), FIELD(before, "clusterIP")) &&
            jv_equal_semantic(edit_get(spec, S("clusterIPs")), FIELD(before, "clusterIPs"))) {
            edit_set(spec, S("clusterIP"), JV_ABSENT);
            edit_set(spec, S("clusterIPs"), JV_ABSENT);
        }
        forget(spec, before, S("ipFamilies"));
        forget(spec, before, S("ipFamilyPolicy"));
        forget(spec, before, S("internalTrafficPolicy"));
    }
    if (needs_node_ports(old) && !needs_node_ports(obj))
        edit_each(spec, S("ports"), without_node_port);
    if (service_needs_health_check(old) && !service_needs_health_check(obj))
        forget(spec, before, S("healthCheckNodePort"));
    if (service_is(old, "LoadBalancer") && !service_is(obj, "LoadBalancer")) {
        forget(spec, before, S("allocateLoadBalancerNodePorts"));
        forget(spec, before, S("loadBalancerClass"));
    }
    if (service_is_external(old) && !service_is_external(obj))
        forget(spec, before, S("externalTrafficPolicy"));
}

/* One family is served: IPv4, or both by name for headless services that select nothing. */
static void family_defaults(struct edit *spec, jv obj)
{
    struct arena *a = spec->a;
    jv ip4 = jstr(a, S("IPv4"));
    jv ip6 = jstr(a, S("IPv6"));
    jv ips = edit_get(spec, S("clusterIPs"));
    bool headless = str_eq(jv_str(jv_index(ips, 0), S("")), S("None"));
    jv families = edit_get(spec, S("ipFamilies"));

    if (service_is(obj, "ExternalName"))
        return;
    if (headless && !jv_len(edit_get(spec, S("selector")))) {
        edit_default(spec, S("ipFamilyPolicy"), LSTR("RequireDualStack"));
        if (!jv_len(families))
            edit_set(spec, S("ipFamilies"), jarr(a, ip4, ip6));
        return;
    }
    edit_default(spec, S("ipFamilyPolicy"), LSTR("SingleStack"));
    if (!jv_len(families)) {
        bool six = str_find(jv_str(jv_index(ips, 0), S("")), ':') >= 0;
        edit_set(spec, S("ipFamilies"), jarr(a, six ? ip6 : ip4));
    }
}

jv service_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);

    normalize_ips(&spec, FIELD(old, "spec"));
    if (jv_exists(old)) {
        keep_allocated(&spec, obj, old);
        forget_allocated(&spec, obj, old);
        jv status = FIELD(old, "status");
        if (!service_is(obj, "LoadBalancer"))
            status = jv_with(c->a, status, JV_EMPTY_OBJ, "loadBalancer");
        edit_set(&e, S("status"), status);
    } else {
        edit_set(&e, S("status"), jobj(c->a, { "loadBalancer", JV_EMPTY_OBJ }));
    }
    family_defaults(&spec, obj);
    edit_set(&e, S("spec"), edit_done(&spec));
    return edit_done(&e);
}

/* ---- what the caller allocates */

bool service_needs_cluster_ip(jv obj)
{
    return !service_is(obj, "ExternalName") && !service_is_headless(obj);
}

str service_chosen_cluster_ip(jv obj)
{
    return service_needs_cluster_ip(obj) ? FIELD_STR(FIELD(obj, "spec"), "clusterIP") : S("");
}

jv service_with_cluster_ip(struct arena *a, jv obj, str ip)
{
    jv spec = jv_with(a, FIELD(obj, "spec"), jstr(a, ip), "clusterIP");

    spec = jv_with(a, spec, jarr(a, jstr(a, ip)), "clusterIPs");
    return jv_with_key(a, obj, S("spec"), spec);
}

void service_bad_cluster_ip(struct problems *ps, jv obj, const char *why)
{
    jv ips = FIELD(FIELD(obj, "spec"), "clusterIPs");

    problem_invalid(ps, AT(ROOT("spec"), "clusterIPs"), ips,
                    "failed to allocate IP %" PRI_STR ": %s",
                    STR_ARG(jv_str(jv_index(ips, 0), S(""))), why);
}

int64_t service_next_node_port(jv obj, size_t from)
{
    jv spec = FIELD(obj, "spec");
    jv ports = FIELD(spec, "ports");

    if (!service_is(obj, "NodePort") &&
        !(service_is(obj, "LoadBalancer") &&
          jv_bool(FIELD(spec, "allocateLoadBalancerNodePorts"), true)))
        return -1;
    for (size_t i = from; i < jv_len(ports); i++)
        if (!FIELD_INT(jv_index(ports, i), "nodePort"))
            return (int64_t)i;
    return -1;
}

jv service_with_node_port(struct arena *a, jv obj, size_t index, int64_t port)
{
    jv ports = FIELD(FIELD(obj, "spec"), "ports");
    jv changed = jv_with(a, jv_index(ports, index), jint(a, port), "nodePort");

    return jv_with(a, obj, jv_with_index(a, ports, index, changed), "spec", "ports");
}

bool service_needs_health_port(jv obj)
{
    return service_needs_health_check(obj) && !FIELD_INT(FIELD(obj, "spec"), "healthCheckNodePort");
}

jv service_with_health_port(struct arena *a, jv obj, int64_t port)
{
    return jv_with(a, obj, jint(a, port), "spec", "healthCheckNodePort");
}
