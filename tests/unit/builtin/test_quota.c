/* Quotas: who uses how much, whom they speak of, and what they refuse. */

#include "builtin/quota_check.h"
#include "tap.h"

static void usage_is(const char *resource, const char *obj, const char *want)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(obj);
    struct amounts use = quota_usage(a, str_of(resource), jdoc_root(d));

    is_str(amounts_text(a, &use), str_of(want), resource);
}

static void each_kind_uses_its_own(void)
{
    usage_is("pods",
             "{'spec': {'containers': [{'resources': {'requests': {'cpu': '1', 'a.b/gpu': '2'},"
             " 'limits': {'memory': '1Gi'}}}]}}",
             "count/pods=1,cpu=1,limits.memory=1Gi,pods=1,requests.a.b/gpu=2,requests.cpu=1");
    usage_is("pods", "{'spec': {'containers': []}, 'status': {'phase': 'Failed'}}", "count/pods=1");
    usage_is("services", "{'spec': {'type': 'LoadBalancer', 'ports': [{}, {}]}}",
             "count/services=1,services=1,services.loadbalancers=1,services.nodeports=2");
    usage_is("services",
             "{'spec': {'type': 'LoadBalancer', 'allocateLoadBalancerNodePorts': false,"
             " 'ports': [{}, {'nodePort': 30000}]}}",
             "count/services=1,services=1,services.loadbalancers=1,services.nodeports=1");
    usage_is("services", "{'spec': {'type': 'ClusterIP', 'ports': [{}]}}",
             "count/services=1,services=1,services.loadbalancers=0,services.nodeports=0");
    usage_is(
        "persistentvolumeclaims",
        "{'spec': {'storageClassName': 'fast', 'resources': {'requests': {'storage': '1Gi'}}}}",
        "count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/"
        "persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/requests.storage=1Gi,"
        "persistentvolumeclaims=1,requests.storage=1Gi");
    usage_is("configmaps", "{}", "configmaps=1,count/configmaps=1");
    usage_is("deployments.apps", "{}", "count/deployments.apps=1");
}

static void scopes_choose(void)
{
    static const struct {
        const char *spec;
        const char *pod;
        bool covers;
    } rows[] = {
        { "{'scopes': ['BestEffort']}", "{'spec': {'containers': [{}]}}", true },
        { "{'scopes': ['NotBestEffort']}", "{'spec': {'containers': [{}]}}", false },
        { "{'scopes': ['Terminating']}", "{'spec': {'activeDeadlineSeconds': 0}}", true },
        { "{'scopes': ['NotTerminating', 'BestEffort']}",
          "{'spec': {'activeDeadlineSeconds': 5, 'containers': [{}]}}", false },
        { "{'scopes': ['PriorityClass']}", "{'spec': {'priorityClassName': 'x'}}", true },
        { "{'scopeSelector': {'matchExpressions': [{'scopeName': 'PriorityClass', 'operator': "
          "'In', 'values': ['high']}]}}",
          "{'spec': {'priorityClassName': 'low'}}", false },
        { "{'scopeSelector': {'matchExpressions': [{'scopeName': 'PriorityClass', 'operator': "
          "'NotIn', 'values': ['high']}]}}",
          "{'spec': {}}", true },
        { "{'scopeSelector': {'matchExpressions': [{'scopeName': 'PriorityClass', 'operator': "
          "'DoesNotExist'}]}}",
          "{'spec': {'priorityClassName': 'low'}}", false },
        { "{'scopes': ['CrossNamespacePodAffinity']}",
          "{'spec': {'affinity': {'podAntiAffinity': {"
          "'preferredDuringSchedulingIgnoredDuringExecution': [{'podAffinityTerm': "
          "{'namespaces': ['x']}}]}}}}",
          true },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(jdoc) struct jdoc *spec = J(rows[i].spec);
        AUTO(jdoc) struct jdoc *pod = J(rows[i].pod);
        ok(quota_covers(a, jdoc_root(spec), S("pods"), jdoc_root(pod)) == rows[i].covers, "%s",
           rows[i].spec);
    }
    AUTO(jdoc) struct jdoc *scoped = J("{'scopes': ['BestEffort']}");
    ok(!quota_covers(a, jdoc_root(scoped), S("configmaps"), JV_EMPTY_OBJ),
       "a quota with scopes does not speak of what has none");
}

static str checked(struct arena *a, jv spec, jv used, const char *resource, jv obj, jv old)
{
    struct quota_now q = { S("q"), spec, amounts_of(a, jv_at(spec, "hard")), amounts_of(a, used) };
    struct quota_write w = { str_of(resource), obj, old };
    struct amounts delta;

    return quota_check(a, &q, 1, &w, &delta);
}

static void refusals_say_what_was_asked(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *spec = J("{'hard': {'pods': '1', 'requests.cpu': '1', 'count/configmaps': '0'}}");
    AUTO(jdoc)
    struct jdoc *used = J("{'pods': '1', 'requests.cpu': '100m', 'count/configmaps': '0'}");
    AUTO(jdoc) struct jdoc *silent = J("{'spec': {'containers': [{'name': 'd'}, {'name': 'c'}]}}");
    AUTO(jdoc)
    struct jdoc *big =
        J("{'spec': {'containers': [{'name': 'c', 'resources': {'requests': {'cpu': '5'}}}]}}");

    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "configmaps", JV_EMPTY_OBJ, JV_ABSENT),
           S("exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=0, limited: "
             "count/configmaps=0"),
           "one too many");
    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "pods", jdoc_root(silent), JV_ABSENT),
           S("failed quota: q: must specify requests.cpu for: c,d"), "nothing to count by");
    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "pods", jdoc_root(big), JV_ABSENT),
           S("exceeded quota: q, requested: pods=1,requests.cpu=5, used: pods=1,requests.cpu=100m, "
             "limited: pods=1,requests.cpu=1"),
           "all that is exceeded is told");
    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "secrets", JV_EMPTY_OBJ, JV_ABSENT), S(""),
           "what it does not count is free");
}

static void updates_pay_the_difference(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *spec = J("{'hard': {'services.nodeports': '2'}}");
    AUTO(jdoc) struct jdoc *used = J("{'services.nodeports': '2'}");
    AUTO(jdoc) struct jdoc *one = J("{'spec': {'type': 'NodePort', 'ports': [{}]}}");
    AUTO(jdoc) struct jdoc *two = J("{'spec': {'type': 'NodePort', 'ports': [{}, {}]}}");

    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "services", jdoc_root(two), jdoc_root(one)),
           S("exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, "
             "limited: services.nodeports=2"),
           "one port more is asked for");
    is_str(checked(a, jdoc_root(spec), jdoc_root(used), "services", jdoc_root(one), jdoc_root(two)),
           S(""), "less is always fine");
}

int main(void)
{
    each_kind_uses_its_own();
    scopes_choose();
    refusals_say_what_was_asked();
    updates_pay_the_difference();
    return tap_done();
}
