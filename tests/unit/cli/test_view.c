/* What running jobs look like: states in, lines out. */

#include "cli/screen.h"
#include "cli/summary.h"
#include "job/stall.h"
#include "tap.h"

/* ---- making states */

static jv value(struct arena *a, const char *quoted)
{
    AUTO(jdoc) struct jdoc *d = J(quoted);

    return jv_copy(a, jdoc_root(d));
}

static struct run_job *add_job(struct run_state *s, const char *name, int64_t workers)
{
    AUTO(arena) struct arena *a = arena_new();
    jv template = value(a, "{'spec':{'containers':[{'name':'tensorflow','image':'x'}]}}");
    jv specs =
        jobj(a, { "Worker", jobj(a, { "replicas", jint(a, workers) }, { "template", template }) });
    jv obj = jobj(a, { "apiVersion", jstrz(a, "kubeflow.org/v1") }, { "kind", jstrz(a, "TFJob") },
                  { "metadata",
                    jobj(a, { "name", jstr(a, str_of(name)) }, { "namespace", jstrz(a, "default") },
                         { "uid", jstr(a, arena_printf(a, "uid-%s", name)) }) },
                  { "spec", jobj(a, { "tfReplicaSpecs", specs }) });

    return run_state_add(s, job_kind_find(S("TFJob")), obj, 1000);
}

static void condition(struct run_job *j, const char *type, const char *message, int64_t now_ms)
{
    AUTO(arena) struct arena *a = arena_new();
    jv c = jobj(a, { "type", jstr(a, str_of(type)) }, { "status", jstrz(a, "True") },
                { "message", jstr(a, str_of(message)) });

    run_job_see(j, KUBE_MODIFIED, jv_with(a, jdoc_root(j->obj), jarr(a, c), "status", "conditions"),
                now_ms);
}

/* A pod of a replica, of the how-manieth time it is made, with this status. */
static void pod_is(struct run_state *s, struct run_job *j, const char *role, int64_t index,
                   const char *meta, const char *status, int64_t now_ms, enum kube_event type)
{
    AUTO(arena) struct arena *a = arena_new();
    str name = arena_printf(a, "%" PRI_STR "-%s-%d", STR_ARG(j->name), role, (int)index);
    jv labels = jobj(a, { LABEL_JOB, jstr(a, j->name) }, { LABEL_ROLE, jstr(a, str_of(role)) },
                     { LABEL_INDEX, jstr(a, arena_printf(a, "%d", (int)index)) });
    jv pod = jobj(a, { "metadata", value(a, meta) }, { "status", value(a, status) });

    pod = jv_with(a, pod, jstr(a, name), "metadata", "name");
    pod = jv_with(a, pod, labels, "metadata", "labels");
    if (!meta_uid(pod).n)
        pod = jv_with(a, pod, jstr(a, name), "metadata", "uid");
    run_job_see_pod(s, j, type, pod, now_ms);
}

#define RUNNING \
    "{'phase':'Running','containerStatuses':[{'name':'tensorflow','state':{'running':{}}}]}"
#define ENDED(phase, code)                                                                   \
    "{'phase':'" phase "','containerStatuses':[{'name':'tensorflow','state':{'terminated':{" \
    "'exitCode':" #code ",'reason':'Error'}}}]}"

static void seen(struct run_state *s, struct run_job *j, const char *role, int64_t index,
                 const char *status, int64_t now_ms)
{
    pod_is(s, j, role, index, "{}", status, now_ms, KUBE_MODIFIED);
}

/* ---- the view */

static void view_is(const struct run_state *s, size_t columns, size_t rows, bool color,
                    const char *note, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct view_opts o = {
        .now_ms = 13500, .columns = columns, .rows = rows, .color = color, .note = str_of(note)
    };
    struct view v = view_of(a, s, &o);
    bool fits = true;

    for (size_t i = 0; i < v.n; i++) {
        buf_add(&b, v.lines[i]);
        buf_addc(&b, '\n');
        fits = fits && v.widths[i] <= columns;
    }
    is_str(buf_str(&b), str_of(want), what);
    ok(fits, "no line is wider than the terminal");
}

/* As a worker of a PyTorchJob that has found its master and starts. */
static void what_is_done_is_no_reason_to_wait(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "mnist", 2);
    seen(&s, j, "worker", 0,
         "{'phase':'Pending','initContainerStatuses':[{'name':'init','state':{'terminated':{"
         "'exitCode':0,'reason':'Completed'}}}],'containerStatuses':[{'name':'tensorflow',"
         "'state':{'waiting':{'reason':'PodInitializing'}}}]}",
         4000);
    seen(&s, j, "worker", 1,
         "{'phase':'Pending','initContainerStatuses':[{'name':'init','state':{'terminated':{"
         "'exitCode':4,'reason':'Error'}}}]}",
         4000);
    view_is(&s, 80, 24, false, "",
            "tfjob/mnist  Pending  0/2 running  12.5s\n"
            "  worker-0  Pending  \n"
            "  worker-1  Pending    Error\n",
            "an init container's end: well, and not");
    run_state_done(&s);
}

#define STALLED(where)                                                                                \
    "{'phase':'Running','conditions':[{'type':'muster.dev/Stalled','status':'True','message':'" where \
    "'}],'containerStatuses':[{'name':'tensorflow','state':{'running':{}}}]}"

static void a_stalled_job_says_where_it_waits(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "mnist", 2);
    condition(j, "Running", "it runs", 2000);
    seen(&s, j, "ps", 0, STALLED("x sleeps"), 12000);
    ok(!run_job_is_stalled(j), "a parameter server alone does not count");
    seen(&s, j, "worker", 0, STALLED("x is connecting to worker-1:1"), 12000);
    seen(&s, j, "worker", 1, RUNNING, 12000);
    view_is(&s, 80, 24, false, "",
            "tfjob/mnist  Running  3/2 running  12.5s\n"
            "  ps-0      Running  1.5s\n"
            "  worker-0  Running  1.5s\n"
            "  worker-1  Running  1.5s\n",
            "while one works, the job does");
    seen(&s, j, "worker", 1, STALLED("y sleeps"), 12000);
    view_is(&s, 80, 24, false, "",
            "tfjob/mnist  Running, stalled  3/2 running  12.5s\n"
            "  ps-0      Running  1.5s  x sleeps\n"
            "  worker-0  Running  1.5s  x is connecting to worker-1:1\n"
            "  worker-1  Running  1.5s  y sleeps\n",
            "all of them wait");
    condition(j, "Failed", "it failed", 13000);
    ok(!run_job_is_stalled(j), "a job that is over is not stalled");
    run_state_done(&s);
}

static void roles_that_wait_by_nature(void)
{
    static const struct {
        const char *kind, *role;
        bool idle;
    } rows[] = { { "TFJob", "ps", true },           { "TFJob", "worker", false },
                 { "MPIJob", "worker", true },      { "MPIJob", "launcher", false },
                 { "PyTorchJob", "worker", false }, { "TFJob", "other", false } };

    for (size_t i = 0; i < COUNT(rows); i++)
        ok(job_role_is_idle(job_kind_find(str_of(rows[i].kind)), str_of(rows[i].role)) ==
               rows[i].idle,
           "%s of a %s", rows[i].role, rows[i].kind);
    ok(!job_role_is_idle(NULL, S("")), "a plain pod");
}

static void a_job_and_its_replicas(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "mnist", 4);
    view_is(&s, 80, 24, false, "", "tfjob/mnist  Pending  0/4 running  12.5s\n",
            "a job without pods yet");
    condition(j, "Running", "it runs", 2000);
    seen(&s, j, "worker", 1, RUNNING, 3000);
    seen(&s, j, "worker", 0, ENDED("Succeeded", 0), 4000);
    seen(
        &s, j, "worker", 2,
        "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
        "'Unschedulable','message':'0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: "
        "0/1 nodes are available.'}]}",
        4000);
    seen(&s, j, "worker", 3,
         "{'phase':'Running','containerStatuses':[{'name':'tensorflow','restartCount':2,'state':{"
         "'waiting':{'reason':'CrashLoopBackOff','message':'back-off 10s'}},'lastState':{"
         "'terminated':{'exitCode':3,'reason':'Error'}}}]}",
         4000);
    view_is(&s, 80, 24, false, "",
            "tfjob/mnist  Running  1/4 running, 1 done  12.5s\n"
            "  worker-0  Succeeded         0.0s\n"
            "  worker-1  Running           10.5s\n"
            "  worker-2  Pending             0/1 nodes are available: 1 Insufficient nvidia.…\n"
            "  worker-3  CrashLoopBackOff  9.5s  exit 3  2 restarts  back-off 10s\n",
            "each replica has a line, in order, cut at the edge");
    view_is(&s, 24, 24, false, "stopping; Ctrl-C again kills at once",
            "tfjob/mnist  Running  1…\n"
            "  worker-0  Succeeded  …\n"
            "  worker-1  Running    …\n"
            "  worker-2  Pending    …\n"
            "  worker-3  CrashLoopBa…\n"
            "stopping; Ctrl-C again …\n",
            "narrow, with a note");
    view_is(
        &s, 100, 8, false, "",
        "tfjob/mnist  Running  1/4 running, 1 done  12.5s\n"
        "  worker    1 Succeeded, 1 Running, 1 Pending, 1 CrashLoopBackOff  2 restarts\n"
        "  worker-2  Pending             0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n"
        "  worker-3  CrashLoopBackOff  9.5s  exit 3  2 restarts  back-off 10s\n",
        "where there is no room counts stand for replicas, but for those in trouble");
    condition(j, "Succeeded", "done", 5000);
    view_is(&s, 30, 8, true, "",
            "\033[1mtfjob/mnist\033[0m  \033[32mSucceeded\033[0m  \033[2m1/4 r…\033[0m\n"
            "  \033[94mworker\033[0m    \033[32m1 Succeeded\033[0m, \033[36m1 Ru…\033[0m\n"
            "  \033[33mworker-2\033[0m  \033[33mPending\033[0m           \n"
            "  \033[32mworker-3\033[0m  \033[31mCrashLoopBackOff\033[0m  \n",
            "colours");
    run_state_done(&s);
}

static void without_utf8_dots_are_three(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct run_state s;
    struct view_opts o = { .now_ms = 13500, .columns = 26, .rows = 24, .ascii = true };

    run_state_init(&s);
    struct run_job *j = add_job(&s, "mnist", 1);
    seen(&s, j, "worker", 0, RUNNING, 3000);
    struct view v = view_of(a, &s, &o);
    is_str(v.lines[0], S("tfjob/mnist  Pending  1..."), "a line that is cut ends in three dots");
    is_int((int64_t)v.widths[0], 26, "and is as wide as the terminal");
    is_str(v.lines[1], S("  worker-0  Running  10.5s"), "one that fits has none");
    o.columns = 24;
    v = view_of(a, &s, &o);
    is_str(v.lines[0], S("tfjob/mnist  Pending  .."), "where two have room there are two");
    run_state_done(&s);
}

static void a_hundred_replicas_are_two_lines(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "big", 101);
    for (int i = 99; i >= 0; i--)
        seen(&s, j, "worker", i, i % 10 ? RUNNING : ENDED("Succeeded", 0), 2000);
    seen(&s, j, "ps", 0, RUNNING, 2000);
    view_is(&s, 80, 24, false, "",
            "tfjob/big  Pending  91/101 running, 10 done  12.5s\n"
            "  worker     10 Succeeded, 90 Running\n"
            "  ps         1 Running\n",
            "a hundred replicas");
    ok(run_state_is_live(&s), "some run");
    ok(!run_state_is_over(&s), "it is not over");
    run_state_done(&s);
}

static void many_jobs_end_in_a_number(void)
{
    struct run_state s;

    run_state_init(&s);
    for (int i = 0; i < 9; i++) {
        AUTO(arena) struct arena *a = arena_new();
        seen(&s, add_job(&s, arena_printf(a, "j%d", i).p, 1), "worker", 0, RUNNING, 13000);
    }
    view_is(&s, 80, 8, false, "",
            "tfjob/j0  Pending  1/1 running  12.5s\n"
            "tfjob/j1  Pending  1/1 running  12.5s\n"
            "tfjob/j2  Pending  1/1 running  12.5s\n"
            "and 6 more\n",
            "more jobs than lines");
    run_state_done(&s);
}

/* ---- who failed first */

static void the_first_of_those_that_stay_failed(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "bad", 3);
    ok(!run_job_failed_first(j), "nobody has");
    seen(&s, j, "worker", 0,
         "{'phase':'Running','containerStatuses':[{'name':'tensorflow','restartCount':1,'state':{"
         "'running':{}},'lastState':{'terminated':{'exitCode':9}}}]}",
         2000);
    is_str(run_job_failed_first(j)->name, S("worker-0"), "one that was started again, if no other");
    seen(&s, j, "worker", 2, ENDED("Failed", 4), 3000);
    seen(&s, j, "worker", 1, ENDED("Failed", 5), 4000);
    is_str(run_job_failed_first(j)->name, S("worker-2"), "of those that failed for good the first");
    is_int(run_job_failed_first(j)->failure.code, 4, "with its code");
    pod_is(&s, j, "worker", 0, "{'deletionTimestamp':'2026-01-01T00:00:00Z'}", ENDED("Failed", 143),
           5000, KUBE_MODIFIED);
    is_str(run_job_replica(j, S("worker-0"))->state, S("Stopped"), "what is told to go is stopped");
    is_str(run_job_failed_first(j)->name, S("worker-2"), "and did not fail");
    run_state_done(&s);
}

/* A program that ends well when it is told to go did not end by itself. */
static void a_pod_that_is_told_to_go_is_stopped(void)
{
    static const char *const ends[] = { "Succeeded", "Failed" };

    for (size_t i = 0; i < 4; i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct run_state s;
        jv pod = value(a, "{'metadata':{'name':'p','uid':'u'},'status':{'phase':'Running'}}");
        run_state_init(&s);
        struct run_job *j = run_state_add(&s, NULL, pod, 1000);
        j->stopping = i < 2;
        pod = jv_with(a, pod, jstrz(a, "2026-01-01T00:00:00Z"), "metadata", "deletionTimestamp");
        run_job_see(j, KUBE_MODIFIED, pod, 2000);
        is_str(j->state, S("Terminating"), "told to go");
        ok(!j->over, "and still there");
        pod = jv_with(a, pod, jstr(a, str_of(ends[i % 2])), "status", "phase");
        run_job_see(j, KUBE_MODIFIED, pod, 3000);
        is_str(j->state, j->stopping ? S("Stopped") : S("Terminating"), ends[i % 2]);
        run_job_see(j, KUBE_DELETED, pod, 4000);
        ok(j->over && j->failed, "gone");
        is_str(j->state, j->stopping ? S("Stopped") : S("Deleted"), "by whom");
        run_state_done(&s);
    }
}

static void pods_made_again_are_restarts(void)
{
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "again", 1);
    pod_is(&s, j, "worker", 0, "{'uid':'one'}", ENDED("Failed", 130), 2000, KUBE_MODIFIED);
    pod_is(&s, j, "worker", 0, "{'uid':'two'}", RUNNING, 3000, KUBE_ADDED);
    pod_is(&s, j, "worker", 0, "{'uid':'one'}", ENDED("Failed", 130), 3500, KUBE_DELETED);
    const struct run_replica *r = run_job_replica(j, S("worker-0"));
    is_int(r->restarts, 1, "one restart");
    is_str(r->state, S("Running"), "the end of the old pod is not its own");
    is_int(r->began_ms, 2000, "it runs since its first pod did");
    pod_is(&s, j, "worker", 0, "{'uid':'two'}", RUNNING, 4000, KUBE_DELETED);
    is_str(r->state, S("Stopped"), "one that is gone while it ran was stopped");
    ok(!run_state_is_live(&s), "nothing lives");
    run_state_done(&s);
}

/* ---- the summary */

static str logs_of(void *ctx, const struct run_job *j)
{
    return arena_printf(ctx, "/logs/%" PRI_STR, STR_ARG(j->name));
}

static str tail_of(void *ctx, const struct run_job *j, str replica)
{
    return arena_printf(ctx, "%" PRI_STR " of %" PRI_STR "\nends\n", STR_ARG(replica),
                        STR_ARG(j->name));
}

static void summaries(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct summary_opts o = { .ms = 12345, .code = 1, .logs = logs_of, .tail = tail_of, .ctx = a };
    struct run_state s;

    run_state_init(&s);
    struct run_job *j = add_job(&s, "bad", 2);
    seen(&s, j, "worker", 0, RUNNING, 2000);
    seen(&s, j, "worker", 1, RUNNING, 2500);
    seen(&s, j, "worker", 0, ENDED("Succeeded", 0), 3000);
    seen(&s, j, "worker", 1, ENDED("Failed", 7), 64000);
    condition(j, "Failed", "TFJob bad has failed", 65000);
    is_str(summary_text(a, &s, &o),
           S("worker-1 failed first: exit code 7; its last lines:\n"
             "  | worker-1 of bad\n"
             "  | ends\n"
             "tfjob/bad Failed after 1m4s: TFJob bad has failed\n"
             "  REPLICA    STATE       EXIT   RESTARTS   TIME\n"
             "  worker-0   Succeeded   0      0          1.0s\n"
             "  worker-1   Failed      7      0          1m1s\n"
             "  logs: /logs/bad\n"),
           "a job that failed");
    jv v = summary_json(a, &s, &o);
    is_str(jv_str(jv_at(v, "state"), STR_NONE), S("Failed"), "for programs: its state");
    is_int(jv_int(jv_at(v, "exitCode"), -1), 1, "exit code");
    jv job = jv_index(jv_at(v, "jobs"), 0);
    is_str(json_text(a, jv_at(job, "firstFailure")),
           S("{\"replica\":\"worker-1\",\"exitCode\":7,\"reason\":\"Error\",\"lastLines\":["
             "\"worker-1 of bad\",\"ends\"]}"),
           "who failed first");
    is_str(json_text(a, jv_at(job, "seconds")), S("64.000"), "seconds");
    is_str(jv_str(jv_at(job, "object", "kind"), STR_NONE), S("TFJob"), "and the object");
    run_state_done(&s);

    run_state_init(&s);
    j = add_job(&s, "wild", 1);
    seen(&s, j, "worker", 0,
         "{'phase':'Failed','containerStatuses':[{'name':'tensorflow','image':'a/mnist:1',"
         "'imageID':'muster://this-machine','state':{'terminated':{'exitCode':2}}}]}",
         2000);
    condition(j, "Failed", "no", 2100);
    is_str(
        summary_text(a, &s, &o),
        S("worker-0 failed: exit code 2; its last lines:\n"
          "  | worker-0 of wild\n"
          "  | ends\n"
          "  image a/mnist:1 is not mapped, so this ran on the machine's own files: muster image "
          "map --help\n"
          "tfjob/wild Failed after 1.1s: no\n"
          "  REPLICA    STATE    EXIT   RESTARTS   TIME\n"
          "  worker-0   Failed   2      0          0.0s\n"
          "  logs: /logs/wild\n"),
        "on files that are not the image's");
    run_state_done(&s);

    run_state_init(&s);
    j = add_job(&s, "fat", 1);
    seen(
        &s, j, "worker", 0,
        "{'phase':'Failed','containerStatuses':[{'name':'tensorflow','image':'a/mnist:1','imageID':"
        "'muster://this-machine','state':{'terminated':{'exitCode':137,'reason':'OOMKilled'}}}]}",
        2000);
    condition(j, "Failed", "no", 2100);
    ok(!strstr(arena_z(a, summary_text(a, &s, &o)), "mapped"), "which are not to blame for memory");
    run_state_done(&s);

    run_state_init(&s);
    j = add_job(&s, "big", 100);
    for (int i = 0; i < 100; i++)
        seen(&s, j, "worker", i, ENDED("Succeeded", 0), 2000);
    condition(j, "Succeeded", "fine", 2100);
    o.code = 0;
    is_str(summary_text(a, &s, &o),
           S("tfjob/big Succeeded after 1.1s\n"
             "  100 replicas, all Succeeded\n"
             "  logs: /logs/big\n"),
           "many that succeeded");
    o.code = EXIT_INTERRUPTED;
    ok(str_ends(summary_text(a, &s, &o), S("interrupted after 12.3s\n")), "interrupted");
    is_str(str_of(summary_state(EXIT_TIMEOUT)), S("TimedOut"), "a word for each code");
    run_state_done(&s);
}

int main(void)
{
    what_is_done_is_no_reason_to_wait();
    a_stalled_job_says_where_it_waits();
    roles_that_wait_by_nature();
    a_job_and_its_replicas();
    without_utf8_dots_are_three();
    a_hundred_replicas_are_two_lines();
    many_jobs_end_in_a_number();
    the_first_of_those_that_stay_failed();
    a_pod_that_is_told_to_go_is_stopped();
    pods_made_again_are_restarts();
    summaries();
    return tap_done();
}
