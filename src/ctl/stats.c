/* Counting, and telling as Prometheus has it. */

#include "ctl/stats.h"

#include "base/mem.h"
#include "ctl/internal.h"

#include <stdio.h>

enum { NAMESPACES_MAX = 10000, N_JOB_COUNTERS = COUNT_RESTARTED + 1 };

struct job_counts {
    const char *framework;
    uint64_t n[N_JOB_COUNTERS];
    uint16_t n_framework;
    char key[]; /* "framework/namespace" */
};

static const struct {
    const char *name, *help;
} job_families[N_JOB_COUNTERS] = {
    [COUNT_CREATED] = { "training_operator_jobs_created_total", "Counts number of jobs created" },
    [COUNT_DELETED] = { "training_operator_jobs_deleted_total", "Counts number of jobs deleted" },
    [COUNT_SUCCEEDED] = { "training_operator_jobs_successful_total",
                          "Counts number of jobs successful" },
    [COUNT_FAILED] = { "training_operator_jobs_failed_total", "Counts number of jobs failed" },
    [COUNT_RESTARTED] = { "training_operator_jobs_restarted_total",
                          "Counts number of jobs restarted" },
};

static const struct {
    const char *name, *help;
} plain_families[N_PLAIN_COUNTERS] = {
    [PODS_CREATED] = { "created_pods_total", "The total number of created pods" },
    [PODS_DELETED] = { "deleted_pods_total", "The total number of deleted pods" },
    [PODS_FAILED] = { "failed_pods_total", "The total number of pods that could not be created" },
    [POD_GROUPS_CREATED] = { "created_pod_groups_total", "The total number of created pod groups" },
    [POD_GROUPS_DELETED] = { "deleted_pod_groups_total", "The total number of deleted pod groups" },
    [SERVICES_CREATED] = { "succeeded_service_creation_total",
                           "The total number of created services" },
    [SERVICES_FAILED] = { "failed_service_creation_total",
                          "The total number of services that could not be created" },
};

static const struct {
    const char *plural;
    enum plan_kind kind;
    bool fine;
    enum plain_counter counter;
} step_rows[] = {
    { "pods", PLAN_CREATE, true, PODS_CREATED },
    { "pods", PLAN_CREATE, false, PODS_FAILED },
    { "pods", PLAN_DELETE, true, PODS_DELETED },
    { "podgroups", PLAN_CREATE, true, POD_GROUPS_CREATED },
    { "podgroups", PLAN_DELETE, true, POD_GROUPS_DELETED },
    { "services", PLAN_CREATE, true, SERVICES_CREATED },
    { "services", PLAN_CREATE, false, SERVICES_FAILED },
};

static const double bounds_s[LATENCY_BUCKETS] = { 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                  0.1,    0.2,   0.5,   1,     2,    5,    10 };
static const char *const bound_texts[LATENCY_BUCKETS] = { "0.0005", "0.001", "0.002", "0.005",
                                                          "0.01",   "0.02",  "0.05",  "0.1",
                                                          "0.2",    "0.5",   "1",     "2",
                                                          "5",      "10" };

void stats_done(struct stats *st)
{
    MAP_EACH (s, &st->jobs)
        free(s->value);
    map_done(&st->jobs);
    free(st->kinds);
}

void stats_latency(struct latency *l, int64_t us)
{
    double s = (double)us / 1e6;
    size_t i = 0;

    while (i < LATENCY_BUCKETS && s > bounds_s[i])
        i++;
    l->n[i]++;
    l->count++;
    l->sum_s += s;
}

void stats_job(struct stats *st, const char *framework, str ns, enum plan_counter c, int64_t n)
{
    AUTO(arena) struct arena *a = arena_new();

    str key = arena_printf(a, "%s/%" PRI_STR, framework, STR_ARG(ns));
    struct job_counts *jc = map_get(&st->jobs, key);
    if (!jc && st->jobs.n >= NAMESPACES_MAX) { /* namespaces come and go; samples cannot */
        key = arena_printf(a, "%s/", framework);
        jc = map_get(&st->jobs, key);
    }
    if (!jc) {
        jc = mem_new(sizeof(*jc) + key.n + 1);
        memcpy(jc->key, key.p, key.n);
        jc->framework = framework;
        jc->n_framework = (uint16_t)strlen(framework);
        map_put(&st->jobs, str_of(jc->key), jc);
    }
    jc->n[c] += (uint64_t)n;
}

void stats_step(struct stats *st, enum plan_kind kind, const struct kube_resource *res, bool fine)
{
    for (size_t i = 0; i < COUNT(step_rows); i++)
        if (step_rows[i].kind == kind && step_rows[i].fine == fine &&
            strcmp(step_rows[i].plural, res->plural) == 0)
            st->plain[step_rows[i].counter]++;
}

/* ---- telling */

struct teller {
    void (*on)(void *ctx, const struct ctl_sample *s);
    void *ctx;
};

static void tell(const struct teller *t, const char *family, const char *help, const char *type,
                 double value, struct ctl_label label)
{
    struct ctl_sample s = { .family = family,
                            .help = help,
                            .type = type,
                            .suffix = "",
                            .labels = { label },
                            .n_labels = label.key ? 1 : 0,
                            .value = value };

    t->on(t->ctx, &s);
}

static const struct ctl_label no_label;

static void tell_jobs(const struct teller *t, const struct stats *st)
{
    for (size_t f = 0; f < N_JOB_COUNTERS; f++)
        MAP_EACH (slot, &st->jobs) {
            const struct job_counts *jc = slot->value;
            struct ctl_sample s = { .family = job_families[f].name,
                                    .help = job_families[f].help,
                                    .type = "counter",
                                    .suffix = "",
                                    .labels = { { "framework", str_of(jc->framework) },
                                                { "job_namespace",
                                                  str_of(jc->key + jc->n_framework + 1) } },
                                    .n_labels = 2,
                                    .value = (double)jc->n[f] };
            if (jc->n[f])
                t->on(t->ctx, &s);
        }
}

static void tell_latency(const struct teller *t, const char *family, const char *help,
                         const struct latency *l)
{
    struct ctl_sample s = { .family = family, .help = help, .type = "histogram" };
    uint64_t sum = 0;

    s.suffix = "_bucket";
    s.n_labels = 1;
    for (size_t i = 0; i <= LATENCY_BUCKETS; i++) {
        sum += l->n[i];
        s.labels[0] =
            (struct ctl_label){ "le", i < LATENCY_BUCKETS ? str_of(bound_texts[i]) : S("+Inf") };
        s.value = (double)sum;
        t->on(t->ctx, &s);
    }
    s.n_labels = 0;
    s.suffix = "_sum";
    s.value = l->sum_s;
    t->on(t->ctx, &s);
    s.suffix = "_count";
    s.value = (double)l->count;
    t->on(t->ctx, &s);
}

static void tell_kinds(const struct teller *t, const struct ctl *c)
{
    const char *total = "controller_runtime_reconcile_total";
    const char *total_help = "Total number of reconciliations per controller";

    for (size_t i = 0; i < c->n_kinds; i++) {
        const struct kind_stats *k = &c->stats.kinds[i];
        const struct {
            const char *result;
            uint64_t n;
        } rows[] = { { "success", k->passes - k->errors }, { "error", k->errors } };
        for (size_t r = 0; r < COUNT(rows); r++) {
            struct ctl_sample s = {
                .family = total,
                .help = total_help,
                .type = "counter",
                .suffix = "",
                .labels = { { "controller", str_of(c->kinds[i].planner->controller) },
                            { "result", str_of(rows[r].result) } },
                .n_labels = 2,
                .value = (double)rows[r].n,
            };
            t->on(t->ctx, &s);
        }
    }
    for (size_t i = 0; i < c->n_kinds; i++)
        tell(t, "controller_runtime_reconcile_errors_total",
             "Total number of reconciliation errors per controller", "counter",
             (double)c->stats.kinds[i].errors,
             (struct ctl_label){ "controller", str_of(c->kinds[i].planner->controller) });
    for (size_t i = 0; i < c->n_kinds; i++)
        tell(t, "muster_conflicts_total", "Writes that met a newer version of their object",
             "counter", (double)c->stats.kinds[i].conflicts,
             (struct ctl_label){ "controller", str_of(c->kinds[i].planner->controller) });
}

static void tell_caches(const struct teller *t, const struct ctl *c)
{
    const char *cached = "muster_cached_objects", *cached_help = "Objects in the caches";
    const char *again = "muster_watch_restarts_total", *again_help = "Watches begun again";
    const char *lists = "muster_lists_total", *lists_help = "Lists begun";
#define EACH(family, help, type, of_kind, of_store)                                           \
    do {                                                                                      \
        for (size_t i = 0; i < c->n_stores; i++)                                              \
            tell(t, family, help, type, (double)(of_store),                                   \
                 (struct ctl_label){ "resource", str_of(c->stores[i].res->plural) });         \
        for (size_t i = 0; i < c->n_kinds; i++)                                               \
            tell(t, family, help, type, (double)(of_kind),                                    \
                 (struct ctl_label){ "resource", str_of(c->kinds[i].planner->res->plural) }); \
    } while (0)
    EACH(cached, cached_help, "gauge", c->kinds[i].jobs.n, c->stores[i].items.n);
    EACH(again, again_help, "counter", informer_restarts(c->kinds[i].inf),
         informer_restarts(c->stores[i].inf));
    EACH(lists, lists_help, "counter", informer_lists(c->kinds[i].inf),
         informer_lists(c->stores[i].inf));
#undef EACH
}

void ctl_stats(const struct ctl *c, void (*on)(void *ctx, const struct ctl_sample *s), void *ctx)
{
    const struct teller t = { on, ctx };

    tell_jobs(&t, &c->stats);
    for (size_t i = 0; i < N_PLAIN_COUNTERS; i++)
        tell(&t, plain_families[i].name, plain_families[i].help, "counter",
             (double)c->stats.plain[i], no_label);
    tell_kinds(&t, c);
    tell_latency(&t, "controller_runtime_reconcile_time_seconds",
                 "From the start of a pass to the last answer to its requests", &c->stats.pass);
    tell_latency(&t, "muster_reaction_seconds", "From an event to the requests that it causes",
                 &c->stats.reaction);
    struct ctl_label name = { "name", S("jobs") };
    tell(&t, "workqueue_depth", "Current depth of workqueue", "gauge", (double)c->queue.n_ready,
         name);
    tell(&t, "workqueue_adds_total", "Total number of adds handled by workqueue", "counter",
         (double)c->queue.adds, name);
    tell(&t, "workqueue_retries_total", "Total number of retries handled by workqueue", "counter",
         (double)c->queue.retries, name);
    tell(&t, "muster_requests_in_flight", "Requests sent and not answered", "gauge",
         (double)c->sender.in_flight, no_label);
    tell(&t, "muster_events_sent_total", "Events written", "counter",
         (double)events_sent(c->events), no_label);
    tell(&t, "muster_events_dropped_total", "Events not written: rate limit or error", "counter",
         (double)events_dropped(c->events), no_label);
    tell_caches(&t, c);
}
