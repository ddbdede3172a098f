/* A cluster in a few arrays, for tests that let a job live: one job, its pods and Services, a
 * clock. The operator's plans are carried out on it, whole or up to a step at which it dies, and
 * each step is held against what must always be true (J1 to J5). */
#pragma once

#include "job/kinds.h"

enum { LIFE_PODS = 64, LIFE_UIDS = 512, LIFE_OTHERS = 8 };

struct life_pod {
    bool there;
    size_t role;
    int64_t index;
    unsigned uid;
    enum pod_phase phase;
    bool leaving, disrupted, has_exit;
    bool in_place; /* its containers are restarted there */
    int64_t exit_code, ended_s, restarts;
    int64_t attempt; /* by its label */
};

struct life_service {
    bool there;
    size_t role;
    int64_t index;
    unsigned uid;
};

struct life_other { /* anything else a kind makes */
    bool there;
    const struct kube_resource *res;
    jv obj;
};

struct life_role {
    const char *name; /* "Worker" */
    str label;        /* "worker" */
    bool there;
    int64_t replicas;
    const char *policy;
};

struct life_counts {
    int64_t active, succeeded, failed;
};

/* The world as the last plan saw it. */
struct life_seen {
    struct life_counts counts[MANY_ROLES];
    int64_t succeeded; /* pods that did, and roles of no replicas */
    int64_t permanent, restartable, attempt;
    bool spent, late;
};

struct life {
    struct arena *a;
    const struct job_kind *kind;
    jv job; /* absent: deleted */
    int64_t now_ms, written_ms;
    int64_t version;
    unsigned uids;
    struct life_role roles[MANY_ROLES];
    struct life_pod pods[LIFE_PODS];
    struct life_service services[LIFE_PODS];
    struct life_other others[LIFE_OTHERS];
    /* limits, as in the job; -1: unset */
    int64_t backoff, deadline, ttl;
    bool invalid; /* an edit broke the spec */
    bool whole;   /* failures restart the whole job */
    /* what was seen to happen */
    unsigned tallied[LIFE_UIDS]; /* uids of pods counted as restarts */
    size_t n_tallied;
    int64_t counts[COUNT_RESTARTED + 1];
    int64_t restarts; /* pods deleted because they failed; restarts of the whole job */
    char broken[256]; /* the first thing found untrue; empty: none */
    struct life_seen seen;
};

/* A new job with those roles, replicas and policies. */
void life_init(struct life *w, struct arena *a, const struct job_kind *kind);
void life_make_job(struct life *w, bool suspend, const char *clean);
void life_set_spec(struct life *w, jv value, const char *member); /* of runPolicy */
void life_set_replicas(struct life *w, size_t role, int64_t n);
void life_set_image(struct life *w, bool there);
void life_set_scope(struct life *w, bool whole); /* of restarts */

/* Plans and carries out at most that many steps. Returns how many steps the plan had; wake may be
 * NULL. */
size_t life_pass(struct life *w, size_t most, int64_t *wake_ms);
void life_broken(struct life *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- what holds, by a reading of its own */

bool life_has(const struct life *w, const char *condition); /* is True */
bool life_is_over(const struct life *w);
bool life_is_suspended(const struct life *w); /* by spec */
bool life_in_range(const struct life *w, const struct life_pod *p);
bool life_restartable(const struct life *w, const struct life_pod *p);
bool life_permanent(const struct life *w, const struct life_pod *p);
int64_t life_attempt(const struct life *w);  /* whole restarts so far */
int64_t life_start_ms(const struct life *w); /* -1: none */
int64_t life_spent(const struct life *w);    /* restarts that count against the limit */

/* life_check.c: a step, before it is carried out; the status, after it was written. */
void life_note(struct life *w); /* fills seen */
void life_check_create(struct life *w, const struct plan_step *s, size_t role, int64_t index);
void life_check_attempt(struct life *w, const struct plan_step *s, int64_t attempt);
void life_check_other(struct life *w, const struct plan_step *s, bool there);
void life_check_delete(struct life *w, const struct life_pod *p);
void life_check_tally(struct life *w, jv patch);
void life_check_status(struct life *w, jv before);
void life_check_pass(struct life *w, int64_t wake_ms);
