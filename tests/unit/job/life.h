/* A cluster in a few arrays, for tests that let a job live: one job, its pods and Services, a
 * clock. The operator's plans are carried out on it, whole or up to a step at which it dies, and
 * each step is held against what must always be true (J1 to J5). */
#pragma once

#include "job/kinds.h"

enum { WORLD_PODS = 64, WORLD_UIDS = 512 };

struct world_pod {
    bool there;
    size_t role;
    int64_t index;
    unsigned uid;
    enum pod_phase phase;
    bool leaving, disrupted, has_exit;
    int64_t exit_code, restarts;
};

struct world_service {
    bool there;
    size_t role;
    int64_t index;
    unsigned uid;
};

struct world_role {
    const char *name; /* "Worker" */
    str label;        /* "worker" */
    bool there;
    int64_t replicas;
    const char *policy;
};

struct world_counts {
    int64_t active, succeeded, failed;
};

/* The world as the last plan saw it. */
struct world_seen {
    struct world_counts counts[MANY_ROLES];
    int64_t succeeded; /* pods that did, and roles of no replicas */
    int64_t permanent, restartable;
    bool spent, late;
};

struct world {
    struct arena *a;
    const struct job_kind *kind;
    jv job; /* absent: deleted */
    int64_t now_ms, written_ms;
    int64_t version;
    unsigned uids;
    struct world_role roles[MANY_ROLES];
    struct world_pod pods[WORLD_PODS];
    struct world_service services[WORLD_PODS];
    /* limits, as in the job; -1: unset */
    int64_t backoff, deadline, ttl;
    bool invalid; /* an edit broke the spec */
    /* what was seen to happen */
    unsigned tallied[WORLD_UIDS]; /* uids of pods counted as restarts */
    size_t n_tallied;
    int64_t counts[COUNT_RESTARTED + 1];
    int64_t restarts; /* pods deleted because they failed */
    char broken[256]; /* the first thing found untrue; empty: none */
    struct world_seen seen;
};

/* A new job with those roles, replicas and policies. */
void world_init(struct world *w, struct arena *a, const struct job_kind *kind);
void world_make_job(struct world *w, bool suspend, const char *clean);
void world_set_spec(struct world *w, jv value, const char *member); /* of runPolicy */
void world_set_replicas(struct world *w, size_t role, int64_t n);
void world_set_image(struct world *w, bool there);

/* Plans and carries out at most that many steps. Returns how many steps the plan had; wake may be
 * NULL. */
size_t world_pass(struct world *w, size_t most, int64_t *wake_ms);
void world_broken(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- what holds, by a reading of its own */

bool world_has(const struct world *w, const char *condition); /* is True */
bool world_is_over(const struct world *w);
bool world_is_suspended(const struct world *w); /* by spec */
bool world_in_range(const struct world *w, const struct world_pod *p);
bool world_restartable(const struct world *w, const struct world_pod *p);
bool world_permanent(const struct world *w, const struct world_pod *p);
int64_t world_start_ms(const struct world *w); /* -1: none */
int64_t world_spent(const struct world *w);    /* restarts that count against the limit */

/* life_check.c: a step, before it is carried out; the status, after it was written. */
void world_note(struct world *w); /* fills seen */
void world_check_create(struct world *w, const struct plan_step *s, size_t role, int64_t index);
void world_check_delete(struct world *w, const struct world_pod *p);
void world_check_tally(struct world *w, jv patch);
void world_check_status(struct world *w, jv before);
void world_check_pass(struct world *w, int64_t wake_ms);
