/* Jobs of all kinds as commands see them. */
#pragma once

#include "cli/session.h"
#include "job/kinds.h"

struct job_found {
    const struct job_kind *kind;
    jv obj;
};
struct jobs {
    struct job_found *at;
    size_t n;
};

/* "tfjob", "TFJobs", "tfjobs.kubeflow.org"; NULL: no kind of job. */
const struct job_kind *job_kind_named(str word);
/* "tfjob/mnist" */
str job_title(struct arena *a, const struct job_kind *k, jv obj);

/* All jobs, or those of one kind; ns empty: of all namespaces. By namespace, then name. A kind that
 * the server does not have has no jobs. -1, or an exit code. */
int jobs_list(struct session *s, const struct job_kind *only, str ns, str labels, struct jobs *out);
/* One job by "mnist" or "tfjob/mnist", in the session's namespace. Not there, or of several kinds:
 * said, and an exit code. */
int jobs_find(struct session *s, const char *word, struct job_found *out);
/* The same, but none is n == 0 and more than one is what it is. */
int jobs_named(struct session *s, const char *word, struct jobs *out);

/* Pods of jobs: of one (name not empty), or all. */
int jobs_pods(struct session *s, str ns, str name, jv *items);
/* Those that belong to it, by index within their role; the array is of all that do. */
struct job_pod {
    str role; /* "worker" */
    int64_t index;
    jv pod;
};
struct job_pods {
    struct job_pod *at;
    size_t n;
};
struct job_pods job_pods_of(struct arena *a, const struct job_found *j, jv items);

/* ---- in short */

/* The latest bad end of a container, of those that are still known of. */
struct pod_exit {
    int64_t at_ms; /* -1: there is none */
    int64_t code;
    str reason;
};
void pod_last_exit(jv pod, struct pod_exit *latest); /* replaces an older one */

struct stall_tally { /* of pods that run */
    int64_t running;
    int64_t stalled;
    int64_t working; /* stalled, and of a role that is not idle by nature */
};
void stall_tally_add(struct stall_tally *t, const struct job_kind *kind, jv pod);
/* All pods that run are stalled, and not only those that are idle by nature. */
bool stall_tally_is_stalled(const struct stall_tally *t);

struct job_sum {
    str state;    /* "Running" */
    jv condition; /* that says so; may be absent */
    int64_t wanted;
    int64_t running;
    int64_t succeeded;
    int64_t failed;
    int64_t restarts;
    struct pod_exit exit;
    struct stall_tally stall;
    str waiting; /* for what its pods wait: of several texts the first; empty: they do not */
};
str job_sum_state(const struct job_sum *sum);      /* "Stalled" of a running job that is */
void job_sum_waits(struct job_sum *sum, str text); /* one of its pods does, for that */
/* pods: all there are, of which those that run are counted; absent: the job's status says how many
 * run, and restarts are not known (-1). */
struct job_sum job_sum(struct arena *a, const struct job_found *j, jv pods);
int64_t pod_restarts(jv pod);
bool job_is_over(jv obj);
/* "5m" since the time in the object; "<unknown>" if there is none. */
str age_since(struct arena *a, jv time, int64_t now_ms);
