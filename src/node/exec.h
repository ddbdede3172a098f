/* Programs in a pod's containers for others than the node: kubectl exec and attach. */
#pragma once

#include "node/node.h"

struct node_exec_opts {
    str uid; /* the pod */
    str container;
    /* absent: the container's own, what it writes from now on; its end is the end, and what comes
     * from us is its standard input if its spec has one */
    jv argv;
    bool in;    /* there is standard input */
    int fds[3]; /* without tty: standard input, output, error; borrowed until the call returns */
    bool tty;
    int rows, cols;
    void (*on_tty)(void *ctx, int fd); /* the master side; taken */
    /* The last call, never from within another. why: it did not run; empty: it did. */
    void (*on_exit)(void *ctx, int code, str why);
    void *ctx;
};

struct node_exec;

/* Whether the pod may be one that ran before us and has not been found again yet. */
bool node_seeks(const struct node *n, str uid);
/* Whether the container runs; -1: e says so in kubelet's words. */
int node_exec_check(struct node *n, str uid, str container, struct err *e);
struct node_exec *node_exec_start(struct node *n, const struct node_exec_opts *o, struct err *e);
void node_exec_resize(struct node_exec *x, int rows, int cols); /* of a container's own terminal */
/* Kills it, if it is a program; nothing is told any more. */
void node_exec_stop(struct node_exec *x);

/* dial.c: a socket, not blocking and the caller's, on its way to that port of the pod, at the
 * address number attempt; -1: e says why, ERR_NOT_FOUND: it has no more of them. -1 with *later
 * set: done is called with the same, later. */
struct node_dial_to {
    str uid;
    int port;
    int attempt;
    void (*done)(void *arg, int fd, const struct err *e);
    void *arg;
};

struct node_dial;
int node_dial(struct node *n, const struct node_dial_to *to, struct node_dial **later,
              struct err *e);
void node_dial_stop(struct node_dial *d); /* before done only */

/* ---- inside */

struct attach;
/* Copies fds. done(ctx) once, when the container has ended and all was written, or nobody reads. */
struct attach *attach_start(struct node *n, const struct node_exec_opts *o, void (*done)(void *ctx),
                            void *ctx, struct err *e);
void attach_resize(struct attach *t, int rows, int cols);
void attach_free(struct attach *t);

/* attach_input.c */
struct attach_input_opts {
    str container;
    int from;                  /* what is to go in: taken, not blocking; -1: nothing */
    bool once;                 /* when that has ended, the container's input has, too */
    void (*opened)(void *ctx); /* or it was seen that there is none; may be NULL */
    void *ctx;
};
struct attach_input;
struct pod;
struct attach_input *attach_input_start(struct pod *p, const struct attach_input_opts *o);
void attach_input_resize(struct attach_input *t, int rows, int cols);
void attach_input_free(struct attach_input *t);
