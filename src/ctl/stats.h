/* What the controller counts. */
#pragma once

#include "base/map.h"
#include "plan/planner.h"

struct ctl;

enum { LATENCY_BUCKETS = 14 };

struct latency { /* a histogram */
    uint64_t n[LATENCY_BUCKETS + 1];
    uint64_t count;
    double sum_s;
};

enum plain_counter {
    PODS_CREATED,
    PODS_DELETED,
    PODS_FAILED,
    POD_GROUPS_CREATED,
    POD_GROUPS_DELETED,
    SERVICES_CREATED,
    SERVICES_FAILED,
    N_PLAIN_COUNTERS
};

struct kind_stats {
    uint64_t passes, errors, conflicts;
};

struct stats {       /* starts as { 0 } */
    struct map jobs; /* "framework/namespace" -> struct job_counts */
    uint64_t plain[N_PLAIN_COUNTERS];
    struct kind_stats *kinds; /* as many as ctl has, in its order */
    struct latency reaction;  /* from what happened to what was sent */
    struct latency pass;      /* from the plan's start to the last answer */
};

void stats_done(struct stats *st);
void stats_latency(struct latency *l, int64_t us);
/* One of plan_counter, n more. */
void stats_job(struct stats *st, const char *framework, str ns, enum plan_counter c, int64_t n);
/* A create or delete was answered. */
void stats_step(struct stats *st, enum plan_kind kind, const struct kube_resource *res, bool fine);
