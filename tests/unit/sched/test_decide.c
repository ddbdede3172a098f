/* One decision a row: nodes, pods that have one, pods that wait; then who goes where, or the very
 * words kube-scheduler has for it. */

#include "sched/sched.h"
#include "tap.h"

enum { MANY = 16 };

#define READY   "'conditions': [{'type': 'Ready', 'status': 'True'}]"
#define ROOM    "'allocatable': {'cpu': '4', 'memory': '8Gi', 'pods': '110'}"
#define NODE(n) "{'metadata': {'name': '" n "'}, 'status': {" ROOM ", " READY "}}"
#define CPU(n)  "'containers': [{'resources': {'requests': {'cpu': '" n "'}}}]"
#define POD(n)  "'metadata': {'name': '" n "', 'namespace': 'default'}"
#define TAIL_NO \
    " no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
#define TAIL_BAD \
    " no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."

#define TAIL_ONE_BAD \
    " no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."

struct row {
    const char *what, *nodes, *bound, *waiting;
    const char *want; /* "pod=node" or "pod: why", each on its line */
};

static const struct row rows[] = {
    { "a pod that fits is placed", "[" NODE("n") "]", "[]", "[{" POD("a") "}]", "a=n" },
    { "no nodes", "[]", "[]", "[{" POD("a") "}]", "a: no nodes available to schedule pods" },
    { "a resource that the node does not have", "[" NODE("n") "]", "[]",
      "[{" POD(
          "a") ", 'spec': {'containers': [{'resources': {'requests': {'nvidia.com/gpu': '1'}}}]}}]",
      "a: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu." TAIL_BAD },
    { "a resource that is taken",
      "[{'metadata': {'name': 'n'}, 'status': {'allocatable': {'cpu': '4', 'pods': '9', 'nvidia.com/gpu': '1'}, " READY
      "}}]",
      "[{" POD(
          "b") ", 'spec': {'nodeName': 'n', 'containers': [{'resources': {'requests': {'nvidia.com/gpu': '1'}}}]}}]",
      "[{" POD(
          "a") ", 'spec': {'containers': [{'resources': {'requests': {'nvidia.com/gpu': '1'}}}]}}]",
      "a: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu." TAIL_NO },
    { "more than one thing lacks", "[" NODE("n") "]", "[]",
      "[{" POD(
          "a") ", 'spec': {'containers': [{'resources': {'requests': {'cpu': '5', 'memory': '9Gi'}}}]}}]",
      "a: 0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory." TAIL_BAD },
    { "all that is there may be taken, to the last thousandth", "[" NODE("n") "]",
      "[{" POD("b") ", 'spec': {'nodeName': 'n', " CPU("3999m") "}}]",
      "[{" POD("a") ", 'spec': {" CPU("1m") "}}, {" POD("c") ", 'spec': {" CPU("1m") "}}]",
      "a=n\nc: 0/1 nodes are available: 1 Insufficient cpu." TAIL_NO },
    { "what a pod on another node takes does not count here", "[" NODE("n") "]",
      "[{" POD("b") ", 'spec': {'nodeName': 'gone', " CPU("4") "}}]",
      "[{" POD("a") ", 'spec': {" CPU("4") "}}]", "a=n" },
    { "init containers run before, sidecars beside", "[" NODE("n") "]", "[]",
      "[{" POD(
          "a") ", 'spec': {'overhead': {'cpu': '1'}, 'initContainers': ["
               "{'name': 's', 'restartPolicy': 'Always', 'resources': {'requests': {'cpu': '1'}}},"
               "{'name': 'i', 'resources': {'requests': {'cpu': '2'}}}], " CPU(
                   "1") "}},"
                        "{" POD("b") ", 'spec': {" CPU("1m") "}}]",
      "a=n\nb: 0/1 nodes are available: 1 Insufficient cpu." TAIL_NO },
    { "too many pods",
      "[{'metadata': {'name': 'n'}, 'status': {'allocatable': {'pods': '1'}, " READY "}}]",
      "[{" POD("b") ", 'spec': {'nodeName': 'n'}}]", "[{" POD("a") "}]",
      "a: 0/1 nodes are available: 1 Too many pods." TAIL_NO },
    { "a node selector", "[" NODE("n") "]", "[]",
      "[{" POD("a") ", 'spec': {'nodeSelector': {'disk': 'ssd'}}}]",
      "a: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." TAIL_BAD },
    { "required node affinity: any of the terms, all in a term",
      "[{'metadata': {'name': 'n', 'labels': {'zone': 'b', 'size': '7'}}, 'status': {" ROOM
      ", " READY "}}]",
      "[]",
      "[{" POD(
          "a") ", 'spec': {'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': ["
               "{'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['a']}]},"
               "{'matchExpressions': [{'key': 'zone', 'operator': 'NotIn', 'values': ['a']}, {'key': 'size', 'operator': 'Gt', 'values': ['6']},"
               "{'key': 'x', 'operator': 'DoesNotExist'}], 'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n']}]}]}}}}}]",
      "a=n" },
    { "a taint",
      "[{'metadata': {'name': 'n'}, 'spec': {'taints': [{'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'}]}, 'status': {" ROOM
      ", " READY "}}]",
      "[]",
      "[{" POD("a") "}, {" POD(
          "b") ", 'spec': {'tolerations': [{'key': 'gpu', 'operator': 'Exists'}]}},"
               "{" POD(
                   "c") ", 'spec': {'tolerations': [{'key': 'gpu', 'value': 'no', 'effect': 'NoSchedule'}]}}]",
      "a: 0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}." TAIL_BAD "\nb=n\n"
      "c: 0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}." TAIL_BAD },
    { "a node that is not ready",
      "[{'metadata': {'name': 'n'}, 'status': {" ROOM
      ", 'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}}]",
      "[]", "[{" POD("a") "}]",
      "a: 0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }." TAIL_BAD },
    { "a node that is cordoned",
      "[{'metadata': {'name': 'n'}, 'spec': {'unschedulable': true}, 'status': {" ROOM ", " READY
      "}}]",
      "[]", "[{" POD("a") "}]",
      "a: 0/1 nodes are available: 1 node(s) were unschedulable." TAIL_BAD },
    { "a port of the node that is taken", "[" NODE("n") "]",
      "[{" POD(
          "b") ", 'spec': {'nodeName': 'n', 'containers': [{'ports': [{'hostPort': 80, 'hostIP': '127.0.0.1'}]}]}}]",
      "[{" POD(
          "a") ", 'spec': {'containers': [{'ports': [{'hostPort': 80}]}]}},"
               "{" POD(
                   "c") ", 'spec': {'containers': [{'ports': [{'hostPort': 80, 'hostIP': '127.0.0.2'}]}]}}]",
      "a: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports." TAIL_NO
      "\nc=n" },
    { "pods that keep each other away",
      "[{'metadata': {'name': 'n', 'labels': {'host': 'n'}}, 'status': {" ROOM ", " READY "}}]",
      "[]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'app': 'x'}}, 'spec': {'affinity': {'podAntiAffinity': "
      "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'x'}}}]}}}},"
      "{'metadata': {'name': 'b', 'namespace': 'default', 'labels': {'app': 'x'}}, 'spec': {'affinity': {'podAntiAffinity': "
      "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'x'}}}]}}}},"
      "{'metadata': {'name': 'c', 'namespace': 'default', 'labels': {'app': 'x'}}}]",
      "a=n\nb: 0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules." TAIL_NO
      "\nc: 0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules." TAIL_NO },
    { "pods that want each other: the first has nobody to wait for",
      "[{'metadata': {'name': 'm', 'labels': {'host': 'm'}}, 'status': {" ROOM ", " READY "}},"
      "{'metadata': {'name': 'n', 'labels': {'host': 'n'}}, 'status': {" ROOM ", " READY "}}]",
      "[]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'app': 'x'}}, 'spec': {'affinity': {'podAffinity': "
      "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'x'}}}]}}}},"
      "{'metadata': {'name': 'b', 'namespace': 'default', 'labels': {'app': 'x'}}, 'spec': {'affinity': {'podAffinity': "
      "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'x'}}}]}}}}]",
      "a=m\nb=m" },
    { "pods that nobody is there for", "[" NODE("n") "]", "[]",
      "[{" POD(
          "a") ", 'spec': {'affinity': {'podAffinity': "
               "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'y'}}}]}}}}]",
      "a: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules." TAIL_BAD },
    { "spread: by default only nodes that the pod selects count",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY
      "}}, {'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'status': {" ROOM ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}}]}}]",
      "a=m" },
    { "spread: nodeAffinityPolicy Ignore counts the others, too",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY
      "}}, {'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'status': {" ROOM ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'nodeAffinityPolicy': 'Ignore'}]}}]",
      "a: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
      "1 node(s) didn't match pod topology spread constraints." TAIL_ONE_BAD },
    { "spread: a tainted node counts",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY
      "}}, {'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'spec': {'taints': [{'key': 't', 'effect': 'NoSchedule'}]}, 'status': {" ROOM
      ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'nodeAffinityPolicy': 'Ignore'}]}}]",
      "a: 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
      "1 node(s) had untolerated taint {t: }." TAIL_ONE_BAD },
    { "spread: but not with nodeTaintsPolicy Honor",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY
      "}}, {'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'spec': {'taints': [{'key': 't', 'effect': 'NoSchedule'}]}, 'status': {" ROOM
      ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'nodeAffinityPolicy': 'Ignore', 'nodeTaintsPolicy': 'Honor'}]}}]",
      "a=m" },
    { "spread: fewer domains than minDomains are as if one was empty",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'minDomains': 2}]}}]",
      "a: 0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints." TAIL_NO },
    { "spread: a selector for everything counts no pods",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY
      "}}, {'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'status': {" ROOM ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeSelector': {'zone': 'm'}, 'topologySpreadConstraints': "
      "[{'topologyKey': 'zone', 'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {}, 'nodeAffinityPolicy': 'Ignore'}]}}]",
      "a=m" },
    { "company is a pod that all terms mean, not one for each",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {" ROOM ", " READY "}}]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}},"
      "{'metadata': {'name': 'y', 'namespace': 'default', 'labels': {'c': 'd'}}, 'spec': {'nodeName': 'm'}}]",
      "[{" POD(
          "a") ", 'spec': {'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
               "{'topologyKey': 'zone', 'labelSelector': {'matchLabels': {'a': 'b'}}},"
               "{'topologyKey': 'zone', 'labelSelector': {'matchLabels': {'c': 'd'}}}]}}}}]",
      "a: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules." TAIL_BAD },
    { "evenly over zones, and none without one",
      "[{'metadata': {'name': 'm', 'labels': {'zone': 'm'}}, 'status': {'allocatable': {'pods': '2'}, " READY
      "}},"
      "{'metadata': {'name': 'n', 'labels': {'zone': 'n'}}, 'status': {'allocatable': {'pods': '1'}, " READY
      "}}, " NODE("o") "]",
      "[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'm'}},"
      "{'metadata': {'name': 'y', 'namespace': 'other', 'labels': {'a': 'b'}}, 'spec': {'nodeName': 'n'}}]",
      "[{'metadata': {'name': 'a', 'namespace': 'default', 'labels': {'a': 'b'}}, 'spec': {'topologySpreadConstraints': "
      "[{'maxSkew': 1, 'topologyKey': 'zone', 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}}]}}]",
      "a: 0/3 nodes are available: 1 Too many pods, 1 node(s) didn't match pod topology spread constraints, "
      "1 node(s) didn't match pod topology spread constraints (missing required label)."
      " no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
      "2 No preemption victims found for incoming pod." },
    { "the more important first, then the older", "[" NODE("n") "]", "[]",
      "[{'metadata': {'name': 'a', 'creationTimestamp': '2026-01-01T00:00:02Z'}, 'spec': {" CPU(
          "3") "}},"
               "{'metadata': {'name': 'b', 'creationTimestamp': '2026-01-01T00:00:01Z'}, 'spec': {" CPU(
                   "3") "}},"
                        "{'metadata': {'name': 'c', 'creationTimestamp': '2026-01-01T00:00:03Z'}, 'spec': {'priority': 9, 'preemptionPolicy': 'Never', " CPU(
                            "1") "}}]",
      "c=n\nb=n\na: 0/1 nodes are available: 1 Insufficient cpu." TAIL_NO },
    { "one that does not fit keeps nobody waiting", "[" NODE("n") "]", "[]",
      "[{" POD("a") ", 'spec': {'priority': 9, 'preemptionPolicy': 'Never', " CPU("5") "}}, {" POD(
          "b") ", 'spec': {" CPU("1") "}}]",
      "a: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.\nb=n" },
    { "who matters less could go, but is left alone", "[" NODE("n") "]",
      "[{" POD("b") ", 'spec': {'nodeName': 'n', " CPU("4") "}}]",
      "[{" POD("a") ", 'spec': {'priority': 9, " CPU("4") "}}]",
      "a: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: it would help, but is not enabled." },
    { "who matters less is not enough", "[" NODE("n") "]",
      "[{" POD("b") ", 'spec': {'nodeName': 'n', " CPU("1") "}}, {" POD(
          "c") ", 'spec': {'priority': 9, 'nodeName': 'n', " CPU("3") "}}]",
      "[{" POD("a") ", 'spec': {'priority': 9, " CPU("4") "}}]",
      "a: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Insufficient cpu." },
    { "several nodes, several reasons, sorted as texts",
      "[" NODE("a") ", {'metadata': {'name': 'b'}, 'spec': {'unschedulable': true}}, " NODE(
          "c") "]",
      "[]", "[{" POD("p") ", 'spec': {" CPU("5") "}}]",
      "p: 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. no new claims to deallocate, "
      "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling." },
    { "the emptier node, and of equals the first", "[" NODE("b") ", " NODE("a") ", " NODE("c") "]",
      "[{" POD("x") ", 'spec': {'nodeName': 'a', " CPU("1") "}}]",
      "[{" POD("p") ", 'spec': {" CPU("1") "}}, {" POD("q") ", 'spec': {" CPU("1") "}}]",
      "p=b\nq=c" },
    { "where it would rather be, away from what is better avoided",
      "[" NODE(
          "a") ", {'metadata': {'name': 'b', 'labels': {'x': 'y'}}, 'status': {" ROOM ", " READY
               "}},"
               "{'metadata': {'name': 'c', 'labels': {'x': 'y'}}, 'spec': {'taints': [{'key': 'k', 'effect': 'PreferNoSchedule'}]}, 'status': {" ROOM
               ", " READY "}}]",
      "[{" POD("x") ", 'spec': {'nodeName': 'b', " CPU("2") "}}]",
      "[{" POD(
          "p") ", 'spec': {'affinity': {'nodeAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': "
               "[{'weight': 1, 'preference': {'matchExpressions': [{'key': 'x', 'operator': 'Exists'}]}}]}}}}]",
      "p=b" },
};

struct read {
    struct sched_pod pods[MANY];
    const struct sched_pod *at[MANY];
    size_t n;
};

static void read_pods(struct arena *a, jv list, struct read *out)
{
    out->n = 0;
    for (struct jv_iter it = jv_iter(list); jv_next(&it); out->n++) {
        out->pods[out->n] = sched_pod_read(a, sched_pod_slim(a, it.value));
        out->at[out->n] = &out->pods[out->n];
    }
}

static str verdict_text(struct arena *a, const struct sched_verdict *v, size_t n)
{
    str all = S("");

    for (size_t i = 0; i < n; i++) {
        str name = v[i].of->pod->name;
        all = v[i].node ? arena_printf(a, "%.*s%s%.*s=%.*s", STR_ARG(all), i ? "\n" : "",
                                       STR_ARG(name), STR_ARG(v[i].node->name))
                        : arena_printf(a, "%.*s%s%.*s: %.*s", STR_ARG(all), i ? "\n" : "",
                                       STR_ARG(name), STR_ARG(v[i].why));
    }
    return all;
}

static void decide(const struct row *r)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *nodes = J(r->nodes);
    AUTO(jdoc) struct jdoc *bound = J(r->bound);
    AUTO(jdoc) struct jdoc *waiting = J(r->waiting);
    struct sched_node node[MANY];
    const struct sched_node *node_at[MANY];
    struct sched_waiting wait[MANY] = { 0 };
    struct read b, w;
    size_t n = 0;

    for (struct jv_iter it = jv_iter(jdoc_root(nodes)); jv_next(&it); n++) {
        node[n] = sched_node_read(a, sched_node_slim(a, it.value));
        node_at[n] = &node[n];
    }
    read_pods(a, jdoc_root(bound), &b);
    read_pods(a, jdoc_root(waiting), &w);
    for (size_t i = 0; i < w.n; i++)
        wait[i] = (struct sched_waiting){ .pod = w.at[i], .seq = i };
    struct sched_input in = { .nodes = node_at,
                              .n_nodes = n,
                              .bound = b.at,
                              .n_bound = b.n,
                              .waiting = wait,
                              .n_waiting = w.n };
    is_str(verdict_text(a, sched_decide(a, &in).pods, w.n), str_of(r->want), r->what);
}

static void volumes_say_where(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *n = J(NODE("n"));
    AUTO(jdoc) struct jdoc *p = J("{" POD("a") "}");
    AUTO(jdoc)
    struct jdoc *s = J(
        "{'nodeSelectorTerms': [{'matchExpressions': [{'key': 'h', 'operator': 'In', 'values': ['m']}]}]}");
    struct sched_node node = sched_node_read(a, jdoc_root(n));
    const struct sched_node *node_at[] = { &node };
    struct sched_pod pod = sched_pod_read(a, jdoc_root(p));
    jv reach[] = { jdoc_root(s) };
    struct sched_waiting w[] = {
        { .pod = &pod, .volumes = reach, .n_volumes = 1 },
        { .pod = &pod, .seq = 1, .refused = S("persistentvolumeclaim \"x\" not found") }
    };
    struct sched_input in = { .nodes = node_at, .n_nodes = 1, .waiting = w, .n_waiting = 2 };

    is_str(verdict_text(a, sched_decide(a, &in).pods, 2),
           S("a: 0/1 nodes are available: 1 node(s) had volume node affinity conflict." TAIL_BAD
             "\na: 0/1 nodes are available: persistentvolumeclaim \"x\" not found." TAIL_BAD),
           "a volume elsewhere, and a claim that is not there");
}

static void claims_are_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{" POD(
        "p") ", 'spec': {'volumes': [{'name': 'x', 'persistentVolumeClaim': {'claimName': 'c'}},"
             "{'name': 'y', 'emptyDir': {}}, {'name': 'z', 'ephemeral': {'volumeClaimTemplate': {}}}]}}");
    struct sched_pod p = sched_pod_read(a, sched_pod_slim(a, jdoc_root(d)));

    is_int((int64_t)p.n_claims, 2, "claims of a pod");
    is_str(p.claims[0], S("c"), "named");
    is_str(p.claims[1], S("p-z"), "or made for it");
}

/* Each of 20000 terms means this pod, but only one means those that are there: were each compared
 * for each, this would not end. */
static void many_terms_are_compared_once(void)
{
    enum { TERMS = 20000 };
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *n = J(NODE("n"));
    AUTO(jdoc)
    struct jdoc *there = J("[{'metadata': {'name': 'x', 'namespace': 'default', 'labels': {'a': "
                           "'b'}}, 'spec': {'nodeName': 'n'}}]");
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'name': 'p', 'namespace': 'default', 'labels': {'a': 'b', 'c': 'd'}}}");
    jv labels[] = { jobj(a, { "a", jstrz(a, "b") }), jobj(a, { "c", jstrz(a, "d") }) };
    struct jbuild terms = jb_arr(a);

    for (int i = 0; i < TERMS; i++)
        jb_push(&terms,
                jobj(a, { "topologyKey", jstrz(a, "kubernetes.io/hostname") },
                     { "labelSelector", jobj(a, { "matchLabels", labels[i == TERMS - 1] }) }));
    jv pod = jv_with(a, jdoc_root(d), jb_done(&terms), "spec", "affinity", "podAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution");
    jv node =
        jv_with(a, jdoc_root(n), jstrz(a, "n"), "metadata", "labels", "kubernetes.io/hostname");
    struct sched_node on = sched_node_read(a, node);
    const struct sched_node *node_at[] = { &on };
    struct sched_pod p = sched_pod_read(a, pod);
    struct sched_waiting w = { .pod = &p };
    struct read b;

    read_pods(a, jdoc_root(there), &b);
    struct sched_input in = {
        .nodes = node_at, .n_nodes = 1, .bound = b.at, .n_bound = b.n, .waiting = &w, .n_waiting = 1
    };
    is_str(verdict_text(a, sched_decide(a, &in).pods, 1), S("p=n"),
           "the first of its kind, of which 20000 terms say so");
}

/* Hundreds of pods, each of which asks for a resource of its own, and one for what there is. */
static void names_of_resources_are_bounded(void)
{
    enum { PODS = 300 };
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *n = J("{'metadata': {'name': 'n'}, 'status': {'allocatable': {'pods': '9', "
                       "'z.dev/gpu': '1'}, " READY "}}");
    struct sched_node on = sched_node_read(a, jdoc_root(n));
    const struct sched_node *node_at[] = { &on };
    struct sched_pod pods[PODS];
    struct sched_waiting waiting[PODS];
    struct sched_amount amounts[PODS];
    struct sched_input in = {
        .nodes = node_at, .n_nodes = 1, .waiting = waiting, .n_waiting = PODS
    };
    size_t n_others = 0;

    for (size_t i = 0; i < PODS; i++) {
        amounts[i].name = i + 1 < PODS ? arena_printf(a, "x.dev/%zu", i) : S("z.dev/gpu");
        amounts[i].n = 1;
        pods[i] = (struct sched_pod){ .ns = S("default"),
                                      .name = arena_printf(a, "p%zu", i),
                                      .uid = arena_printf(a, "u%zu", i),
                                      .need = { &amounts[i], 1 } };
        waiting[i] = (struct sched_waiting){ .pod = &pods[i], .seq = i };
    }
    const struct sched_verdict *v = sched_decide(a, &in).pods;
    for (size_t i = 0; i + 1 < PODS; i++)
        n_others +=
            !v[i].node && str_contains(v[i].why, S("1 Insufficient resources that no node has"));
    ok(str_contains(v[0].why, S("1 Insufficient x.dev/0")), "the first are called by their name");
    ok(n_others > 100 && n_others < PODS - 1, "many more together");
    ok(v[PODS - 1].node, "and who asks for what a node has gets it");
}

static void amounts_can_be_summed(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{" POD("a") ", 'spec': {'containers': [{'resources': {'requests': "
                                    "{'memory': '9223372036854775807', 'cpu': '-1'}}}]}}");
    struct sched_pod p = sched_pod_read(a, jdoc_root(d));

    for (size_t i = 0; i < p.need.n; i++)
        ok(p.need.at[i].n >= 0 && p.need.at[i].n <= INT64_MAX / 8000,
           str_eqz(p.need.at[i].name, "cpu") ? "none is below nothing" : "nor too large for sums");
}

int main(void)
{
    names_of_resources_are_bounded();
    amounts_can_be_summed();
    many_terms_are_compared_once();
    for (size_t i = 0; i < COUNT(rows); i++)
        decide(&rows[i]);
    volumes_say_where();
    claims_are_read();
    return tap_done();
}
