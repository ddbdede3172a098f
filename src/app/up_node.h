/* The node inside `muster up`: pods as processes of this machine, and what gives them their node
 * and their volumes. */
#pragma once

#include "app/up_hide.h"
#include "app/up_pods.h"
#include "node/warden.h"
#include "sandbox/probe.h"

struct up_node_opts {      /* texts stay */
    const char *dir;       /* of data */
    const char *isolation; /* "namespaces", "shared"; NULL: the best that can be had here */
    bool must_isolate;     /* an isolation that cannot be had here is an error */
    const char *resources; /* "nvidia.com/gpu=1,…" instead of what is found; NULL: nothing */
    const char *claims;    /* directory for volumes called as their claims; NULL: dir/volumes */
    bool strict_classes;
    bool no_scheduler; /* others give pods their nodes */
    bool ephemeral;    /* pods end with this process, even if it is killed */
    bool strict_paths;
    const char *host_path_roots; /* "/srv,/data": hostPaths are below; NULL: anywhere */
    bool show_home_secrets;      /* ~/.ssh and the like are seen by pods */
    struct up_hide hide;         /* set by up_hide_begin */
    const char *api_host;        /* where the server listens, in numbers */
    int api_port;
    str api_ca;                  /* in PEM, for pods */
    struct up_pods *pods;        /* told of the node while there is one */
    const char *level;           /* set by up_node_prepare: the isolation that can be had */
    struct err why;              /* so, too: why not namespaces */
    struct up_net *net;          /* so, too: being started */
    struct warden_ground ground; /* so, too: how files are kept private; its texts are not */
};

struct up_node;

/* Whether the options, and the table of images, can be; -1: what is wrong with them. */
int up_node_check(const struct up_node_opts *o, struct err *e);
/* As early as can be: tries what this machine allows, which takes some ms, and has the network of
 * pods start beside. */
void up_node_prepare(struct up_node_opts *o, struct loop *l);
void up_node_unprepare(struct up_node_opts *o); /* when up_node_start is not called */
/* When the API is ready; what was prepared is taken. */
int up_node_start(struct up_node **out, struct loop *l, struct api *api, struct up_node_opts *o,
                  struct err *e);
/* Ends what pods run; then done(ctx), never from within: nothing is under way any more. Before
 * api_stop. */
void up_node_stop(struct up_node *u, void (*done)(void *ctx), void *ctx);
void up_node_hurry(struct up_node *u); /* while stopping: kill what is left now */
void up_node_free(struct up_node *u);  /* not between start and done; NULL is fine */
