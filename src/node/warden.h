/* The node's side of the wardens: runtime.h with real processes, one warden a pod. Everything is on
 * the loop thread. */
#pragma once

#include "loop/loop.h"
#include "node/runtime.h"

struct warden_opts {
    const char *pods; /* <data>/pods: each pod's directory is in it, under its uid */
    const char *exe;  /* run as `EXE warden DIR FD`; NULL: this program */
};

struct runtime *warden_runtime_new(struct loop *l, const struct warden_opts *o);
/* Drops all handles; what runs goes on. */
void warden_runtime_free(struct runtime *rt);

/* A program beside a container's, with the caller's own descriptors or a terminal: kubectl exec. */
struct warden_exec_opts {
    str container;
    jv argv;
    jv env;     /* ["NAME=value"], on top of the container's; may be absent */
    int fds[3]; /* without tty: standard input, output, error; borrowed until the call returns */
    bool tty;
    int rows;
    int cols;
    /* With tty: the master side, taken by the callee; TIOCSWINSZ on it resizes. */
    void (*on_tty)(void *ctx, int fd);
    /* Once, unless the pod's handle is dropped before. why: it did not run; empty: it did. */
    void (*on_exit)(void *ctx, int code, str why);
    void *ctx;
};

uint64_t warden_exec_start(struct runtime_pod *p, const struct warden_exec_opts *o);
void warden_exec_stop(struct runtime_pod *p, uint64_t id); /* kills it; on_exit comes */

/* A container's standard input, for writing (not blocking), or its terminal: on_fd takes it. why:
 * it has none; fd is -1 then. Never from within; once, unless cancelled or the pod's handle is
 * dropped before. */
uint64_t warden_input_open(struct runtime_pod *p, str container,
                           void (*on_fd)(void *ctx, int fd, str why), void *ctx);
void warden_input_cancel(struct runtime_pod *p, uint64_t id); /* one that is over is fine */
void warden_input_end(struct runtime_pod *p, str container);  /* nobody will bring any more */
