/* What is to be looked at, and when. Each entry is in it at most once, ready ones come out in the
 * order they went in. Waiting ones: for a retry, by the monotonic clock, or for a time of day,
 * which is looked up again when it should have come, as that clock may be stepped. */
#pragma once

#include "base/vec.h"
#include "loop/loop.h"

struct queue_entry { /* embedded; starts as { 0 } */
    struct queue_entry *next, *prev;
    bool ready;
    unsigned failures;
    size_t place;     /* in the heap, from 1; 0: waits for nothing */
    int64_t due_ms;   /* the earlier of both, monotonic */
    int64_t retry_ms; /* monotonic; 0: none */
    int64_t wake_ms;  /* since 1970; 0: none */
    int64_t since_us; /* when it became ready, by queue_us() */
};

struct queue { /* embedded */
    struct loop *loop;
    int64_t (*wall_ms)(void);
    void (*on_ready)(void *ctx); /* there is something to take, where there was nothing */
    void *ctx;
    int64_t backoff_max_ms;
    struct queue_entry *first, *last;
    size_t n_ready;
    struct {
        VEC(struct queue_entry *);
    } heap;
    size_t n_wall;     /* of the heap, those that wait for a time of day */
    int64_t offset_ms; /* of the time of day to the monotonic clock, when they were placed */
    struct loop_timer *timer;
    int64_t timer_ms; /* when it fires */
    uint64_t adds, retries;
};

void queue_init(struct queue *q, struct loop *l, int64_t (*wall_ms)(void), int64_t backoff_max_ms,
                void (*on_ready)(void *ctx), void *ctx);
void queue_done(struct queue *q); /* the entries are their owners' */

void queue_add(struct queue *q, struct queue_entry *e);
struct queue_entry *queue_take(struct queue *q); /* NULL: nothing is ready */
/* Ready after 5 ms, doubled with each failure in a row, up to the maximum. */
void queue_retry(struct queue *q, struct queue_entry *e);
void queue_after(struct queue *q, struct queue_entry *e,
                 int64_t delay_ms);                                       /* the earliest counts */
void queue_wake(struct queue *q, struct queue_entry *e, int64_t wall_ms); /* replaces; 0: not */
void queue_forget(struct queue *q, struct queue_entry *e);                /* is in it no longer */
static inline void queue_succeed(struct queue_entry *e)
{
    e->failures = 0;
}
int64_t queue_backoff_ms(unsigned failures, int64_t base_ms, int64_t max_ms);
int64_t queue_us(void); /* a monotonic clock that is never cached */
static inline uint32_t queue_s(void)
{
    return (uint32_t)(queue_us() / 1000000) + 1; /* never 0 */
}
