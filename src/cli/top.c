/* muster top: what jobs, their replicas, pods and nodes use of CPU and memory, as the Metrics API
 * tells (metrics.k8s.io: `muster up` serves it, and metrics-server on a cluster). */

#include "cli/top.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct opt options[] = {
    { "all-namespaces", 'A', OPT_FLAG, offsetof(struct top_flags, all), NULL, "show all namespaces",
      NULL },
    { "selector", 'l', OPT_TEXT, offsetof(struct top_flags, labels), "LABELS",
      "show only objects with these labels, as in a=b,c!=d", NULL },
    { "containers", 0, OPT_FLAG, offsetof(struct top_flags, containers), NULL,
      "show a line for each container of the pods", NULL },
    { "no-headers", 0, OPT_FLAG, offsetof(struct top_flags, bare), NULL, "omit the header line",
      NULL },
    SESSION_OPTIONS(struct top_flags, to),
    { 0 }
};

const struct kube_resource top_pod_metrics = { "metrics.k8s.io", "v1beta1", "pods", "PodMetrics",
                                               false };
static const struct kube_resource node_metrics = { "metrics.k8s.io", "v1beta1", "nodes",
                                                   "NodeMetrics", true };
static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };

/* ---- amounts */

static struct quantity amount(struct arena *a, jv v)
{
    struct quantity q = { 0 };

    return quantity_from_json(a, v, &q, NULL) == 0 ? q : (struct quantity){ 0 };
}

static struct top_used used_of(struct arena *a, jv usage)
{
    struct quantity cpu = amount(a, jv_at(usage, "cpu"));
    struct quantity memory = amount(a, jv_at(usage, "memory"));

    return (struct top_used){ true, quantity_milli(&cpu), quantity_value(&memory) };
}

struct top_used top_used_by_pod(struct arena *a, jv metrics)
{
    struct top_used sum = { .known = jv_exists(metrics) };

    JV_EACH (it, jv_at(metrics, "containers")) {
        struct top_used one = used_of(a, jv_at(it.value, "usage"));
        sum.cpu_milli += one.cpu_milli;
        sum.memory_bytes += one.memory_bytes;
    }
    return sum;
}

str top_cpu(struct arena *a, const struct top_used *u)
{
    return u->known ? arena_printf(a, "%" PRId64 "m", u->cpu_milli) : S("<unknown>");
}

str top_memory(struct arena *a, const struct top_used *u)
{
    return u->known ? arena_printf(a, "%" PRId64 "Mi", u->memory_bytes >> 20) : S("<unknown>");
}

/* ---- questions */

static int no_metrics(const struct session *s)
{
    return command_fail(
        EXIT_FAILED,
        "the Metrics API (metrics.k8s.io) is not available at %s: 'muster up' serves it "
        "unless started with --no-node; on a cluster, metrics-server does",
        s->config.server);
}

int top_ask(struct session *s, struct ask *asks, size_t n)
{
    int code = session_ask(s, asks, n);

    if (code >= 0)
        return code;
    for (size_t i = 0; i < n; i++) {
        const struct ask *q = &asks[i];
        if (!q->err.code)
            continue;
        /* An object that is not there is told of by name. */
        bool object = jv_exists(jv_at(q->obj, "details", "name"));
        if (i == 0 && q->status == 404 && !(q->req.verb == KUBE_GET && object))
            return no_metrics(s);
        return session_fail(s, q, "%s %s%s%" PRI_STR, q->req.verb == KUBE_GET ? "get" : "list",
                            q->req.res->kind, q->req.name.n ? " " : "s", STR_ARG(q->req.name));
    }
    return -1;
}

/* A list, or the one object as a list. */
static jv items_of(struct session *s, const struct ask *q)
{
    return q->req.verb == KUBE_GET ? jarr(s->a, q->obj) : jv_at(q->obj, "items");
}

static int by_key(const void *x, const void *y)
{
    const jv *a = x, *b = y;
    int c = str_cmp(meta_namespace(*a), meta_namespace(*b));

    return c ? c : str_cmp(meta_name(*a), meta_name(*b));
}

static jv *sorted(struct arena *a, jv items)
{
    jv *at = ARENA_ARRAY(a, jv, jv_len(items) + 1);
    size_t n = 0;

    JV_EACH (it, items)
        at[n++] = it.value;
    qsort(at, n, sizeof(*at), by_key);
    return at;
}

int top_print(struct table *t, bool bare)
{
    AUTO(buf) struct buf b = { 0 };

    t->bare = bare;
    table_print(t, &b);
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- pods and nodes, as kubectl top */

static void add_pod(struct table *t, struct arena *a, const struct top_flags *f, jv m)
{
    str cells[TABLE_COLUMNS];
    size_t n = 0;
    struct top_used sum = top_used_by_pod(a, m);

    if (f->all)
        cells[n++] = meta_namespace(m);
    cells[n++] = meta_name(m);
    if (!f->containers) {
        cells[n++] = top_cpu(a, &sum);
        cells[n++] = top_memory(a, &sum);
        table_add(t, cells);
        return;
    }
    JV_EACH (it, jv_at(m, "containers")) {
        struct top_used one = used_of(a, jv_at(it.value, "usage"));
        cells[n] = jv_str(jv_at(it.value, "name"), STR_NONE);
        cells[n + 1] = top_cpu(a, &one);
        cells[n + 2] = top_memory(a, &one);
        table_add(t, cells);
    }
}

static int top_pods(struct session *s, const struct top_flags *f, str name)
{
    struct ask q = { .req = { .verb = name.n ? KUBE_GET : KUBE_LIST,
                              .res = &top_pod_metrics,
                              .ns = f->all ? STR_NONE : s->ns,
                              .name = name,
                              .labels = str_of(f->labels) } };
    int code = top_ask(s, &q, 1);
    struct table t;

    if (code >= 0)
        return code;
    jv items = items_of(s, &q), *at = sorted(s->a, items);
    if (!jv_len(items)) {
        if (f->all)
            command_note("no pods are running");
        else
            command_note("no pods are running in namespace %" PRI_STR, STR_ARG(s->ns));
        return EXIT_DONE;
    }
    table_init(&t, s->a, f->all ? "NAMESPACE" : "");
    if (f->containers)
        table_column(&t, S("POD"));
    table_column(&t, S("NAME"));
    table_column(&t, S("CPU(cores)"));
    table_column(&t, S("MEMORY(bytes)"));
    for (size_t i = 0; i < jv_len(items); i++)
        add_pod(&t, s->a, f, at[i]);
    return top_print(&t, f->bare);
}

static str percent(struct arena *a, int64_t part, int64_t whole)
{
    return whole > 0 ? arena_printf(a, "%" PRId64 "%%", part * 100 / whole) : S("<unknown>");
}

static int top_nodes(struct session *s, const struct top_flags *f, str name)
{
    struct kube_request r = { .verb = name.n ? KUBE_GET : KUBE_LIST,
                              .res = &node_metrics,
                              .name = name,
                              .labels = str_of(f->labels) };
    struct ask q[] = { { .req = r }, { .req = r } };
    struct table t;

    q[1].req.res = &nodes;
    int code = top_ask(s, q, COUNT(q));
    if (code >= 0)
        return code;
    jv items = items_of(s, &q[1]), *at = sorted(s->a, items);
    table_init(&t, s->a, "NAME|CPU(cores)|CPU(%)|MEMORY(bytes)|MEMORY(%)");
    for (size_t i = 0; i < jv_len(items); i++) {
        struct top_used u = { 0 };
        struct top_used most = used_of(s->a, jv_at(at[i], "status", "allocatable"));
        JV_EACH (it, items_of(s, &q[0]))
            if (str_eq(meta_name(it.value), meta_name(at[i])))
                u = used_of(s->a, jv_at(it.value, "usage"));
        str cells[] = { meta_name(at[i]), top_cpu(s->a, &u),
                        percent(s->a, u.cpu_milli, u.known ? most.cpu_milli : 0),
                        top_memory(s->a, &u),
                        percent(s->a, u.memory_bytes, u.known ? most.memory_bytes : 0) };
        table_add(&t, cells);
    }
    return top_print(&t, f->bare);
}

/* ---- */

static bool is_word(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static int answer(struct session *s, const struct top_flags *f, const struct command *c,
                  char **words, int n)
{
    static const char *const pod_words[] = { "pods", "pod", "po", NULL };
    static const char *const node_words[] = { "nodes", "node", "no", NULL };
    bool on_pods = n && is_word(words[0], pod_words), on_nodes = n && is_word(words[0], node_words);
    bool named = n > 1 || (n == 1 && !on_pods && !on_nodes);

    if (n > (on_pods || on_nodes ? 2 : 1)) {
        command_fail(EXIT_USAGE, "top takes one job, pod or node, or shows all");
        return command_usage(c);
    }
    if (named && (f->all || f->labels))
        return command_fail(EXIT_USAGE, "top takes a name, or -A and -l, not both");
    if (f->containers && !on_pods)
        return command_fail(EXIT_USAGE, "--containers is for 'muster top pods'");
    str name = n > 1 ? str_of(words[1]) : STR_NONE;
    if (on_pods)
        return top_pods(s, f, name);
    if (on_nodes)
        return top_nodes(s, f, name);
    return n ? top_replicas(s, f, words[0]) : top_jobs(s, f);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct top_flags f = { 0 };
    struct session s;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    code = session_open(&s, &f.to);
    if (code < 0)
        code = answer(&s, &f, c, words, n);
    session_close(&s);
    return code;
}

const struct command command_top = {
    .name = "top",
    .summary = "show CPU and memory usage of jobs, pods or nodes",
    .help =
        "Usage: muster top [OPTION]...               jobs that have not ended\n"
        "       muster top [OPTION]... JOB           the replicas of a job\n"
        "       muster top [OPTION]... pods [POD]\n"
        "       muster top [OPTION]... nodes [NODE]\n"
        "\n"
        "CPU is an average over the last seconds, in thousandths of a core: 1500m is one and a\n"
        "half cores. GPUS is the number of GPUs that running replicas request.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
