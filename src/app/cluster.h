/* A cluster in this process: store, API, HTTP server, operator, scheduler and node on one loop.
 * `muster up` is one until it is stopped, `muster run` has one for as long as its jobs take. */
#pragma once

#include "api/api.h"
#include "app/up_binder.h"
#include "app/up_groups.h"
#include "app/up_node.h"

struct cluster;

struct cluster_opts { /* texts stay */
    struct loop *loop;
    const char *dir;        /* of data: made and locked */
    const char *host;       /* an address */
    int port;               /* 0: any free one */
    const char *kubeconfig; /* written there, too; NULL: only to DIR/kubeconfig */
    bool no_operator;
    bool legacy_labels; /* see plan_settings */
    bool no_node;
    bool accept_data_loss;        /* see store_opts */
    struct up_gang_opts gang;     /* checked */
    struct up_binder_opts binder; /* but for volumes, named, whole_jobs and scheduler */
    struct up_node_opts node; /* but for dir; ephemeral: nothing of the store is on disk either */
    void (*on_serving)(void *ctx); /* the API answers over HTTP; may be NULL */
    /* Once: all of it has started, or why not; it is to be stopped all the same. */
    void (*on_ready)(void *ctx, const struct err *e);
    void *ctx;
};

/* -1: nothing is under way, and cluster_free is all that is left to do. */
int cluster_start(struct cluster **out, const struct cluster_opts *o, struct err *e);
struct api *cluster_api(struct cluster *c);
const char *cluster_server(const struct cluster *c); /* "https://127.0.0.1:6443", once it serves */
/* Pods end, then done(ctx), perhaps from within. A second time: at once. */
void cluster_stop(struct cluster *c, void (*done)(void *ctx), void *ctx);
void cluster_free(struct cluster *c); /* when loop_run has returned; before loop_free */
