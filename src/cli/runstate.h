/* What is known of the jobs that are run, from what the API tells: each job, its replicas, and who
 * failed first. Nothing here looks at a clock or at the world. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "cli/jobs.h"

/* A container's bad end. */
struct run_failure {
    int64_t
        first;    /* place in the order of the job's failures, from 1, of the replica's first ... */
    int64_t last; /* ... and of its last, which the rest tells of; 0: none */
    int64_t code; /* -1: no container's */
    int64_t run;  /* restarts before it */
    char reason[64];
    char message[512];
    char
        image[256]; /* of a container that had none to run on, and so ran on this machine's files */
};

/* One replica of a job over all its pods; of a plain pod, the pod. */
struct run_replica {
    struct arena *a;   /* of the texts below, but for name and role */
    str name;          /* "worker-0" */
    str role;          /* "worker" */
    int64_t index;     /* -1: it has none */
    str uid;           /* of its latest pod */
    str state;         /* "Running", "CrashLoopBackOff", "Stopped" */
    str reason;        /* of its end, or why it waits */
    str message;       /* at length */
    bool waits;        /* it does not run, and reason or message says why */
    bool live;         /* its pod is there and has not ended */
    bool over;         /* its pod has ended, well or not */
    bool failed;       /* not well */
    bool stopped;      /* it was told to go before it ended */
    bool stalled;      /* its pod makes no progress ... */
    str stall;         /* ... since when, and where it waits */
    bool has_exit;     /* of the main container's last run */
    int64_t exit_code; /* */
    int64_t restarts;  /* of containers and of pods */
    int64_t earlier;   /* of those, before the latest pod */
    int64_t began_ms;  /* when it was first seen to run; 0: never */
    int64_t ended_ms;  /* 0: not yet */
    struct run_failure failure;
};

/* Something that is run to its end. */
struct run_job {
    const struct job_kind *kind; /* NULL: a plain pod */
    str title;                   /* "tfjob/mnist" */
    str ns;
    str name;
    str uid;
    str container;    /* whose logs and exit codes count */
    struct jdoc *obj; /* as last seen */
    str state;        /* in obj, or static: "Succeeded" */
    str message;
    bool over;
    bool failed;
    bool gone;     /* deleted, by whomever */
    bool created;  /* by us */
    bool stopping; /* by us, too: its end is no news */
    str given_up;  /* why it can never start; empty: it may */
    int64_t wanted;
    int64_t began_ms;
    int64_t ended_ms;
    struct {
        VEC(struct run_replica);
    } replicas;       /* by role, then index */
    int64_t failures; /* so far */
};

struct run_state {
    struct arena *a; /* of names and titles */
    struct {
        VEC(struct run_job *);
    } jobs;
};

void run_state_init(struct run_state *s);
void run_state_done(struct run_state *s);
/* obj: as the server answered. */
struct run_job *run_state_add(struct run_state *s, const struct job_kind *kind, jv obj,
                              int64_t now_ms);
/* NULL: none of ours. of: a job or a pod, by uid. */
struct run_job *run_state_find(const struct run_state *s, jv obj);
struct run_job *run_state_owner(const struct run_state *s, jv pod);

/* Each returns whether something that is shown has changed. */
bool run_job_see(struct run_job *j, enum kube_event type, jv obj, int64_t now_ms);
bool run_job_see_pod(struct run_state *s, struct run_job *j, enum kube_event type, jv pod,
                     int64_t now_ms);

/* It can never start: it counts as failed from now on. why lives as long as the state. */
void run_job_give_up(struct run_job *j, str why, int64_t now_ms);

/* Why it waits, or how it failed: the first sentence of it. */
str run_replica_why(const struct run_replica *r);
/* Why it has no replicas yet; empty: it has, or is about to. */
str run_job_held(const struct run_job *j);
/* All that runs of it makes no progress, and not only roles that are idle by nature. */
bool run_job_is_stalled(const struct run_job *j);
struct run_replica *run_job_replica(const struct run_job *j, str name);
str run_pod_replica(struct arena *a, const struct run_job *j, jv pod); /* "worker-0" */
/* Of those that ended badly for good the first; if all were started again, the first of them. NULL:
 * none did. */
const struct run_replica *run_job_failed_first(const struct run_job *j);
bool run_state_is_over(const struct run_state *s);
bool run_state_is_live(const struct run_state *s); /* some pod has not ended */
/* Replicas of jobs that succeeded that still run and will come to an end (linger.c). */
int64_t run_state_lingering(const struct run_state *s);
