/* Pods that keep more on disk than they may are ended, as kubelet does. Looked at every so often,
 * in a thread of the pool, while there is a pod with such limits. */

#include "base/mem.h"
#include "base/vec.h"
#include "loop/watchdog.h"
#include "node/internal.h"
#include "node/storage.h"

#include <uv.h>

enum { LOOK_MS = 10 * 1000 };

struct looked {
    struct jdoc *pod;
    char *uid;
    char *dir;
    str why; /* in the look's arena; empty: all is well */
};

struct evict_look {
    uv_work_t work;
    struct node *n; /* NULL: gone meanwhile */
    struct arena *a;
    struct {
        VEC(struct looked);
    } pods;
};

static void look(uv_work_t *w)
{
    struct evict_look *l = w->data;

    for (size_t i = 0; i < l->pods.n; i++) {
        struct looked *p = &l->pods.at[i];
        jv pod = jdoc_root(p->pod);
        p->why = storage_exceeded(l->a, pod, storage_measure(l->a, pod, p->dir));
    }
}

static void look_free(struct evict_look *l)
{
    for (size_t i = 0; i < l->pods.n; i++) {
        jdoc_unref(l->pods.at[i].pod);
        free(l->pods.at[i].uid);
        free(l->pods.at[i].dir);
    }
    vec_done(&l->pods);
    arena_free(l->a);
    free(l);
}

static void end(struct node *n, const struct looked *x)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod *p = map_get(&n->pods, str_of(x->uid));

    if (!x->why.n || !p || p->adopting || p->life->failed || p->life->done)
        return;
    pod_event(p, true, "Evicted", STR_NONE, x->why);
    life_fail(p->life, S("Evicted"), x->why);
    pod_reconcile(p, &out); /* may free it */
}

static void on_time(void *arg);

static void look_later(struct node *n)
{
    n->look = loop_timer_start(n->o.loop, LOOK_MS, 0, on_time, n);
}

static void on_looked(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct evict_look *l = w->data;
    struct node *n = l->n;

    (void)status;
    if (n) {
        n->looking = NULL;
        look_later(n);
        for (size_t i = 0; i < l->pods.n; i++)
            end(n, &l->pods.at[i]);
    }
    look_free(l);
}

static void add(struct evict_look *l, const struct pod *p)
{
    struct looked x = { .pod = jdoc_ref(p->doc),
                        .uid = mem_or_abort(strdup(p->uid)),
                        .dir = mem_or_abort(strdup(p->dir)) };

    vec_push(&l->pods, x);
}

static bool is_concerned(const struct pod *p)
{
    return p->rt && !p->adopting && !p->life->failed && !p->life->done &&
           storage_is_limited(jdoc_root(p->doc));
}

static void on_time(void *arg)
{
    struct node *n = arg;
    struct evict_look *l = mem_new(sizeof(*l));

    loop_timer_stop(TAKE(n->look));
    l->work.data = l;
    l->n = n;
    l->a = arena_new();
    MAP_EACH (s, &n->pods)
        if (is_concerned(s->value))
            add(l, s->value);
    if (l->pods.n && uv_queue_work(loop_uv(n->o.loop), &l->work, look, on_looked) == 0)
        n->looking = l;
    else
        look_free(l);
}

void evict_watch(struct pod *p)
{
    if (!p->n->look && !p->n->looking && is_concerned(p))
        look_later(p->n);
}

void evict_free(struct node *n)
{
    loop_timer_stop(TAKE(n->look));
    if (n->looking)
        n->looking->n = NULL;
    n->looking = NULL;
}
