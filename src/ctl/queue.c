/* A list of the ready and one heap, one timer, for all that wait. While something waits for a time
 * of day the timer fires at least once a second, to see whether that clock was stepped. */

#include "ctl/queue.h"

#include <time.h>

enum { BACKOFF_BASE_MS = 5, WALL_CHECK_MS = 1000, WALL_STEP_MS = 100 };

int64_t queue_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t now_ms(void)
{
    return queue_us() / 1000;
}

int64_t queue_backoff_ms(unsigned failures, int64_t base_ms, int64_t max_ms)
{
    int64_t ms = base_ms << (failures < 30 ? failures : 30);

    return ms > max_ms ? max_ms : ms;
}

/* ---- the heap */

static void place(struct queue *q, size_t i, struct queue_entry *e)
{
    q->heap.at[i] = e;
    e->place = i + 1;
}

static void sift(struct queue *q, size_t i)
{
    struct queue_entry *e = q->heap.at[i];

    while (i > 0 && q->heap.at[(i - 1) / 2]->due_ms > e->due_ms) {
        place(q, i, q->heap.at[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (size_t k; (k = 2 * i + 1) < q->heap.n; i = k) {
        if (k + 1 < q->heap.n && q->heap.at[k + 1]->due_ms < q->heap.at[k]->due_ms)
            k++;
        if (q->heap.at[k]->due_ms >= e->due_ms)
            break;
        place(q, i, q->heap.at[k]);
    }
    place(q, i, e);
}

static void unheap(struct queue *q, struct queue_entry *e)
{
    if (!e->place)
        return;
    size_t i = e->place - 1;
    struct queue_entry *moved = q->heap.at[--q->heap.n];
    e->place = 0;
    if (moved != e) {
        place(q, i, moved);
        sift(q, i);
    }
}

static int64_t due_of(const struct queue *q, const struct queue_entry *e)
{
    int64_t wall = e->wake_ms ? e->wake_ms - q->offset_ms : INT64_MAX;
    int64_t retry = e->retry_ms ? e->retry_ms : INT64_MAX;

    return wall < retry ? wall : retry;
}

static void on_timer(void *arg);

static void arm(struct queue *q)
{
    if (!q->heap.n)
        return; /* a timer that finds nothing due does no harm */
    int64_t now = now_ms();
    int64_t at = q->heap.at[0]->due_ms;
    if (q->n_wall && at > now + WALL_CHECK_MS)
        at = now + WALL_CHECK_MS;
    if (q->timer && q->timer_ms <= at)
        return;
    loop_timer_stop(q->timer);
    q->timer_ms = at;
    q->timer = loop_timer_start(q->loop, at - now, 0, on_timer, q);
}

static void wait_for(struct queue *q, struct queue_entry *e)
{
    if (!e->retry_ms && !e->wake_ms) {
        unheap(q, e);
        return;
    }
    e->due_ms = due_of(q, e);
    if (!e->place) {
        vec_push(&q->heap, e);
        e->place = q->heap.n;
    }
    sift(q, e->place - 1);
    arm(q);
}

static void set_wake(struct queue *q, struct queue_entry *e, int64_t wall_ms)
{
    q->n_wall += (wall_ms != 0) - (e->wake_ms != 0);
    e->wake_ms = wall_ms;
}

static void look_at_clock(struct queue *q)
{
    int64_t offset = q->wall_ms() - now_ms();
    int64_t by = offset - q->offset_ms;

    if (by < WALL_STEP_MS && by > -WALL_STEP_MS)
        return;
    q->offset_ms = offset;
    for (size_t i = 0; i < q->heap.n; i++)
        q->heap.at[i]->due_ms = due_of(q, q->heap.at[i]);
    for (size_t i = q->heap.n / 2; i-- > 0;)
        sift(q, i);
}

/* Whether it is to be looked at now; else its time of day has not come after all. */
static bool is_due(struct queue *q, struct queue_entry *e)
{
    if (e->retry_ms && e->retry_ms <= now_ms())
        return true;
    return e->wake_ms && e->wake_ms <= q->wall_ms();
}

static void on_timer(void *arg)
{
    struct queue *q = arg;

    loop_timer_stop(q->timer);
    q->timer = NULL;
    if (q->n_wall)
        look_at_clock(q);
    while (q->heap.n && q->heap.at[0]->due_ms <= now_ms()) {
        struct queue_entry *e = q->heap.at[0];
        if (is_due(q, e)) {
            queue_add(q, e);
            continue;
        }
        q->offset_ms = q->wall_ms() - now_ms();
        int64_t due = due_of(q, e);
        e->due_ms = due > now_ms() ? due : now_ms() + 1;
        sift(q, 0);
    }
    arm(q);
}

/* ---- */

void queue_init(struct queue *q, struct loop *l, int64_t (*wall_ms)(void), int64_t backoff_max_ms,
                void (*on_ready)(void *ctx), void *ctx)
{
    *q = (struct queue){ .loop = l,
                         .wall_ms = wall_ms,
                         .backoff_max_ms = backoff_max_ms,
                         .on_ready = on_ready,
                         .ctx = ctx };
    q->offset_ms = wall_ms() - now_ms();
}

void queue_done(struct queue *q)
{
    loop_timer_stop(q->timer);
    q->timer = NULL;
    vec_done(&q->heap);
}

void queue_add(struct queue *q, struct queue_entry *e)
{
    e->retry_ms = 0;
    set_wake(q, e, 0); /* whoever takes it says anew what it waits for */
    unheap(q, e);
    if (e->ready)
        return;
    e->ready = true;
    e->since_us = queue_us();
    e->next = NULL;
    e->prev = q->last;
    *(q->last ? &q->last->next : &q->first) = e;
    q->last = e;
    q->adds++;
    if (q->n_ready++ == 0)
        q->on_ready(q->ctx);
}

static void unlist(struct queue *q, struct queue_entry *e)
{
    if (!e->ready)
        return;
    *(e->prev ? &e->prev->next : &q->first) = e->next;
    *(e->next ? &e->next->prev : &q->last) = e->prev;
    e->ready = false;
    q->n_ready--;
}

struct queue_entry *queue_take(struct queue *q)
{
    struct queue_entry *e = q->first;

    if (e)
        unlist(q, e);
    return e;
}

void queue_after(struct queue *q, struct queue_entry *e, int64_t delay_ms)
{
    int64_t at = now_ms() + (delay_ms > 0 ? delay_ms : 0);

    if (e->ready || (e->retry_ms && e->retry_ms <= at))
        return;
    e->retry_ms = at;
    wait_for(q, e);
}

void queue_retry(struct queue *q, struct queue_entry *e)
{
    q->retries++;
    queue_after(q, e, queue_backoff_ms(e->failures, BACKOFF_BASE_MS, q->backoff_max_ms));
    e->failures++;
}

void queue_wake(struct queue *q, struct queue_entry *e, int64_t wall_ms)
{
    if (e->ready)
        return;
    set_wake(q, e, wall_ms);
    wait_for(q, e);
}

void queue_forget(struct queue *q, struct queue_entry *e)
{
    unlist(q, e);
    set_wake(q, e, 0);
    e->retry_ms = 0;
    unheap(q, e);
}
