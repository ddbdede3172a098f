/* What the files of `muster why` share. */
#pragma once

#include "app/why.h"

#include "cli/notes.h"
#include "cli/pods.h"
#include "cli/session.h"
#include "job/job.h"
#include "sched/why_help.h"

enum why_state { STATE_WAITS, STATE_RUNS, STATE_ENDED, STATE_SUSPENDED, STATE_DELETED };

enum { WHY_UNKNOWN_MAX = 8 };

/* All that was found out. */
struct why_page {
    struct session *s;
    struct arena *a;
    int64_t now_ms;
    /* what it is about */
    str title;            /* "tfjob/mnist" */
    struct job_found job; /* of a job */
    jv obj;
    jv group; /* its PodGroup; absent: it has none, or it cannot be read */
    const struct kube_resource *group_res; /* of group */
    int64_t priority;                      /* of group */
    jv expected;                           /* the pods it will have, once it is let in */
    jv rivals;  /* for each group before it, and each let in: a pod that asks for all of it */
    str barred; /* whatever nodes have, its queue does not let it in; empty: it does */
    jv queue;   /* its Queue; absent: as above, or it need not be known */
    const jv *pods;
    size_t n_pods;
    int64_t wanted; /* pods; 0: not known */
    jv events;      /* of its namespace, and about it or its pods */
    /* the cluster */
    jv nodes, all_pods;
    bool nodes_known;
    bool partial; /* all_pods are those of the namespace */
    str unknown[WHY_UNKNOWN_MAX];
    size_t n_unknown;
    /* what came of it */
    enum why_state state;
    str sentence;
    str advice;                 /* one that is not tried: "create it" */
    struct replica_note *waits; /* its pods that do not run, and why not */
    size_t n_waits, n_running;
    bool placed; /* why is known: some pods have no node */
    struct why why;
    struct why_help helps[HELPS_MAX];
    size_t n_helps;
    const struct help_step *before; /* owners in the queue */
    size_t n_before;
};

/* why_read.c: -1, or an exit code */
int why_read(struct why_page *p, const char *word);
/* True: the answer can be used; false: it was refused, which is told, or it is not there. */
bool why_read_is_fine(struct why_page *p, const struct ask *q, const char *what, const char *so);
/* why_group.c: of a group that waits; when the nodes are known */
int why_group_read(struct why_page *p, const struct kube_resource *res);
bool why_group_waits(jv group); /* it is not let in */
str why_group_text(struct why_page *p);
jv why_group_json(struct why_page *p);
/* why_place.c: why its pods without a node have none */
void why_place(struct why_page *p);
/* why_judge.c: state, sentence, the pods that wait */
void why_judge(struct why_page *p);
bool why_pod_waits_for_node(jv pod); /* and a scheduler may look at it */
/* why_print.c */
str why_text(struct why_page *p);
jv why_page_json(struct why_page *p);
