/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/map.h"
#include "ctl/ctl.h"
#include "ctl/events.h"
#include "ctl/informer.h"
#include "ctl/item.h"
#include "ctl/job_state.h"
#include "ctl/queue.h"
#include "ctl/stats.h"

struct ctl_job;
struct run;

/* A kind of job, and all there are of it. */
struct kind {
    struct ctl *c;
    const struct planner *planner;
    struct informer *inf;
    struct map jobs; /* "ns/name" -> struct ctl_job with an object */
    bool ready;      /* was found to be, and its jobs touched */
};

/* What jobs own of one resource: pods, services, ... */
struct store {
    struct ctl *c;
    const struct kube_resource *res;
    enum item_what what;
    const struct planner_needed *needed; /* its row; NULL: one kind's own, or of all kinds */
    bool was_served;
    struct informer *inf;
    struct map items; /* "ns/name" -> struct item */
};

/* Things without a controller that a job of that name would adopt. */
struct orphans {
    struct {
        VEC(struct item *);
    } items;
    char key[]; /* "controller/ns/job" */
};

/* A create that is not to be tried yet. name empty: any of that resource. */
struct hold {
    struct hold *next_waiter; /* for the same name */
    struct ctl_job *job;
    bool waits;   /* is in ctl.waiters */
    bool unknown; /* the last try was not answered: look before trying again */
    bool found;   /* it is there, another's, and that is fine */
    unsigned failures;
    int64_t until_ms; /* monotonic */
    char key[];       /* "pods/ns/name" */
};

/* What is remembered of a job that is at work. */
struct facts {
    struct event_budget budget;
    struct map holds; /* key -> struct hold */
};

/* All that has one uid as its owner, and the job with that uid once it was seen. Goes when neither
 * is left. */
struct ctl_job {
    struct queue_entry q; /* first */
    struct kind *kind;    /* NULL: not seen yet */
    char *text;           /* the object as compact JSON; NULL: there is none */
    uint32_t n_text;
    uint32_t seen; /* in that list */
    uint64_t rev;
    enum job_state state; /* only job_advance() changes it */
    unsigned echoes; /* passes in a row that had something to do, though nothing had happened */
    struct ctl_job *wait_next, *wait_prev; /* in ctl.deferred */
    int64_t waits_ms;                      /* since when, by the loop's clock; 0: nothing waits */
    struct kube_call *read;                /* see JOB_READING */
    struct run *run;
    struct facts *facts;
    int64_t status_written_ms;
    int64_t short_since_ms; /* see observed.h */
    int64_t touched_us;     /* when the first change was told that no pass has seen; 0: none */
    struct item_list pods, services, others;
    char *key;      /* "ns/name" */
    uint16_t n_ns;  /* of key */
    uint16_t n_uid; /* */
    char uid[];
};

struct ctl {
    struct loop *loop;
    struct kube_api *api;
    struct ctl_opts o;
    int64_t (*wall_ms)(void);
    struct kind *kinds;
    size_t n_kinds;
    struct store *stores;
    size_t n_stores;
    struct informer_turns turns;
    struct slab slab;   /* what the caches keep */
    struct map jobs;    /* uid -> struct ctl_job */
    struct map orphans; /* key -> struct orphans */
    struct map waiters; /* key -> first struct hold */
    struct queue queue;
    bool leads;
    struct tick *tick; /* a call to make passes is deferred */
    struct {
        struct run *first, *last; /* have something to send */
        unsigned in_flight;
        unsigned most;   /* in flight, since it was last quiet */
        int64_t made_ms; /* when a create was last answered, by the loop's clock */
        size_t n_runs;
        struct run *runs; /* all of them */
    } sender;
    struct ctl_job *deferred;  /* those that wait for the others */
    struct loop_timer *settle; /* looks again whether the others are done */
    struct guard *guards;
    size_t n_guards;
    size_t n_reading;
    size_t worked; /* plans carried out and events told since memory was given back */
    struct events *events;
    struct stats stats;
    void (*on_stopped)(void *arg);
    void *stopped_arg;
    struct loop_timer *stop_timer;
    int64_t stop_by_us;
    bool stopping;
    bool stop_now; /* all is answered */
};

/* ---- jobs.c: the records of jobs */
struct ctl_job *ctl_job_of_uid(struct ctl *c, str uid); /* made if there is none */
/* Takes in the object, unless a newer one is known. fresh: from a watch or list, so that a change
 * is worth a pass. */
void ctl_job_put(struct kind *k, jv obj, bool fresh);
void ctl_job_gone(struct kind *k, jv obj);
void ctl_job_sweep(struct kind *k, unsigned n, uint64_t rev);
void ctl_job_slim(struct ctl *c, struct ctl_job *j, jv slim);
void ctl_job_touch(struct ctl *c, struct ctl_job *j); /* the job itself changed: look at it */
void ctl_job_items_changed(struct ctl *c, struct ctl_job *j);
void ctl_job_release(struct ctl *c, struct ctl_job *j); /* frees it if nothing needs it */
void ctl_jobs_touch_all(struct kind *k);
void ctl_jobs_touch_named(struct ctl *c, str key); /* of all kinds: something has their name */
void ctl_jobs_free(struct ctl *c);
static inline str ctl_job_uid(const struct ctl_job *j)
{
    return (str){ j->uid, j->n_uid };
}
static inline str ctl_job_ns(const struct ctl_job *j)
{
    return (str){ j->key, j->n_ns };
}
static inline str ctl_job_name(const struct ctl_job *j)
{
    return str_of(j->key + j->n_ns + 1);
}

/* ---- cache.c: what jobs own */
enum put_from { PUT_WATCH, PUT_ANSWER };
/* Takes in an object, unless a newer one is known or it is gone already; whether it is there then.
 */
bool item_put(struct store *s, jv obj, enum put_from from);
void item_gone(struct store *s, jv obj);
void item_drop(struct store *s, struct item *it); /* nobody has it any more */
void item_sweep(struct store *s, unsigned n, uint64_t rev);
struct item *item_find(const struct store *s, str ns, str name);
struct store *store_of(struct ctl *c, const struct kube_resource *res);
/* That it cannot be read is fine: classes then count as missing, as do objects of some kinds only.
 */
bool store_may_lack(const struct store *s);
bool store_is_ready(const struct store *s); /* passes can be made with what it has */
const struct orphans *orphans_of(const struct ctl *c, const struct ctl_job *j);
struct kind *kind_of_controller(struct ctl *c, str controller);
void cache_free(struct ctl *c);

/* ---- pass.c: from what is seen to a plan, and on */
void pass_run(struct ctl *c, struct ctl_job *j);
void pass_read(struct ctl *c, struct ctl_job *j); /* asks the server for the job itself */
struct outcome {
    size_t n_sent;         /* requests */
    bool held;             /* creates were left out that must wait */
    int64_t held_until_ms; /* monotonic; the first of them until then; 0: not known */
    bool waits;            /* all is done but what can wait for others */
    bool failed;           /* to be tried again */
    bool doubtful;         /* something seems to be gone that is still seen: look again */
};
/* What comes after a pass; p NULL: there was no plan. May free j, if its object is gone. */
void pass_over(struct ctl *c, struct ctl_job *j, const struct plan *p, struct outcome o);
void note_tell(struct ctl *c, struct ctl_job *j, const struct event_about *about,
               const struct plan_note *note);
bool kind_is_ready(const struct kind *k); /* all its plans depend on was listed */

/* ---- create_holds.c: creates that must wait, and what they wait for */
struct hold *hold_find(const struct ctl_job *j, const struct kube_resource *res, str name);
struct hold *hold_add(struct ctl *c, struct ctl_job *j, const struct kube_resource *res, str name);
void hold_drop(struct ctl *c, struct ctl_job *j, const struct kube_resource *res, str name);
void hold_wait(struct ctl *c, struct hold *h); /* tried at once when that name becomes free */
/* When the first is over; 0: there is none. Those that are over are dropped, as the pass did not
 * want them; held: unless it came too early for one. */
int64_t holds_next_ms(struct ctl *c, struct ctl_job *j, const struct outcome *o);
void holds_free(struct ctl *c, struct ctl_job *j);
void name_freed(struct ctl *c, const struct kube_resource *res, str ns, str name);
/* Watches one object that no informer sees, until it is deleted. */
void guard_start(struct ctl *c, const struct kube_resource *res, jv obj);
void guards_free(struct ctl *c);

/* ---- apply.c: plans being carried out */
struct tally { /* events of one reason, of which only the first few are told one by one */
    const char *reason;
    const char *noun;
    bool deleted;
    unsigned n;
};

struct run {
    struct ctl *c;
    struct ctl_job *job;
    struct arena *a; /* it lives there, as the plan does */
    struct plan *plan;
    struct event_about about;
    struct run *next, *prev; /* of all */
    struct run *next_ready;  /* of those that have something to send */
    bool is_ready;
    size_t *order;  /* steps by stage */
    size_t at, end; /* those of this stage not sent yet */
    unsigned in_flight;
    unsigned window;
    struct outcome is;
    bool cut;      /* nothing more is sent */
    bool baseless; /* something is missing without which nothing is made in stages after this: */
    unsigned baseless_from;
    struct err err; /* the first failure */
    struct {
        const struct kube_resource *res;
        unsigned n; /* creates of it that failed in a row */
    } failing[8];
    size_t n_failing;
    struct tally tallies[8];
    size_t n_tallies;
    struct attempt *attempts; /* sent and not answered */
    str version;              /* of the job, as our own writes have left it; empty: none yet */
    int64_t touched_us;       /* job's; 0: the pass was not made because of a change */
    int64_t began_us;
};

void apply_start(struct ctl *c, struct ctl_job *j, struct arena *a, struct plan *p,
                 jv job); /* takes a, where the rest lives */
void sender_kick(struct ctl *c);
void run_answered(struct run *r); /* one of its attempts is over; may free it */
void runs_free(struct ctl *c);
struct facts *ctl_job_facts(struct ctl *c, struct ctl_job *j);

/* ---- defer_status.c: what waits while there is something to be made */
bool defer_is_needed(struct ctl *c); /* there is, or was a moment ago */
bool defer_holds(struct run *r);     /* whether the steps that are next are to wait */
void defer_enter(struct ctl *c, struct ctl_job *j); /* into ctl.deferred: see JOB_DEFERRED */
void defer_leave(struct ctl *c, struct ctl_job *j);
void defer_kick(struct ctl *c);
void defer_stop(struct ctl *c);

/* ---- step.c: one step of a plan, from request to answer */
bool step_send(struct run *r, const struct plan_step *s); /* false: it is left out */
void attempts_cancel(struct run *r);
void tallies_tell(struct run *r); /* of what was only counted */

/* ---- ctl.c */
void ctl_settle(struct ctl *c); /* something ended: is there room for more, or all done? */
bool ctl_may_write(const struct ctl *c);
