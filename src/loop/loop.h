/* The loop thread: owns all state, takes no locks. Over libuv. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <assert.h>
#include <pthread.h>

struct loop;
struct uv_loop_s;

struct loop *loop_new(void);    /* the calling thread becomes its thread */
void loop_free(struct loop *l); /* runs what is still posted or deferred */
void loop_run(struct loop *l);  /* until loop_stop, then until all handles are closed */
void loop_stop(struct loop *l);
/* For programs that do one thing after another: runs what is due, waits once and runs what that
 * brings. Timers run before the wait, so whoever changes what is waited for calls loop_wake, which
 * makes the turn at hand the shorter. */
void loop_turn(struct loop *l);
void loop_wake(struct loop *l);
struct uv_loop_s *loop_uv(struct loop *l);

bool loop_is_mine(const struct loop *l); /* is this the loop's thread? */
#define assert_on_loop(l) assert(loop_is_mine(l))

/* Names of callbacks are for the watchdog (loop/watchdog.h). */
#define LOOP_NAME(fn) __FILE__ ":" #fn
/* From any thread: fn(arg) runs on the loop thread, in the order posted. */
#define loop_post(l, fn, arg) loop_post_named((l), (fn), (arg), LOOP_NAME(fn))
void loop_post_named(struct loop *l, void (*fn)(void *arg), void *arg, const char *name);
/* On the loop thread: fn(arg) runs once the current callback is done, before waiting again. */
#define loop_defer(l, fn, arg) loop_defer_named((l), (fn), (arg), LOOP_NAME(fn))
void loop_defer_named(struct loop *l, void (*fn)(void *arg), void *arg, const char *name);

int64_t loop_now_ms(struct loop *l); /* monotonic */
int64_t wall_now_ms(void);           /* since 1970 */
int64_t wall_now_us(void);
int64_t boot_now_ms(void); /* monotonic, and goes on while the machine sleeps; any thread */

struct loop_timer;
/* fn(arg) once after delay_ms, then every repeat_ms if that is not 0. */
#define loop_timer_start(l, delay_ms, repeat_ms, fn, arg) \
    loop_timer_named((l), (delay_ms), (repeat_ms), (fn), (arg), LOOP_NAME(fn))
struct loop_timer *loop_timer_named(struct loop *l, int64_t delay_ms, int64_t repeat_ms,
                                    void (*fn)(void *arg), void *arg, const char *name);
void loop_timer_stop(struct loop_timer *t); /* frees it; NULL is fine */

/* fn(arg, signo) on the loop thread. Lives as long as the loop. */
int loop_on_signal(struct loop *l, int signo, void (*fn)(void *arg, int signo), void *arg,
                   struct err *e);

void random_bytes(void *to, size_t n); /* from the kernel */
void random_uuid(char out[37]);        /* version 4, with NUL */
