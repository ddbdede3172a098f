/* What the files of `muster top` share. */
#pragma once

#include "cli/jobs.h"
#include "cli/table.h"

struct top_flags {
    struct session_opts to;
    const char *labels;
    bool all;
    bool containers;
    bool bare;
};

struct top_used {
    bool known;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

extern const struct kube_resource top_pod_metrics;

struct top_used top_used_by_pod(struct arena *a, jv metrics); /* absent: not known */
/* As kubectl top prints them. */
str top_cpu(struct arena *a, const struct top_used *u);
str top_memory(struct arena *a, const struct top_used *u);

/* Asks for all, of which the first is of the Metrics API. -1, or an exit code. */
int top_ask(struct session *s, struct ask *asks, size_t n);
int top_print(struct table *t, bool bare); /* an exit code */

/* Jobs that have not ended, or the replicas of one. An exit code. */
int top_jobs(struct session *s, const struct top_flags *f);
int top_replicas(struct session *s, const struct top_flags *f, const char *word);
