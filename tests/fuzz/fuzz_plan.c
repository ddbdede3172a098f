/* Planners: whatever a job and its pods hold, planning ends, crashes nothing, and the same input
 * gives the same plan. The first byte chooses: JSON, one a line (the job, then a list of pods and
 * a list of services), or a sound job with changes: four bytes each say where and what. */

#include "base/json.h"
#include "job/kinds.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW_MS = 1735725600, MANY_PODS = 64, MANY_PRINTED = 6 };

static const char sound_job[] =
    "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"j\","
    "\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\",\"generation\":1,\"annotations\":{"
    "\"muster.dev/restarts\":\"{\\\"since\\\":\\\"1970-01-21T02:00:00Z\\\",\\\"n\\\":1,\\\"last\\\":["
    "\\\"p1\\\"]}\"}},\"spec\":{\"runPolicy\":{\"backoffLimit\":3,\"activeDeadlineSeconds\":100,"
    "\"ttlSecondsAfterFinished\":5,\"cleanPodPolicy\":\"Running\",\"suspend\":false},"
    "\"enableDynamicWorker\":false,\"successPolicy\":\"\",\"tfReplicaSpecs\":{\"Worker\":{"
    "\"replicas\":3,\"restartPolicy\":\"ExitCode\",\"template\":{\"metadata\":{\"labels\":{"
    "\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"i\",\"env\":[],"
    "\"ports\":[{\"name\":\"tfjob-port\",\"containerPort\":2222}]}]}}},\"ps\":{\"restartPolicy\":"
    "\"OnFailure\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":"
    "\"i\"}]}}}}},\"status\":{\"conditions\":[{\"type\":\"Created\",\"status\":\"True\",\"reason\":"
    "\"TFJobCreated\",\"message\":\"m\",\"lastUpdateTime\":\"1970-01-21T02:00:00Z\","
    "\"lastTransitionTime\":\"1970-01-21T02:00:00Z\"},{\"type\":\"Running\",\"status\":\"True\"}],"
    "\"replicaStatuses\":{\"Worker\":{\"active\":2},\"PS\":{\"failed\":1}},\"startTime\":"
    "\"1970-01-21T02:00:00Z\",\"completionTime\":null}}";

static const char sound_pods[] =
    "[{\"metadata\":{\"name\":\"j-worker-0\",\"uid\":\"p0\",\"labels\":{"
    "\"training.kubeflow.org/replica-type\":\"worker\",\"training.kubeflow.org/replica-index\":"
    "\"0\"},\"ownerReferences\":[{\"uid\":\"u\",\"controller\":true}]},\"status\":{\"phase\":"
    "\"Running\",\"containerStatuses\":[{\"name\":\"tensorflow\",\"restartCount\":1,\"state\":{"
    "\"waiting\":{\"reason\":\"R\",\"message\":\"m\"}}}]}},{\"metadata\":{\"name\":\"j-worker-1\","
    "\"uid\":\"p1\",\"labels\":{\"training.kubeflow.org/replica-type\":\"worker\","
    "\"training.kubeflow.org/replica-index\":\"1\"},\"ownerReferences\":[{\"uid\":\"u\","
    "\"controller\":true}]},\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":"
    "\"DisruptionTarget\",\"status\":\"False\"}],\"containerStatuses\":[{\"name\":\"tensorflow\","
    "\"state\":{\"terminated\":{\"exitCode\":137,\"containerID\":\"c\"}}}]}}]";

static const char sound_services[] =
    "[{\"metadata\":{\"name\":\"j-worker-0\",\"uid\":\"s0\",\"labels\":{"
    "\"training.kubeflow.org/replica-type\":\"worker\",\"training.kubeflow.org/replica-index\":"
    "\"0\"},\"ownerReferences\":[{\"uid\":\"u\",\"controller\":true}]}},{\"metadata\":{\"name\":"
    "\"j-ps-0\",\"uid\":\"s1\",\"labels\":{\"training.kubeflow.org/replica-type\":\"ps\","
    "\"training.kubeflow.org/replica-index\":\"0\"}}}]";

/* What may stand anywhere. */
static const char *const junk[] = {
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "-1",
    "100000",
    "2147483647",
    "9223372036854775807",
    "-9223372036854775808",
    "1e400",
    "0.5",
    "\"\"",
    "\"True\"",
    "\"Failed\"",
    "\"Succeeded\"",
    "\"Running\"",
    "\"Pending\"",
    "\"Suspended\"",
    "\"Restarting\"",
    "\"Never\"",
    "\"OnFailure\"",
    "\"Always\"",
    "\"ExitCode\"",
    "\"All\"",
    "\"None\"",
    "\"AllWorkers\"",
    "\"worker\"",
    "\"1970-01-21T02:00:00Z\"",
    "\"9999-12-31T23:59:59Z\"",
    "\"\\u0000/\\\"\"",
    "[]",
    "{}",
    "[null]",
    "[{}]",
    "{\"\":{}}",
    "{\"Worker\":{}}",
    "{\"Chief\":{},\"master\":{\"replicas\":2}}",
    "[[[[]]]]",
    "\"UDP\"",
    "53",
    "128",
    "127",
    "\"Job j has failed because it has reached the "
    "specified backoff limit\"",
};

struct source {
    const uint8_t *at;
    size_t left;
};

static uint8_t next(struct source *s)
{
    if (!s->left)
        return 0;
    s->left--;
    return *s->at++;
}

/* v with something changed, somewhere: below one of its children or, now and then, right here. */
static jv changed(struct arena *a, jv v, struct source *s, int depth)
{
    size_t n = jv_len(v);
    uint8_t where = next(s);

    if (depth && (n == 0 || where % 16 == 0)) {
        uint8_t what = next(s);
        return what == 255 ? JV_ABSENT
                           : json_parse(a, str_of(junk[what % COUNT(junk)]), NULL, NULL);
    }
    struct jv_iter it = jv_iter(v);
    for (size_t i = 0; n && i <= where % n; i++)
        jv_next(&it);
    if (n && jv_is(v, JV_ARR))
        return jv_with_index(a, v, it.i - 1, changed(a, it.value, s, depth + 1));
    return n ? jv_with_key(a, v, it.key, changed(a, it.value, s, depth + 1)) : v;
}

/* The sound job as one of another kind. */
static jv sound_of(struct arena *a, const struct job_kind *kind)
{
    jv job = json_parse(a, str_of(sound_job), NULL, NULL);
    jv map = jv_at(job, "spec", "tfReplicaSpecs");
    const struct kube_resource *res = kind->planner.res;
    jv version = jstr(a, arena_printf(a, "%s/%s", res->group, res->version));

    for (struct jv_iter it = jv_iter(map); kind->planner.main_container && jv_next(&it);) {
        jv list = jv_at(it.value, "template", "spec", "containers");
        jv main = jv_with_key(a, jv_index(list, 0), S("name"),
                              jstr(a, str_of(kind->planner.main_container)));
        map = jv_with_key(a, map, it.key,
                          jv_with(a, it.value, jarr(a, main), "template", "spec", "containers"));
    }
    job = jv_with(a, job, JV_ABSENT, "spec", "tfReplicaSpecs");
    job = jv_with(a, job, map, "spec", kind->specs);
    return jv_with(a, jv_with(a, job, jstr(a, str_of(res->kind)), "kind"), version, "apiVersion");
}

static struct observed *observe(struct arena *a, jv job, jv pods, jv services)
{
    static const struct plan_settings settings = { .legacy_labels = true };
    struct observed *seen = ARENA_NEW(a, struct observed);
    struct seen_pod *p = ARENA_ARRAY(a, struct seen_pod, MANY_PODS);
    struct seen_service *q = ARENA_ARRAY(a, struct seen_service, MANY_PODS);

    *seen = (struct observed){ .settings = &settings, .now_ms = NOW_MS, .job = job };
    for (struct jv_iter it = jv_iter(pods); seen->n_pods < MANY_PODS && jv_next(&it);)
        p[seen->n_pods++] = seen_pod_read(a, it.value, "tensorflow");
    for (struct jv_iter it = jv_iter(services); seen->n_services < MANY_PODS && jv_next(&it);)
        q[seen->n_services++] = seen_service_read(a, it.value);
    seen->pods = p;
    seen->services = q;
    return seen;
}

/* All of a small plan, the first steps of a large one. */
static str plan_text(struct arena *a, const struct observed *seen)
{
    struct plan *p = plan_new(a);
    struct err e = { 0 };

    if (job_plan(seen, p, &e) < 0)
        return arena_str(a, str_of(e.msg));
    size_t n = p->n_steps;
    if (seen->job.node && n > MANY_PRINTED)
        p->n_steps = MANY_PRINTED;
    return arena_printf(a, "%zu %" PRI_STR, n, STR_ARG(json_text(a, plan_json(a, p))));
}

static bool is_small(jv job)
{
    const struct job_kind *kind = job_kind_of(job);
    AUTO(arena) struct arena *a = arena_new();

    return !kind || job_total(job_read(a, kind, job, NULL)) < 2000;
}

static void try(struct arena *a, jv job, jv pods, jv services)
{
    const struct observed *seen = observe(a, job, pods, services);
    struct problems ps = { .a = a };
    jv slim = job_slim(a, job);

    if (job_kind_of(job))
        job_validate(job_kind_of(job), &ps, job, slim);
    problems_text(a, &ps);
    if (!is_small(job))
        return; /* its texts would only take time */
    if (!str_eq(plan_text(a, seen), plan_text(a, seen)))
        abort();
    struct observed later = *seen;
    later.job = slim;
    plan_text(a, &later);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    jv job, pods, services;

    if (size == 0)
        return 0;
    if (data[0] == '{') {
        str rest = arena_str(a, (str){ (const char *)data, size });
        job = json_parse(a, str_cut(&rest, '\n'), NULL, NULL);
        pods = rest.p ? json_parse(a, str_cut(&rest, '\n'), NULL, NULL) : JV_ABSENT;
        services = rest.p ? json_parse(a, rest, NULL, NULL) : JV_ABSENT;
    } else {
        struct source s = { data, size };
        const struct job_kind *kind = job_kind_at(next(&s) % 8);
        job = sound_of(a, kind ? kind : job_kind_at(0));
        pods = json_parse(a, str_of(sound_pods), NULL, NULL);
        services = json_parse(a, str_of(sound_services), NULL, NULL);
        for (int i = 0; s.left && i < 64; i++) {
            uint8_t which = next(&s);
            jv *doc = which % 4 < 2 ? &job : which % 4 == 2 ? &pods : &services;
            *doc = changed(a, *doc, &s, 0);
        }
    }
    try(a, job, pods, services);
    return 0;
}
