/* The whole machinery over a server in memory that behaves. */

#include "ctl/internal.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

static void over(struct world *w)
{
    is_int(world_free(w), 0, "no rule was broken");
}

static jv toy(struct world *w, const char *ns, const char *name)
{
    return fake_get(w->f, &toy_res, str_of(ns), str_of(name));
}

static void set_all(struct world *w, const char *ns, const char *job, int n, const char *phase)
{
    char name[64];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s-worker-%d", job, i);
        set_phase(w, ns, name, phase);
    }
}

static void a_job_gets_its_pods_and_ends(void)
{
    struct world *w = world_new(1);

    put_toy(w, "a", "mnist", 4);
    world_start(w);
    ok(wait_pods(w, 4), "four pods and services");
    ok(run_until(w, is_quiet), "and then silence");
    is_int(w->f->count[KUBE_GET], 0, "nothing was read one by one");
    is_int(w->f->conflicts, 0, "no conflict");
    is_int(w->f->count[KUBE_CREATE], 16, "four pods, four services, an event each");
    is_int(w->f->lists_max, 1, "one list at a time");
    set_all(w, "a", "mnist", 4, "Running");
    settle(w);
    is_int(jv_int(jv_at(toy(w, "a", "mnist"), "status", "ready"), 0), 4, "status counts them");
    set_all(w, "a", "mnist", 4, "Succeeded");
    settle(w);
    ok(jv_bool(jv_at(toy(w, "a", "mnist"), "status", "done"), false), "done");
    is_int(events_with(w, "ToySucceeded"), 1, "said so once");
    is_int(sum_of(w, "training_operator_jobs_successful_total"), 1, "counted once");
    is_int(sum_of(w, "created_pods_total"), 4, "pods created");
    int64_t passes = sum_of(w, "controller_runtime_reconcile_total");
    fake_delete(w->f, &kube_pods, S("a"), S("mnist-worker-0"));
    run_for(w, 20);
    is_int(sum_of(w, "controller_runtime_reconcile_total"), passes,
           "what happens to a finished job's pods costs no pass");
    is_int(w->f->count[KUBE_GET], 0, "still nothing read");
    unsigned events = w->f->events;
    for (int i = 0; i < 3; i++) {
        set_toy(w, "a", "mnist", i % 2 ? "{'spec': {'x': 1}}" : "{'spec': {'x': 2}}");
        settle(w);
    }
    is_int(w->f->events, events, "the end is not told again when the job is touched");
    world_stop(w);
    world_start(w);
    settle(w);
    is_int(w->f->events, events + 1, "and by one that starts anew, once");
    is_int(events_with(w, "ToySucceeded"), 1, "which the server has already");
    over(w);
}

/* ---- names that are taken */

static size_t services;
static bool has_services(struct world *w)
{
    return fake_count(w->f, &kube_services) == services;
}

static bool ready_is_two(struct world *w)
{
    return jv_int(jv_at(toy(w, "a", "mnist"), "status", "ready"), 0) == 2;
}

static bool pod_is_ours(struct world *w)
{
    return jv_exists(meta_controller(fake_get(w->f, &kube_pods, S("a"), S("mnist-worker-1"))));
}

static void Q14_a_taken_name_holds_up_only_itself(const char *labels)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world *w = world_new(2);

    w->opts.limits.backoff_max_ms = 60000;
    fake_put(
        w->f, &kube_pods,
        arena_printf(a, "{'metadata': {'name': 'mnist-worker-1', 'namespace': 'a' %s}}", labels).p);
    put_toy(w, "a", "mnist", 3);
    world_start(w);
    services = 3;
    run_until(w, has_services);
    set_phase(w, "a", "mnist-worker-0", "Running");
    set_phase(w, "a", "mnist-worker-2", "Running");
    ok(run_until(w, ready_is_two), "the others go on, and status is written");
    run_for(w, 400);
    is_int(events_with(w, "FailedCreatePod"), 1, "told once, not each time it is tried");
    is_int(sum_of(w, "created_pods_total"), 2, "two were created");
    run_for(w, 3500); /* by now it is tried every few seconds */
    unsigned before = w->f->count[KUBE_CREATE];
    uint64_t since = w->f->ticks;
    fake_delete(w->f, &kube_pods, S("a"), S("mnist-worker-1"));
    ok(run_until(w, pod_is_ours), "created when it becomes free");
    ok(w->f->ticks - since < 1000, "at once");
    ok(w->f->count[KUBE_CREATE] - before <= 2, "by one try");
    over(w);
}

static void Q4_a_lost_answer_does_no_harm(void)
{
    struct world *w = world_new(3);

    w->f->faults.lose = 500;
    put_toy(w, "a", "mnist", 6);
    world_start(w);
    wait_pods(w, 6);
    w->f->faults.lose = 0;
    ok(settle(w), "all is done though half of the answers were lost");
    run_for(w, 300);
    settle(w);
    is_int(events_with(w, "FailedCreatePod") + events_with(w, "FailedCreateService"), 0,
           "and nobody complains");
    is_int((int64_t)fake_count(w->f, &kube_pods), 6, "six pods");
    over(w);
}

/* ---- turns and limits */

static bool small_has_its_pod(struct world *w)
{
    return jv_exists(fake_get(w->f, &kube_pods, S("a"), S("small-worker-0")));
}

static void Q24_a_big_job_does_not_delay_a_small_one(void)
{
    struct world *w = world_new(4);

    w->opts.limits.in_flight = 8;
    world_start(w);
    settle(w);
    put_toy(w, "a", "big", 400);
    run_for(w, 20);
    put_toy(w, "a", "small", 1);
    ok(run_until(w, small_has_its_pod), "the small job has its pod");
    size_t n = fake_count(w->f, &kube_pods);
    ok(n < 200, "while the big one has %zu of 400", n);
    ok(wait_pods(w, 401), "which it gets too");
    ok(w->f->in_flight_max <= 8, "never more at once than allowed");
    over(w);
}

static bool no_pods(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    if (r->verb != KUBE_CREATE || r->res != &kube_pods)
        return false;
    (void)f;
    *ans = (struct kube_answer){ .status = 403, .message = S("exceeded quota") };
    err_set(&ans->err, ERR_FORBIDDEN, "exceeded quota");
    return true;
}

static void what_fails_for_all_is_tried_once(void)
{
    struct world *w = world_new(5);

    w->opts.limits.backoff_max_ms = 60000;
    w->f->refuse = no_pods;
    put_toy(w, "a", "mnist", 50);
    world_start(w);
    services = 50;
    int64_t since = loop_now_ms(w->l);
    run_until(w, has_services);
    run_for(w, 50);
    int64_t failed = sum_of(w, "failed_pods_total");
    int64_t most = 4; /* three in a row, then one after each wait, which is twice the one before */
    for (int64_t ms = 50; ms < loop_now_ms(w->l) - since; ms *= 2)
        most++;
    ok(failed >= 1 && failed <= most, "50 pods over quota: %d tried", (int)failed);
    w->f->refuse = NULL;
    ok(wait_pods(w, 50), "created when there is room");
    settle(w);
    int told = events_with(w, "SuccessfulCreatePod");
    ok(told >= 10 && told <= 20, "most of them told as one: %d events", told);
    over(w);
}

static bool no_first(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    if (!no_pods(f, r, ans))
        return false;
    return str_eq(meta_name(r->body), S("mnist-worker-0"));
}

static bool has_nine(struct world *w)
{
    return fake_count(w->f, &kube_pods) == 9;
}

static void one_that_is_refused_does_not_stop_the_others(void)
{
    struct world *w = world_new(15);

    w->f->refuse = no_first;
    put_toy(w, "a", "mnist", 10);
    world_start(w);
    ok(run_until(w, has_nine), "nine of ten pods");
    run_for(w, 100);
    is_int(events_with(w, "FailedCreatePod"), 1, "one complaint");
    over(w);
}

static void Q22_many_are_told_as_one(void)
{
    struct world *w = world_new(6);
    int more = 0;

    put_toy(w, "a", "mnist", 30);
    world_start(w);
    wait_pods(w, 30);
    settle(w);
    for (size_t i = 0; i < w->f->objects.n; i++) {
        jv obj = jdoc_root(w->f->objects.at[i].doc);
        more += w->f->objects.at[i].res == &kube_events &&
                str_eq(jv_str(jv_at(obj, "message"), S("")), S("Created 21 more pods"));
    }
    is_int(more, 1, "Created 21 more pods");
    is_int(w->f->events, 20, "twenty events for sixty objects");
    set_all(w, "a", "mnist", 30, "Failed");
    run_for(w, 50);
    settle(w);
    set_all(w, "a", "mnist", 30, "Succeeded");
    settle(w);
    is_int(events_with(w, "ToyRestarting"), 1, "a warning has tokens of its own");
    ok(w->f->events <= 27, "%u events: no more than the budget", w->f->events);
    is_int(events_with(w, "ToySucceeded"), 1, "but how it ended is told");
    is_int(sum_of(w, "training_operator_jobs_restarted_total"), 30, "each restart counted once");
    over(w);
}

static void Q22_the_end_is_told_once(void)
{
    struct world *w = world_new(16);

    put_toy(w, "a", "mnist", 1);
    world_start(w);
    wait_pods(w, 1);
    set_all(w, "a", "mnist", 1, "Succeeded");
    settle(w);
    unsigned told = w->f->events;
    for (int i = 0; i < 3; i++) {
        set_toy(w, "a", "mnist", i % 2 ? "{'spec':{'x':1}}" : "{'spec':{'x':2}}");
        settle(w);
    }
    is_int(w->f->events, told, "edits after the end tell nothing");
    world_stop(w);
    world_start(w);
    settle(w);
    is_int(w->f->events, told + 1, "who comes anew tells it again, for who may have died before");
    set_toy(w, "a", "mnist", "{'spec':{'x':3}}");
    settle(w);
    is_int(w->f->events, told + 1, "once");
    is_int(events_with(w, "ToySucceeded"), 1, "under the same name");
    over(w);
}

/* ---- conflicts and adoption */

static bool ready_is_three(struct world *w)
{
    return jv_int(jv_at(toy(w, "a", "mnist"), "status", "ready"), 0) == 3;
}

static void Q9_a_conflict_is_nobodys_business(void)
{
    struct world *w = world_new(7);

    put_toy(w, "a", "mnist", 3);
    world_start(w);
    wait_pods(w, 3);
    settle(w);
    w->f->faults.clash = 700;
    for (int i = 0; i < 5; i++) {
        set_all(w, "a", "mnist", i % 2 ? 1 : 3, i % 2 ? "Pending" : "Running");
        settle(w);
    }
    ok(w->f->conflicts > 0, "%u conflicts", w->f->conflicts);
    w->f->faults.clash = 0;
    ok(run_until(w, ready_is_three), "status is right");
    is_int(sum_of(w, "controller_runtime_reconcile_errors_total"), 0, "no errors");
    over(w);
}

static void Q14_a_service_without_owner_is_adopted(void)
{
    struct world *w = world_new(8);

    fake_put(w->f, &kube_services,
             "{'metadata': {'name': 'mnist-worker-0', 'namespace': 'a', 'labels': {'" LABEL_OPERATOR
             "': 'toy-controller', '" LABEL_JOB "': 'mnist', '" LABEL_ROLE
             "': 'worker', '" LABEL_INDEX "': '0'}}}");
    put_toy(w, "a", "mnist", 2);
    world_start(w);
    wait_pods(w, 2);
    settle(w);
    is_str(
        jv_str(jv_at(meta_controller(fake_get(w->f, &kube_services, S("a"), S("mnist-worker-0"))),
                     "uid"),
               S("")),
        meta_uid(toy(w, "a", "mnist")), "adopted");
    is_int((int64_t)fake_count(w->f, &kube_services), 2, "and not made again");
    is_int(w->f->count[KUBE_GET], 1, "after the job was read once");
    over(w);
}

/* ---- time */

static bool toy_is_gone(struct world *w)
{
    return !jv_exists(toy(w, "a", "mnist"));
}

static void J5_a_finished_job_goes_at_its_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world *w = world_new(9);

    put_toy(w, "a", "mnist", 1);
    set_toy(w, "a", "mnist",
            arena_printf(a, "{'spec': {'wakeAt': %" PRId64 "}, 'status': {'done': true}}",
                         wall_now_ms() + 3600 * 1000)
                .p);
    world_start(w);
    run_for(w, 100);
    ok(!toy_is_gone(w), "not yet");
    world_stop(w);
    world_start(w);
    run_for(w, 50);
    ok(!toy_is_gone(w), "nor after a restart");
    clock_step_ms = 3600 * 1000;
    uint64_t since = w->f->ticks;
    ok(run_until(w, toy_is_gone), "its time comes when the clock is set forward");
    ok(w->f->ticks - since < 1500, "within a second or so");
    run_for(w, 50);
    is_int(w->f->count[KUBE_DELETE], 1, "by one DELETE");
    clock_step_ms = 0;
    over(w);
}

/* ---- who may write, and when it ends */

static void J6_who_does_not_lead_writes_nothing(void)
{
    struct world *w = world_new(10);

    w->opts.standby = true;
    put_toy(w, "a", "mnist", 3);
    world_start(w);
    run_for(w, 60);
    ok(ctl_is_synced(w->c), "a stand-by reads");
    is_int(w->f->count[KUBE_CREATE], 0, "and writes nothing");
    w->may_write = false;
    ctl_lead(w->c, true);
    run_for(w, 60);
    is_int(w->f->count[KUBE_CREATE], 0, "nor does a leader behind its fence");
    w->may_write = true;
    ok(wait_pods(w, 3), "then it does");
    settle(w);
    ctl_lead(w->c, false);
    unsigned before = w->f->count[KUBE_CREATE];
    set_toy(w, "a", "mnist", "{'spec': {'replicas': 5}}");
    run_for(w, 40);
    is_int(w->f->count[KUBE_CREATE], before, "no more when it has lost the lead");
    ctl_lead(w->c, true);
    ok(wait_pods(w, 5), "and again when it has it back");
    over(w);
}

static void on_stopped(void *arg)
{
    *(bool *)arg = true;
}

static bool stopped;
static bool is_stopped(struct world *w)
{
    (void)w;
    return stopped;
}

static void stopping_waits_for_answers(void)
{
    struct world *w = world_new(11);

    w->opts.limits.in_flight = 4;
    put_toy(w, "a", "mnist", 100);
    w->f->faults.wait = 700;
    world_start(w);
    run_for(w, 60);
    size_t n = fake_count(w->f, &kube_pods);
    ok(n < 100, "in the middle of it");
    stopped = false;
    ctl_stop(w->c, on_stopped, &stopped);
    ok(!stopped, "not from within");
    ok(run_until(w, is_stopped), "it stops");
    is_int(w->f->calls == NULL, 1, "and nothing is under way any more");
    unsigned creates = w->f->count[KUBE_CREATE];
    run_for(w, 30);
    is_int(w->f->count[KUBE_CREATE], creates, "nor begun later");
    world_stop(w);
    w->f->faults.wait = 0;
    world_start(w);
    ok(wait_pods(w, 100), "the next one goes on");
    over(w);
}

/* ---- lists and watches */

static bool no_toys(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb != KUBE_LIST || strcmp(r->res->plural, "dolls") != 0)
        return false;
    *ans = (struct kube_answer){ .status = 404 };
    err_set(&ans->err, ERR_NOT_FOUND, "the server could not find the requested resource");
    return true;
}

static void a_kind_that_is_not_served_holds_up_no_other(void)
{
    static const struct kube_resource dolls = { "toys.example", "v1", "dolls", "Doll", false };
    struct planner doll = toy_planner;
    const struct planner *const both[] = { &doll, &toy_planner };
    struct world *w = world_new(12);

    doll.res = &dolls;
    doll.controller = "doll-controller";
    w->opts.planners = both;
    w->opts.n = 2;
    w->f->refuse = no_toys;
    put_toy(w, "a", "mnist", 2);
    world_start(w);
    ok(wait_pods(w, 2), "toys are worked on");
    ok(!ctl_is_synced(w->c), "but not all is well");
    is_str(
        ctl_trouble(w->c),
        S("cannot list dolls.toys.example: is its CRD installed? the server could not find the requested resource"),
        "and what it is can be read");
    w->f->refuse = NULL;
    ok(run_until(w, is_quiet), "until it is served");
    is_str(ctl_trouble(w->c), S(""), "all well");
    over(w);
}

static bool endless_dolls(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    static struct arena *a; /* one answer, as long as the test runs */
    static jv page;

    (void)f;
    if (r->verb != KUBE_LIST || strcmp(r->res->plural, "dolls") != 0)
        return false;
    if (!a) {
        a = arena_new();
        page = jobj(a, { "metadata", jobj(a, { "continue", jstr(a, S("for ever")) }) },
                    { "items", jarr_n(a, NULL, 0) });
    }
    *ans = (struct kube_answer){ .status = 200, .obj = page };
    return true;
}

static bool is_told(struct world *w)
{
    return ctl_trouble(w->c).n > 0;
}

static void a_list_without_an_end_holds_up_no_other(void)
{
    static const struct kube_resource dolls = { "toys.example", "v1", "dolls", "Doll", false };
    struct planner doll = toy_planner;
    const struct planner *const both[] = { &doll, &toy_planner };
    struct world *w = world_new(12);

    doll.res = &dolls;
    doll.controller = "doll-controller";
    w->opts.planners = both;
    w->opts.n = 2;
    w->f->refuse = endless_dolls;
    put_toy(w, "a", "mnist", 2);
    world_start(w);
    ok(wait_pods(w, 2), "toys are worked on");
    ok(run_until(w, is_told), "and the endless list is told");
    is_str(ctl_trouble(w->c),
           S("cannot list dolls.toys.example: the list does not end: a page continues where it "
             "began"),
           "by name");
    w->f->refuse = NULL;
    ok(run_until(w, is_quiet), "until it ends");
    over(w);
}

static bool has_three(struct world *w)
{
    return fake_count(w->f, &kube_pods) == 3 && ctl_is_idle(w->c);
}

static void deletions_are_noticed_after_an_outage(void)
{
    struct world *w = world_new(13);
    struct err e = { 0 };

    put_toy(w, "a", "mnist", 3);
    put_toy(w, "a", "gone", 2);
    world_start(w);
    wait_pods(w, 5);
    settle(w);
    err_set(&e, ERR_UNAVAILABLE, "connection lost");
    fake_delete(w->f, &kube_pods, S("a"), S("mnist-worker-1"));
    fake_delete(w->f, &toy_res, S("a"), S("gone"));
    fake_forget(w->f);
    fake_cut(w->f, &e);
    ok(run_until(w, has_three), "what went while nobody watched is made again");
    run_for(w, 120);
    ok(jv_exists(fake_get(w->f, &kube_pods, S("a"), S("mnist-worker-1"))), "the pod");
    is_int(sum_of(w, "muster_cached_objects"), 7, "and nothing of the deleted job is left");
    over(w);
}

static void Q23_what_others_have_is_not_kept(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world *w = world_new(17);

    for (int i = 0; i < 40; i++)
        fake_put(w->f, i % 2 ? &kube_pods : &kube_services,
                 arena_printf(a, "{'metadata': {'name': 'web-%d', 'namespace': 'a'}}", i).p);
    put_toy(w, "a", "mnist", 2);
    world_start(w);
    wait_pods(w, 22);
    settle(w);
    is_int(sum_of(w, "muster_cached_objects"), 5, "the job, its pods and its services alone");
    over(w);
}

static void Q29_nothing_is_left_of_deleted_jobs(void)
{
    struct world *w = world_new(14);
    char name[32];

    world_start(w);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        put_toy(w, "a", name, 2);
    }
    wait_pods(w, 60);
    settle(w);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        fake_delete(w->f, &toy_res, S("a"), str_of(name));
    }
    wait_pods(w, 0);
    settle(w);
    is_int(sum_of(w, "muster_cached_objects"), 0, "no pods, services or jobs");
    is_int((int64_t)w->c->jobs.n, 0, "nor their records");
    over(w);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    a_job_gets_its_pods_and_ends();
    Q14_a_taken_name_holds_up_only_itself("");
    Q14_a_taken_name_holds_up_only_itself(", 'labels': {'" LABEL_OPERATOR "': 'toy-controller'}");
    Q4_a_lost_answer_does_no_harm();
    Q24_a_big_job_does_not_delay_a_small_one();
    what_fails_for_all_is_tried_once();
    one_that_is_refused_does_not_stop_the_others();
    Q22_many_are_told_as_one();
    Q22_the_end_is_told_once();
    Q9_a_conflict_is_nobodys_business();
    Q14_a_service_without_owner_is_adopted();
    J5_a_finished_job_goes_at_its_time();
    J6_who_does_not_lead_writes_nothing();
    stopping_waits_for_answers();
    a_kind_that_is_not_served_holds_up_no_other();
    a_list_without_an_end_holds_up_no_other();
    deletions_are_noticed_after_an_outage();
    Q23_what_others_have_is_not_kept();
    Q29_nothing_is_left_of_deleted_jobs();
    return tap_done();
}
