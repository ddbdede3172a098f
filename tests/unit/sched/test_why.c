/* Why pods wait: one world and one unit a row. */

#include "sched/why.h"
#include "tap.h"

#define NODE(name, labels, spec, has)                                                           \
    "{'metadata': {'name': '" name "', 'labels': {" labels "}}, 'spec': {" spec "}, 'status': " \
    "{'allocatable': {'pods': '9', " has                                                        \
    "}, 'conditions': [{'type': 'Ready', 'status': 'True'}]}}"
#define GPUS(n)         "'cpu': '8', 'memory': '16Gi', 'nvidia.com/gpu': '" n "'"
#define ONE             "[" NODE("n", "", "", GPUS("4")) "]"
#define TWO             "[" NODE("n", "", "", GPUS("4")) ", " NODE("m", "", "", GPUS("4")) "]"
#define TAINT           "'taints': [{'key': 'team', 'value': 'ml', 'effect': 'NoSchedule'}]"
#define CORDON          "'unschedulable': true"
#define OWNER_pod(name) "[]"
#define OWNER_job(name)                                                                    \
    "[{'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'name': '" name "', 'uid': 'u', " \
    "'controller': true}]"
#define HELD(kind, name, node, what)                                                        \
    "{'metadata': {'name': '" name "', 'namespace': 'd', 'ownerReferences': " OWNER_##kind( \
        name) "}, 'spec': {'nodeName': '" node "', 'containers': [{'resources': "           \
              "{'requests': {" what "}}}]}}"
#define ASKS(what, more)                                           \
    "{'metadata': {'name': 'w', 'namespace': 'd'}, 'spec': {" more \
    "'containers': [{'resources': {'requests': {" what "}}}]}}"
#define GPU(n) "'nvidia.com/gpu': '" n "'"

struct row {
    const char *what, *nodes, *bound, *pods;
    struct why_unit unit;
    enum why_cause cause;
    bool never;
    const char *text;
};

static const struct row rows[] = {
    { "room is room", ONE, "[]", "[" ASKS(GPU("4"), "") "]", .cause = WHY_NOTHING, .text = "" },
    { "no node", "[]", "[]", "[" ASKS(GPU("1"), "") "]", .cause = WHY_NO_NODES,
      .text = "there is no node" },
    { "what is held is told with its holder", ONE, "[" HELD(job, "a", "n", GPU("3")) "]",
      "[" ASKS(GPU("2"), "") "]", .cause = WHY_LACKS,
      .text = "needs 2 nvidia.com/gpu, this machine has 4, 1 free; held by job d/a (3)" },
    { "holders are added up, three are named", ONE,
      "[" HELD(pod, "x", "n", "'cpu': '500m'") ", " HELD(job, "a", "n", "'cpu': '1'") ", " HELD(
          job, "a", "n", "'cpu': '2'") ", " HELD(job, "b", "n",
                                                 "'cpu': '2'") ", " HELD(job, "c", "n",
                                                                         "'cpu': '100m'") "]",
      "[" ASKS("'cpu': '4'", "") "]", .cause = WHY_LACKS,
      .text = "needs 4 CPUs, this machine has 8, 2400m free; held by job d/a (3), job d/b (2), pod "
              "d/x (500m) and 1 more" },
    { "more than there is never fits", ONE, "[]", "[" ASKS("'memory': '32Gi'", "") "]",
      .cause = WHY_LACKS, .never = true,
      .text = "needs 32Gi of memory, this machine has 16Gi, 16Gi free; never fits" },
    { "a gang is added up", ONE, "[" HELD(job, "a", "n", GPU("1")) "]",
      "[" ASKS(GPU("2"), "") ", " ASKS(GPU("2"), "") "]", .unit.min = 2, .cause = WHY_LACKS,
      .text = "needs 4 nvidia.com/gpu, this machine has 4, 3 free; held by job d/a (1)" },
    { "one that is too large only as a whole could start pod by pod", ONE, "[]",
      "[" ASKS(GPU("3"), "") ", " ASKS(GPU("3"), "") "]", .unit = { .min = 2, .by_default = true },
      .cause = WHY_LACKS, .never = true,
      .text = "needs 6 nvidia.com/gpu, this machine has 4, 4 free; never fits: its 2 pods start "
              "together, --gang-scheduler-name=none starts them one by one" },
    { "one with a pod that is too large could not", ONE, "[]",
      "[" ASKS(GPU("5"), "") ", " ASKS(GPU("3"), "") "]", .unit = { .min = 2, .by_default = true },
      .cause = WHY_LACKS, .never = true,
      .text = "needs 8 nvidia.com/gpu, this machine has 4, 4 free; never fits" },
    { "pods that do not exist yet", ONE, "[]", "[" ASKS(GPU("1"), "") "]", .unit.min = 3,
      .cause = WHY_MEMBERS, .text = "1 of the 3 pods that start together exist" },
    { "one node must have it all", TWO,
      "[" HELD(job, "a", "n", GPU("2")) ", " HELD(job, "b", "m", GPU("3")) "]",
      "[" ASKS(GPU("3"), "") "]", .cause = WHY_LACKS,
      .text = "needs 3 nvidia.com/gpu on one node, the most a node has is 4, the most free is 2; "
              "held by job d/b (3), job d/a (2)" },
    { "even if the sum is enough", TWO, "[]", "[" ASKS(GPU("5"), "") "]", .cause = WHY_LACKS,
      .never = true,
      .text = "needs 5 nvidia.com/gpu on one node, the most a node has is 4, the most free is 4; "
              "never fits" },
    { "two nodes together", TWO, "[" HELD(job, "a", "n", GPU("4")) "]",
      "[" ASKS(GPU("3"), "") ", " ASKS(GPU("3"), "") "]", .unit.min = 2, .cause = WHY_LACKS,
      .text = "needs 6 nvidia.com/gpu, the 2 nodes have 8, 4 free; held by job d/a (4)" },
    { "three pods on two nodes", TWO, "[]",
      "[" ASKS(GPU("2"), "") ", " ASKS(GPU("3"), "") ", " ASKS(GPU("3"), "") "]", .unit.min = 3,
      .cause = WHY_PACKING, .never = true,
      .text = "enough is free in total, but not on the same nodes; never fits" },
    { "only the nodes that it may use count",
      "[" NODE("n", "", TAINT, GPUS("4")) ", " NODE("m", "", "", GPUS("1")) "]",
      "[" HELD(job, "a", "n", GPU("2")) ", " HELD(job, "b", "m", GPU("1")) "]",
      "[" ASKS(GPU("1"), "") "]", .cause = WHY_LACKS,
      .text = "needs 1 nvidia.com/gpu, the 1 of 2 nodes that it may use has 1, 0 free; held by job "
              "d/b (1)" },
    { "a taint", "[" NODE("n", "", TAINT, GPUS("4")) "]", "[]", "[" ASKS(GPU("1"), "") "]",
      .cause = WHY_NODES, .never = true,
      .text = "cannot run on this machine: it has the taint team=ml, which the pod does not "
              "tolerate" },
    { "a label", TWO, "[]", "[" ASKS(GPU("1"), "'nodeSelector': {'a': 'b'}, ") "]",
      .cause = WHY_NODES, .never = true,
      .text = "cannot run on any of the 2 nodes: 2 do not have the labels a=b" },
    { "a cordoned node may come back",
      "[" NODE("n", "", CORDON, GPUS("4")) ", " NODE("m", "", TAINT, GPUS("1")) "]", "[]",
      "[" ASKS(GPU("1"), "") "]", .cause = WHY_NODES,
      .text = "cannot run on any of the 2 nodes: 1 has the taint team=ml, which the pod does not "
              "tolerate, 1 is cordoned" },
    { "a host port", ONE,
      "[{'metadata': {'name': 'p', 'namespace': 'd'}, 'spec': {'nodeName': 'n', 'containers': "
      "[{'ports': [{'hostPort': 80}]}]}}]",
      "[{'metadata': {'name': 'w'}, 'spec': {'containers': [{'ports': [{'hostPort': 80}]}]}}]",
      .cause = WHY_NODES, .text = "cannot run on this machine: it has the pod's host port in use" },
    { "what another has first", ONE, "[]", "[" ASKS(GPU("2"), "") "]",
      .unit.behind = S_INIT("job d/a"), .cause = WHY_BEHIND,
      .text = "enough is free, but kept for job d/a, which has waited longer" },
    { "several resources", ONE, "[" HELD(job, "a", "n", GPU("4") ", 'cpu': '7'") "]",
      "[" ASKS(GPU("2") ", 'cpu': '2'", "") "]", .cause = WHY_LACKS,
      .text = "needs 2 nvidia.com/gpu, this machine has 4, 0 free; held by job d/a (4); also needs "
              "2 CPUs, 1 free" },
};

enum { MOST = 8 };

struct scene {
    struct sched_node node[MOST];
    const struct sched_node *nodes[MOST];
    struct sched_pod held[MOST], pod[MOST];
    const struct sched_pod *bound[MOST];
    struct sched_waiting waiting[MOST];
    const struct sched_waiting *pods[MOST];
};

static jv json_of(struct arena *a, const char *text)
{
    AUTO(jdoc) struct jdoc *d = J(text);

    return jv_copy(a, jdoc_root(d));
}

static struct why judge(struct arena *a, const struct row *r, bool partial)
{
    struct scene *s = ARENA_NEW(a, struct scene);
    struct why_unit unit = r->unit;
    size_t n_nodes = 0, n_bound = 0;
    jv nodes = json_of(a, r->nodes), bound = json_of(a, r->bound), pods = json_of(a, r->pods);

    for (struct jv_iter it = jv_iter(nodes); jv_next(&it); n_nodes++) {
        s->node[n_nodes] = sched_node_read(a, it.value);
        s->nodes[n_nodes] = &s->node[n_nodes];
    }
    for (struct jv_iter it = jv_iter(bound); jv_next(&it); n_bound++) {
        s->held[n_bound] = sched_pod_read(a, it.value);
        s->bound[n_bound] = &s->held[n_bound];
    }
    for (struct jv_iter it = jv_iter(pods); jv_next(&it); unit.n_pods++) {
        s->pod[unit.n_pods] = sched_pod_read(a, it.value);
        s->waiting[unit.n_pods].pod = &s->pod[unit.n_pods];
        s->pods[unit.n_pods] = &s->waiting[unit.n_pods];
    }
    unit.pods = s->pods;
    struct why_world *w = why_world_new(a, s->nodes, n_nodes, s->bound, n_bound);
    if (partial)
        why_world_set_partial(w);
    return why_of(w, &unit);
}

static void owners_are_what_people_know(void)
{
    static const struct {
        const char *pod, *kind, *name;
    } all[] = {
        { "{'metadata': {'name': 'p'}}", "pod", "p" },
        { HELD(job, "a", "n", ""), "job", "a" },
        { "{'metadata': {'name': 'p', 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': "
          "'ReplicaSet', 'name': 'web', 'uid': 'u', 'controller': true}]}}",
          "replicaset", "web" },
        { "{'metadata': {'name': 'p', 'labels': {'training.kubeflow.org/job-name': 'm'}, "
          "'ownerReferences': [{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': 'm-launcher', "
          "'uid': 'u', 'controller': true}]}}",
          "job", "m" },
    };

    for (size_t i = 0; i < COUNT(all); i++) {
        AUTO(arena) struct arena *a = arena_new();
        jv slim = sched_pod_slim(a, json_of(a, all[i].pod));
        struct sched_pod p = sched_pod_read(a, slim);
        is_str(p.owner_kind, str_of(all[i].kind), "the kind of an owner");
        is_str(p.owner_name, str_of(all[i].name), "and its name");
    }
}

static void a_refused_claim_is_named(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct why why = { .cause = WHY_REFUSED,
                       .refused = S("persistentvolumeclaim \"data\" not found") };

    is_str(why_sentence(a, &why), S("needs the PersistentVolumeClaim data, which does not exist"),
           "a missing claim is named");
}

static void what_is_not_known_is_not_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct row few = { .nodes = ONE,
                                    .bound = "[]",
                                    .pods = "[" ASKS(GPU("5"), "") "]" };
    static const struct row held = { .nodes = ONE,
                                     .bound = "[" HELD(job, "a", "n", GPU("3")) "]",
                                     .pods = "[" ASKS(GPU("2"), "") "]" };
    struct why never = judge(a, &few, true), unknown = judge(a, &held, true);

    is_str(why_sentence(a, &never), S("needs 5 nvidia.com/gpu, this machine has 4; never fits"),
           "without all pods, what is free is not told");
    is_int(unknown.cause, WHY_NOTHING, "nor that too little is free");
}

static void as_json(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct why why = judge(a, &rows[2], false);
    jv v = why_json(a, &why);

    is_str(json_text(a, jv_at(v, "lacks")),
           S("[{\"resource\":\"nvidia.com/gpu\",\"scope\":\"Total\",\"need\":\"2\",\"has\":\"4\","
             "\"free\":\"1\",\"never\":false,\"holders\":[{\"kind\":\"job\",\"namespace\":\"d\","
             "\"name\":\"a\",\"amount\":\"3\",\"pods\":1}]}]"),
           "need, has, free and holders are in the JSON");
    is_str(jv_str(jv_at(v, "sentence"), STR_NONE), str_of(rows[2].text), "and the sentence");
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct why why = judge(a, &rows[i], false);
        is_int(why.cause, rows[i].cause, rows[i].what);
        is_int(why.never, rows[i].never, rows[i].what);
        is_str(why_sentence(a, &why), str_of(rows[i].text), rows[i].what);
    }
    owners_are_what_people_know();
    a_refused_claim_is_named();
    what_is_not_known_is_not_told();
    as_json();
    return tap_done();
}
