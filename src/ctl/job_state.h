/* What a controller is doing about a job: one state, and what changes it. PURE but for
 * job_advance(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum job_state {
    JOB_SAME, /* in the table: it stays as it is */
    JOB_NONE, /* there is no object (yet, or any more), only what it owns */
    /* ---- at rest: these may be in the queue, and are looked at when their turn comes */
    JOB_IDLE,
    JOB_QUIET,    /* finished or not ours: only a change of the job itself matters */
    JOB_DEFERRED, /* all is done but what can wait for others; is in ctl.deferred */
    JOB_STALE,    /* a write of ours met a newer version: the watch has a moment to tell it */
    JOB_READING,  /* it has not, so the job is being read */
    /* ---- a plan is being carried out */
    JOB_RUNNING,
    JOB_RUNNING_DIRTY,   /* something happened meanwhile: to be looked at again */
    JOB_RUNNING_STALE,   /* a write of ours met a newer version */
    JOB_RUNNING_CHANGED, /* the job itself changed: nothing more of that plan is sent */
    JOB_RUNNING_DELETED, /* we have deleted it: nothing more is sent */
    JOB_RUNNING_LOST,    /* its object is gone: nothing more is sent */
    /* ---- */
    JOB_DELETED, /* we have deleted it; ends when the watch says so */
    JOB_STATES,
};

enum job_event {
    JOB_ON_TOLD,     /* the watch or a list told a new version */
    JOB_ON_LEARNT,   /* the newest version is known from an answer to a request of ours */
    JOB_ON_GONE,     /* its object is gone */
    JOB_ON_ITEMS,    /* something happened that is worth another look */
    JOB_ON_LOOK,     /* its turn has come, or it is not to wait for others any more */
    JOB_ON_SETTLED,  /* a plan says that it is finished, or not ours */
    JOB_ON_SEND,     /* a plan with steps is being carried out */
    JOB_ON_CONFLICT, /* a write of ours met a version that is not known yet */
    JOB_ON_DELETED,  /* we have deleted it */
    JOB_ON_OVER,     /* the plan is carried out, or was given up */
    JOB_ON_DEFER,    /* what is left can wait for others */
    JOB_ON_READ,     /* reading it was answered */
    JOB_EVENTS,
};

enum job_state job_next_state(enum job_state s, enum job_event e);

static inline bool job_is_at_rest(enum job_state s)
{
    return s >= JOB_IDLE && s <= JOB_READING;
}
/* Whether more of its plan may be sent. */
static inline bool job_may_send(enum job_state s)
{
    return s >= JOB_RUNNING && s <= JOB_RUNNING_STALE;
}
/* Whether something happened while its plan is being carried out. */
static inline bool job_is_dirty(enum job_state s)
{
    return s == JOB_RUNNING_DIRTY || s == JOB_RUNNING_CHANGED;
}

struct ctl;
struct ctl_job;
/* The one place where a job's state changes; does what entering and leaving a state asks for. */
void job_advance(struct ctl *c, struct ctl_job *j, enum job_event e);
