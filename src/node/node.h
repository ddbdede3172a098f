/* The kubelet: a node that runs its pods through a runtime. Sees the cluster only as kube_api. On
 * the loop thread. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"
#include "node/runtime.h"

/* Addresses of pods, and what they need to find each other. NULL: the machine's own network. */
struct node_net {
    /* net: for the sandbox ({ip, ns, …}); mounts: of each container, [{from, to, ro}]. Done before
     * it returns. */
    int (*attach)(void *ctx, struct arena *a, jv pod, jv *net, jv *mounts, struct err *e);
    void (*detach)(void *ctx, str uid);
    /* After a restart: a pod that has been running, with what attach made of net. May be NULL. */
    void (*adopt)(void *ctx, str uid, jv net);
    /* All services with a ClusterIP, whenever one or what is ready behind it changes: [{namespace,
     * name, ip, ports: [{protocol, port, to: [{ip, port}]}]}]. NULL: the network cannot reach
     * ClusterIPs, and names stand for pods instead. */
    void (*services)(void *ctx, jv list);
    /* Where pods ask for names: a server of ours, on a UDP socket and a TCP one that are bound
     * there, not blocking, the caller's; -1: e says why. NULL: there is no such place. */
    const char *dns;
    int (*dns_socket)(void *ctx, bool udp, struct err *e);
    /* fn(arg) when sockets have to be had again; NULL: not any more. */
    void (*on_again)(void *ctx, void (*fn)(void *arg), void *arg);
    bool outside;       /* pods reach it */
    const char *resolv; /* text of resolv.conf for pods; NULL: the machine's */
    /* A TCP socket that reaches pods: not blocking, the caller's; -1: e says why. May be NULL. */
    int (*socket)(void *ctx, struct err *e);
    /* One of the pod's own namespace, IPv4 or IPv6; likewise. */
    int (*socket_in)(void *ctx, str uid, bool six, struct err *e);
    void *ctx;
};

struct node_opts { /* copied, texts too */
    struct loop *loop;
    struct kube_api *api;
    struct runtime *runtime;
    const struct node_net *net;
    bool names; /* pods get cluster names; with isolation "shared" addresses of their own, too */
    str api_ip; /* where pods reach the server, for kubernetes.default; empty: unknown */
    int64_t api_port;
    str name;
    str host_ip;
    str data;                 /* directory: DATA/pods, DATA/logs, DATA/images.yaml */
    str path;                 /* PATH of containers on this machine's own file system */
    jv env;                   /* {name: value} for them: HOME, LANG, … */
    str isolation;            /* "namespaces", "shared": told in the sandbox and as a label */
    jv conditions;            /* of the node, besides kubelet's; may be absent */
    jv files;                 /* {disk, homes}: as in sandbox.json's "over"; absent: no homes */
    jv groups;                /* as groups_find gives them; absent: none */
    str resources;            /* "nvidia.com/gpu=1,…" */
    const char *root;         /* where dev and proc are; NULL: here */
    bool ephemeral;           /* what runs ends with this process, however that ends */
    str ca;                   /* of the API, in PEM: kube-root-ca.crt; empty: none */
    bool strict_paths;        /* an absolute path that is not there is not looked for elsewhere */
    int64_t (*wall_ms)(void); /* NULL: the clock */
};

struct node;

/* -1: options or images.yaml are wrong. */
int node_new(struct node **out, const struct node_opts *o, struct err *e);
void node_start(struct node *n);
bool node_is_ready(const struct node *n); /* registered, and all of its pods are known */
str node_name(const struct node *n);
size_t node_count_pods(const struct node *n);
uint64_t node_count_writes(const struct node *n); /* of pods' status */
/* Ends what all its pods run, by force after grace_ms; then done(ctx), never from within. Nothing
 * of that is written: the next node reads how they ended where their wardens left it. Called again:
 * the shorter grace counts, and the new done. */
void node_end(struct node *n, int64_t grace_ms, void (*done)(void *ctx), void *ctx);
/* Stops watching; pods go on running and are adopted by the next one. */
void node_free(struct node *n);

/* The file that run of the container writes to; see logs.h. Empty: none. */
str node_log_path(struct arena *a, str data, jv pod, str container, int64_t attempt);
