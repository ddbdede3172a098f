/* The logs of pods as they are written: every run of their main containers from its first byte to
 * its last, one run after another, in lines. */
#pragma once

#include "cli/runstate.h"

struct tails;

struct tails_opts {
    struct session *s;
    /* One line, without its line feed; container is not empty where it is not the main one. */
    void (*on_line)(void *ctx, const struct run_job *j, str replica, str container, str line);
    void (*on_trouble)(void *ctx, const struct run_job *j, str replica, str why);
    void (*on_end)(void *ctx); /* none is open any more, for now */
    void *ctx;
};

struct tails *tails_new(const struct tails_opts *o);
/* Whenever a pod was seen; opens what has begun. */
void tails_see(struct tails *t, struct run_job *j, jv pod);
bool tails_are_open(const struct tails *t);
uint64_t tails_bytes(const struct tails *t); /* received so far */
/* The last lines of a replica, whichever run wrote them: "a\nb\n". */
str tails_last(const struct tails *t, struct arena *a, const struct run_job *j, str replica);
void tails_free(struct tails *t); /* NULL is fine */
