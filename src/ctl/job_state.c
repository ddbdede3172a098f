/* The table of a job's states. What is not in it changes nothing. */

#include "ctl/job_state.h"

#include "ctl/internal.h"

/* clang-format off */
static const uint8_t table[JOB_STATES][JOB_EVENTS] = {
    [JOB_NONE] = {
        [JOB_ON_TOLD] = JOB_IDLE,
        [JOB_ON_LEARNT] = JOB_IDLE,
    },
    [JOB_IDLE] = {
        [JOB_ON_GONE] = JOB_NONE,
        [JOB_ON_SETTLED] = JOB_QUIET,
        [JOB_ON_SEND] = JOB_RUNNING,
        [JOB_ON_DEFER] = JOB_DEFERRED,
    },
    [JOB_QUIET] = {
        [JOB_ON_TOLD] = JOB_IDLE,
        [JOB_ON_LEARNT] = JOB_IDLE,
        [JOB_ON_GONE] = JOB_NONE,
        [JOB_ON_SEND] = JOB_RUNNING,
    },
    [JOB_DEFERRED] = {
        [JOB_ON_GONE] = JOB_NONE,
        [JOB_ON_LOOK] = JOB_IDLE,
    },
    [JOB_STALE] = {
        [JOB_ON_TOLD] = JOB_IDLE,
        [JOB_ON_LEARNT] = JOB_IDLE,
        [JOB_ON_GONE] = JOB_NONE,
        [JOB_ON_LOOK] = JOB_READING,
    },
    [JOB_READING] = {
        [JOB_ON_TOLD] = JOB_IDLE,
        [JOB_ON_LEARNT] = JOB_IDLE,
        [JOB_ON_GONE] = JOB_NONE,
        [JOB_ON_READ] = JOB_IDLE,
    },
    [JOB_RUNNING] = {
        [JOB_ON_TOLD] = JOB_RUNNING_CHANGED,
        [JOB_ON_GONE] = JOB_RUNNING_LOST,
        [JOB_ON_ITEMS] = JOB_RUNNING_DIRTY,
        [JOB_ON_CONFLICT] = JOB_RUNNING_STALE,
        [JOB_ON_DELETED] = JOB_RUNNING_DELETED,
        [JOB_ON_OVER] = JOB_IDLE,
    },
    [JOB_RUNNING_DIRTY] = {
        [JOB_ON_TOLD] = JOB_RUNNING_CHANGED,
        [JOB_ON_GONE] = JOB_RUNNING_LOST,
        [JOB_ON_CONFLICT] = JOB_RUNNING_STALE,
        [JOB_ON_DELETED] = JOB_RUNNING_DELETED,
        [JOB_ON_OVER] = JOB_IDLE,
    },
    [JOB_RUNNING_STALE] = {
        [JOB_ON_TOLD] = JOB_RUNNING_CHANGED,
        [JOB_ON_LEARNT] = JOB_RUNNING_DIRTY,
        [JOB_ON_GONE] = JOB_RUNNING_LOST,
        [JOB_ON_DELETED] = JOB_RUNNING_DELETED,
        [JOB_ON_OVER] = JOB_STALE,
    },
    [JOB_RUNNING_CHANGED] = {
        [JOB_ON_LEARNT] = JOB_RUNNING_DIRTY, /* that change was our own write, or is older */
        [JOB_ON_GONE] = JOB_RUNNING_LOST,
        [JOB_ON_DELETED] = JOB_RUNNING_DELETED,
        [JOB_ON_OVER] = JOB_IDLE,
    },
    [JOB_RUNNING_DELETED] = {
        [JOB_ON_GONE] = JOB_RUNNING_LOST,
        [JOB_ON_OVER] = JOB_DELETED,
    },
    [JOB_RUNNING_LOST] = {
        [JOB_ON_TOLD] = JOB_RUNNING_CHANGED,
        [JOB_ON_LEARNT] = JOB_RUNNING_CHANGED,
        [JOB_ON_OVER] = JOB_NONE,
    },
    [JOB_DELETED] = {
        [JOB_ON_GONE] = JOB_NONE,
    },
};
/* clang-format on */

enum job_state job_next_state(enum job_state s, enum job_event e)
{
    uint8_t to = table[s][e];

    return to == JOB_SAME ? s : (enum job_state)to;
}

void job_advance(struct ctl *c, struct ctl_job *j, enum job_event e)
{
    enum job_state from = j->state, to = job_next_state(from, e);

    if (to == from)
        return;
    j->state = to;
    if (from == JOB_DEFERRED)
        defer_leave(c, j);
    if (to == JOB_DEFERRED)
        defer_enter(c, j);
    if (to == JOB_READING)
        pass_read(c, j);
}
