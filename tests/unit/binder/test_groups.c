/* PodGroups of Volcano and of scheduler-plugins, from the first look at them to their end. */

#include "groups_world.h"

static void from_pending_to_completed(void)
{
    struct w w;

    g_open(&w, 2);
    g_group(&w, "a", 2, GPUS(2));
    is_str(g_phase(&w, "a"), S("Inqueue"), "a group that fits is let in");
    g_pod(&w, "a", "0");
    is_str(w_node_of(&w, "a-0"), S(""), "one of two pods waits");
    is_str(g_phase(&w, "a"), S("Inqueue"), "in its group, which waits, too");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S(""), "what the group asked for is kept for it");
    g_pod(&w, "a", "1");
    is_str(w_node_of(&w, "a-0"), S("n"), "both start");
    is_str(w_node_of(&w, "a-1"), S("n"), "together");
    is_str(g_phase(&w, "a"), S("Running"), "the group runs");
    ok(!jv_exists(jv_get(g_status(&w, "a"), S("running"))), "with no running pod, which is left out");
    is_str(g_condition(&w, "a", "Scheduled"), S("True tasks in gang are ready to be scheduled: "),
           "its condition says so");
    is_str(w_events_of(&w, "a", "Scheduled"), S("pod group is ready"), "and an event");
    g_pod_phase(&w, "a-0", "Running");
    is_int(jv_int(jv_get(g_status(&w, "a"), S("running")), 0), 1, "running pods are counted");
    g_pod_phase(&w, "a-0", "Succeeded");
    is_str(g_phase(&w, "a"), S("Running"), "it runs while one of them does");
    is_str(w_node_of(&w, "other"), S("n"), "what one had that succeeded is free at once");
    g_pod_phase(&w, "a-1", "Failed");
    is_str(g_phase(&w, "a"), S("Completed"), "it is over when all have ended");
    is_int(jv_int(jv_get(g_status(&w, "a"), S("succeeded")), 0), 1, "one of them well");
    is_int(jv_int(jv_get(g_status(&w, "a"), S("failed")), 0), 1, "and one not");
    g_group(&w, "b", 1, GPUS(1));
    is_str(g_phase(&w, "b"), S("Inqueue"), "what it had is free");
    w_close(&w);
}

static void why_it_is_not_let_in(void)
{
    struct w w;

    g_open(&w, 1);
    g_group(&w, "a", 6, GPUS(4));
    is_str(g_phase(&w, "a"), S("Pending"), "a group that does not fit is Pending");
    ok(str_contains(g_condition(&w, "a", "Unschedulable"), S("needs 4 nvidia.com/gpu, this machine has 1, 1 free")),
       "which its condition says");
    printf("# %.*s\n", STR_ARG(g_condition(&w, "a", "Unschedulable")));
    ok(str_contains(w_events_of(&w, "a", "Unschedulable"), S("needs 4")), "and an event");
    uint64_t before = binder_writes(w.b);
    w_settle(&w);
    is_int((int64_t)(binder_writes(w.b) - before), 0, "it is written once");
    w_patch(&w, &w_nodes, "n", "status", "{'status': {'allocatable': {'nvidia.com/gpu': '4'}}}");
    w_settle(&w);
    is_str(g_phase(&w, "a"), S("Inqueue"), "when there is room it is let in");
    w_close(&w);
}

static void unknown_queues(void)
{
    struct w w;

    g_open(&w, 2);
    g_group(&w, "a", 1, ", 'queue': 'nope'" GPUS(1));
    is_str(g_phase(&w, "a"), S(""), "the phase of a group in an unknown queue stays empty");
    is_str(g_condition(&w, "a", "Unschedulable"), S("True QueueNotFound: queue \"nope\" not found"),
           "its condition says why");
    is_str(w_events_of(&w, "a", "Unschedulable"), S("queue \"nope\" not found"), "and one event");
    g_make(&w, &w_queues, "'metadata': {'name': 'nope'}, 'spec': {'weight': 1}");
    is_str(g_phase(&w, "a"), S("Inqueue"), "when the queue comes it is let in");
    w_close(&w);
}

static void pods_without_their_group(void)
{
    struct w w;

    g_open(&w, 2);
    g_pod(&w, "a", "0");
    is_str(w_node_of(&w, "a-0"), S(""), "a pod whose group is missing waits");
    ok(str_contains(w_why(&w, "a-0"), S("podgroup \"a\" not found")), "and says so");
    ok(str_contains(w_events_of(&w, "a-0", "FailedScheduling"), S("podgroup \"a\" not found")),
       "in an event, too");
    g_group(&w, "a", 1, "");
    is_str(w_node_of(&w, "a-0"), S("n"), "it starts when the group comes");
    w_make(&w, &w_pods,
           "{'metadata': {'name': 'alone'}, 'spec': {'schedulerName': 'volcano', 'containers': "
           "[{'name': 'c', 'image': 'i'}]}}");
    w_settle(&w);
    is_str(w_node_of(&w, "alone"), S("n"), "a pod that names no group starts alone");
    w_close(&w);
}

int main(void)
{
    from_pending_to_completed();
    why_it_is_not_let_in();
    unknown_queues();
    pods_without_their_group();
    return tap_done();
}
