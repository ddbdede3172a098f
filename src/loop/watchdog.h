/* The watchdog of the loop (L1). A turn is one call from libuv, a posted or deferred call, or a
 * timer. A turn is slow when it takes over 50 ms of the thread's CPU time (500 ms under
 * sanitizers), or is blocked for over 200 ms: wall time less CPU time less the time that it waited
 * for a CPU, so that a busy machine makes no turn slow. MUSTER_WATCHDOG=abort, as the tests set it,
 * aborts on a slow turn and prints the stack it had; otherwise slow turns are counted and logged.
 */
#pragma once

#include "loop/loop.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TURN_SLOWER 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TURN_SLOWER 10
#endif
#endif
#ifndef TURN_SLOWER
#define TURN_SLOWER 1
#endif

enum { TURN_CPU_MS = 50 * TURN_SLOWER, TURN_BLOCKED_MS = 200 };

struct watch;

struct turn {
    struct watch *w; /* NULL: inside another turn, or nobody watches this thread */
};

struct turn turn_begin(const char *file, const char *func);
void turn_end(struct turn *t);

/* First line of each function that libuv calls; tools/check-turns looks for it. */
#define LOOP_TURN() \
    __attribute__((cleanup(turn_end), unused)) struct turn turn_ = turn_begin(__FILE__, __func__)

/* The turn at hand may block: it starts or ends the process, and nobody waits for an answer. */
void turn_excuse(void);

/* Counts and logs slow turns: for servers. loop_new does it by itself with MUSTER_WATCHDOG=abort.
 */
void loop_watch(struct loop *l);

struct loop_slow {
    int64_t turns;      /* that were slow, in this process */
    int64_t slowest_us; /* wall time of the slowest of them */
};

struct loop_slow loop_slow(void); /* any thread */
