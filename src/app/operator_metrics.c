/* /metrics in Prometheus' text format: what the controller counts, requests by method and code,
 * the lease, and the process. */

#include "app/operator_internal.h"
#include "app/samples.h"
#include "loop/watchdog.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void one(struct sample_page *p, const char *family, const char *type, const char *help,
                double value)
{
    sample_print(p,
                 &(struct ctl_sample){
                     .family = family, .help = help, .type = type, .suffix = "", .value = value });
}

/* ---- requests */

struct requests {
    struct sample_page *p;
    str host;
};

static void on_requests(void *ctx, const char *method, const char *code, int64_t n)
{
    struct requests *r = ctx;

    sample_print(r->p,
                 &(struct ctl_sample){
                     .family = "rest_client_requests_total",
                     .help = "Number of HTTP requests, partitioned by status code, method, and "
                             "host.",
                     .type = "counter",
                     .suffix = "",
                     .labels = { { "code", str_of(code) },
                                 { "host", r->host },
                                 { "method", str_of(method) } },
                     .n_labels = 3,
                     .value = (double)n });
}

struct count {
    char method[16], code[16];
    int64_t n;
};

struct counts {
    struct count at[128];
    size_t n;
};

static void add_count(void *ctx, const char *method, const char *code, int64_t n)
{
    struct counts *all = ctx;

    for (size_t i = 0; i < all->n; i++) {
        struct count *c = &all->at[i];
        if (strcmp(c->method, method) == 0 && strcmp(c->code, code) == 0) {
            c->n += n;
            return;
        }
    }
    if (all->n == COUNT(all->at))
        return;
    struct count *c = &all->at[all->n++];
    snprintf(c->method, sizeof(c->method), "%s", method);
    snprintf(c->code, sizeof(c->code), "%s", code);
    c->n = n;
}

/* Both clients together, as they talk to the same server. */
static void print_requests(struct sample_page *p, const struct manager *o)
{
    struct counts all = { .n = 0 };
    struct requests r = { p, str_of(client_host(o->client)) };
    struct client_stats s = client_stats(o->client);

    client_requests_each(o->client, add_count, &all);
    if (o->lease_client)
        client_requests_each(o->lease_client, add_count, &all);
    for (size_t i = 0; i < all.n; i++)
        on_requests(&r, all.at[i].method, all.at[i].code, all.at[i].n);
    one(p, "muster_request_retries_total", "counter",
        "Requests sent again as the server asked for it.", (double)s.retries);
    one(p, "muster_watches_open", "gauge", "Watches open now.", (double)s.watches);
    one(p, "muster_loop_slow_turns_total", "counter",
        "Callbacks of the loop over 50 ms of CPU, or blocked for over 200 ms.",
        (double)loop_slow().turns);
}

/* ---- the lease */

static void print_lease(struct sample_page *p, const struct manager *o)
{
    if (!o->elect)
        return;
    sample_print(p,
                 &(struct ctl_sample){
                     .family = "leader_election_master_status",
                     .help = "Gauge of if the reporting system is master of the relevant lease, 0 "
                             "indicates backup, 1 indicates master.",
                     .type = "gauge",
                     .suffix = "",
                     .labels = { { "name", str_of(o->flags.lease_name) } },
                     .n_labels = 1,
                     .value = elect_holds(o->elect) });
    one(p, "muster_fenced_writes_total", "counter",
        "Writes not sent because the lease may have been lost.", (double)fence_refused(o->fence));
}

/* ---- the process */

/* Pages: all, resident. */
static void memory_pages(uint64_t *all, uint64_t *resident)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char text[128];
    char *second = NULL;

    *all = *resident = 0;
    if (f && fgets(text, sizeof(text), f)) {
        *all = strtoull(text, &second, 10);
        *resident = strtoull(second, NULL, 10);
    }
    if (f)
        fclose(f);
}

static int64_t open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int64_t n = -3; /* ".", "..", and the one we look through */

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void print_process(struct sample_page *p, const struct manager *o)
{
    struct rusage u = { 0 };
    struct rlimit files = { 0 };
    uint64_t all = 0, resident = 0;
    double page = (double)sysconf(_SC_PAGESIZE);

    memory_pages(&all, &resident);
    getrusage(RUSAGE_SELF, &u);
    getrlimit(RLIMIT_NOFILE, &files);
    one(p, "process_cpu_seconds_total", "counter",
        "Total user and system CPU time spent in seconds.",
        (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
            (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    one(p, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
        (double)resident * page);
    one(p, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
        (double)all * page);
    one(p, "process_open_fds", "gauge", "Number of open file descriptors.", (double)open_files());
    one(p, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
        (double)files.rlim_cur);
    one(p, "process_start_time_seconds", "gauge",
        "Start time of the process since unix epoch in seconds.", (double)o->started_ms / 1000);
    sample_print(p, &(struct ctl_sample){ .family = "muster_build_info",
                                          .help = "The version of muster.",
                                          .type = "gauge",
                                          .suffix = "",
                                          .labels = { { "version", S(MUSTER_VERSION) } },
                                          .n_labels = 1,
                                          .value = 1 });
}

void operator_print_metrics(struct manager *o, struct buf *b)
{
    struct sample_page p = { .b = b };
    const char *why = NULL;

    ctl_stats(o->ctl, sample_print, &p);
    print_requests(&p, o);
    print_lease(&p, o);
    one(&p, "muster_ready", "gauge", "1 if /readyz reports ready.", operator_is_ready(o, &why));
    print_process(&p, o);
}

void operator_on_metrics(void *ctx, struct http_req *r)
{
    AUTO(buf) struct buf b = { 0 };
    struct http_header plain = { S("content-type"), S("text/plain; charset=utf-8") };
    struct http_header text = { S("content-type"), S("text/plain; version=0.0.4; charset=utf-8") };

    if (!str_eqz(http_path(r), "/metrics")) {
        http_reply(r, 404, &plain, 1, blob_new(S("404 page not found\n")));
        return;
    }
    operator_print_metrics(ctx, &b);
    http_reply(r, 200, &text, 1, blob_new(buf_str(&b)));
}
