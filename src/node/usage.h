/* What containers and the machine use of CPU and memory, for metrics.k8s.io. A count of CPU time is
 * read twice, and the difference is the rate. Nothing is read unless somebody asks. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

#include <sched.h>
#include <sys/types.h>

struct node;

/* usage: {node, at_ms, window_ms, cpu_nano, memory_bytes, pods: {"NS/NAME": {uid, at_ms, window_ms,
 * containers: [{name, cpu_nano, memory_bytes}]}}}, pods by name, borrowed; cpu_nano is in
 * billionths of a core. Absent: e says why. */
typedef void node_usage_done(void *arg, jv usage, const struct err *e);

/* done(arg) at once, or about a second later where nobody has asked recently; it is always called,
 * at the latest by node_end or node_free. */
void node_usage(struct node *n, node_usage_done *done, void *arg);

/* ---- inside */

struct usage_container {
    /* whose count it is */
    str pod; /* "NS/NAME" */
    str uid;
    str name;
    int64_t attempt;
    int64_t started_ms;
    /* where to read */
    pid_t main;         /* its first process */
    const char *group2; /* control groups of its own; NULL: none */
    const char *cpu1;
    const char *memory1;
    /* what was read */
    bool found;
    bool by_group; /* CPU time is the group's */
    int64_t cpu_ns;
    int64_t memory_bytes;
};

struct usage_sample {
    struct arena *a;
    int64_t wall_ms;
    int64_t tick_ms; /* monotonic */
    bool found;      /* of the machine */
    int64_t cpu_ns;
    int64_t memory_bytes;
    VEC(struct usage_container); /* those of a pod together, pods by name */
};

void usage_sample_free(struct usage_sample *s); /* NULL is fine */
/* Reads all counts. root: where proc is; "": here. May take long: for a thread of the pool. */
void usage_read(struct usage_sample *s, const char *root);
/* Pure: the rates between two samples, as above. A container that the first one does not have is
 * measured from its start, and left out if that was just now. */
jv usage_report(struct arena *a, const struct usage_sample *before, const struct usage_sample *now);
/* Whether a container of the second one has no rate because it started just now. Pure. */
bool usage_is_early(const struct usage_sample *before, const struct usage_sample *now);
/* Billionths of a core. */
int64_t usage_rate(int64_t before_ns, int64_t now_ns, int64_t ms);

/* The texts of files; false: the number is not there. */
bool usage_parse_number(str text, int64_t *out);                     /* cpuacct.usage */
bool usage_parse_key(str text, const char *key, int64_t *out);       /* cpu.stat, memory.stat */
bool usage_parse_meminfo(str text, int64_t *used_bytes);             /* /proc/meminfo */
bool usage_parse_stat(str text, const cpu_set_t *of, int64_t *busy); /* /proc/stat, in ticks */
