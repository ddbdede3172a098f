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
    ok(!jv_exists(jv_get(g_status(&w, "a"), S("running"))),
       "with no running pod, which is left out");
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
    ok(str_contains(g_condition(&w, "a", "Unschedulable"),
                    S("needs 4 nvidia.com/gpu, this machine has 1, 1 free")),
       "which its condition says");
    ok(str_contains(w_events_of(&w, "a", "Unschedulable"), S("needs 4")), "and an event");
    uint64_t before = binder_writes(w.b);
    w_settle(&w);
    is_int((int64_t)(binder_writes(w.b) - before), 0, "it is written once");
    w_patch(&w, &w_nodes, "n", "status", "{'status': {'allocatable': {'nvidia.com/gpu': '4'}}}");
    w_settle(&w);
    is_str(g_phase(&w, "a"), S("Inqueue"), "when there is room it is let in");
    w_close(&w);
}

/* minResources may say less than the pods ask for. */
static void pods_that_never_fit(void)
{
    struct w w;

    g_open(&w, 1);
    g_group(&w, "a", 2, GPUS(1));
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1"); /* returns: it is not looked at over and over */
    is_str(g_phase(&w, "a"), S("Inqueue"), "a group is let in by what it asks for");
    ok(str_contains(g_condition(&w, "a", "Unschedulable"),
                    S("In short: needs 2 nvidia.com/gpu, this machine has 1, 1 free; never fits")),
       "what its pods ask for never fits, which is told");
    g_group(&w, "b", 1, GPUS(1));
    is_str(g_phase(&w, "b"), S("Inqueue"), "nothing is kept for it");
    g_pod(&w, "b", "0");
    is_str(g_phase(&w, "b"), S("Running"), "and others run");
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
    is_str(w_why(&w, "a-0"), S(""), "at first without a word, as the group may be about to come");
    while (!w_why(&w, "a-0").n)
        w_settle(&w);
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

static void what_is_kept_comes_free_if_no_pods_come(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .group_wait_ms = 1 });
    g_group(&w, "a", 2, GPUS(2));
    while (!str_eqz(g_phase(&w, "a"), "Pending"))
        w_settle(&w);
    is_str(g_condition(&w, "a", "Unschedulable"),
           S("True NotEnoughTasks: 0 of the 2 pods that start together exist"),
           "a group whose pods do not come is Pending again");
    g_group(&w, "b", 1, "" GPUS(1));
    while (!str_eqz(g_phase(&w, "b"), "Pending"))
        w_settle(&w);
    ok(true, "another was let in by then");
    g_pod(&w, "a", "0");
    is_str(g_phase(&w, "a"), S("Pending"), "one pod of two is not enough");
    g_pod(&w, "a", "1");
    is_str(g_phase(&w, "a"), S("Running"), "both are, and nothing is waited for");
    w_close(&w);
}

static void a_restart_goes_on_from_the_phases(void)
{
    struct w w;

    g_open(&w, 2);
    g_group(&w, "a", 2, GPUS(2));
    g_group(&w, "b", 1, GPUS(1));
    binder_free(w.b);
    g_pod_early(&w, "b", "0", "worker"); /* nobody looks */
    w_start(&w);
    is_str(g_phase(&w, "a"), S("Inqueue"), "a group that was let in is so still");
    is_str(g_phase(&w, "b"), S("Pending"), "and what it asked for is kept");
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    g_pod_phase(&w, "a-0", "Running");
    g_pod_phase(&w, "a-1", "Running");
    binder_free(w.b);
    w_start(&w);
    is_str(g_phase(&w, "a"), S("Running"), "one that runs goes on");
    w_delete(&w, &w_pods, "a-1");
    is_str(g_phase(&w, "a"), S("Unknown"), "one that lost a pod is Unknown");
    ok(str_contains(g_condition(&w, "a", "Unschedulable"),
                    S("1 Running, 0 Pending, 2 minAvailable")),
       "which its condition says");
    is_str(w_node_of(&w, "b-0"), S(""), "what that had is kept");
    binder_free(w.b);
    w_start(&w);
    is_str(w_node_of(&w, "b-0"), S(""), "after a restart, too");
    g_pod(&w, "a", "other");
    is_str(w_node_of(&w, "a-other"), S("n"), "a replacement of any name gets it");
    is_str(g_phase(&w, "a"), S("Running"), "and the group runs");
    ok(str_starts(g_condition(&w, "a", "Unschedulable"), S("False")), "which it says, too");
    w_delete(&w, &w_pods, "a-0");
    w_delete(&w, &w_pods, "a-other");
    is_str(g_phase(&w, "a"), S("Inqueue"), "one that lost all is let in anew, before younger ones");
    w_delete(&w, &w_groups, "a");
    is_str(g_phase(&w, "b"), S("Running"), "one that is deleted leaves what it had");
    w_close(&w);
}

/* Both as after a whole restart of its job, and a restart of the server in the middle of it. */
static void one_that_ran_comes_before_others(void)
{
    struct w w;

    g_open(&w, 3);
    g_group(&w, "old", 1, GPUS(2));
    binder_free(w.b);
    w_patch(&w, &w_groups, "old", "", "{'status': {'phase': 'Pending'}}");
    g_make_early(&w, &w_groups,
                 "'metadata': {'name': 'young'}, 'spec': {'minMember': 1, 'minResources': "
                 "{'nvidia.com/gpu': 2}}, 'status': {'phase': 'Pending', 'conditions': [{'type': "
                 "'Scheduled', 'status': 'True'}]}");
    w_start(&w);
    is_str(g_phase(&w, "young"), S("Inqueue"),
           "a group that ran and lost its pods is let in first");
    is_str(g_phase(&w, "old"), S("Pending"), "one that never ran waits, although it is older");
    w_close(&w);
}

static void a_replacement_of_any_name(void)
{
    struct w w;

    g_open(&w, 2);
    g_group(&w, "a", 2, "");
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    g_group(&w, "b", 1, GPUS(1));
    w_delete(&w, &w_pods, "a-1");
    is_str(g_phase(&w, "b"), S("Pending"), "what a member had is kept when it is gone");
    is_str(g_phase(&w, "a"), S("Inqueue"), "as no other runs, the group is so again");
    g_pod(&w, "a", "2");
    is_str(w_node_of(&w, "a-2"), S("n"), "a pod of another name gets it");
    w_patch(&w, &w_groups, "a", "", "{'spec': {'minMember': 1}}");
    w_delete(&w, &w_pods, "a-0");
    is_str(g_phase(&w, "b"), S("Inqueue"), "of a member that it need not have nothing is kept");
    w_close(&w);
}

static void a_group_that_lost_all_its_pods_at_once(void)
{
    struct w w;

    g_open(&w, 1);
    g_group(&w, "a", 1, GPUS(1));
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "more");
    is_str(g_phase(&w, "a"), S("Running"), "a group runs with one pod");
    is_str(w_node_of(&w, "a-more"), S(""), "while another waits");
    w_delete(&w, &w_pods, "a-0");
    is_str(w_node_of(&w, "a-more"), S("n"), "which starts when the first is gone");
    w_delete(&w, &w_pods, "a-more");
    g_group(&w, "b", 1, GPUS(1));
    is_str(g_phase(&w, "a"), S("Inqueue"), "without any pod it is let in anew");
    is_str(g_phase(&w, "b"), S("Pending"), "and nobody else");
    w_close(&w);
}

/* Who makes a group while no scheduler runs can say that it is let in. */
static void groups_that_say_they_hold_all(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .group_wait_ms = 3600 * 1000 });
    binder_free(w.b);
    for (int i = 0; i < 2; i++)
        g_make_early(
            &w, &w_groups,
            arena_printf(w.a,
                         "'metadata': {'name': 'g%d'}, 'spec': {'minMember': 1, 'minResources': "
                         "{'nvidia.com/gpu': '9223372036854775807', 'memory': '8Ei'}}, "
                         "'status': {'phase': 'Inqueue'}",
                         i)
                .p);
    w_start(&w);
    g_group(&w, "b", 1, GPUS(1));
    is_str(g_phase(&w, "b"), S("Pending"), "nothing is left beside groups that hold more than all");
    w_delete(&w, &w_groups, "g0");
    is_str(g_phase(&w, "b"), S("Pending"), "nor beside one of them");
    w_delete(&w, &w_groups, "g1");
    is_str(g_phase(&w, "b"), S("Inqueue"), "when these are gone there is room");
    w_close(&w);
}

static void each_role_has_its_least(void)
{
    struct w w;

    g_open(&w, 4);
    g_group(&w, "a", 3, ", 'minTaskMember': {'ps': 1, 'worker': 2}" GPUS(3));
    g_pod_of(&w, "a", "w0", "worker");
    g_pod_of(&w, "a", "w1", "worker");
    g_pod_of(&w, "a", "w2", "worker");
    is_str(w_node_of(&w, "a-w0"), S(""), "three workers do not start without their ps");
    g_pod_of(&w, "a", "p0", "ps");
    is_str(w_node_of(&w, "a-p0"), S("n"), "with it they do");
    is_str(w_node_of(&w, "a-w2"), S("n"), "all of them, as there is room");
    is_str(g_phase(&w, "a"), S("Running"), "and the group runs");
    w_close(&w);
}

static void a_role_that_nobody_has(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .group_wait_ms = 1 });
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    g_group(&w, "a", 2, ", 'minTaskMember': {'ps': 1, 'worker': 1}" GPUS(2));
    while (!str_eqz(g_phase(&w, "a"), "Pending"))
        w_settle(&w);
    is_str(g_condition(&w, "a", "Unschedulable"),
           S("True NotEnoughTasks: too few pods of role \"ps\" exist"),
           "what a group asked for is free if a role stays empty");
    w_patch(&w, &w_groups, "a", "", "{'spec': {'minTaskMember': null}}");
    w_settle(&w);
    is_str(g_phase(&w, "a"), S("Running"), "it starts when it needs that role no more");
    w_close(&w);
}

static void queues_and_their_status(void)
{
    struct w w;

    g_open(&w, 4);
    g_make(&w, &w_queues,
           "'metadata': {'name': 'q'}, 'spec': {'weight': 1, 'capability': {'nvidia.com/gpu': 2}}");
    is_str(jv_str(jv_at(w_get(&w, &w_queues, "q"), "status", "state"), S("")), S("Open"),
           "a queue is open");
    g_group(&w, "a", 2, ", 'queue': 'q'" GPUS(2));
    g_group(&w, "b", 1, ", 'queue': 'q'" GPUS(1));
    is_str(g_phase(&w, "b"), S("Pending"), "more than it may use is not let in");
    is_str(g_condition(&w, "b", "Unschedulable"),
           S("True NotEnoughResources: queue resource quota insufficient: insufficient "
             "nvidia.com/gpu"),
           "in Volcano's words");
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    is_str(jv_str(jv_at(w_get(&w, &w_queues, "q"), "status", "allocated", "nvidia.com/gpu"), S("")),
           S("2"), "what its groups use is counted");
    w_patch(&w, &w_queues, "q", "status", "{'status': {'state': 'Closing'}}");
    w_delete(&w, &w_pods, "a-0");
    w_delete(&w, &w_pods, "a-1");
    w_delete(&w, &w_groups, "a");
    is_str(jv_str(jv_at(w_get(&w, &w_queues, "q"), "status", "state"), S("")), S("Closed"),
           "one that was closing is closed when nothing of it is left");
    is_str(jv_str(jv_at(w_get(&w, &w_queues, "q"), "status", "allocated", "nvidia.com/gpu"),
                  S("none")),
           S("none"), "and none is used");
    is_str(g_phase(&w, "b"), S("Pending"), "and lets nothing in");
    is_str(g_condition(&w, "b", "Unschedulable"), S("True QueueClosed: queue \"q\" is closed"),
           "which is told");
    w_close(&w);
}

static void quotas_of_the_namespace(void)
{
    static const struct kube_resource quotas = { "", "v1", "resourcequotas", "ResourceQuota",
                                                 false };
    struct w w;

    g_open(&w, 9);
    w_make(&w, &quotas,
           "{'metadata': {'name': 'few'}, 'spec': {'hard': {'requests.nvidia.com/gpu': '3'}}}");
    w_settle(&w);
    g_group(&w, "a", 2, GPUS(2));
    is_str(g_phase(&w, "a"), S("Inqueue"), "within a quota");
    g_group(&w, "b", 2, GPUS(2));
    is_str(g_phase(&w, "b"), S("Pending"), "what is let in is of the quota before its pods exist");
    ok(str_starts(g_condition(&w, "b", "Unschedulable"),
                  S("True ExceedsQuota: exceeded quota: few")),
       "in the words of the server");
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    g_group(&w, "c", 1, GPUS(1));
    is_str(g_phase(&w, "c"), S("Inqueue"), "and not twice when they do");
    w_close(&w);
}

static void quotas_of_pods(void)
{
    static const struct kube_resource quotas = { "", "v1", "resourcequotas", "ResourceQuota",
                                                 false };
    static const char *const names[] = { "pods", "count/pods" };

    for (size_t i = 0; i < COUNT(names); i++) {
        struct w w;
        char quota[256];
        g_open(&w, 9);
        snprintf(quota, sizeof(quota),
                 "{'metadata': {'name': 'few'}, 'spec': {'hard': {'%s': '3'}}}", names[i]);
        w_make(&w, &quotas, quota);
        w_settle(&w);
        g_group(&w, "a", 2, GPUS(2));
        is_str(g_phase(&w, "a"), S("Inqueue"), "two of three pods");
        g_group(&w, "b", 2, GPUS(2));
        is_str(g_phase(&w, "b"), S("Pending"), "two more are one too many");
        w_close(&w);
    }
}

static void those_of_scheduler_plugins(void)
{
    struct w w;

    g_open(&w, 2);
    g_make(&w, &w_plugins, "'metadata': {'name': 'a'}, 'spec': {'minMember': 2}");
    for (int i = 0; i < 2; i++) {
        w_make(&w, &w_pods,
               arena_printf(w.a,
                            "{'metadata': {'name': 'a-%d', 'labels': "
                            "{'scheduling.x-k8s.io/pod-group': 'a'}}, 'spec': {'containers': "
                            "[{'name': 'c', 'image': 'i', 'resources': {'limits': "
                            "{'nvidia.com/gpu': '1'}}}]}}",
                            i)
                   .p);
        w_settle(&w);
        is_str(w_node_of(&w, "a-0"), i ? S("n") : S(""), i ? "both start" : "one waits");
        is_str(jv_str(jv_at(w_get(&w, &w_plugins, "a"), "status", "phase"), S("")),
               i ? S("Scheduling") : S("Pending"), "and the phase says so");
    }
    g_pod_phase(&w, "a-0", "Running");
    g_pod_phase(&w, "a-1", "Running");
    is_str(jv_str(jv_at(w_get(&w, &w_plugins, "a"), "status", "phase"), S("")), S("Running"),
           "it runs when they do");
    g_pod_phase(&w, "a-0", "Succeeded");
    g_pod_phase(&w, "a-1", "Succeeded");
    is_str(jv_str(jv_at(w_get(&w, &w_plugins, "a"), "status", "phase"), S("")), S("Finished"),
           "and is finished when they have succeeded");
    w_close(&w);
}

/* Whoever may write groups of one namespace must not keep others from the nodes with words. */
static void more_than_it_was_let_in_with_is_not_kept(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .group_wait_ms = 1 });
    g_make(&w, &w_groups,
           "'metadata': {'name': 'forged'}, 'spec': {'minMember': 0" GPUS(
               99) "}, 'status': {'phase': 'Running'}");
    is_str(g_phase(&w, "forged"), S("Pending"), "a phase that somebody wrote lets nothing in");
    g_group(&w, "none", 0, GPUS(2));
    while (!str_eqz(g_phase(&w, "none"), "Pending"))
        w_settle(&w);
    ok(true, "a group that needs no pod is not waited for for ever");
    w_delete(&w, &w_groups, "none");
    g_group(&w, "a", 1, GPUS(1));
    g_pod(&w, "a", "0");
    g_pod_phase(&w, "a-0", "Running");
    w_patch(&w, &w_groups, "a", "",
            "{'spec': {'minMember': 99, 'minResources': {'nvidia.com/gpu': '99', 'cpu': '99'}}}");
    w_settle(&w);
    w_pod(&w, "other", "{'nvidia.com/gpu': '1', 'cpu': '1'}", "");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S("n"), "what it asks for later is not kept for it");
    w_delete(&w, &w_pods, "other");
    w_make(&w, &w_pods,
           "{'metadata': {'name': 'gone', 'annotations': {'scheduling.k8s.io/group-name': 'a'}}, "
           "'spec': {'schedulerName': 'volcano', 'nodeName': 'n', 'containers': [{'name': 'c', "
           "'image': 'i', 'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}");
    w_settle(&w);
    w_delete(&w, &w_pods, "gone");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S("n"), "nor what a pod had that chose its node itself");
    w_delete(&w, &w_pods, "other");
    w_make(&w, &w_pods,
           "{'metadata': {'name': 'early', 'labels': {'scheduling.x-k8s.io/pod-group': 'p'}}, "
           "'spec': {'nodeName': 'n', 'containers': [{'name': 'c', 'image': 'i'}]}}");
    g_make(&w, &w_plugins, "'metadata': {'name': 'p'}, 'spec': {'minMember': 9" GPUS(9) "}");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S("n"), "nor for one that has a pod and was never let in");
    w_close(&w);
}

static void make_class(struct w *w, const char *name, int value)
{
    static const struct kube_resource classes = { "scheduling.k8s.io", "v1", "priorityclasses",
                                                  "PriorityClass", true };

    w_make(w, &classes,
           arena_printf(w->a, "{'metadata': {'name': '%s'}, 'value': %d}", name, value).p);
}

static void the_more_important_is_first(void)
{
    struct w w;

    g_open(&w, 2);
    make_class(&w, "low", 1);
    make_class(&w, "high", 2);
    g_group(&w, "all", 1, GPUS(2));
    g_group(&w, "a", 1, ", 'priorityClassName': 'low'" GPUS(2));
    g_group(&w, "b", 1, ", 'priorityClassName': 'high'" GPUS(2));
    w_delete(&w, &w_groups, "all");
    is_str(g_phase(&w, "b"), S("Inqueue"), "the more important one is let in");
    is_str(g_phase(&w, "a"), S("Pending"), "the older one waits");
    w_close(&w);
}

static void others_make_way(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .preempts = true });
    make_class(&w, "high", 2);
    g_group(&w, "a", 2, GPUS(2));
    g_pod(&w, "a", "0");
    g_pod(&w, "a", "1");
    g_pod_phase(&w, "a-0", "Running");
    g_pod_phase(&w, "a-1", "Running");
    g_group(&w, "same", 1, GPUS(1));
    is_str(g_phase(&w, "a"), S("Running"), "not for one of the same priority");
    w_delete(&w, &w_groups, "same");
    jv before = w_get(&w, &w_pods, "a-0");
    g_group(&w, "b", 1, ", 'priorityClassName': 'high'" GPUS(1));
    jv told = w_get(&w, &w_pods, "a-0");
    told = jv_exists(told) ? told : before;
    is_str(g_phase(&w, "a"), S("Pending"), "a group makes way whole");
    ok(str_starts(w_events_of(&w, "a-0", "Preempted"),
                  S("Preempted by podgroup default/b on node n")),
       "its pods say for whom");
    is_str(jv_str(jv_get(meta_condition(told, S("DisruptionTarget")), S("reason")), S("")),
           S("PreemptionByScheduler"), "in their condition, too");
    w_delete(&w, &w_pods, "a-0");
    w_delete(&w, &w_pods, "a-1");
    is_str(g_phase(&w, "b"), S("Inqueue"), "the other is let in");
    is_str(g_phase(&w, "a"), S("Pending"), "and it waits");
    w_close(&w);
}

static void a_pod_makes_way_once(void)
{
    struct w w;

    g_open_with(&w, 2, &(struct binder_opts){ .preempts = true });
    make_class(&w, "high", 2);
    w_pod(&w, "low", "{'nvidia.com/gpu': '1'}", "");
    w_pod(&w, "low2", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    w_pod(&w, "high", "{'nvidia.com/gpu': '1'}", ", 'priorityClassName': 'high'");
    w_settle(&w);
    int gone = meta_being_deleted(w_get(&w, &w_pods, "low")) +
               meta_being_deleted(w_get(&w, &w_pods, "low2"));
    is_int(gone, 1, "one pod makes way for one that matters more");
    is_str(w_node_of(&w, "high"), S(""), "which waits until it is gone");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    const char *victim = meta_being_deleted(w_get(&w, &w_pods, "low")) ? "low" : "low2";
    ok(str_starts(w_events_of(&w, victim, "Preempted"), S("Preempted by pod default/high")),
       "an event says for whom");
    binder_free(w.b); /* it is not chosen anew, nor is another */
    w_start(&w);
    gone = meta_being_deleted(w_get(&w, &w_pods, "low")) +
           meta_being_deleted(w_get(&w, &w_pods, "low2"));
    is_int(gone, 1, "still one, after a restart too");
    w_delete(&w, &w_pods, victim);
    is_str(w_node_of(&w, "high"), S("n"), "then it starts");
    is_str(w_node_of(&w, "other"), S(""), "nobody else got the room");
    w_close(&w);
}

static void what_is_refused_is_not_sent_over_and_over(void)
{
    struct w w;

    g_phases = ", 'enum': ['', 'Pending']";
    g_open(&w, 1);
    g_phases = "";
    uint64_t before = binder_writes(w.b);
    int64_t start = loop_now_ms(w.box.loop);
    g_make_early(&w, &w_groups, "'metadata': {'name': 'a'}, 'spec': {'minMember': 1}");
    while (binder_writes(w.b) == before)
        box_turn(&w.box);
    for (int i = 0; i < 200; i++)
        box_turn(&w.box);
    int64_t seconds = (loop_now_ms(w.box.loop) - start) / 1000;
    ok((int64_t)(binder_writes(w.b) - before) <= 1 + seconds,
       "a status that the server refuses is tried each second");
    is_str(g_phase(&w, "a"), S(""), "and is not there");
    w_close(&w);
}

int main(void)
{
    from_pending_to_completed();
    why_it_is_not_let_in();
    pods_that_never_fit();
    unknown_queues();
    pods_without_their_group();
    what_is_kept_comes_free_if_no_pods_come();
    a_restart_goes_on_from_the_phases();
    one_that_ran_comes_before_others();
    a_replacement_of_any_name();
    a_group_that_lost_all_its_pods_at_once();
    groups_that_say_they_hold_all();
    each_role_has_its_least();
    a_role_that_nobody_has();
    queues_and_their_status();
    quotas_of_the_namespace();
    quotas_of_pods();
    those_of_scheduler_plugins();
    more_than_it_was_let_in_with_is_not_kept();
    the_more_important_is_first();
    others_make_way();
    a_pod_makes_way_once();
    what_is_refused_is_not_sent_over_and_over();
    return tap_done();
}
