/* Pods of a gang that got their nodes together are bound together, by one request, when the claims
 * of all of them have their volumes. */

#include "binder/internal.h"

#include "base/mem.h"

struct batch {
    struct {
        VEC(struct pod *);
    } pods;
    size_t n_ready;
    bool sent;
};

static void batch_free(struct batch *t)
{
    vec_done(&t->pods);
    free(t);
}

void batch_add(struct batch **b, struct pod *p)
{
    if (!*b)
        *b = mem_new(sizeof(**b));
    vec_push(&(*b)->pods, p);
    p->batch = *b;
    p->is_ready = false;
    p->starts = true;
}

void batch_leave(struct pod *p)
{
    struct batch *t = p->batch;

    if (!t)
        return;
    for (size_t i = 0; i < t->pods.n; i++)
        t->pods.at[i]->batch = NULL;
    for (size_t i = 0; i < t->pods.n; i++)
        if (t->pods.at[i] != p)
            pod_unplace(t->pods.at[i]);
    batch_free(t);
}

void batch_ready(struct binder *b, struct pod *p)
{
    struct batch *t = p->batch;

    if (!t) {
        bind_one(b, p);
        return;
    }
    if (p->is_ready)
        return;
    p->is_ready = true;
    if (++t->n_ready < t->pods.n)
        return;
    for (size_t i = 0; i < t->pods.n; i++)
        t->pods.at[i]->batch = NULL;
    bind_together(b, t->pods.at, t->pods.n);
    batch_free(t);
}
