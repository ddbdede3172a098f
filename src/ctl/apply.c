/* Carries plans out: stage by stage, within a stage as many at once as have gone well so far (one,
 * two, four, eight, then four times as many each time), within all of them as many as the limits
 * say, taking turns between jobs: a job with a thousand creates delays nobody else's first. */

#include "ctl/internal.h"

#include "loop/log.h"

/* ---- stages */

static bool may_continue(struct run *r)
{
    const struct ctl_job *j = r->job;

    return !r->cut && job_may_send(j->state) && r->c->leads && !r->c->stopping;
}

/* The next stage's steps are order[at..end). False: there is none. */
static bool next_stage(struct run *r)
{
    const struct plan *p = r->plan;

    r->at = r->end;
    if (r->at == p->n_steps || !may_continue(r))
        return false;
    while (r->end < p->n_steps &&
           p->steps[r->order[r->end]].stage == p->steps[r->order[r->at]].stage)
        r->end++;
    if (!defer_holds(r))
        return true;
    r->is.waits = true;
    r->at = r->end;
    return false;
}

static void run_unlink(struct run *r)
{
    struct ctl *c = r->c;

    *(r->prev ? &r->prev->next : &c->sender.runs) = r->next;
    if (r->next)
        r->next->prev = r->prev;
    c->sender.n_runs--;
}

static void run_end(struct run *r)
{
    struct ctl *c = r->c;
    struct ctl_job *j = r->job;
    struct kind_stats *ks = &c->stats.kinds[j->kind - c->kinds];

    tallies_tell(r);
    run_unlink(r);
    c->worked += r->is.n_sent;
    j->run = NULL;
    stats_latency(&c->stats.pass, queue_us() - r->began_us);
    if (r->err.code != ERR_OK) {
        ks->errors++;
        if (r->is.failed && j->q.failures == 0) /* what is only held was told as an event */
            log_warn("pass failed", KVZ("job", j->key), KVZ("error", r->err.msg));
    }
    pass_over(c, j, r->plan, r->is);
    arena_free(r->a);
    ctl_settle(c);
}

/* ---- turns */

static void ready_push(struct run *r)
{
    struct ctl *c = r->c;

    if (r->is_ready)
        return;
    r->is_ready = true;
    r->next_ready = NULL;
    *(c->sender.last ? &c->sender.last->next_ready : &c->sender.first) = r;
    c->sender.last = r;
}

static struct run *ready_pop(struct ctl *c)
{
    struct run *r = c->sender.first;

    c->sender.first = r->next_ready;
    if (!c->sender.first)
        c->sender.last = NULL;
    r->is_ready = false;
    return r;
}

static bool has_more(const struct run *r)
{
    return r->at < r->end && r->in_flight < r->window;
}

/* Sends one, or finds that there is nothing to send. */
static void take_turn(struct run *r)
{
    bool sent = false;

    while (has_more(r) && !sent) {
        if (!may_continue(r)) {
            r->end = r->at; /* the rest of it is not reached */
            break;
        }
        sent = step_send(r, &r->plan->steps[r->order[r->at]]);
        r->at++;
    }
    if (has_more(r))
        ready_push(r);
    else if (r->in_flight == 0 && r->at == r->end) {
        if (next_stage(r))
            ready_push(r);
        else
            run_end(r);
    }
}

void sender_kick(struct ctl *c)
{
    while (c->sender.first && c->sender.in_flight < c->o.limits.in_flight)
        take_turn(ready_pop(c));
    defer_kick(c);
    events_kick(c->events, defer_is_needed(c));
}

void run_answered(struct run *r)
{
    struct ctl *c = r->c;

    if (has_more(r) || r->in_flight == 0)
        ready_push(r);
    sender_kick(c);
}

/* ---- */

static size_t *order_of(struct arena *a, const struct plan *p)
{
    size_t *order = ARENA_ARRAY(a, size_t, p->n_steps);
    unsigned last = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->n_steps; i++)
        last = p->steps[i].stage > last ? p->steps[i].stage : last;
    for (unsigned stage = 0; stage <= last; stage++)
        for (size_t i = 0; i < p->n_steps; i++)
            if (p->steps[i].stage == stage)
                order[n++] = i;
    return order;
}

void apply_start(struct ctl *c, struct ctl_job *j, struct arena *a, struct plan *p, jv job)
{
    struct run *r = ARENA_NEW(a, struct run);

    r->c = c;
    r->job = j;
    r->a = a;
    r->plan = p;
    r->about = (struct event_about){ job, j->kind->planner->res, j->kind->planner->controller };
    r->order = order_of(a, p);
    r->window = 1;
    r->touched_us = j->touched_us;
    j->touched_us = 0;
    r->began_us = queue_us();
    r->next = c->sender.runs;
    if (r->next)
        r->next->prev = r;
    c->sender.runs = r;
    c->sender.n_runs++;
    j->run = r;
    job_advance(c, j, JOB_ON_SEND);
    next_stage(r);
    ready_push(r);
    sender_kick(c);
}

void runs_free(struct ctl *c)
{
    while (c->sender.runs) {
        struct run *r = c->sender.runs;
        attempts_cancel(r);
        run_unlink(r);
        r->job->run = NULL;
        arena_free(r->a);
    }
    c->sender.first = c->sender.last = NULL;
}
