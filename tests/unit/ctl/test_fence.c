/* J6: what goes through the fence, and what does not. */

#include "ctl/fence.h"
#include "tap.h"

static struct loop *loop;
static bool may;
static int sent, watched, cancelled, answered;
static int64_t last_status;
static enum err_code last_code;

static struct kube_call *inner_send(struct kube_api *api, const struct kube_request *r,
                                    kube_done *done, void *ctx)
{
    (void)api, (void)r, (void)done, (void)ctx;
    sent++;
    return (struct kube_call *)&sent;
}

static struct kube_call *inner_watch(struct kube_api *api, const struct kube_request *r,
                                     const struct kube_watcher *w)
{
    (void)api, (void)r, (void)w;
    watched++;
    return (struct kube_call *)&watched;
}

static void inner_cancel(struct kube_api *api, struct kube_call *c)
{
    (void)api, (void)c;
    cancelled++;
}

static const struct kube_api_ops inner_ops = { .send = inner_send,
                                               .watch = inner_watch,
                                               .cancel = inner_cancel };
static struct kube_api inner = { &inner_ops };

static bool may_write(void *ctx)
{
    (void)ctx;
    return may;
}

static void on_done(void *ctx, const struct kube_answer *ans)
{
    (void)ctx;
    answered++;
    last_status = ans->status;
    last_code = ans->err.code;
}

static void stop(void *arg)
{
    loop_stop(arg);
}

/* Lets all that is deferred run. */
static void turn(void)
{
    loop_defer(loop, stop, loop);
    loop_run(loop);
    loop_free(loop);
    loop = loop_new();
}

static struct kube_call *ask(struct fence *f, enum kube_verb verb)
{
    struct kube_request r = { .verb = verb };

    return kube_send(fence_api(f), &r, on_done, NULL);
}

static void who_may_writes(void)
{
    struct fence *f = fence_new(loop, &inner, may_write, NULL);

    may = true;
    for (enum kube_verb v = KUBE_GET; v <= KUBE_DELETE; v++)
        if (v != KUBE_WATCH)
            ask(f, v);
    is_int(sent, 6, "all verbs go through");
    kube_cancel(fence_api(f), ask(f, KUBE_CREATE));
    is_int(cancelled, 1, "and can be cancelled");
    fence_free(f);
}

static void who_may_not_reads_only(void)
{
    struct fence *f = fence_new(loop, &inner, may_write, NULL);
    struct kube_request r = { .verb = KUBE_WATCH };
    struct kube_watcher w = { 0 };

    may = false;
    sent = answered = 0;
    ask(f, KUBE_GET);
    ask(f, KUBE_LIST);
    kube_watch(fence_api(f), &r, &w);
    is_int(sent + watched, 3, "reads go through");
    ask(f, KUBE_CREATE);
    ask(f, KUBE_UPDATE);
    ask(f, KUBE_PATCH);
    ask(f, KUBE_DELETE);
    is_int(sent, 2, "writes do not");
    is_int(answered, 0, "nothing is answered from within");
    turn();
    is_int(answered, 4, "each is answered");
    is_int(last_status, 0, "as if there had been no answer");
    ok(last_code == ERR_UNAVAILABLE, "to be tried again");
    is_int((int64_t)fence_refused(f), 4, "and counted");
    fence_free(f);
}

static void a_refused_one_can_be_cancelled(void)
{
    struct fence *f = fence_new(loop, &inner, may_write, NULL);

    may = false;
    answered = cancelled = 0;
    ask(f, KUBE_CREATE);
    kube_cancel(fence_api(f), ask(f, KUBE_CREATE));
    ask(f, KUBE_CREATE);
    is_int(cancelled, 0, "the one behind the fence hears nothing of it");
    turn();
    is_int(answered, 2, "the others are answered");
    fence_free(f);
}

static void its_end_ends_all(void)
{
    struct fence *f = fence_new(loop, &inner, may_write, NULL);

    may = false;
    answered = 0;
    ask(f, KUBE_CREATE);
    ask(f, KUBE_PATCH);
    fence_free(f);
    turn();
    is_int(answered, 0, "nobody is called back after it is gone");
}

int main(void)
{
    loop = loop_new();
    who_may_writes();
    who_may_not_reads_only();
    loop_free(loop);
    loop = loop_new();
    a_refused_one_can_be_cancelled();
    its_end_ends_all();
    loop_free(loop);
    return tap_done();
}
