/* /metrics in Prometheus' text format: requests under kube-apiserver's names, the rest under ours.
 */

#include "api/metrics.h"

#include "base/mem.h"
#include "loop/watchdog.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VERBS = VERB_OTHER + 1, CODES = 5, MAX_SERIES = 2000 };

static const double bounds_s[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5 };
enum { BOUNDS = COUNT(bounds_s) };

struct series {
    char name[128]; /* verb|resource|code */
    uint64_t n;
};

struct metrics {
    struct map by_name;
    uint64_t buckets[VERBS][BOUNDS + 1];
    uint64_t sum_us[VERBS];
};

struct metrics *metrics_new(void)
{
    struct metrics *m = mem_new(sizeof(*m));

    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    MAP_EACH (s, &m->by_name)
        free(s->value);
    map_done(&m->by_name);
    free(m);
}

static void observe(struct metrics *m, enum api_verb verb, int64_t us)
{
    size_t i = 0;

    while (i < BOUNDS && (double)us / 1e6 > bounds_s[i])
        i++;
    m->buckets[verb][i]++;
    m->sum_us[verb] += us > 0 ? (uint64_t)us : 0;
}

void metrics_request(const struct api_req *r, int code)
{
    struct metrics *m = r->api->metrics;
    char name[128];
    str resource = r->res ? r->res->plural : S("");
    int n = snprintf(name, sizeof(name), "%s|%.*s|%d", verb_name(r->verb),
                     (int)(resource.n < 60 ? resource.n : 60), resource.p ? resource.p : "", code);

    if (n <= 0 || (size_t)n >= sizeof(name))
        return;
    struct series *s = map_get(&m->by_name, (str){ name, (size_t)n });
    if (!s) {
        if (m->by_name.n >= MAX_SERIES)
            return;
        s = mem_new(sizeof(*s));
        memcpy(s->name, name, (size_t)n);
        map_put(&m->by_name, (str){ s->name, (size_t)n }, s);
    }
    s->n++;
    if (r->verb != VERB_WATCH)
        observe(m, r->verb, wall_now_us() - r->started_us);
}

static void head(struct buf *b, const char *name, const char *type, const char *help)
{
    buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *b, const char *name, const char *type, const char *help, uint64_t v)
{
    head(b, name, type, help);
    buf_printf(b, "%s %" PRIu64 "\n", name, v);
}

static void print_requests(const struct metrics *m, struct buf *b)
{
    head(b, "apiserver_request_total", "counter", "Requests by verb, resource and HTTP code.");
    MAP_EACH (s, &m->by_name) {
        struct series *x = s->value;
        str rest = str_of(x->name);
        str verb = str_cut(&rest, '|');
        str resource = str_cut(&rest, '|');
        buf_printf(b,
                   "apiserver_request_total{verb=\"%" PRI_STR "\",resource=\"%" PRI_STR
                   "\",code=\"%" PRI_STR "\"} %" PRIu64 "\n",
                   STR_ARG(verb), STR_ARG(resource), STR_ARG(rest), x->n);
    }
}

static void print_latency(const struct metrics *m, struct buf *b)
{
    static const char name[] = "apiserver_request_duration_seconds";

    head(b, name, "histogram", "From the whole request to the start of its answer.");
    for (int v = 0; v < VERBS; v++) {
        uint64_t sum = 0;
        for (size_t i = 0; i <= BOUNDS; i++)
            sum += m->buckets[v][i];
        if (!sum)
            continue;
        uint64_t upto = 0;
        for (size_t i = 0; i < BOUNDS; i++) {
            upto += m->buckets[v][i];
            buf_printf(b, "%s_bucket{verb=\"%s\",le=\"%g\"} %" PRIu64 "\n", name,
                       verb_name((enum api_verb)v), bounds_s[i], upto);
        }
        buf_printf(b, "%s_bucket{verb=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name,
                   verb_name((enum api_verb)v), sum);
        buf_printf(b, "%s_sum{verb=\"%s\"} %g\n", name, verb_name((enum api_verb)v),
                   (double)m->sum_us[v] / 1e6);
        buf_printf(b, "%s_count{verb=\"%s\"} %" PRIu64 "\n", name, verb_name((enum api_verb)v),
                   sum);
    }
}

static uint64_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char text[128]; /* pages: all, resident, ... */
    char *second = NULL;
    uint64_t resident = 0;

    if (f && fgets(text, sizeof(text), f)) {
        (void)strtoull(text, &second, 10);
        resident = strtoull(second, NULL, 10);
    }
    if (f)
        fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void print_objects(struct api *api, struct buf *b)
{
    head(b, "apiserver_storage_objects", "gauge", "Stored objects by resource.");
    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));)
        buf_printf(b, "apiserver_storage_objects{resource=\"%" PRI_STR "\"} %zu\n",
                   STR_ARG(store_coll_name(c)), store_coll_count(c));
}

void metrics_print(struct api *api, struct buf *b)
{
    struct store_stats s = store_stats(api->store);
    struct http_stats h = api->server ? http_server_stats(api->server) : (struct http_stats){ 0 };
    const struct store_damage *damage = NULL;
    struct loop_slow slow = loop_slow();

    print_requests(api->metrics, b);
    print_latency(api->metrics, b);
    print_objects(api, b);
    one(b, "apiserver_longrunning_requests", "gauge", "Watches open now.", api->n_watchers);
    one(b, "muster_store_revision", "gauge", "The last committed revision.",
        (uint64_t)store_rev(api->store));
    one(b, "muster_store_commits_total", "counter", "Transactions on disk.", s.commits);
    one(b, "muster_store_writes_total", "counter", "Objects written in them.", s.ops);
    one(b, "muster_store_failures_total", "counter", "Writes that did not get to disk.",
        s.failures);
    one(b, "muster_store_bytes_written_total", "counter", "Object bytes written.", s.bytes_written);
    one(b, "muster_store_object_bytes", "gauge", "Bytes of the live objects.", s.object_bytes);
    one(b, "muster_store_history_events", "gauge", "Events in the history for watchers.",
        s.history_events);
    one(b, "muster_store_history_bytes", "gauge", "Replaced values in the history for watchers.",
        s.history_bytes);
    one(b, "muster_store_damaged_objects", "gauge",
        "Rows put aside at start because they were damaged.", store_damaged(api->store, &damage));
    head(b, "muster_store_last_commit_seconds", "gauge", "How long the last commit took.");
    buf_printf(b, "muster_store_last_commit_seconds %g\n", (double)s.last_commit_us / 1e6);
    one(b, "muster_http_connections", "gauge", "Connections open now.", h.connections_open);
    one(b, "muster_http_connections_total", "counter", "Connections accepted.",
        h.connections_total);
    one(b, "muster_http_streams", "gauge", "Requests under way now.", h.streams_open);
    one(b, "muster_http_refused_total", "counter", "Malformed, over a limit, or too slow.",
        h.refused_total);
    one(b, "muster_http_received_bytes_total", "counter", "Bytes received.", h.bytes_in);
    one(b, "muster_http_sent_bytes_total", "counter", "Bytes sent.", h.bytes_out);
    one(b, "muster_loop_slow_turns_total", "counter",
        "Callbacks of the loop over 50 ms of CPU, or blocked for over 200 ms.",
        (uint64_t)slow.turns);
    head(b, "muster_loop_slowest_turn_seconds", "gauge", "The longest of them.");
    buf_printf(b, "muster_loop_slowest_turn_seconds %g\n", (double)slow.slowest_us / 1e6);
    one(b, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    if (api->o.print_metrics)
        api->o.print_metrics(api->o.metrics_ctx, b);
}
