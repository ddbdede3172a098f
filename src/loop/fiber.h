/* Work that would keep the loop too long, written as if it did not matter: a call runs on a stack
 * of its own, on the loop's thread; where it hands a pure function to another thread that stack
 * waits, and the loop goes on. */
#pragma once

#include "loop/loop.h"

enum fiber_size {
    FIBER_SMALL, /* most of it is done on the loop: fiber_offload is an ordinary call */
    FIBER_LARGE,
};

/* fn(arg) now, up to its first wait at least. From within such a call, and where there are too many
 * already: an ordinary call, though a large one from within a small one is large. */
void fiber_run(struct loop *l, enum fiber_size size, void (*fn)(void *arg), void *arg);
bool fiber_is_inside(const struct loop *l);
bool fiber_is_small(const struct loop *l); /* inside a small one */
/* work(arg) on a thread of the pool, which must touch nothing that others use or free meanwhile;
 * returns when it is done. A few run at a time, first come, first served. Outside of fiber_run: an
 * ordinary call. */
void fiber_offload(struct loop *l, void (*work)(void *arg), void *arg);
/* The same, from a small one too. */
void fiber_offload_long(struct loop *l, void (*work)(void *arg), void *arg);
