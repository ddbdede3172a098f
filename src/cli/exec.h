/* The parts of muster exec. */
#pragma once

#include "client/stream.h"
#include "loop/loop.h"

/* ---- exec_pod.c: the pod a command is to run in */

struct exec_pod;
struct exec_wanted {
    str ns, name;
    bool ready;        /* waits until it is, but not for one that has ended, ... */
    int64_t absent_ms; /* ... nor longer than this for one that is not there or may not be seen */
};
/* done once: pod, which is borrowed, or why not. */
struct exec_pod *exec_pod_find(struct loop *l, struct kube_api *api, const struct exec_wanted *w,
                               void (*done)(void *ctx, jv pod, const struct err *e), void *ctx);
void exec_pod_free(struct exec_pod *p); /* done is not called any more */

/* ---- exec_input.c: standard input */

struct exec_input;
/* on_bytes with nothing: that was all. */
struct exec_input *exec_input_start(struct loop *l, void (*on_bytes)(void *ctx, str bytes),
                                    void *ctx);
void exec_input_pause(struct exec_input *i, bool paused);
void exec_input_free(struct exec_input *i); /* the memory goes later */

/* ---- exec_install.c: muster into a directory, so that it runs in any image of this machine's
 * kind: with the libraries it uses, unless it has none */

int exec_install(const char *dir, struct err *e);
