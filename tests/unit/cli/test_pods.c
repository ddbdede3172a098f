/* How a pod is, in a word and at length, and who of a job's containers failed first. */

#include "cli/pods.h"
#include "tap.h"

static void a_pod_is_in_one_state(void)
{
    static const struct {
        const char *pod, *state, *reason, *what;
        int64_t code; /* -1: none */
    } rows[] = {
        { "{'status':{'phase':'Pending'}}", "Pending", "NotScheduled", "nobody looked at it", -1 },
        { "{'spec':{'nodeName':'n'},'status':{'phase':'Pending'}}", "Pending", "",
          "nothing is known", -1 },
        { "{'status':{'phase':'Running','containerStatuses':[{'name':'a','state':{'running':{}}}]}}",
          "Running", "", "it runs", -1 },
        { "{'status':{'phase':'Failed','containerStatuses':[{'name':'a','state':{'terminated':"
          "{'exitCode':3,'reason':'Error'}}}]}}",
          "Failed", "Error", "it failed", 3 },
        { "{'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
          "'reason':'Unschedulable','message':'no room'}]}}",
          "Pending", "Unschedulable", "it waits for a node", -1 },
        { "{'metadata':{'deletionTimestamp':'2025-01-01T00:00:00Z'},'status':{'phase':'Running'}}",
          "Terminating", "", "it was told to go", -1 },
        { "{'status':{'phase':'Failed','reason':'Evicted','message':'too much'}}", "Failed",
          "Evicted", "the pod itself has a reason", -1 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *pod = J(rows[i].pod);
        struct pod_state s = pod_state(a, jdoc_root(pod));

        is_str(s.state, str_of(rows[i].state), rows[i].what);
        is_str(s.reason, str_of(rows[i].reason), "and why");
        is_int(s.has_exit ? s.exit_code : -1, rows[i].code, "and its exit code");
    }
}

/* An end of a container: current or previous, with a code, at that second. */
#define END(state, code, second)                                                          \
    "'" state "':{'terminated':{'exitCode':" code ",'reason':'Error','message':'m" second \
    "','finishedAt':'2025-01-01T00:00:" second "Z'}}"

static void the_first_failure_of_all_runs_counts(void)
{
    AUTO(jdoc)
    struct jdoc *late =
        J("{'status':{'containerStatuses':[{'name':'main'," END("state", "5", "30") "}]}}");
    AUTO(jdoc)
    struct jdoc *again = J("{'status':{'containerStatuses':[{'name':'main'," END(
        "lastState", "7", "20") "," END("state", "0", "40") "}]}}");
    AUTO(jdoc)
    struct jdoc *init = J("{'status':{'initContainerStatuses':[{'name':'init'," END(
        "state", "9", "10") "}],'containerStatuses':[{'name':'main','state':{'waiting':{}}}]}}");
    AUTO(jdoc)
    struct jdoc *well =
        J("{'status':{'containerStatuses':[{'name':'main'," END("state", "0", "05") "}]}}");
    struct job_pod pods[] = { { .pod = jdoc_root(late) },
                              { .pod = jdoc_root(again) },
                              { .pod = jdoc_root(init) },
                              { .pod = jdoc_root(well) } };
    struct pod_failure f;

    ok(!pods_first_failure(&(struct job_pods){ pods + 3, 1 }, &f), "who ended well did not fail");
    ok(pods_first_failure(&(struct job_pods){ pods, 1 }, &f) && f.exit_code == 5 && !f.previous,
       "a failure");
    ok(pods_first_failure(&(struct job_pods){ pods, 2 }, &f) && f.replica == &pods[1] &&
           f.exit_code == 7 && f.previous,
       "one before it, of a run that was followed by another");
    ok(pods_first_failure(&(struct job_pods){ pods, 4 }, &f) && f.replica == &pods[2] &&
           f.exit_code == 9 && str_eqz(f.container, "init"),
       "one of an init container before that");
    is_str(f.reason, S("Error"), "with its reason");
    is_str(f.message, S("m10"), "and what it said");
}

int main(void)
{
    a_pod_is_in_one_state();
    the_first_failure_of_all_runs_counts();
    return tap_done();
}
