/* The machinery that makes jobs true: watches jobs and what they own, keeps the little of them that
 * planners read, asks a planner what to do about each job that something happened to, and does it.
 * Knows the cluster as struct kube_api and kinds of jobs as struct planner. On the loop thread. */
#pragma once

#include "loop/loop.h"
#include "plan/planner.h"

struct ctl;

struct ctl_limits {         /* 0: what is said */
    unsigned in_flight;     /* requests at once over all jobs: 256 */
    unsigned passes;        /* plans made in one turn of the loop: 16 */
    int64_t page;           /* objects in one page of a list: 500 */
    int64_t backoff_max_ms; /* between tries of a job or of an object: 60,000 */
    int64_t relist_max_ms;  /* between tries of a list or watch: 30,000 */
};

struct ctl_opts { /* copied, but not what it points to: that lives as long as the ctl */
    const struct planner *const *planners;
    size_t n;
    const struct plan_settings *settings;
    const struct planner_needed *needed; /* ends with an empty one; NULL: none */
    str ns;                              /* empty: all namespaces */
    struct ctl_limits limits;
    bool standby; /* only watch until ctl_lead(c, true) */
    /* Asked before each write, on the loop thread; false: it is not sent, and the pass is tried
     * again later. NULL: always. The fence of a leader that may have lost its lease. */
    bool (*may_write)(void *ctx);
    void *ctx;                /* of may_write */
    int64_t (*wall_ms)(void); /* since 1970; NULL: wall_now_ms. Tests step it */
};

struct ctl *ctl_new(struct loop *l, struct kube_api *api, const struct ctl_opts *o);
void ctl_start(struct ctl *c); /* lists and watches, for ever */
/* Whether it acts on what it sees. Turning it off lets what was sent be answered, but starts
 * nothing more. */
void ctl_lead(struct ctl *c, bool lead);
/* No new pass, no new watch; calls back, never from within, when all that was sent is answered (the
 * events still in the queue too, as far as that takes no longer than 5 seconds). */
void ctl_stop(struct ctl *c, void (*done)(void *arg), void *arg);
void ctl_free(struct ctl *c); /* at any time: drops what is under way without a callback */

/* Everything was listed, and nobody forbids to go on. False while a kind of job or something that
 * is needed is not served (its definition is missing), though the others are worked on. */
bool ctl_is_synced(const struct ctl *c);
bool ctl_is_idle(const struct ctl *c); /* nothing planned, sent or queued; timers do not count */
/* What keeps it from being synced, for people: "cannot list tfjobs.kubeflow.org: ..."; empty:
 * nothing. Valid until the next turn of the loop. */
str ctl_trouble(const struct ctl *c);

/* ---- numbers, as Prometheus has them */

struct ctl_label {
    const char *key;
    str value;
};

struct ctl_sample {
    const char *family; /* samples of one family come together */
    const char *help;
    const char *type;   /* "counter", "gauge", "histogram" */
    const char *suffix; /* of the name: "", "_bucket", "_sum", "_count" */
    struct ctl_label labels[3];
    size_t n_labels;
    double value;
};

void ctl_stats(const struct ctl *c, void (*on)(void *ctx, const struct ctl_sample *s), void *ctx);
