/* The states of a job: what must hold of the whole table, and the paths that matter. */

#include "ctl/job_state.h"
#include "tap.h"

static bool is_running(enum job_state s)
{
    return s >= JOB_RUNNING && s <= JOB_RUNNING_LOST;
}

static void every_state_ends(void)
{
    for (enum job_state s = JOB_NONE; s < JOB_STATES; s++) {
        enum job_state gone = job_next_state(s, JOB_ON_GONE);
        ok(job_next_state(gone, JOB_ON_OVER) == JOB_NONE,
           "state %d: the object goes, and nothing is left", (int)s);
        ok(!job_may_send(gone), "state %d: nothing is sent for what is gone", (int)s);
        ok(!is_running(job_next_state(s, JOB_ON_OVER)), "state %d: what is over does not run",
           (int)s);
    }
}

static void only_a_plan_runs(void)
{
    for (enum job_state s = JOB_NONE; s < JOB_STATES; s++)
        for (enum job_event e = 0; e < JOB_EVENTS; e++) {
            enum job_state to = job_next_state(s, e);
            if (!is_running(s) && is_running(to) && e != JOB_ON_SEND)
                ok(false, "state %d runs by event %d", (int)s, (int)e);
            if (is_running(s) && !is_running(to) && e != JOB_ON_OVER)
                ok(false, "state %d stops by event %d", (int)s, (int)e);
            if (to == JOB_NONE && s != JOB_NONE && e != JOB_ON_GONE && e != JOB_ON_OVER)
                ok(false, "state %d ends by event %d", (int)s, (int)e);
        }
    ok(true, "a plan begins with its sending and ends when it is over");
}

/* A change that comes while a plan is carried out is not lost, whatever comes next. */
static void no_change_is_lost(void)
{
    static const enum job_event later[] = { JOB_ON_LEARNT, JOB_ON_ITEMS, JOB_ON_CONFLICT,
                                            JOB_ON_READ, JOB_ON_LOOK };

    for (size_t i = 0; i < COUNT(later); i++) {
        enum job_state s = job_next_state(JOB_RUNNING, JOB_ON_TOLD);
        ok(!job_may_send(s), "nothing more is sent by an old plan");
        s = job_next_state(s, later[i]);
        ok(job_is_dirty(s), "it is looked at again after event %d", (int)later[i]);
        s = job_next_state(job_next_state(JOB_RUNNING, JOB_ON_ITEMS), later[i]);
        ok(job_is_dirty(s) || s == JOB_RUNNING_STALE, "and so for what it owns");
    }
}

/* state, events, and where they lead */
static void paths(void)
{
    static const struct {
        const char *what;
        enum job_state from;
        enum job_event by[4];
        size_t n;
        enum job_state to;
    } paths[] = {
        { "a job comes, is planned and carried out",
          JOB_NONE,
          { JOB_ON_TOLD, JOB_ON_LOOK, JOB_ON_SEND, JOB_ON_OVER },
          4,
          JOB_IDLE },
        { "it is finished", JOB_IDLE, { JOB_ON_LOOK, JOB_ON_SETTLED, JOB_ON_OVER }, 3, JOB_QUIET },
        { "what it owns does not wake it", JOB_QUIET, { JOB_ON_ITEMS, JOB_ON_LOOK }, 2, JOB_QUIET },
        { "it does itself", JOB_QUIET, { JOB_ON_TOLD }, 1, JOB_IDLE },
        { "a conflict waits for the watch",
          JOB_RUNNING,
          { JOB_ON_CONFLICT, JOB_ON_ITEMS, JOB_ON_OVER },
          3,
          JOB_STALE },
        { "which tells it", JOB_STALE, { JOB_ON_TOLD }, 1, JOB_IDLE },
        { "or it is read", JOB_STALE, { JOB_ON_LOOK }, 1, JOB_READING },
        { "and planned then", JOB_READING, { JOB_ON_LOOK, JOB_ON_READ }, 2, JOB_IDLE },
        { "the watch was quicker than the answer to a write of ours",
          JOB_RUNNING,
          { JOB_ON_TOLD, JOB_ON_LEARNT },
          2,
          JOB_RUNNING_DIRTY },
        { "what can wait waits", JOB_IDLE, { JOB_ON_DEFER, JOB_ON_TOLD }, 2, JOB_DEFERRED },
        { "until it is looked at", JOB_DEFERRED, { JOB_ON_LOOK }, 1, JOB_IDLE },
        { "what we deleted is not looked at, however it changes",
          JOB_RUNNING,
          { JOB_ON_DELETED, JOB_ON_OVER, JOB_ON_TOLD, JOB_ON_ITEMS },
          4,
          JOB_DELETED },
        { "an object that comes back while an old plan runs is planned anew",
          JOB_RUNNING,
          { JOB_ON_GONE, JOB_ON_TOLD },
          2,
          JOB_RUNNING_CHANGED },
    };

    for (size_t i = 0; i < COUNT(paths); i++) {
        enum job_state s = paths[i].from;
        for (size_t k = 0; k < paths[i].n; k++)
            s = job_next_state(s, paths[i].by[k]);
        is_int(s, paths[i].to, paths[i].what);
    }
}

int main(void)
{
    every_state_ends();
    only_a_plan_runs();
    no_change_is_lost();
    paths();
    return tap_done();
}
