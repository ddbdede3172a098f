/* A job of 1,000 workers: what planning costs, and that a plan stays small however large its pods
 * are. Bounds are loose, for slow machines and sanitizers; the times are printed. */

#include "base/time.h"
#include "tap.h"
#include "world.h"

#include <time.h>

enum { MANY = 1000 };

/* Of the CPU: what others do on this machine does not count. */
static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct observed *observe(struct arena *a, jv job, size_t n, enum pod_phase phase)
{
    static const struct plan_settings settings = { 0 };
    struct observed *seen = ARENA_NEW(a, struct observed);
    struct seen_pod *pods = ARENA_ARRAY(a, struct seen_pod, n + 1);
    struct seen_service *services = ARENA_ARRAY(a, struct seen_service, n + 1);

    for (size_t i = 0; i < n; i++) {
        str name = arena_printf(a, "big-worker-%zu", i);
        pods[i] = (struct seen_pod){ .name = name,
                                     .uid = name,
                                     .owner = S("u"),
                                     .role = S("worker"),
                                     .index = (int64_t)i,
                                     .phase = phase };
        services[i] = (struct seen_service){
            .name = name, .uid = name, .owner = S("u"), .role = S("worker"), .index = (int64_t)i
        };
    }
    *seen = (struct observed){ .settings = &settings,
                               .now_ms = 1735725600000,
                               .job = job,
                               .pods = pods,
                               .n_pods = n,
                               .services = services,
                               .n_services = n };
    return seen;
}

static struct jdoc *big_job(void)
{
    return J("{'apiVersion':'kubeflow.org/v1','kind':'TFJob','metadata':{'name':'big',"
             "'namespace':'n','uid':'u','resourceVersion':'1'},'spec':{'tfReplicaSpecs':{'Worker':"
             "{'replicas':1000,'template':{'spec':{'containers':[{'name':'tensorflow','image':'i'"
             "}]}}}}}}");
}

static void plans_a_thousand_pods_quickly(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = big_job();
    const struct observed *seen = observe(a, jdoc_root(d), 0, POD_PENDING);
    size_t before = arena_size(a), bytes = 0;
    double start = now_ms();
    struct plan *p = plan_new(a);

    is_int(job_planner(0)->plan(seen, p, NULL), 0, "a job of 1,000 workers is planned");
    double planned = now_ms();
    is_int((int64_t)p->n_steps, 2 * MANY + 1, "2,000 creates and one status");
    ok(arena_size(a) - before < 2 * 1024 * 1024, "the plan takes %zu KB",
       (arena_size(a) - before) / 1024);
    for (size_t i = 0; i < p->n_steps; i++) {
        AUTO(arena) struct arena *each = arena_new();
        bytes += json_text(each, step_object(each, &p->steps[i])).n;
    }
    ok(planned - start < 100, "planned in %.2f ms, %zu MB of text made in %.0f ms", planned - start,
       bytes >> 20, now_ms() - planned);
}

static void replans_a_thousand_pods_quickly(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = big_job();
    enum { ROUNDS = 20 };
    jv status = jdoc_root(d);
    struct observed *seen = observe(a, jdoc_root(d), MANY, POD_RUNNING);
    struct plan *first = plan_new(a);

    job_planner(0)->plan(seen, first, NULL);
    is_int((int64_t)first->n_steps, 1, "with all pods running the status is written");
    status = jv_with(a, status, jv_get(step_object(a, &first->steps[0]), S("status")), "status");
    seen->job = status;
    double start = now_ms();
    size_t steps = 0;
    for (int i = 0; i < ROUNDS; i++) {
        AUTO(arena) struct arena *each = arena_new();
        struct plan *p = plan_new(each);
        job_planner(0)->plan(seen, p, NULL);
        steps += p->n_steps + p->n_notes;
    }
    double each_ms = (now_ms() - start) / ROUNDS;
    is_int((int64_t)steps, 0, "then there is nothing to do");
    ok(each_ms < 10, "planned again in %.3f ms", each_ms);
}

/* The annotation that counts restarts names them, and a server takes 256 KB. */
static void restarts_of_very_many_pods_are_counted_in_turns(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = big_job();
    enum { VERY_MANY = 8000 };
    jv job = jv_with(a, jdoc_root(d), jint(a, VERY_MANY), "spec", "tfReplicaSpecs", "Worker",
                     "replicas");
    struct plan *p = plan_new(a);
    size_t deletes = 0;

    job =
        jv_with(a, job, jstrz(a, "OnFailure"), "spec", "tfReplicaSpecs", "Worker", "restartPolicy");
    job = jv_with(a, job, jint(a, 100000), "spec", "runPolicy", "backoffLimit");
    job_planner(0)->plan(observe(a, job, VERY_MANY, POD_FAILED), p, NULL);
    for (size_t i = 0; i < p->n_steps; i++)
        deletes += p->steps[i].kind == PLAN_DELETE;
    is_int((int64_t)deletes, 1000, "a thousand are restarted at once");
    jv patch = step_object(a, &p->steps[0]);
    str text = jv_str(jv_at(patch, "metadata", "annotations", "muster.dev/restarts"), S(""));
    ok(text.n > 1000 && text.n < 64 * 1024, "and counted in %zu bytes", text.n);
    ok(str_contains(text, S("\"n\":1000,")), "each of them once");
}

int main(void)
{
    plans_a_thousand_pods_quickly();
    replans_a_thousand_pods_quickly();
    restarts_of_very_many_pods_are_counted_in_turns();
    return tap_done();
}
