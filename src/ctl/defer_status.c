/* What is only to be read by people waits while there is something to be made: when hundreds of
 * jobs begin at once, that each was seen is written when their pods are there, and for those whose
 * pods run by then together with that. A crowd comes in waves, as the watch tells of the jobs, and
 * the server and its other watchers have all of it to digest: it is over when nothing was made for
 * a while. What waited goes a few at a time, so that whoever comes next finds the way free. */

#include "ctl/internal.h"

enum {
    DEFER_MS = 5000, /* at most; as of events */
    CROWD = 32,      /* in flight at once */
    SETTLE_MS = 250,
    WOKEN_AT_ONCE = 32,
};

static bool is_busy(const struct ctl *c)
{
    return c->sender.first || c->sender.in_flight || c->queue.n_ready;
}

static void look_again(void *arg)
{
    struct ctl *c = arg;

    loop_timer_stop(TAKE(c->settle));
    sender_kick(c);
}

/* Whether a crowd was here a moment ago. */
static bool is_settling(struct ctl *c)
{
    int64_t left = c->sender.made_ms + SETTLE_MS - loop_now_ms(c->loop);

    if (c->sender.most < CROWD || left <= 0 || c->stopping) {
        c->sender.most = 0;
        return false;
    }
    if (!c->settle)
        c->settle = loop_timer_start(c->loop, left, 0, look_again, c);
    return true;
}

bool defer_is_needed(struct ctl *c)
{
    return c->sender.first || c->sender.in_flight || is_settling(c);
}

static bool can_wait(const struct run *r)
{
    if (r->at == r->end || r->end != r->plan->n_steps)
        return false;
    for (size_t i = r->at; i < r->end; i++)
        if (!r->plan->steps[r->order[i]].can_wait)
            return false;
    return true;
}

bool defer_holds(struct run *r)
{
    struct ctl_job *j = r->job;
    int64_t now_ms = loop_now_ms(r->c->loop);

    if (!can_wait(r))
        return false;
    bool others = is_busy(r->c) || is_settling(r->c);
    if (others && (!j->waits_ms || now_ms - j->waits_ms < DEFER_MS)) {
        j->waits_ms = j->waits_ms ? j->waits_ms : now_ms;
        return true;
    }
    j->waits_ms = 0;
    return false;
}

void defer_enter(struct ctl *c, struct ctl_job *j)
{
    queue_after(&c->queue, &j->q, DEFER_MS);
    j->wait_prev = NULL;
    j->wait_next = c->deferred;
    if (j->wait_next)
        j->wait_next->wait_prev = j;
    c->deferred = j;
}

void defer_leave(struct ctl *c, struct ctl_job *j)
{
    *(j->wait_prev ? &j->wait_prev->wait_next : &c->deferred) = j->wait_next;
    if (j->wait_next)
        j->wait_next->wait_prev = j->wait_prev;
}

void defer_kick(struct ctl *c)
{
    if (!c->deferred || is_busy(c) || is_settling(c))
        return;
    struct ctl_job *j;
    for (int n = 0; n < WOKEN_AT_ONCE && (j = c->deferred); n++) {
        job_advance(c, j, JOB_ON_LOOK);
        /* The others, who are written now, too, do not make it wait again. */
        j->waits_ms = loop_now_ms(c->loop) - DEFER_MS;
        ctl_job_touch(c, j);
    }
}

void defer_stop(struct ctl *c)
{
    loop_timer_stop(TAKE(c->settle));
}
