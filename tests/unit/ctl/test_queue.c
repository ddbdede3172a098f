/* When things come out, under a clock that is stepped. */

#include "ctl/queue.h"

#include "tap.h"

#include <uv.h>

static int64_t step_ms;

static int64_t wall(void)
{
    return wall_now_ms() + step_ms;
}

static void on_ready(void *ctx)
{
    ++*(int *)ctx;
}

static void on_time(void *arg)
{
    *(bool *)arg = true;
}

static void turn(struct loop *l, int64_t ms)
{
    bool over = false;
    struct loop_timer *t = loop_timer_start(l, ms, 0, on_time, &over);

    while (!over)
        uv_run(loop_uv(l), UV_RUN_ONCE);
    loop_timer_stop(t);
}

/* The next that comes, however long that takes on a busy machine; NULL: none does. */
static struct queue_entry *next(struct loop *l, struct queue *q)
{
    struct queue_entry *e = queue_take(q);

    for (int i = 0; !e && i < 6000; i++) {
        turn(l, 10);
        e = queue_take(q);
    }
    return e;
}

static void entries_come_once_and_in_order(struct loop *l)
{
    struct queue q;
    struct queue_entry a = { 0 }, b = { 0 }, c = { 0 };
    int calls = 0;

    queue_init(&q, l, wall, 60000, on_ready, &calls);
    queue_add(&q, &a);
    queue_add(&q, &b);
    queue_add(&q, &a);
    queue_add(&q, &c);
    queue_forget(&q, &b);
    is_int(calls, 1, "told once that there is something");
    ok(queue_take(&q) == &a && queue_take(&q) == &c && !queue_take(&q), "each once, in order");
    queue_done(&q);
}

static void retries_double_and_are_reset(struct loop *l)
{
    struct queue q;
    struct queue_entry e = { 0 };
    int calls = 0;

    queue_init(&q, l, wall, 40, on_ready, &calls);
    int64_t want[] = { 5, 10, 20, 40, 40 };
    for (size_t i = 0; i < COUNT(want); i++) {
        int64_t before = queue_us() / 1000;
        queue_retry(&q, &e);
        int64_t after = queue_us() / 1000;
        ok(e.retry_ms >= before + want[i] && e.retry_ms <= after + want[i], "retry %zu after %d ms",
           i, (int)want[i]);
        queue_add(&q, &e);
        queue_take(&q);
    }
    queue_succeed(&e);
    queue_retry(&q, &e);
    ok(e.retry_ms - queue_us() / 1000 <= 5, "success starts over");
    ok(next(l, &q) == &e, "and it comes");
    is_int(queue_backoff_ms(63, 5, 60000), 60000, "any number of failures");
    queue_done(&q);
}

static void many_come_when_due(struct loop *l)
{
    enum { N = 500 };
    static struct queue_entry es[N];
    struct queue q;
    int calls = 0;
    bool early = false;
    size_t n = 0;

    queue_init(&q, l, wall, 60000, on_ready, &calls);
    int64_t since = queue_us();
    for (size_t i = 0; i < N; i++)
        queue_after(&q, &es[i], (int64_t)(i * 7919 % 100));
    for (size_t i = 0; i < N; i += 3)
        queue_forget(&q, &es[i]);
    size_t want = N - (N + 2) / 3;
    for (struct queue_entry *e; n < want && (e = next(l, &q)); n++) {
        int64_t lasted = (queue_us() - since) / 1000 + 1;
        early |= (e - es) * 7919 % 100 > lasted || (e - es) % 3 == 0;
    }
    ok(!early, "none comes before its time, or when it was forgotten");
    is_int((int64_t)n, (int64_t)want, "and all the others come");
    turn(l, 5);
    ok(!queue_take(&q), "once");
    queue_done(&q);
}

static void J5_a_stepped_clock_is_noticed(struct loop *l)
{
    struct queue q;
    struct queue_entry soon = { 0 }, late = { 0 };
    int calls = 0;

    queue_init(&q, l, wall, 60000, on_ready, &calls);
    queue_wake(&q, &soon, wall() + 30);
    ok(next(l, &q) == &soon, "a time of day comes");
    queue_wake(&q, &late, wall() + 3600 * 1000);
    turn(l, 20);
    ok(!queue_take(&q), "an hour is long");
    step_ms = 3600 * 1000;
    ok(next(l, &q) == &late, "unless the clock is set forward: that is seen");
    queue_wake(&q, &soon, wall() + 60);
    step_ms = -3600 * 1000;
    turn(l, 1100);
    ok(!queue_take(&q), "set back, it waits on");
    step_ms = 0;
    turn(l, 100);
    ok(!queue_take(&q), "as its time has not come");
    step_ms = 3600 * 1000;
    ok(next(l, &q) == &soon, "until it has");
    queue_wake(&q, &soon, wall() + 10);
    queue_wake(&q, &soon, 0);
    turn(l, 30);
    ok(!queue_take(&q) && q.n_wall == 0, "a time can be taken back");
    queue_done(&q);
}

int main(void)
{
    struct loop *l = loop_new();

    entries_come_once_and_in_order(l);
    retries_double_and_are_reset(l);
    many_come_when_due(l);
    J5_a_stepped_clock_is_noticed(l);
    loop_stop(l);
    loop_run(l);
    loop_free(l);
    return tap_done();
}
