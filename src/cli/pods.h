/* How a job's pods are. */
#pragma once

#include "cli/jobs.h"

str replica_name(struct arena *a, const struct job_pod *r); /* "worker-0" */

struct pod_state {
    str state;   /* as kubectl's STATUS: a phase, or what it waits for */
    str reason;  /* of a container's end, or why it is not scheduled */
    str message; /* why, at length */
    int64_t exit_code;
    bool has_exit;
};
struct pod_state pod_state(struct arena *a, jv pod);
/* In a few words, why it does not run: the scheduler's sentence, "ImagePullBackOff"; empty: it
 * does, has ended, or is being started. */
str pod_waiting_for(struct arena *a, jv pod);
bool pod_is_pending(jv pod); /* and says so */
/* It runs and makes no progress; why: since when, and where it waits. */
bool pod_is_stalled(jv pod, str *why);

struct pod_failure {
    const struct job_pod *replica;
    str container;
    str reason;
    str message; /* termination message */
    int64_t exit_code;
    int64_t at_ms;
    bool previous; /* of the run before the current one */
};
/* The first container that ended with other than 0, of all runs that are still known of. */
bool pods_first_failure(const struct job_pods *pods, struct pod_failure *out);
