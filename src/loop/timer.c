/* Timers. The memory goes when libuv has closed the handle, which may be after loop_timer_stop. */

#include "loop/internal.h"

#include "base/mem.h"
#include "loop/watchdog.h"

#include <assert.h>
#include <stdlib.h>

struct loop_timer {
    uv_timer_t uv;
    struct loop *loop;
    struct loop_timer *prev;
    struct loop_timer *next;
    void (*fn)(void *arg);
    void *arg;
    const char *name;
    uint64_t born; /* in that round of the loop; 0: it is older */
};

static void on_timer(uv_timer_t *h)
{
    struct loop_timer *t = h->data;

    /* One that a timer started is due at once for libuv, and would keep I/O from its turn. */
    if (t->born == t->loop->rounds) {
        uv_timer_start(h, on_timer, 1, uv_timer_get_repeat(h));
        return;
    }
    t->born = 0;
    struct turn turn = turn_begin(t->name, NULL); /* t may be gone when it ends */
    t->fn(t->arg);
    turn_end(&turn);
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

struct loop_timer *loop_timer_named(struct loop *l, int64_t delay_ms, int64_t repeat_ms,
                                    void (*fn)(void *arg), void *arg, const char *name)
{
    struct loop_timer *t = mem_new(sizeof(*t));

    assert_on_loop(l);
    t->loop = l;
    t->fn = fn;
    t->arg = arg;
    t->name = name;
    t->born = l->rounds;
    uv_timer_init(&l->uv, &t->uv);
    t->uv.data = t;
    uv_update_time(&l->uv); /* else a long callback shortens the delay */
    uv_timer_start(&t->uv, on_timer, (uint64_t)(delay_ms > 0 ? delay_ms : 0),
                   (uint64_t)(repeat_ms > 0 ? repeat_ms : 0));
    if (l->ending)
        uv_unref((uv_handle_t *)&t->uv);
    t->next = l->timers;
    if (t->next)
        t->next->prev = t;
    l->timers = t;
    return t;
}

void loop_timer_stop(struct loop_timer *t)
{
    if (!t)
        return;
    assert_on_loop(t->loop);
    if (t->next)
        t->next->prev = t->prev;
    if (t->prev)
        t->prev->next = t->next;
    else
        t->loop->timers = t->next;
    uv_close((uv_handle_t *)&t->uv, on_closed);
}

void timers_unref(struct loop *l)
{
    for (struct loop_timer *t = l->timers; t; t = t->next)
        uv_unref((uv_handle_t *)&t->uv);
}

void timers_free(struct loop *l)
{
    while (l->timers)
        loop_timer_stop(l->timers);
}
