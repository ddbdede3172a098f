/* What the caller allocates for Services, and sizes of ConfigMaps. */

#include "builtin/kind.h"
#include "builtin/service_alloc.h"
#include "tap.h"

static jv prepared(struct arena *a, const char *text)
{
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("services"));
    struct kind_ctx c = { .a = a };
    AUTO(jdoc) struct jdoc *d = J(text);

    return k->prepare(&c, k->defaults(&c, jv_copy(a, jdoc_root(d))), JV_ABSENT);
}

static void addresses_are_asked_for(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv plain = prepared(a, "{'spec':{'ports':[{'port':1}]}}");
    jv chosen = prepared(a, "{'spec':{'clusterIP':'10.0.0.9','ports':[{'port':1}]}}");
    jv headless = prepared(a, "{'spec':{'clusterIP':'None'}}");
    jv external = prepared(a, "{'spec':{'type':'ExternalName','externalName':'a.b'}}");

    ok(service_needs_cluster_ip(plain), "a plain service needs one");
    is_str(service_chosen_cluster_ip(plain), S(""), "any");
    is_str(service_chosen_cluster_ip(chosen), S("10.0.0.9"), "a chosen one is told");
    ok(!service_needs_cluster_ip(headless), "headless: none");
    ok(!service_needs_cluster_ip(external), "external: none");
    plain = service_with_cluster_ip(a, plain, S("10.0.0.1"));
    is_json(jv_at(plain, "spec", "clusterIPs"), "['10.0.0.1']", "given, in both fields");
}

static void refused_addresses_say_why(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };

    service_bad_cluster_ip(&ps, prepared(a, "{'spec':{'clusterIP':'10.0.0.9'}}"), "taken");
    is_str(problems_text(a, &ps),
           S("spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: failed to allocate IP 10.0.0.9: "
             "taken"),
           "field and reason");
}

static void node_ports_are_asked_for(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv plain = prepared(a, "{'spec':{'ports':[{'port':1}]}}");
    jv node = prepared(a, "{'spec':{'type':'NodePort','ports':[{'port':1,'nodePort':30001},"
                          "{'port':2}]}}");
    jv local = prepared(a, "{'spec':{'type':'LoadBalancer','externalTrafficPolicy':'Local',"
                           "'ports':[{'port':1}]}}");

    is_int(service_next_node_port(plain, 0), -1, "not for a plain service");
    is_int(service_next_node_port(node, 0), 1, "the second port has none yet");
    node = service_with_node_port(a, node, 1, 30002);
    is_int(service_next_node_port(node, 0), -1, "then all have");
    ok(service_needs_health_port(local), "a local load balancer has a health check");
    ok(!service_needs_health_port(service_with_health_port(a, local, 30003)), "given");
}

static void large_config_is_refused(void)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("configmaps"));
    size_t n = 1024 * 1024 + 1;
    char *big = arena_zalloc(a, n);
    struct problems ps = { .a = a };

    memset(big, 'x', n);
    k->validate(&ps, jobj(a, { "data", jobj(a, { "k", jstr(a, (str){ big, n }) }) }));
    is_str(problems_text(a, &ps), S("[]: Too long: may not be more than 1048576 bytes"),
           "one byte more than a mebibyte");
}

int main(void)
{
    addresses_are_asked_for();
    refused_addresses_say_why();
    node_ports_are_asked_for();
    large_config_is_refused();
    return tap_done();
}
