/* The rate limit: a bucket that fills by qps a second up to burst, a token a request, first come
 * first served. */

#include "client/internal.h"

#include <math.h>

static void fill(struct client *c)
{
    int64_t now = loop_now_ms(c->loop);
    double most = c->cfg->burst > 0 ? c->cfg->burst : fmax(1, c->cfg->qps);

    if (c->tokens_ms == 0)
        c->tokens = most;
    else
        c->tokens = fmin(most, c->tokens + (double)(now - c->tokens_ms) * c->cfg->qps / 1000);
    c->tokens_ms = now;
}

bool pace_take(struct client *c)
{
    if (c->cfg->qps <= 0)
        return true;
    fill(c);
    if (c->slowed.first || c->tokens < 1)
        return false;
    c->tokens -= 1;
    return true;
}

static void on_tokens(void *arg);

static void arm(struct client *c)
{
    double ms = ceil((1 - c->tokens) * 1000 / c->cfg->qps);

    if (!c->tokens_timer && c->slowed.first)
        c->tokens_timer = loop_timer_start(c->loop, (int64_t)fmax(1, ms), 0, on_tokens, c);
}

static void on_tokens(void *arg)
{
    struct client *c = arg;

    loop_timer_stop(TAKE(c->tokens_timer));
    fill(c);
    while (c->slowed.first && c->tokens >= 1) {
        c->tokens -= 1;
        call_authorize(queue_pop(&c->slowed));
    }
    arm(c);
}

void pace_wait(struct client *c, struct kube_call *call)
{
    queue_push(&c->slowed, call);
    arm(c);
}

void pace_done(struct client *c)
{
    loop_timer_stop(TAKE(c->tokens_timer));
}
