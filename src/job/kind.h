/* What sets one kind of job apart: a row of facts and a few pure functions. Hooks left out mean the
 * common behaviour. To add a kind: one file with its row, one line in kinds.c. */
#pragma once

#include "job/job.h"
#include "job/validate.h"
#include "kube/schema.h"
#include "plan/planner.h"

enum { MANY_ROLES = 8, MANY_RULES = 16 };

/* How the making of a type's pods is told. */
struct pod_words {
    const char *noun;
    const char *done_reason, *done_words;
    const char *fail_reason, *fail_words, *fail_also;
    const char *policy_reason; /* a restart policy in the template is overwritten; NULL: not told */
};

struct role_row {
    const char *name;   /* canonical spelling of the replica type: "Worker" */
    int64_t replicas;   /* when the job does not say */
    bool leads;         /* the first such that a job has decides success and Running ... */
    const char *beside; /* ... and so does this one, beside that one */
    bool single;        /* one pod, named without an index and not labelled with one */
    bool serves;        /* it runs until it is stopped: others use it */
    bool needed;        /* every job has this type */
    bool one;           /* exactly one replica, and written so */
    int64_t least;      /* replicas, if written */
    const struct pod_words *words; /* NULL: the usual ones */
    unsigned stage;                /* its pods are made in; 0: with all that changes */
    bool basis;                    /* while one is not there, later stages make nothing */
};

struct verdict;

/* Texts of conditions and their events. */
enum job_text { TEXT_RUNNING, TEXT_SUCCEEDED, TEXT_RESTARTING, TEXT_FAILED };

struct job_kind {
    struct planner planner; /* what ctl/ knows of it */
    const char *singular;
    const char *specs;          /* the replica map in spec: "tfReplicaSpecs" */
    const char *container;      /* the main one */
    const char *container_told; /* its name in messages; NULL: as it is */
    const char *port_name;
    int64_t port;
    enum restart_policy restart_policy;
    const struct schema *own;          /* what it alone has in spec, for its definition */
    struct role_row roles[MANY_ROLES]; /* in type order; ends with an empty one */
    job_rule *rules[MANY_RULES];       /* of validation, in order; ends with NULL */
    bool fold_case;                    /* "worker" is taken for "Worker" */
    bool scale;                        /* has the scale subresource, for Worker */
    bool selector;                     /* writes replicaStatuses.*.selector */
    bool no_services;
    bool no_finalizers;         /* those of a template do not go on to pods */
    bool first_problem;         /* of validation the first problem is told, not all */
    bool clean_in_spec;         /* cleanPodPolicy may stand in spec, too */
    bool age_first;             /* printer columns: Age before State */
    bool runs_first;            /* Running is shown before any end or restart */
    bool counts_exit;           /* a permanent exit code is told with the count, too */
    bool elastic;               /* spec.elasticPolicy has an effect */
    bool legacy_labels;         /* takes part in settings.legacy_labels */
    const char *deleted_reason; /* events when the TTL deletes it */
    const char *undeleted_reason;
    const char *scheduler_reason; /* when a template's scheduler is kept; NULL: the usual one */
    const char *taken_reason;     /* event when a name is another's; NULL: as any failure */

    /* All pure; texts and values live in a. r is a role of j, index that of a pod in range. */
    str (*text)(struct arena *a, const struct job *j, enum job_text which,
                const struct job_role *r);
    bool (*is_done)(const struct job *j); /* the success rule, when more than counters decide */
    /* A pod of r that failed for good does not fail the job. */
    bool (*forgives)(const struct job *j, const struct job_role *r);
    void (*prepare)(struct job *j); /* once, before the first pod of a pass is made */
    /* The pod spec with what the kind adds: environment, init containers, volumes. */
    jv (*pod_spec)(struct arena *a, const struct job *j, const struct job_role *r, int64_t index,
                   jv spec);
    void (*recount)(struct job *j); /* the roles' counters, after the pods were counted */
    /* What the pods have come to, beyond the verdict: events. */
    void (*tell)(struct job *j, struct plan *p, const struct verdict *v);
    /* See job_advise; what all kinds have in common is not the kind's to say. */
    str (*advise)(const struct job *j);
    /* Objects beyond pods and services. wanted: the job goes on; else they are to go. Those of the
     * first stage are there before any pod is made. */
    void (*extras)(struct job *j, struct plan *p, bool wanted);
};

/* The common core of every kind's planner. */
int job_plan(const struct observed *seen, struct plan *p, struct err *e);
jv job_slim(struct arena *a, jv job);
