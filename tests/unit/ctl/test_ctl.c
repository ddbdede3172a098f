/* The whole machinery over a server in memory that behaves. */

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
    over(w);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    a_job_gets_its_pods_and_ends();
    return tap_done();
}
