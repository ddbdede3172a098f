/* Reading pods and services: what is there, what is missing, and junk. */

#include "plan/planner.h"
#include "tap.h"

static struct seen_pod read(struct arena *a, const char *quoted, const char *main)
{
    struct jdoc *d = J(quoted);
    struct seen_pod p = seen_pod_read(a, jdoc_root(d), main);

    jdoc_unref(d); /* its texts live in a */
    return p;
}

static void a_pod_is_stalled(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char text[] =
        "{'status':{'phase':'%s','reason':'r','conditions':[{'type':'muster.dev/Stalled','status':"
        "'%s','message':'since 9:50'}]}}";
    static const struct {
        const char *phase, *status;
        bool stalled;
    } rows[] = { { "Running", "True", true },
                 { "Running", "False", false },
                 { "Failed", "True", false },
                 { "Pending", "True", false } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char quoted[256];
        snprintf(quoted, sizeof(quoted), text, rows[i].phase, rows[i].status);
        struct seen_pod p = read(a, quoted, NULL);
        ok(p.stalled == rows[i].stalled && p.n_troubles == 0, "%s, %s", rows[i].phase,
           rows[i].status);
        ok(str_eqz(p.reason, "since 9:50") == p.stalled, "with where it waits");
    }
}

static void a_whole_pod_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen_pod p = read(
        a,
        "{'metadata':{'name':'j-worker-2','uid':'p','labels':{"
        "'training.kubeflow.org/replica-type':'worker','training.kubeflow.org/replica-index':'2'},"
        "'ownerReferences':[{'uid':'x'},{'uid':'u','controller':true}]},'status':{'phase':'Failed',"
        "'conditions':[{'type':'DisruptionTarget','status':'True'},{'type':'Ready','status':'True'}]"
        ",'initContainerStatuses':[{'restartCount':2}],'containerStatuses':[{'name':'tensorflow',"
        "'restartCount':3,'state':{'terminated':{'exitCode':137,'containerID':'c'}}},{'name':'side',"
        "'state':{'terminated':{'exitCode':1}}}]}}",
        "tensorflow");

    is_str(p.name, S("j-worker-2"), "name");
    is_str(p.owner, S("u"), "the owner that controls it");
    is_str(p.role, S("worker"), "type");
    is_int(p.index, 2, "index");
    is_int(p.phase, POD_FAILED, "phase");
    ok(p.disrupted && p.ready && !p.leaving, "conditions");
    ok(p.has_exit && p.exit_code == 137, "the exit code is the main container's");
    is_str(p.container_id, S("c"), "and so is its id");
    is_int(p.restarts, 5, "restarts of all containers");
    is_int((int64_t)p.n_troubles, 0, "a pod that ended is in no trouble");
}

static void an_index_is_a_number(void)
{
    static const char *const bad[] = {
        "''", "'-1'", "'x'", "'1.5'", "7", "'99999999999999999999'"
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(bad); i++) {
        str pod = arena_printf(
            a, "{'metadata':{'labels':{'training.kubeflow.org/replica-index':%s}}}", bad[i]);
        is_int(read(a, pod.p, NULL).index, -1, bad[i]);
    }
}

static void troubles_are_told_as_events_say_them(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct seen_pod p = read(a,
                             "{'metadata':{'name':'p'},'status':{'phase':'Pending',"
                             "'containerStatuses':[{'name':'c','state':{'waiting':{'reason':"
                             "'ImagePullBackOff','message':'no such image'}}},{'name':'d','state':"
                             "{'waiting':{'reason':'ContainerCreating'}}}]}}",
                             NULL);

    is_int((int64_t)p.n_troubles, 1, "a container that waits for a reason told");
    is_str(p.troubles[0].message, S("Error pod p container c waiting message: no such image"),
           "is told");
    p = read(a,
             "{'metadata':{'name':'p'},'status':{'conditions':[{'type':'A','status':'True',"
             "'lastTransitionTime':'2025-01-01T00:00:00Z'},{'type':'PodScheduled','status':'False',"
             "'reason':'Unschedulable','message':'0/3 nodes','lastTransitionTime':"
             "'2025-01-01T00:00:01Z'}]}}",
             NULL);
    is_int((int64_t)p.n_troubles, 1, "else the condition that changed last");
    is_str(p.troubles[0].message, S("Error pod p condition message: 0/3 nodes"), "is told");
}

static void junk_is_nothing(void)
{
    static const char *const docs[] = { "[]", "7", "{'metadata':7,'status':[]}",
                                        "{'metadata':{'labels':[]},'status':{'phase':{}}}",
                                        "{'status':{'containerStatuses':{'a':1}}}" };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(docs); i++) {
        struct seen_pod p = read(a, docs[i], "x");
        ok(p.phase == POD_PENDING && p.index == -1 && !p.owner.n && !p.has_exit, "%s", docs[i]);
    }
}

static void a_plan_prints_what_is_in_it(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct plan *p = plan_new(a);
    struct plan_step *s = plan_add(p, PLAN_DELETE, 1, &kube_pods);

    s->name = S("x");
    s->uid = S("u");
    step_tell(p, s, (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_RESTARTED, .n = 1 });
    plan_wake(p, 2000);
    plan_wake(p, 1000);
    *plan_tell(p) = (struct plan_note){ .reason = S("R"), .message = S("m"), .warning = true };
    is_json(plan_json(a, p),
            "{'steps':[{'stage':1,'delete':'Pod','name':'x','uid':'u','counts':{'restarted':1}}],"
            "'events':[{'type':'Warning','reason':'R','message':'m'}],"
            "'wake':'1970-01-01T00:00:01Z'}",
            "and nothing else");
}

int main(void)
{
    a_whole_pod_is_read();
    a_pod_is_stalled();
    an_index_is_a_number();
    troubles_are_told_as_events_say_them();
    junk_is_nothing();
    a_plan_prints_what_is_in_it();
    return tap_done();
}
