/* Calls that go through are those of the inner implementation, untouched; only refused ones are
 * ours, on a list until they were answered. */

#include "ctl/fence.h"

#include "base/mem.h"

struct refused {     /* in the place of a struct kube_call */
    struct fence *f; /* NULL: cancelled */
    struct refused *next;
    kube_done *done;
    void *ctx;
};

struct fence {
    struct kube_api api; /* first */
    struct kube_api *inner;
    struct loop *loop;
    bool (*may_write)(void *ctx);
    void *ctx;
    struct refused *refused;
    uint64_t n_refused;
};

static void unlist(struct fence *f, const struct refused *r)
{
    for (struct refused **at = &f->refused; *at; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            return;
        }
    }
}

static void answer(void *arg)
{
    struct refused *r = arg;
    struct kube_answer ans = { .message = S("not sent: the lease is not held") };

    if (r->f) {
        unlist(r->f, r);
        err_set(&ans.err, ERR_UNAVAILABLE, "%s", ans.message.p);
        r->done(r->ctx, &ans);
    }
    free(r);
}

static bool is_write(enum kube_verb verb)
{
    switch (verb) {
    case KUBE_GET:
    case KUBE_LIST:
    case KUBE_WATCH:
        return false;
    case KUBE_CREATE:
    case KUBE_UPDATE:
    case KUBE_PATCH:
    case KUBE_DELETE:
        break;
    }
    return true;
}

static struct kube_call *fence_send(struct kube_api *api, const struct kube_request *r,
                                    kube_done *done, void *ctx)
{
    struct fence *f = (struct fence *)api;

    if (!is_write(r->verb) || f->may_write(f->ctx))
        return kube_send(f->inner, r, done, ctx);
    struct refused *x = mem_new(sizeof(*x));
    *x = (struct refused){ .f = f, .next = f->refused, .done = done, .ctx = ctx };
    f->refused = x;
    f->n_refused++;
    loop_defer(f->loop, answer, x);
    return (struct kube_call *)x;
}

static struct kube_call *fence_watch(struct kube_api *api, const struct kube_request *r,
                                     const struct kube_watcher *w)
{
    struct fence *f = (struct fence *)api;

    return kube_watch(f->inner, r, w);
}

static void fence_cancel(struct kube_api *api, struct kube_call *c)
{
    struct fence *f = (struct fence *)api;

    for (struct refused *x = f->refused; x; x = x->next) {
        if ((struct kube_call *)x == c) {
            unlist(f, x);
            x->f = NULL;
            return;
        }
    }
    kube_cancel(f->inner, c);
}

static const struct kube_api_ops fence_ops = { .send = fence_send,
                                               .watch = fence_watch,
                                               .cancel = fence_cancel };

struct fence *fence_new(struct loop *l, struct kube_api *inner, bool (*may_write)(void *ctx),
                        void *ctx)
{
    struct fence *f = mem_new(sizeof(*f));

    *f = (struct fence){
        .api = { &fence_ops }, .inner = inner, .loop = l, .may_write = may_write, .ctx = ctx
    };
    return f;
}

struct kube_api *fence_api(struct fence *f)
{
    return &f->api;
}

uint64_t fence_refused(const struct fence *f)
{
    return f->n_refused;
}

void fence_free(struct fence *f)
{
    if (!f)
        return;
    for (struct refused *x = f->refused; x; x = x->next)
        x->f = NULL;
    free(f);
}
