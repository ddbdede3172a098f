/* muster top of jobs and of their replicas. */

#include "base/map.h"
#include "base/quantity.h"
#include "cli/pods.h"
#include "cli/top.h"

#include <inttypes.h>

static bool is_running(jv pod)
{
    return str_eqz(jv_str(jv_at(pod, "status", "phase"), STR_NONE), "Running");
}

/* nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915 ... : what its containers ask for. */
static int64_t gpus_of(struct arena *a, jv pod)
{
    int64_t n = 0;

    JV_EACH (c, jv_at(pod, "spec", "containers"))
        JV_EACH (it, jv_at(c.value, "resources", "limits"))
            if (str_ends(it.key, S("/gpu")) || str_starts(it.key, S("gpu."))) {
                struct quantity q;
                n += quantity_from_json(a, it.value, &q, NULL) == 0 ? quantity_value(&q) : 0;
            }
    return n;
}

static str key_of(struct arena *a, jv obj)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(meta_namespace(obj)),
                        STR_ARG(meta_name(obj)));
}

struct job_metrics {
    struct map by_key; /* "NS/NAME" to the node of a PodMetrics */
};

static struct top_used used_by(struct arena *a, const struct job_metrics *m, jv pod)
{
    const struct jnode *found = map_get(&m->by_key, key_of(a, pod));

    return top_used_by_pod(a, (jv){ found });
}

static int ask_metrics(struct session *s, str ns, str labels, struct job_metrics *out)
{
    struct ask q = { .req = {
                         .verb = KUBE_LIST, .res = &top_pod_metrics, .ns = ns, .labels = labels } };
    int code = top_ask(s, &q, 1);

    if (code >= 0)
        return code;
    JV_EACH (it, jv_at(q.obj, "items"))
        map_put(&out->by_key, key_of(s->a, it.value), (void *)(uintptr_t)it.value.node);
    return -1;
}

static void add_job(struct session *s, struct table *t, const struct top_flags *f,
                    const struct job_found *j, const struct job_metrics *m, jv pods)
{
    struct job_sum about = job_sum(s->a, j, JV_ABSENT);
    struct job_pods own = job_pods_of(s->a, j, pods);
    struct top_used sum = { 0 };
    int64_t running = 0, gpus = 0;
    str cells[TABLE_COLUMNS];
    size_t n = 0;

    for (size_t i = 0; i < own.n; i++) {
        struct top_used one = used_by(s->a, m, own.at[i].pod);
        if (!is_running(own.at[i].pod))
            continue;
        running++;
        gpus += gpus_of(s->a, own.at[i].pod);
        sum.known = sum.known || one.known;
        sum.cpu_milli += one.cpu_milli;
        sum.memory_bytes += one.memory_bytes;
    }
    sum.known = sum.known || !running;
    if (f->all)
        cells[n++] = meta_namespace(j->obj);
    cells[n++] = job_title(s->a, j->kind, j->obj);
    cells[n++] = arena_printf(s->a, "%" PRId64 "/%" PRId64, running, about.wanted);
    cells[n++] = top_cpu(s->a, &sum);
    cells[n++] = top_memory(s->a, &sum);
    cells[n++] = arena_printf(s->a, "%" PRId64, gpus);
    table_add(t, cells);
}

int top_jobs(struct session *s, const struct top_flags *f)
{
    str ns = f->all ? STR_NONE : s->ns;
    struct job_metrics m = { 0 };
    struct jobs jobs;
    struct table t;
    jv pods = JV_ABSENT;
    size_t shown = 0;
    int code = ask_metrics(s, ns, S(LABEL_JOB), &m);

    if (code < 0)
        code = jobs_list(s, NULL, ns, str_of(f->labels), &jobs);
    if (code < 0)
        code = jobs_pods(s, ns, STR_NONE, &pods);
    if (code < 0) {
        table_init(&t, s->a, f->all ? "NAMESPACE" : "");
        for (str rest = S("NAME|RUNNING|CPU(cores)|MEMORY(bytes)|GPUS"); rest.p;)
            table_column(&t, str_cut(&rest, '|'));
        for (size_t i = 0; i < jobs.n; i++)
            if (!job_is_over(jobs.at[i].obj)) {
                add_job(s, &t, f, &jobs.at[i], &m, pods);
                shown++;
            }
        if (shown)
            code = top_print(&t, f->bare);
    }
    map_done(&m.by_key);
    if (code >= 0)
        return code;
    if (f->all)
        command_note("no jobs are running");
    else
        command_note("no jobs are running in namespace %" PRI_STR, STR_ARG(s->ns));
    return EXIT_DONE;
}

int top_replicas(struct session *s, const struct top_flags *f, const char *word)
{
    struct job_metrics m = { 0 };
    struct job_found j;
    struct table t;
    jv pods = JV_ABSENT;
    int code = jobs_find(s, word, &j);

    if (code < 0)
        code = jobs_pods(s, s->ns, meta_name(j.obj), &pods);
    if (code < 0)
        code = ask_metrics(
            s, s->ns, arena_printf(s->a, LABEL_JOB "=%" PRI_STR, STR_ARG(meta_name(j.obj))), &m);
    if (code < 0) {
        struct job_pods own = job_pods_of(s->a, &j, pods);
        table_init(&t, s->a, "REPLICA|STATE|CPU(cores)|MEMORY(bytes)|GPUS|POD");
        for (size_t i = 0; i < own.n; i++) {
            jv pod = own.at[i].pod;
            struct top_used u = used_by(s->a, &m, pod);
            u.known = u.known || !is_running(pod);
            str cells[] = { replica_name(s->a, &own.at[i]),
                            pod_state(s->a, pod).state,
                            top_cpu(s->a, &u),
                            top_memory(s->a, &u),
                            arena_printf(s->a, "%" PRId64,
                                         is_running(pod) ? gpus_of(s->a, pod) : 0),
                            meta_name(pod) };
            table_add(&t, cells);
        }
        if (!own.n)
            command_note("%" PRI_STR " has no pods", STR_ARG(job_title(s->a, j.kind, j.obj)));
        code = own.n ? top_print(&t, f->bare) : EXIT_DONE;
    }
    map_done(&m.by_key);
    return code;
}
