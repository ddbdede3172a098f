/* Logs of containers: where they are, and reading them as they grow. */
#pragma once

#include "loop/logfile.h"
#include "node/node.h"

struct node_log_opts;

struct log_of {
    str data;
    jv pod;
    str container;
    int64_t run; /* its restart count then */
};
/* The file of that run; empty: there is none. */
str log_find(struct arena *a, const struct log_of *of);
/* The same of a pod that is gone, by its name and uid; run -1: the last one. */
str log_find_gone(struct arena *a, str data, const struct node_log_opts *o);
/* As log_find, made if it is not there; older ones of the replica go when there are too many. */
int log_make(struct arena *a, const struct log_of *of, int64_t now_ms, str *path, struct err *e);

enum {
    NODE_LOG_ATTEMPTS = 20, /* kept of a replica's container */
    NODE_LOG_FILES = 20000, /* of all jobs together: beyond, those of the oldest go */
    NODE_LOG_YOUNG_S = 3600,
    NODE_LOG_SWEEP = 500, /* new ones, before they are counted again */
};
#define NODE_LOG_BYTES (INT64_C(5) << 30)

struct log_limits {
    int64_t bytes, files;
    int64_t young_s; /* what changed since is left alone */
};
/* Removes logs of whole jobs below dir, the oldest first, until the rest is within the limits. */
void log_sweep(const char *dir, const struct log_limits *most, int64_t now_s, int64_t *removed);
void log_sweep_start(struct loop *l, str data); /* by itself, in another thread */

struct node_log_opts {
    jv pod; /* as stored; absent: it is gone, and these say which it was */
    str ns, name, uid;
    str container; /* may be empty for one that is gone: the main one */
    int64_t run;   /* -1: the last one, or the one before with `previous` */
    bool previous;
    bool follow; /* until the container has ended */
    struct logfile_opts file;
    void (*wake)(void *ctx); /* there is more, or its end; not from within a call */
    void *ctx;
};

struct node_log;

/* -1: there is none, and e says why in kubelet's words. */
int node_log_open(struct node *n, const struct node_log_opts *o, struct node_log **out,
                  struct err *e);
/* Bytes; 0: none now, wake comes; -1: that was all. */
ssize_t node_log_read(struct node_log *l, char *to, size_t n);
void node_log_free(struct node_log *l);
