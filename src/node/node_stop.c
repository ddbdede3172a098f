/* A node that stops for good: what its pods run ends, and no life goes on. How containers ended is
 * in what their wardens leave; the next node reads it there, and decides then. */

#include "base/mem.h"
#include "node/internal.h"

static bool anything_runs(const struct node *n)
{
    MAP_EACH (s, &n->pods) {
        const struct pod *p = s->value;
        if (p->rt)
            return true;
    }
    return n->orphans != NULL;
}

static void tell_over(void *arg)
{
    struct node *n = arg;
    void (*done)(void *ctx) = n->on_ended;

    loop_timer_stop(TAKE(n->over_due));
    n->on_ended = NULL;
    if (done)
        done(n->ended_ctx);
}

void node_check_over(struct node *n)
{
    if (!n->ending || !n->on_ended || n->over_due || anything_runs(n))
        return;
    n->over_due = loop_timer_start(n->o.loop, 0, 0, tell_over, n);
}

void pod_on_ending(struct pod *p, const struct runtime_event *ev)
{
    struct node *n = p->n;

    if (ev->what == RUNTIME_HELLO) {
        n->o.runtime->ops->end(p->rt, n->end_grace_ms);
    } else if (ev->what == RUNTIME_GONE || (ev->what == RUNTIME_FAILED && !ev->container.n)) {
        n->o.runtime->ops->drop(p->rt);
        p->rt = NULL;
        pod_release(p);
        if (p->vanished) /* nobody will ask for it again */
            pod_forget(p);
        node_check_over(n);
    }
}

void node_end(struct node *n, int64_t grace_ms, void (*done)(void *ctx), void *ctx)
{
    n->ending = true;
    n->end_grace_ms = grace_ms;
    n->on_ended = done;
    n->ended_ctx = ctx;
    usage_free(n);
    stall_free(n);
    MAP_EACH (s, &n->pods) {
        struct pod *p = s->value;
        loop_timer_stop(p->wake);
        p->wake = NULL;
        pod_asks_drop(p);
        if (p->attaching)
            pod_detach(p);
        if (p->rt)
            n->o.runtime->ops->end(p->rt, grace_ms);
    }
    node_check_over(n);
}
