/* What to do, as data: made by pure functions, carried out by ctl/apply.c, printed for golden
 * files.
 *
 * Steps have a stage. All steps of a stage are sent at once (in bounded parallel), the next stage
 * follows when all of them are answered. What a step brings about (events, counters) is told only
 * when it was accepted. */
#pragma once

#include "plan/observed.h"

/* PLAN_CONFIRM: read the job from the server; it must still have that uid and not be going. */
enum plan_kind { PLAN_CREATE, PLAN_DELETE, PLAN_PATCH, PLAN_CONFIRM };

/* An event on the job, or one more of something in /metrics. */
enum plan_note_kind { NOTE_EVENT, NOTE_COUNT };
enum plan_counter {
    COUNT_CREATED,
    COUNT_DELETED,
    COUNT_SUCCEEDED,
    COUNT_FAILED,
    COUNT_RESTARTED,
};

struct plan_note {
    enum plan_note_kind kind;
    bool warning;
    str reason;
    str message;
    /* The fact it tells, so that it is told once: "exit/<pod uid>/<container id>". Empty: told each
     * time it is planned. */
    str once;
    bool terminal; /* never dropped for want of budget */
    enum plan_counter counter;
    int64_t n;
};

struct plan_step {
    enum plan_kind kind;
    unsigned stage;
    bool must;     /* if it fails, later stages are left out and the pass is tried again */
    bool basis;    /* a CREATE: while it is not there, nothing is created in later stages */
    bool shared;   /* a CREATE: it may be there already, whosever it is */
    bool can_wait; /* in the last stage: for others that have something to make, some seconds */
    const struct kube_resource *res;
    str ns;
    str name;
    str uid;               /* precondition of a DELETE */
    str sub;               /* PATCH: "status" or empty */
    enum kube_patch patch; /* PATCH */
    jv obj;                /* CREATE: the object; PATCH: the patch; read it with step_object */
    /* Makes the object when it is wanted, so that a plan of thousands of large ones stays small.
     * Pure; may share what `of` points to. NULL: obj. */
    jv (*make)(struct arena *a, const struct plan_step *s);
    const void *of;
    size_t part, index; /* for make */
    /* CREATE and DELETE of what jobs own, PATCH of it (only if it failed), and DELETE of the job.
     * Told of each that was done: event `done_reason`, "Created pod: NAME" or "Deleted pod: NAME",
     * from the tenth of a pass on all in one, "Created 12 more pods"; of each that failed, once for
     * each object and error: warning `fail_reason`, "Error creating: ..." (deleting, updating), or
     * with other words before the colon. NULL: nothing. */
    const char *done_reason;
    const char *done_words; /* before the colon; NULL: "Created" or "Deleted", and the noun */
    const char *fail_reason;
    const char *fail_words;
    const char *fail_also;    /* a further warning of this reason, with the words of success */
    const char *taken_reason; /* instead, if the name is another's: warning "Resource ..." */
    const char *noun;         /* "pod" */
    struct plan_note *notes;
    size_t n_notes;
};

struct plan {
    struct arena *a;
    struct plan_step *steps;
    size_t n_steps, cap_steps;
    struct plan_note *notes; /* not tied to a step */
    size_t n_notes, cap_notes;
    int64_t wake_ms; /* plan again then (since 1970), whatever happens; 0: only on change */
    bool finished;   /* terminal, cleaned up, nothing to wait for but wake_ms: ctl may forget the
                      * job's details */
    bool ignored;    /* not ours (managedBy) or being deleted */
    bool gang_short; /* fewer members of the gang have a node than must run together */
};

struct plan *plan_new(struct arena *a);
struct plan_step *
plan_add(struct plan *p, enum plan_kind kind, unsigned stage,
         const struct kube_resource *res);   /* to be filled; valid until the next */
struct plan_note *plan_tell(struct plan *p); /* not tied to a step; likewise */
void step_tell(struct plan *p, struct plan_step *s, struct plan_note note);
void plan_wake(struct plan *p, int64_t at_ms); /* the earliest counts */
/* What to send: obj, or what make makes, in a. */
jv step_object(struct arena *a, const struct plan_step *s);

/* For golden files: stages, steps and notes in order, everything in them. */
jv plan_json(struct arena *a, const struct plan *p);
