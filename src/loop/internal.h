/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/vec.h"
#include "loop/loop.h"

#include <uv.h>

struct loop_call {
    void (*fn)(void *arg);
    void *arg;
    const char *name;
};

struct loop_calls {
    VEC(struct loop_call);
};

struct loop_signal {
    uv_signal_t uv;
    struct loop_signal *next;
    void (*fn)(void *arg, int signo);
    void *arg;
};

enum { LOOP_STACKS = 4 };

struct loop {
    uv_loop_t uv;
    uv_async_t async;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    pthread_t thread;
    pthread_mutex_t lock;      /* guards posted */
    struct loop_calls posted;  /* from any thread */
    struct loop_calls running; /* what was posted, while it runs */
    struct loop_calls deferred;
    struct loop_calls deferred_running;
    struct loop_timer *timers;
    struct loop_signal *signals;
    struct watch *watch;          /* NULL: nobody watches */
    uint64_t rounds;              /* of I/O */
    struct fiber *fiber;          /* whose stack this is; NULL: the thread's own */
    struct fiber *fibers_waiting; /* for a thread, first come, first served */
    struct fiber *fibers_end;
    size_t fibers; /* that began and did not end */
    size_t fibers_working;
    char *stacks[LOOP_STACKS]; /* of fibers that ended, for the next ones */
    size_t n_stacks;
    bool ending; /* loop_stop was called: only others' handles keep the loop alive */
};

void timers_unref(struct loop *l); /* they no longer keep the loop running */
void timers_free(struct loop *l);
void fibers_done(struct loop *l); /* fiber.c: the stacks that are kept */

/* watchdog.c */
void watch_waits(struct watch *w); /* the loop is about to wait */
void watch_free(struct watch *w);
