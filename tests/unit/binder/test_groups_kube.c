/* PodGroups of Kubernetes itself. */

#include "groups_world.h"

static void k_pod(struct w *w, const char *group, int i)
{
    w_make(w, &w_pods,
           arena_printf(w->a,
                        "{'metadata': {'name': '%s-%d'}, 'spec': {'schedulingGroup': "
                        "{'podGroupName': '%s'}, 'containers': [{'name': 'c', 'image': 'i', "
                        "'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}",
                        group, i, group)
               .p);
    w_settle(w);
}

static str k_scheduled(struct w *w, const char *group)
{
    jv c = meta_condition(w_get(w, &w_kube, group), S("PodGroupScheduled"));

    return arena_printf(w->a, "%" PRI_STR " %" PRI_STR ": %" PRI_STR,
                        STR_ARG(jv_str(jv_get(c, S("status")), S(""))),
                        STR_ARG(jv_str(jv_get(c, S("reason")), S(""))),
                        STR_ARG(jv_str(jv_get(c, S("message")), S(""))));
}

static void k_open(struct w *w, int gpus, const char *policy)
{
    g_open_with(w, gpus, &(struct binder_opts){ .kube_groups = true });
    g_make(w, &w_kube,
           arena_printf(w->a, "'metadata': {'name': 'a'}, 'spec': {'schedulingPolicy': %s}", policy)
               .p);
}

static void those_of_kubernetes(void)
{
    struct w w;

    k_open(&w, 2, "{'gang': {'minCount': 3}}");
    for (int i = 0; i < 3; i++)
        k_pod(&w, "a", i);
    is_str(w_node_of(&w, "a-0"), S(""), "three do not fit, and none starts");
    ok(str_starts(k_scheduled(&w, "a"), S("False Unschedulable: ")) &&
           str_contains(k_scheduled(&w, "a"), S("needs 3 nvidia.com/gpu, this machine has 2")),
       "its condition says why");
    ok(str_contains(w_events_of(&w, "a", "Unschedulable"), S("needs 3")), "and an event");
    ok(jv_len(jv_get(w_get(&w, &w_kube, "a"), S("status"))) == 1,
       "nothing but a condition is written");
    binder_free(w.b);
    w_start(&w);
    uint64_t before = binder_writes(w.b);
    w_settle(&w);
    is_int((int64_t)(binder_writes(w.b) - before), 0, "a restart writes nothing");
    w_patch(&w, &w_nodes, "n", "status", "{'status': {'allocatable': {'nvidia.com/gpu': '3'}}}");
    w_settle(&w);
    is_str(w_node_of(&w, "a-0"), S("n"), "when there is room they start");
    is_str(w_node_of(&w, "a-2"), S("n"), "all of them");
    is_str(k_scheduled(&w, "a"), S("True Scheduled: "), "the condition is true");
    is_str(w_events_of(&w, "a", "Scheduled"), S("pod group is ready"), "and an event says so");
    w_delete(&w, &w_pods, "a-1");
    binder_free(w.b);
    w_start(&w);
    k_pod(&w, "a", 1);
    is_str(w_node_of(&w, "a-1"), S("n"), "after a restart one that is replaced starts alone");
    w_delete(&w, &w_pods, "a-1");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S(""), "the place of one that is gone is kept");
    w_delete(&w, &w_pods, "a-0");
    w_delete(&w, &w_pods, "a-2");
    is_str(w_node_of(&w, "other"), S("n"), "until all are");
    w_close(&w);
}

static void a_basic_one_of_kubernetes(void)
{
    struct w w;

    k_open(&w, 1, "{'basic': {}}");
    k_pod(&w, "a", 0);
    k_pod(&w, "a", 1);
    is_str(w_node_of(&w, "a-0"), S("n"), "each starts by itself");
    is_str(w_node_of(&w, "a-1"), S(""), "if there is room");
    w_delete(&w, &w_pods, "a-0");
    w_settle(&w);
    is_str(w_node_of(&w, "a-1"), S("n"), "and nothing is kept for one that is gone");
    k_pod(&w, "nobody", 0);
    is_str(w_node_of(&w, "nobody-0"), S(""), "a pod whose group is missing waits");
    w_close(&w);
}

static void those_of_kubernetes_when_nobody_asked(void)
{
    struct w w;

    k_open(&w, 2, "{'gang': {'minCount': 2}}");
    k_pod(&w, "a", 0);
    is_str(w_node_of(&w, "a-0"), S(""), "one of two waits");
    w.o.kube_groups = false;
    binder_free(w.b);
    w_start(&w);
    w_settle(&w);
    is_str(w_node_of(&w, "a-0"), S("n"), "a server that does not look at its group starts it");
    w_close(&w);
}

int main(void)
{
    those_of_kubernetes();
    a_basic_one_of_kubernetes();
    those_of_kubernetes_when_nobody_asked();
    return tap_done();
}
