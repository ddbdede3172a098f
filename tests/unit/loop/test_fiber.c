/* Calls that hand their work to other threads while the loop goes on. */

#include "loop/fiber.h"
#include "tap.h"

#include <stdatomic.h>
#include <unistd.h>

static struct loop *l;
static atomic_bool may_end; /* what the first work waits for */
static int running;
static int begun;
static int ended;
static int turns;

static void work(void *arg)
{
    int *value = arg;

    while (*value == 1 && !atomic_load(&may_end))
        usleep(100);
    *value *= 10;
}

static void call(void *arg)
{
    int value = *(int *)arg;

    begun++;
    ok(fiber_is_inside(l), "within a call of its own");
    fiber_offload(l, work, &value);
    fiber_offload(l, work, &value);
    is_int(value, *(int *)arg * 100, "what the threads made is here");
    ended++;
    if (!--running)
        loop_stop(l);
}

static void nested(void *arg)
{
    fiber_run(l, FIBER_LARGE, call, arg);
}

/* The loop turns while the first work waits, and that is what ends the wait. */
static void on_tick(void *arg)
{
    (void)arg;
    if (++turns == 3)
        atomic_store(&may_end, true);
}

static void count(void *arg)
{
    int value = 2;

    fiber_offload(l, work, &value);
    *(int *)arg += value == 20;
}

static void count_and_stop(void *arg)
{
    count(arg);
    loop_stop(l);
}

/* Each stack takes two maps, of which a process may have 65,530. */
__attribute__((unused)) static void more_than_there_is_room_for(void)
{
    enum { MANY = 33000 };
    int n = 0;

    l = loop_new();
    for (int i = 0; i < MANY; i++)
        fiber_run(l, FIBER_LARGE, i ? count : count_and_stop, &n);
    ok(n > 0 && n < MANY, "too many at once are ordinary calls");
    loop_run(l);
    is_int(n, MANY, "and none is lost");
    loop_free(l);
}

int main(void)
{
    int values[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    int plain = 2;

    l = loop_new();
    struct loop_timer *tick = loop_timer_start(l, 1, 1, on_tick, NULL);
    fiber_offload(l, work, &plain);
    is_int(plain, 20, "outside of one it is an ordinary call");
    ok(!fiber_is_inside(l), "outside");
    running = COUNT(values);
    for (size_t i = 0; i < COUNT(values); i++)
        fiber_run(l, FIBER_LARGE, i % 2 ? nested : call, &values[i]);
    is_int(begun, COUNT(values), "all begin at once");
    is_int(ended, 0, "and wait");
    loop_run(l);
    is_int(ended, COUNT(values), "all end");
    ok(turns >= 3, "the loop went on meanwhile");
    loop_timer_stop(tick);
    loop_free(l);
#ifndef __SANITIZE_THREAD__ /* which has no memory for so many stacks */
    more_than_there_is_room_for();
#endif
    return tap_done();
}
