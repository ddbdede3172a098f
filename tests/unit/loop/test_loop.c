/* Posts, deferred calls, timers and signals. */

#include "loop/loop.h"

#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

static struct loop *l;
static char order[64];
static size_t n_order;

static void note(void *arg)
{
    order[n_order++] = (char)(intptr_t)arg;
}

static void stop(void *arg)
{
    (void)arg;
    loop_stop(l);
}

static void begin(void)
{
    n_order = 0;
    memset(order, 0, sizeof(order));
    l = loop_new();
}

static void end(void)
{
    loop_run(l);
    loop_free(l);
}

enum { THREADS = 4, POSTS = 2000 };
static int next_of[THREADS];
static int posted_total;
static int out_of_order;
static int off_thread;

struct post {
    int thread;
    int i;
};

static void on_post(void *arg)
{
    struct post *p = arg;

    out_of_order += next_of[p->thread]++ != p->i;
    off_thread += !loop_is_mine(l);
    free(p);
    if (++posted_total == THREADS * POSTS)
        loop_stop(l);
}

static void *post_many(void *arg)
{
    for (int i = 0; i < POSTS; i++) {
        struct post *p = malloc(sizeof(*p));
        *p = (struct post){ (int)(intptr_t)arg, i };
        loop_post(l, on_post, p);
    }
    return loop_is_mine(l) ? l : NULL;
}

static void posts_of_a_thread_keep_their_order(void)
{
    pthread_t t[THREADS];

    begin();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, post_many, (void *)i);
    loop_run(l);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    loop_free(l);
    is_int(posted_total, THREADS * POSTS, "every post ran");
    is_int(out_of_order, 0, "in the order of its thread");
    is_int(off_thread, 0, "on the loop's thread");
}

static void post_then_defer(void *arg)
{
    (void)arg;
    loop_defer(l, note, (void *)'c');
    loop_post(l, note, (void *)'d');
    note((void *)'b');
}

static void deferred_calls_come_after_the_callback_and_before_the_next_wait(void)
{
    begin();
    loop_post(l, note, (void *)'a');
    loop_post(l, post_then_defer, NULL);
    struct loop_timer *t = loop_timer_start(l, 20, 0, stop, NULL);
    loop_run(l);
    loop_timer_stop(t);
    loop_free(l);
    is_str(str_of(order), S("abcd"), "a, b, then what b deferred, then what b posted");
}

static int chain_left;
static void chain(void *arg)
{
    if (--chain_left == 0)
        loop_stop(l);
    else
        loop_defer(l, chain, arg);
}

static void a_deferred_call_may_defer_again_without_a_wait(void)
{
    chain_left = 1000;
    begin();
    loop_defer(l, chain, NULL);
    end(); /* nothing else happens that could end a wait */
    is_int(chain_left, 0, "a chain of 1000 ran");
}

static struct loop_timer *ticker;
static int ticks;

static void tick(void *arg)
{
    (void)arg;
    if (++ticks < 3)
        return;
    loop_timer_stop(ticker);
    loop_stop(l);
}

static void a_repeating_timer_can_be_stopped_from_its_own_call(void)
{
    begin();
    int64_t from = loop_now_ms(l);
    ticker = loop_timer_start(l, 2, 2, tick, NULL);
    loop_run(l);
    ok(loop_now_ms(l) - from >= 6, "three ticks take three times its period");
    loop_free(l);
    is_int(ticks, 3, "and no tick came after the stop");
}

static void a_timer_that_nobody_stopped_does_not_hold_the_loop_up(void)
{
    begin();
    loop_timer_start(l, 3600 * 1000, 0, note, (void *)'x');
    loop_post(l, stop, NULL);
    end();
    is_str(str_of(order), S(""), "the loop ended and the timer was freed with it");
}

static void on_signal(void *arg, int signo)
{
    *(int *)arg = signo;
    loop_stop(l);
}

static void start_again(void *arg)
{
    struct loop_timer **t = arg;

    loop_timer_stop(*t);
    *t = NULL;
    note((void *)'t');
    if (n_order < 40)
        *t = loop_timer_start(l, 0, 0, start_again, t);
    else
        stop(NULL);
    if (n_order == 1)
        loop_post(l, note, (void *)'p');
}

/* As work in slices does, each of which starts the timer for the next. */
static void timers_that_start_timers_let_others_in(void)
{
    struct loop_timer *t[2];

    begin();
    for (size_t i = 0; i < COUNT(t); i++)
        t[i] = loop_timer_start(l, 0, 0, start_again, &t[i]);
    end();
    ok(memchr(order, 'p', 6) != NULL, "a post is run before all slices are done: %s", order);
}

static void signals_arrive_on_the_loop(void)
{
    struct err e = { 0 };
    int got = 0;

    begin();
    is_int(loop_on_signal(l, SIGUSR1, on_signal, &got, &e), 0, "a signal can be asked for");
    is_int(loop_on_signal(l, SIGKILL, on_signal, &got, &e), -1, "SIGKILL cannot");
    kill(getpid(), SIGUSR1);
    end();
    is_int(got, SIGUSR1, "and it comes");
}

static void on_closed(uv_handle_t *h)
{
    (void)h;
    note((void *)'z');
}

static void run_waits_for_foreign_handles(void)
{
    uv_timer_t other;

    begin();
    uv_timer_init(loop_uv(l), &other);
    loop_stop(l);
    uv_close((uv_handle_t *)&other, on_closed);
    end();
    is_str(str_of(order), S("z"), "a handle that is closing is waited for");
}

static void random_things_differ(void)
{
    char a[37], b[37];

    random_uuid(a);
    random_uuid(b);
    ok(strcmp(a, b) != 0, "two UUIDs differ");
    is_int((int64_t)strlen(a), 36, "a UUID has 36 characters");
    ok(a[14] == '4' && strchr("89ab", a[19]), "version 4, variant 1");
}

int main(void)
{
    posts_of_a_thread_keep_their_order();
    deferred_calls_come_after_the_callback_and_before_the_next_wait();
    a_deferred_call_may_defer_again_without_a_wait();
    a_repeating_timer_can_be_stopped_from_its_own_call();
    a_timer_that_nobody_stopped_does_not_hold_the_loop_up();
    timers_that_start_timers_let_others_in();
    signals_arrive_on_the_loop();
    run_waits_for_foreign_handles();
    random_things_differ();
    return tap_done();
}
