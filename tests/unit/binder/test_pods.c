/* Pods get nodes, or a reason, and get them later when there is room. */

#include "world.h"

#define SMALL "{'cpu': '2', 'memory': '1Gi', 'pods': '10', 'nvidia.com/gpu': '1'}"
#define NO_VICTIMS \
    " no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."

static void a_pod_gets_its_node(struct w *w)
{
    w_pod(w, "early", "{}", "");
    w_settle(w);
    is_str(w_why(w, "early"), S("no nodes available to schedule pods"), "a pod before any node");
    w_node(w, "n", SMALL);
    is_str(w_node_of(w, "early"), S("n"), "gets it when it comes");
    is_str(w_events_of(w, "early", "Scheduled"), S("Successfully assigned default/early to n"),
           "with kube-scheduler's event");
    ok(str_contains(w_events_of(w, "early", "FailedScheduling"),
                    S("no nodes available to schedule pods")),
       "after the other");
    jv c = meta_condition(w_get(w, &w_pods, "early"), S("PodScheduled"));
    is_str(jv_str(jv_at(c, "status"), S("")), S("True"), "and the condition is true");
}

static void room_is_given_back(struct w *w)
{
    w_pod(w, "g1", "{'nvidia.com/gpu': '1'}", "");
    w_settle(w);
    w_pod(w, "g2", "{'nvidia.com/gpu': '1'}", "");
    w_pod(w, "g3", "{'nvidia.com/gpu': '1'}", "");
    w_settle(w);
    is_str(w_node_of(w, "g1"), S("n"), "the first takes it");
    is_str(
        w_why(w, "g2"),
        S("0/1 nodes are available: 1 Insufficient nvidia.com/gpu." NO_VICTIMS
          " In short: needs 1 nvidia.com/gpu, this machine has 1, 0 free; held by pod default/g1 (1)."),
        "the next is told");
    is_str(w_events_of(w, "g2", "FailedScheduling"), w_why(w, "g2"), "in an event, too");
    jv c = meta_condition(w_get(w, &w_pods, "g2"), S("PodScheduled"));
    is_str(jv_str(jv_at(c, "reason"), S("")), S("Unschedulable"), "with the reason");
    w_patch(w, &w_pods, "g1", "status", "{'status': {'phase': 'Succeeded'}}");
    w_settle(w);
    is_str(w_node_of(w, "g2"), S("n"), "one that ends gives it back");
    w_delete(w, &w_pods, "g2");
    is_str(w_node_of(w, "g3"), S("n"), "as does one that is deleted");
}

static void nothing_changes_nothing_is_done(struct w *w)
{
    w_pod(w, "stuck", "{'cpu': '3'}", "");
    w_settle(w);
    uint64_t before = binder_writes(w->b);
    w_patch(w, &w_nodes, "n", "status",
            "{'status': {'conditions': [{'type': 'Ready', 'status': 'True', "
            "'lastHeartbeatTime': '2026-01-01T00:00:00Z'}]}}");
    w_patch(w, &w_pods, "early", "status", "{'status': {'phase': 'Running'}}");
    w_pod(w, "ended", "{}", "");
    w_settle(w);
    is_int((int64_t)(binder_writes(w->b) - before), 1, "a reason is written once");
    binder_free(w->b);
    w_start(w);
    is_int((int64_t)binder_writes(w->b), 0, "and not again by one that starts anew");
    is_str(w_events_of(w, "stuck", "FailedScheduling"), w_why(w, "stuck"), "nor is its event");
}

/* Room that comes while the reason is being written, at any moment of it. */
static void a_reason_under_way_holds_nobody_back(struct w *w)
{
    char name[16], ask[64], room[96];
    int placed = 0;

    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "r%d", i);
        snprintf(ask, sizeof(ask), "{'example.com/r%d': '1'}", i);
        snprintf(room, sizeof(room),
                 "{'status': {'allocatable': {'pods': '99', 'example.com/r%d': '1'}}}", i);
        w_pod(w, name, ask, "");
        for (int k = 0; k < i % 10; k++)
            box_turn(&w->box);
        w_patch(w, &w_nodes, "n", "status", room);
        w_settle(w);
        placed += w_node_of(w, name).n > 0;
        w_delete(w, &w_pods, name);
    }
    is_int(placed, 30, "room that comes while the reason is written is taken");
}

static void some_are_left_alone(struct w *w)
{
    w_pod(w, "gated", "{}", ", 'schedulingGates': [{'name': 'wait'}]");
    w_pod(w, "other", "{}", ", 'schedulerName': 'another'");
    w_settle(w);
    is_str(w_node_of(w, "gated"), S(""), "a gated pod waits");
    jv c = meta_condition(w_get(w, &w_pods, "gated"), S("PodScheduled"));
    is_str(jv_str(jv_at(c, "reason"), S("")), S("SchedulingGated"), "and says so");
    is_str(w_node_of(w, "other"), S(""), "another scheduler's pod is its own");
    w_patch(w, &w_pods, "gated", "", "{'spec': {'schedulingGates': null}}");
    w_settle(w);
    is_str(w_node_of(w, "gated"), S("n"), "no gate, no wait");
}

static void namespaces_are_chosen_by_their_labels(struct w *w)
{
    static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", true };

    w_pod(w, "company", "{}",
          ", 'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': ["
          "{'topologyKey': 'kubernetes.io/hostname', 'labelSelector': {}, "
          "'namespaceSelector': {'matchLabels': {'team': 'x'}}}]}}");
    w_settle(w);
    is_str(w_node_of(w, "company"), S(""), "a namespace without the label is not meant");
    w_patch(w, &namespaces, "default", "", "{'metadata': {'labels': {'team': 'x'}}}");
    w_settle(w);
    is_str(w_node_of(w, "company"), S("n"), "with the label it is");
    w_delete(w, &w_pods, "company");
}

static void claims_to_devices_are_not_ignored(struct w *w)
{
    w_pod(w, "devices", "{}", ", 'resourceClaims': [{'name': 'gpu', 'resourceClaimName': 'gpu'}]");
    w_settle(w);
    is_str(w_node_of(w, "devices"), S(""), "a pod that claims devices waits");
    is_str(w_why(w, "devices"),
           S("0/1 nodes are available: pod claims devices (spec.resourceClaims), which this "
             "scheduler does not allocate. no new claims to deallocate, preemption: 0/1 nodes are "
             "available: 1 Preemption is not helpful for scheduling."),
           "and is told why");
    w_delete(w, &w_pods, "devices");
}

static void pods_can_be_left_to_another_scheduler(struct w *w)
{
    binder_free(w->b);
    w->o.no_placing = true;
    w_start(w);
    w_pod(w, "theirs", "{}", "");
    w_settle(w);
    is_str(w_node_of(w, "theirs"), S(""), "with volumes only, no pod gets a node");
    is_int((int64_t)binder_writes(w->b), 0, "nor a reason");
    binder_free(w->b);
    w->o.no_placing = false;
    w_start(w);
    is_str(w_node_of(w, "theirs"), S("n"), "without, it does");
}

static void a_crowd_is_served_to_the_last(struct w *w)
{
    char name[16];
    int placed = 0;

    w_node(w, "big", "{'cpu': '100', 'memory': '100Gi', 'pods': '1000'}");
    for (int i = 0; i < 210; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        w_pod(w, name, "{'cpu': '500m'}", ", 'nodeSelector': {'kubernetes.io/hostname': 'big'}");
    }
    w_settle(w);
    is_str(w_node_of(w, "stuck"), S("big"), "one that waited for a larger node has it");
    for (int i = 0; i < 210; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        placed += w_node_of(w, name).n > 0;
    }
    /* stuck has 3 of the 100 */
    is_int(placed, 194, "S1: as many as fit, to the last one");
}

int main(void)
{
    struct w w;

    w_open(&w, "/nowhere");
    a_pod_gets_its_node(&w);
    room_is_given_back(&w);
    nothing_changes_nothing_is_done(&w);
    some_are_left_alone(&w);
    namespaces_are_chosen_by_their_labels(&w);
    claims_to_devices_are_not_ignored(&w);
    pods_can_be_left_to_another_scheduler(&w);
    a_reason_under_way_holds_nobody_back(&w);
    a_crowd_is_served_to_the_last(&w);
    w_close(&w);
    return tap_done();
}
