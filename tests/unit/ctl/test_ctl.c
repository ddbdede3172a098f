/* The whole machinery over a server in memory. */

#include "ctl/ctl.h"

#include "fake.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"

static int64_t clock_step_ms;

static int64_t stepped_wall_ms(void)
{
    return wall_now_ms() + clock_step_ms;
}

struct world {
    struct loop *l;
    struct fake *f;
    struct ctl *c;
    bool (*until)(struct world *w);
    struct loop_timer *poll, *limit;
    bool timed_out;
    bool may_write;
};

static struct world *the;

static bool may_write(void *ctx)
{
    return ((struct world *)ctx)->may_write;
}

static void world_start(struct world *w)
{
    static const struct planner *const planners[] = { &toy_planner };
    static const struct plan_settings settings;
    struct ctl_opts o = {
        .planners = planners,
        .n = 1,
        .settings = &settings,
        .limits = { .page = 3, .backoff_max_ms = 200, .relist_max_ms = 50 },
        .may_write = may_write,
        .ctx = w,
        .wall_ms = stepped_wall_ms,
    };

    w->c = ctl_new(w->l, &w->f->api, &o);
    ctl_start(w->c);
}

static struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof(*w));

    w->l = loop_new();
    w->f = fake_new(w->l, 1);
    w->may_write = true;
    the = w;
    return w;
}

static void world_free(struct world *w)
{
    ok(w->f->broken == 0, "no rule was broken");
    ctl_free(w->c);
    fake_free(w->f);
    loop_stop(w->l);
    loop_run(w->l);
    loop_free(w->l);
    free(w);
}

/* ---- running the loop until something is so. loop_run ends for good, so uv is turned by hand. */

int uv_run(struct uv_loop_s *l, int mode);

static void on_limit(void *arg)
{
    ((struct world *)arg)->timed_out = true;
}

static void on_poll(void *arg)
{
    (void)arg;
}

static bool run_until(struct world *w, bool (*until)(struct world *w))
{
    w->timed_out = false;
    w->limit = loop_timer_start(w->l, 10000, 0, on_limit, w);
    w->poll = loop_timer_start(w->l, 1, 1, on_poll, w);
    while (!until(w) && !w->timed_out)
        uv_run(loop_uv(w->l), 1);
    loop_timer_stop(w->limit);
    loop_timer_stop(w->poll);
    return !w->timed_out;
}

static int64_t run_end_ms;
static bool time_is_over(struct world *w)
{
    return loop_now_ms(w->l) >= run_end_ms;
}

static void run_for(struct world *w, int64_t ms)
{
    run_end_ms = loop_now_ms(w->l) + ms;
    run_until(w, time_is_over);
}

static bool is_quiet(struct world *w)
{
    return ctl_is_synced(w->c) && ctl_is_idle(w->c);
}

static size_t want_pods;
static bool has_pods(struct world *w)
{
    return fake_count(w->f, &kube_pods) == want_pods &&
           fake_count(w->f, &kube_services) >= want_pods;
}

static bool wait_pods(struct world *w, size_t n)
{
    want_pods = n;
    return run_until(w, has_pods);
}

static void set_phase(struct world *w, str ns, str name, const char *phase)
{
    AUTO(arena) struct arena *a = arena_new();

    fake_set(w->f, &kube_pods, ns, name,
             jobj(a, { "status", jobj(a, { "phase", jstr(a, str_of(phase)) }) }));
}

static void put_toy(struct world *w, const char *ns, const char *name, int replicas)
{
    AUTO(arena) struct arena *a = arena_new();

    fake_put(
        w->f, &toy_res,
        arena_printf(a, "{'metadata': {'name': '%s', 'namespace': '%s'}, 'spec': {'replicas': %d}}",
                     name, ns, replicas)
            .p);
}

static int64_t sum_of(struct world *w, const char *family);

static const char *sum_family;
static double sum_value;
static void on_sample(void *ctx, const struct ctl_sample *s)
{
    (void)ctx;
    if (strcmp(s->family, sum_family) == 0 && strcmp(s->suffix, "_bucket") != 0)
        sum_value += s->value;
}

static int64_t sum_of(struct world *w, const char *family)
{
    sum_family = family;
    sum_value = 0;
    ctl_stats(w->c, on_sample, NULL);
    return (int64_t)sum_value;
}

static int events_with(struct world *w, const char *reason)
{
    int n = 0;

    for (size_t i = 0; i < w->f->objects.n; i++)
        n += w->f->objects.at[i].res == &kube_events &&
             str_eqz(jv_str(jv_at(jdoc_root(w->f->objects.at[i].doc), "reason"), S("")), reason);
    return n;
}

/* ---- */

static void a_job_gets_its_pods_and_ends(void)
{
    struct world *w = world_new();

    put_toy(w, "a", "mnist", 4);
    world_start(w);
    ok(wait_pods(w, 4), "four pods and services");
    ok(run_until(w, is_quiet), "and then silence");
    is_int(w->f->count[KUBE_GET], 0, "nothing was read one by one");
    is_int(w->f->conflicts, 0, "no conflict");
    is_int(w->f->count[KUBE_CREATE], 16, "four pods, four services, an event each");
    is_int(w->f->lists_max, 1, "one list at a time");
    for (int i = 0; i < 4; i++) {
        AUTO(arena) struct arena *a = arena_new();
        set_phase(w, S("a"), arena_printf(a, "mnist-worker-%d", i), "Running");
    }
    run_for(w, 20);
    run_until(w, is_quiet);
    is_int(jv_int(jv_at(fake_get(w->f, &toy_res, S("a"), S("mnist")), "status", "ready"), 0), 4,
           "status counts them");
    for (int i = 0; i < 4; i++) {
        AUTO(arena) struct arena *a = arena_new();
        set_phase(w, S("a"), arena_printf(a, "mnist-worker-%d", i), "Succeeded");
    }
    run_for(w, 20);
    run_until(w, is_quiet);
    ok(jv_bool(jv_at(fake_get(w->f, &toy_res, S("a"), S("mnist")), "status", "done"), false),
       "done");
    is_int(events_with(w, "ToySucceeded"), 1, "said so once");
    is_int(sum_of(w, "training_operator_jobs_successful_total"), 1, "counted once");
    is_int(sum_of(w, "created_pods_total"), 4, "pods created");
    int64_t passes = sum_of(w, "controller_runtime_reconcile_total");
    fake_delete(w->f, &kube_pods, S("a"), S("mnist-worker-0"));
    run_for(w, 20);
    is_int(sum_of(w, "controller_runtime_reconcile_total"), passes,
           "what happens to a finished job's pods costs no pass");
    is_int(w->f->count[KUBE_GET], 0, "still nothing read");
    world_free(w);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    a_job_gets_its_pods_and_ends();
    return tap_done();
}
