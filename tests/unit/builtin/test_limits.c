/* LimitRanges: what they fill in and what they refuse. */

#include "builtin/limits.h"
#include "builtin/pod_amounts.h"
#include "tap.h"

static const char container_range[] =
    "[{'spec': {'limits': [{'type': 'Container', 'default': {'memory': '1Gi', 'cpu': '500m'},"
    " 'defaultRequest': {'cpu': '100m'}, 'max': {'cpu': '1'}, 'min': {'cpu': '50m'},"
    " 'maxLimitRequestRatio': {'cpu': '5'}}]}}]";

static void defaults_are_filled_in_and_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *ranges = J(container_range);
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'spec': {'containers': [{'name': 'c'}, {'name': 'd', 'resources': {'limits': "
          "{'cpu': '1', 'memory': '1Mi'}, 'requests': {'cpu': '1'}}}],"
          " 'initContainers': [{'name': 'i', 'resources': {'requests': {'cpu': '1'}}}]}}");
    jv out = limits_apply(a, jdoc_root(ranges), jdoc_root(pod));

    is_str(jv_str(jv_at(out, "metadata", "annotations", "kubernetes.io/limit-ranger"), S("")),
           S("LimitRanger plugin set: cpu request for container c; cpu, memory limit for container "
             "c; cpu, memory limit for init container i"),
           "the annotation names what was set, requests first");
    is_json(jv_at(jv_index(jv_at(out, "spec", "containers"), 0), "resources"),
            "{'limits': {'cpu': '500m', 'memory': '1Gi'}, 'requests': {'cpu': '100m'}}",
            "what a container lacks is filled in");
    is_json(jv_at(jv_index(jv_at(out, "spec", "containers"), 1), "resources"),
            "{'limits': {'cpu': '1', 'memory': '1Mi'}, 'requests': {'cpu': '1'}}",
            "what it has stays");
}

static void nothing_to_fill_in_changes_nothing(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *ranges = J("[{'spec': {'limits': [{'type': 'Pod', 'max': {'cpu': '1'}}]}}]");
    AUTO(jdoc) struct jdoc *pod = J("{'spec': {'containers': [{'name': 'c'}]}}");

    ok(jv_equal(limits_apply(a, jdoc_root(ranges), jdoc_root(pod)), jdoc_root(pod)),
       "a range without defaults leaves the pod as it is");
}

static void bounds_are_told_in_kubernetes_words(void)
{
    static const struct {
        const char *resources;
        const char *said;
    } rows[] = {
        { "{'limits': {'cpu': '2'}, 'requests': {'cpu': '1'}}",
          "maximum cpu usage per Container is 1, but limit is 2" },
        { "{'limits': {'cpu': '1'}, 'requests': {'cpu': '10m'}}",
          "[minimum cpu usage per Container is 50m, but request is 10m, cpu max limit to request "
          "ratio per Container is 5, but provided ratio is 100.000000]" },
        { "{'limits': {'cpu': '1'}}",
          "[minimum cpu usage per Container is 50m.  No request is specified, cpu max limit to "
          "request ratio per Container is 5, but no request is specified or request is 0]" },
        { "{'requests': {'cpu': '100m'}}",
          "[maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request "
          "ratio per Container is 5, but no limit is specified or limit is 0]" },
        { "{'limits': {'cpu': '500m'}, 'requests': {'cpu': '100m'}}", "" },
    };
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *ranges = J(container_range);

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(jdoc) struct jdoc *r = J(rows[i].resources);
        jv c = jobj(a, { "name", jstrz(a, "c") }, { "resources", jdoc_root(r) });
        jv pod = jv_with(a, JV_EMPTY_OBJ, jarr(a, c), "spec", "containers");
        is_str(limits_check_pod(a, jdoc_root(ranges), pod), str_of(rows[i].said),
               rows[i].resources);
    }
}

static void pods_are_bound_by_their_sum(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *ranges = J("[{'spec': {'limits': [{'type': 'Pod', 'max': {'cpu': '1'}}]}}]");
    AUTO(jdoc)
    struct jdoc *pod = J("{'spec': {'containers': [{'resources': {'limits': {'cpu': '600m'}}},"
                         " {'resources': {'limits': {'cpu': '600m'}}}]}}");

    is_str(limits_check_pod(a, jdoc_root(ranges), jdoc_root(pod)),
           S("maximum cpu usage per Pod is 1, but limit is 1200m"), "two containers add up");
}

static void claims_are_bound_by_their_request(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *ranges =
        J("[{'spec': {'limits': [{'type': 'PersistentVolumeClaim', 'min': {'storage': '1Gi'},"
          " 'max': {'storage': '2Gi'}}]}}]");
    AUTO(jdoc) struct jdoc *big = J("{'spec': {'resources': {'requests': {'storage': '3Gi'}}}}");
    AUTO(jdoc) struct jdoc *small = J("{'spec': {'resources': {'requests': {'storage': '1Mi'}}}}");

    is_str(limits_check_claim(a, jdoc_root(ranges), jdoc_root(big)),
           S("maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"),
           "too much");
    is_str(limits_check_claim(a, jdoc_root(ranges), jdoc_root(small)),
           S("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"),
           "too little");
}

static void init_containers_need_the_greater_part(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod = J(
        "{'spec': {'containers': [{'resources': {'requests': {'cpu': '1'}}}], 'initContainers': ["
        "{'restartPolicy': 'Always', 'resources': {'requests': {'cpu': '500m'}}},"
        "{'resources': {'requests': {'cpu': '3'}}}], 'overhead': {'cpu': '1', 'memory': '1Mi'}}}");
    struct amounts plain = pod_amounts(a, jdoc_root(pod), POD_REQUESTS, 0);
    struct amounts over = pod_amounts(a, jdoc_root(pod), POD_REQUESTS, POD_OVERHEAD);
    struct amounts limits = pod_amounts(a, jdoc_root(pod), POD_LIMITS, POD_OVERHEAD);

    is_str(amounts_text(a, &plain), S("cpu=3500m"), "the start takes most, beside its sidecar");
    is_str(amounts_text(a, &over), S("cpu=4500m,memory=1Mi"), "overhead comes on top");
    is_str(amounts_text(a, &limits), S(""), "but makes no limit where there is none");
}

static void the_pods_own_amounts_win(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'spec': {'resources': {'requests': {'cpu': '2'}}, 'containers': [{'resources': "
          "{'requests': {'cpu': '1', 'memory': '1Mi'}}}]}}");
    struct amounts r = pod_amounts(a, jdoc_root(pod), POD_REQUESTS, 0);

    is_str(amounts_text(a, &r), S("cpu=2,memory=1Mi"), "of cpu, and memory is the containers'");
}

int main(void)
{
    defaults_are_filled_in_and_told();
    nothing_to_fill_in_changes_nothing();
    bounds_are_told_in_kubernetes_words();
    pods_are_bound_by_their_sum();
    claims_are_bound_by_their_request();
    init_containers_need_the_greater_part();
    the_pods_own_amounts_win();
    return tap_done();
}
