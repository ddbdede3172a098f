/* The Kubernetes API over our store: authenticates, decodes, defaults, validates, answers. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "http/server.h"
#include "loop/loop.h"
#include "store/store.h"

struct api;
struct problems;

/* Further rules for a custom resource. Asked with each new or changed object, but not when only its
 * status is written; decoded, with defaults; old: absent when it is new. Pure. */
struct api_check {
    const char *group;
    const char *resource; /* plural */
    void (*check)(void *ctx, struct problems *ps, jv obj, jv old);
    /* A warning for whoever wrote it; empty: none. */
    str (*advise)(void *ctx, struct arena *a, jv obj);
    void *ctx;
};

struct api_log {
    str container;
    bool follow;
    bool previous;
    bool timestamps;
    int64_t tail_lines;  /* -1: all */
    int64_t since_us;    /* since 1970; 0: all */
    int64_t limit_bytes; /* -1: none */
    str uid;             /* ours: of this pod, whether it is gone or not; empty: the stored one */
    int64_t attempt;     /* ours: of the run with that restart count; -1: the last one */
};

/* Which pod: as stored, and then it has a node; or one that is gone. */
struct api_pod {
    str ns, name;
    jv pod; /* absent: it is gone */
};

struct api_pod api_pod_copy(struct arena *a, const struct api_pod *pod); /* all of it in a */

struct api_dial; /* under way */

struct api_dial_to {
    int port;
    int attempt; /* counts from 0 over the addresses a pod has for its own programs */
    void (*done)(void *arg, int fd, const struct err *e);
    void *arg;
};

/* A program in a container, or the container's own. */
struct api_exec {
    str container;
    jv argv;    /* absent: what the container writes, as it goes on; input is for it, too */
    bool in;    /* there is standard input */
    int fds[3]; /* without tty: standard input, output, error; borrowed until the call returns */
    bool tty;
    int rows, cols;
    void (*on_tty)(void *ctx, int fd); /* the terminal; taken */
    /* The last call, never from within another. why: it did not run; empty: it did. */
    void (*on_exit)(void *ctx, int code, str why);
    void *ctx;
};

struct api_running;

/* usage: as node/usage.h has it, with the name of the node as "node"; absent: e says why. Borrowed.
 */
typedef void api_usage_done(void *arg, jv usage, const struct err *e);

/* What runs pods. */
struct api_pods {
    /* 0: src is filled and calls http_wake(h) when it has more; -1: e is answered. */
    int (*log)(void *ctx, struct http_req *h, const struct api_pod *pod, const struct api_log *what,
               struct http_source *src, struct err *e);
    /* Whether it may be running, which is found out soon: exec, attach and portforward wait for
     * it. NULL: never. */
    bool (*is_sought)(void *ctx, const struct api_pod *pod);
    /* Whether it can be; -1: e is answered. */
    int (*exec_check)(void *ctx, const struct api_pod *pod, str container, struct err *e);
    /* NULL: e says why not. */
    struct api_running *(*exec)(void *ctx, const struct api_pod *pod, const struct api_exec *x,
                                struct err *e);
    void (*exec_stop)(void *ctx, struct api_running *x); /* kills it; nothing is told any more */
    void (*exec_resize)(void *ctx, struct api_running *x, int rows, int cols);
    /* A socket, not blocking and the caller's, on its way to that port of the pod. -1: e says why:
     * with sys ECONNREFUSED nobody listens there; ERR_NOT_FOUND: there is no further address. -1
     * with *later set: to->done is called with the same, later. */
    int (*dial)(void *ctx, const struct api_pod *pod, const struct api_dial_to *to,
                struct api_dial **later, struct err *e);
    void (*dial_stop)(void *ctx, struct api_dial *d); /* before done, which is not called then */
    /* What pods and the node use: done(arg, ...) once, at once or later. NULL: nothing is measured,
     * and metrics.k8s.io is not served. */
    void (*usage)(void *ctx, api_usage_done *done, void *arg);
    void *ctx;
};

/* A user of our own, or a group: a ClusterRole and its binding, both of that name. */
struct api_role {
    const char *name;
    const char *user; /* NULL: it is of the group */
    const char *group;
    jv rules;
};

struct api_opts {
    struct loop *loop;
    struct store *store;
    str token;            /* the bearer token of the administrator */
    str account_key;      /* signs tokens of service accounts, which pods get then; empty: none */
    int64_t event_ttl_ms; /* 0: one hour */
    bool protect_storage; /* claims and volumes get the finalizers that a binder takes away */
    const struct api_check *checks; /* these live as long as the api */
    size_t n_checks;
    const jv *definitions; /* CustomResourceDefinitions to have, as they are here; until done */
    size_t n_definitions;
    const jv *loans; /* definitions that others may bring, too: so until somebody changes them */
    size_t n_loans;
    jv objects;                   /* an array of objects of those kinds, to have; until done */
    const struct api_role *roles; /* to have, as they are here; until done */
    size_t n_roles;
    const char *const *namespaces; /* to have besides Kubernetes' own, up to a NULL; may be NULL */
    void (*print_metrics)(void *ctx, struct buf *b); /* more for /metrics; NULL: none */
    void *metrics_ctx;
    const struct api_pods *pods; /* lives as long as the api; NULL: nothing runs pods */
};

/* Loads what the store holds and makes the objects every cluster has. done(ctx, e) when they are
 * on disk (e NULL) or could not be made; never from within this call. */
struct api *api_new(const struct api_opts *o, void (*done)(void *ctx, const struct err *e),
                    void *ctx);
void api_free(struct api *api);

/* Ends all watches and controllers; the HTTP server is stopped by its owner. */
void api_stop(struct api *api);
/* The HTTP server to read numbers for /metrics from, and its port for the `kubernetes` service. */
void api_set_server(struct api *api, struct http_server *s);
struct http_server *api_server(const struct api *api); /* NULL: none yet */

/* For http_server_opts: ctx is the api. */
void api_on_request(void *ctx, struct http_req *r);
