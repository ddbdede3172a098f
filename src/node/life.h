/* One pod's life, PURE: no I/O, no clock. What is known of a pod and its containers comes in as
 * facts (life_on_…); life_step says what to do now, and moves on as if it were begun: the same
 * facts at the same times give the same actions. All times are milliseconds since 1970. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"

enum life_kind { LIFE_INIT, LIFE_SIDECAR, LIFE_MAIN, LIFE_EPHEMERAL };
enum life_state { LIFE_WAITING, LIFE_STARTING, LIFE_RUNNING, LIFE_ENDED };
enum life_probe_kind { LIFE_STARTUP, LIFE_LIVENESS, LIFE_READINESS, LIFE_PROBES };
enum life_box { LIFE_BOX_NONE, LIFE_BOX_ASKED, LIFE_BOX_UP, LIFE_BOX_ENDING, LIFE_BOX_GONE };

struct life_end { /* of one run of a container */
    bool is;
    int64_t code;
    int64_t attempt;
    int64_t started_ms;
    int64_t finished_ms;
    char reason[32];
    struct buf message;
};

struct life_probe {
    bool asked; /* under way */
    int64_t asked_ms;
    int64_t due_ms;
    int64_t good, bad; /* in a row */
    int result;        /* 1 passes, -1 fails, 0: not known yet */
};

struct life_container {
    jv spec;
    str name;
    enum life_kind kind;
    enum life_state state;
    bool was_started;
    int64_t attempt; /* of the run that is or was last: its restartCount */
    int64_t started_ms;
    int64_t pid; /* of its first process on the machine, while it runs; 0: not known */
    struct life_end end, last;
    char waiting[40]; /* why it does not start; empty: it just has not yet */
    struct buf waiting_message;
    int64_t retry_ms; /* not before */
    int64_t backoff_ms, backoff_at_ms;
    bool backs_off;
    bool again; /* its end does not count: the sandbox it was in is lost */
    bool post_busy, pre_asked, pre_busy;
    bool stopping, term_sent, kill_sent;
    int64_t stop_by_ms, kill_at_ms;
    struct life_probe probes[LIFE_PROBES];
    str image_id;    /* owned */
    int64_t greeted; /* 1 + the run that somebody has attached to */
};

struct life {
    struct jdoc *doc;
    jv pod;
    size_t n;
    struct life_container *at; /* init containers and sidecars in order, then the others ... */
    size_t n_init;
    size_t n_own; /* ... of the pod as it was made; those after come by `kubectl debug` */
    enum life_box box;
    int64_t box_retry_ms;
    int64_t start_ms; /* status.startTime */
    bool initialized;
    bool deleted;
    bool failed;     /* the node ended it, whatever its containers say; reason tells why */
    char reason[40]; /* of the pod, once it failed */
    struct buf message;
    bool ending; /* deleted or failed, and its containers were told */
    int64_t end_by_ms;
    bool done; /* nothing of it is left */
    bool remove_told;
    char ip[48];
    bool stalled;             /* it makes no progress ... */
    struct buf stall_message; /* ... since when, and where it waits */
};

enum life_do {
    LIFE_SANDBOX, /* make it: volumes, then the sandbox; life_on_box… answers */
    LIFE_START,   /* container c, run number attempt; life_on_started, …_failed or …_cannot */
    LIFE_HOOK,    /* postStart, or preStop when `stop`; life_on_hook */
    LIFE_SIGNAL,  /* signo to container c */
    LIFE_PROBE,   /* life_on_probe */
    LIFE_END_BOX, /* kill what is left; life_on_box_gone */
    LIFE_REMOVE,  /* the pod object, once its status is written */
};

struct life_action {
    enum life_do what;
    size_t c;
    int64_t attempt;
    int signo;
    bool stop;
    enum life_probe_kind probe;
};

struct life_tell { /* an event on the pod */
    bool warning;
    const char *reason;
    str message;
    str container; /* empty: the pod */
};

struct life_out { /* starts as { .a = arena } */
    struct arena *a;
    struct {
        VEC(struct life_action);
    } acts;
    struct {
        VEC(struct life_tell);
    } tells;
    int64_t wake_ms; /* step again then; INT64_MAX: only when something happens */
};
void life_out_done(struct life_out *out);
static inline void life_out_auto(struct life_out *out)
{
    life_out_done(out);
}

/* Refs the pod. Reads what its status tells of earlier runs (a node that starts again). */
struct life *life_new(struct jdoc *pod);
void life_free(struct life *l);
void life_update(struct life *l, struct jdoc *pod); /* the same pod, as it is now */
struct life_container *life_find(struct life *l, str name);

void life_step(struct life *l, int64_t now_ms, struct life_out *out);
bool life_is_ready(const struct life_container *c);
bool life_has_started(const struct life_container *c); /* its startup probe too, if it has one */

/* ---- facts */

void life_on_box_up(struct life *l, str ip);
void life_on_box_failed(struct life *l, int64_t retry_ms); /* try again then */
/* Before that: why its containers wait. */
void life_on_box_refused(struct life *l, str reason, str message);
/* reason, message: of the pod if it fails by this; empty when it was to go. */
void life_on_box_gone(struct life *l, int64_t now_ms, str reason, str message);
void life_on_started(struct life *l, size_t c, int64_t at_ms, struct life_out *out);
struct life_exit {
    int64_t at_ms;
    int code, signo; /* code -1: signo ended it */
    bool oom;
    str message; /* termination message */
};
void life_on_exited(struct life *l, size_t c, const struct life_exit *x);
/* It did not start although all was there: counts as a run. */
void life_on_failed(struct life *l, size_t c, int64_t code, str reason, str message, int64_t now);
/* It cannot be started yet: config or image; tried again at retry_ms. */
void life_on_cannot(struct life *l, size_t c, str reason, str message, int64_t retry_ms);
void life_on_hook(struct life *l, size_t c, int64_t attempt, bool stop, bool fine, int64_t now_ms,
                  struct life_out *out);
/* result: 1 passes, 0 fails, -1: could not be asked, which changes nothing. */
void life_on_probe(struct life *l, const struct life_action *asked, int result, str message,
                   int64_t now_ms, struct life_out *out);
/* From a sandbox that was there before us: the container's run as it knows it. x NULL: it runs. */
void life_on_known(struct life *l, size_t c, int64_t attempt, int64_t started_ms,
                   const struct life_exit *x);
/* The node ends the pod: Evicted, UnexpectedAdmissionError, … */
void life_fail(struct life *l, str reason, str message);
/* It makes no progress, as stall_message says: what its annotation muster.dev/on-stall asks for. */
void life_on_stalled(struct life *l, int64_t now_ms, struct life_out *out);
/* Why that annotation has no effect; empty: it has, or there is none, or a controller acts on it.
 */
str life_on_stall_problem(struct arena *a, jv pod);
/* Something that containers wait for may have come. */
void life_retry(struct life *l);

/* ---- status */

struct life_where {
    str host_ip;
    str node;
};
/* The status kubelet would write; what others wrote in it stays out. */
jv life_status(struct arena *a, const struct life *l, const struct life_where *w, int64_t now_ms);
const char *life_phase(const struct life *l);

/* ---- inside */

void life_stop(struct life *l, struct life_container *c, int64_t now_ms, int64_t grace_ms, str why,
               struct life_out *out);
int64_t life_grace_ms(const struct life *l);
/* Whether its containers have run their course and none is to run again. */
bool life_is_over(const struct life *l);
void life_probes(struct life *l, struct life_container *c, int64_t now_ms, struct life_out *out);
void life_act(struct life_out *out, struct life_action act);
void life_tell(struct life_out *out, const struct life_container *c, bool warning,
               const char *reason, str message);
void life_wake(struct life_out *out, int64_t at_ms);
