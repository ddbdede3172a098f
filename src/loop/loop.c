/* One libuv loop and its thread. Posted calls come through a queue behind a mutex and one
 * uv_async; deferred calls run after each round of I/O (check) and before each wait (prepare), an
 * idle handle keeping the wait at zero while any are left. */

#include "loop/internal.h"

#include "base/mem.h"
#include "loop/watchdog.h"

#include <assert.h>
#include <stdlib.h>

static void run_calls(const struct loop_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++) {
        struct turn t = turn_begin(calls->at[i].name, NULL);
        calls->at[i].fn(calls->at[i].arg);
        turn_end(&t);
    }
}

static void run_posted(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct loop_calls got = l->posted;
    l->posted = l->running;
    pthread_mutex_unlock(&l->lock);
    run_calls(&got);
    got.n = 0;
    l->running = got; /* the memory is used again */
}

static void on_async(uv_async_t *h)
{
    run_posted(h->data);
}

static void run_deferred(struct loop *l)
{
    struct loop_calls got = l->deferred;

    l->deferred = l->deferred_running;
    run_calls(&got);
    got.n = 0;
    l->deferred_running = got;
}

static void on_idle(uv_idle_t *h)
{
    (void)h; /* being active is all it does: the loop does not wait */
}

static void on_prepare(uv_prepare_t *h)
{
    struct loop *l = h->data;

    run_deferred(l);
    if (l->deferred.n)
        uv_idle_start(&l->idle, on_idle);
    else
        uv_idle_stop(&l->idle);
    watch_waits(l->watch);
}

static void on_check(uv_check_t *h)
{
    struct loop *l = h->data;

    run_deferred(l);
    l->rounds++;
}

struct loop *loop_new(void)
{
    struct loop *l = mem_new(sizeof(*l));

    if (uv_loop_init(&l->uv) || uv_async_init(&l->uv, &l->async, on_async))
        abort();
    l->thread = pthread_self();
    l->rounds = 1;
    pthread_mutex_init(&l->lock, NULL);
    uv_prepare_init(&l->uv, &l->prepare);
    uv_check_init(&l->uv, &l->check);
    uv_idle_init(&l->uv, &l->idle);
    l->async.data = l->prepare.data = l->check.data = l->idle.data = l;
    uv_prepare_start(&l->prepare, on_prepare);
    uv_check_start(&l->check, on_check);
    uv_unref((uv_handle_t *)&l->prepare);
    uv_unref((uv_handle_t *)&l->check);
    uv_unref((uv_handle_t *)&l->idle);
    const char *watch = getenv("MUSTER_WATCHDOG");
    if (watch && strcmp(watch, "abort") == 0)
        loop_watch(l);
    return l;
}

static bool has_posted(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    bool any = l->posted.n > 0;
    pthread_mutex_unlock(&l->lock);
    return any;
}

void loop_run(struct loop *l)
{
    assert_on_loop(l);
    while (!l->ending)
        uv_run(&l->uv, UV_RUN_DEFAULT);
    uv_unref((uv_handle_t *)&l->async);
    for (struct loop_signal *s = l->signals; s; s = s->next)
        uv_unref((uv_handle_t *)&s->uv);
    timers_unref(l);
    do {
        run_posted(l);
        run_deferred(l);
        uv_run(&l->uv, UV_RUN_DEFAULT);
    } while (l->deferred.n || has_posted(l));
}

void loop_turn(struct loop *l)
{
    assert_on_loop(l);
    uv_run(&l->uv, UV_RUN_ONCE);
}

void loop_wake(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_stop(struct loop *l)
{
    l->ending = true;
    uv_stop(&l->uv);
}

static void on_signal_closed(uv_handle_t *h)
{
    free(h->data);
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    assert_on_loop(l);
    while (l->deferred.n || has_posted(l)) { /* by those who were closed after the last turn */
        run_posted(l);
        run_deferred(l);
    }
    timers_free(l);
    fibers_done(l);
    for (struct loop_signal *s = l->signals, *next; s; s = next) {
        next = s->next;
        uv_close((uv_handle_t *)&s->uv, on_signal_closed);
    }
    uv_close((uv_handle_t *)&l->async, NULL);
    uv_close((uv_handle_t *)&l->prepare, NULL);
    uv_close((uv_handle_t *)&l->check, NULL);
    uv_close((uv_handle_t *)&l->idle, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    int busy = uv_loop_close(&l->uv);
    assert(busy == 0); /* somebody left a handle open */
    (void)busy;
    vec_done(&l->posted);
    vec_done(&l->running);
    vec_done(&l->deferred);
    vec_done(&l->deferred_running);
    pthread_mutex_destroy(&l->lock);
    watch_free(l->watch);
    free(l);
}

struct uv_loop_s *loop_uv(struct loop *l)
{
    return &l->uv;
}

bool loop_is_mine(const struct loop *l)
{
    return pthread_equal(l->thread, pthread_self());
}

void loop_post_named(struct loop *l, void (*fn)(void *arg), void *arg, const char *name)
{
    pthread_mutex_lock(&l->lock);
    bool first = l->posted.n == 0;
    vec_push(&l->posted, (struct loop_call){ fn, arg, name });
    if (first) /* under the lock: the loop cannot go away between push and send */
        uv_async_send(&l->async);
    pthread_mutex_unlock(&l->lock);
}

void loop_defer_named(struct loop *l, void (*fn)(void *arg), void *arg, const char *name)
{
    assert_on_loop(l);
    vec_push(&l->deferred, (struct loop_call){ fn, arg, name });
}

static void on_signal(uv_signal_t *h, int signo)
{
    LOOP_TURN();
    struct loop_signal *s = h->data;

    s->fn(s->arg, signo);
}

int loop_on_signal(struct loop *l, int signo, void (*fn)(void *arg, int signo), void *arg,
                   struct err *e)
{
    struct loop_signal *s = mem_new(sizeof(*s));

    s->fn = fn;
    s->arg = arg;
    s->next = l->signals;
    l->signals = s;
    uv_signal_init(&l->uv, &s->uv);
    s->uv.data = s;
    int rc = uv_signal_start(&s->uv, on_signal, signo);
    if (rc < 0)
        return err_set(e, ERR_INTERNAL, "signal %d: %s", signo, uv_strerror(rc));
    uv_unref((uv_handle_t *)&s->uv);
    return 0;
}
