/* Where wardens come from: one process, run once by the node, that forks a keeper for each pod. A
 * fork costs a tenth of running the program anew, in time and in memory of its own. */
#pragma once

#include "base/str.h"
#include "loop/loop.h"
#include "sandbox/spare.h"

#include <sys/types.h>

struct warden_nursery;

struct warden_nursery_opts {
    const char *exe;
    /* A keeper was started; ctx is that of the asking. pidfd is taken by the callee. */
    void (*born)(void *ctx, pid_t pid, int pidfd);
    /* It died: what was asked for and not answered may or may not have been done. */
    void (*died)(void *of);
    void *of;
};

/* NULL: it cannot be run. */
struct warden_nursery *warden_nursery_new(struct loop *l, const struct warden_nursery_opts *o,
                                          struct err *e);
void warden_nursery_free(struct warden_nursery *n); /* the keepers stay; NULL is fine */
/* A keeper for the pod in dir, talking over fd (borrowed). group: of cgroup v1 that its processes
 * are counted in; empty: none. Does not wait; -1: it is too busy. */
int warden_nursery_ask(struct warden_nursery *n, const char *dir, str group, int fd, void *ctx);

/* The process itself: `muster warden --nursery FD`. Returns in each keeper, with dir (PATH_MAX),
 * *first and *spare set; otherwise never. */
void warden_nursery_run(int sock, char *dir, int *first, struct spare_group *spare);
