/* The kubelet: a node that runs its pods through a runtime. Sees the cluster only as kube_api. On
 * the loop thread. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"
#include "node/runtime.h"
#include "podnet/network.h"

enum { NODE_POD_PIDS = 4096 }; /* the most processes of a pod, where control groups can be had */

struct node_opts { /* copied, texts too */
    struct loop *loop;
    struct kube_api *api;
    struct runtime *runtime;
    const struct pod_network *net;
    bool names; /* pods get cluster names; with isolation "shared" addresses of their own, too */
    str api_ip; /* where pods reach the server, for kubernetes.default; empty: unknown */
    int64_t api_port;
    str name;
    str host_ip;
    str data;          /* directory: DATA/pods, DATA/logs, DATA/images.yaml */
    str claims;        /* where volumes of claims are; empty: DATA/volumes */
    str path;          /* PATH of containers on this machine's own file system */
    jv env;            /* {name: value} for them: HOME, LANG, … */
    str isolation;     /* "namespaces", "shared": told in the sandbox and as a label */
    jv conditions;     /* of the node, besides kubelet's; may be absent */
    jv files;          /* {disk, homes}: as "over" of a sandbox; absent: no homes */
    jv hidden;         /* {hide, registry, host_roots}: see sandbox/spec.h; absent: nothing */
    jv groups;         /* as groups_find gives them; absent: none */
    str resources;     /* "nvidia.com/gpu=1,…" */
    const char *root;  /* where dev and proc are; NULL: here */
    bool ephemeral;    /* what runs ends with this process, however that ends */
    str ca;            /* of the API, in PEM: kube-root-ca.crt; empty: none */
    bool strict_paths; /* an absolute path that is not there is not looked for elsewhere */
    int64_t (*wall_ms)(void); /* NULL: the clock */
};

/* On the Node, where --host-path-roots was given: "DIR,DIR". */
#define NODE_ROOTS_ANNOTATION "muster.dev/host-path-roots"

/* On the Node: what it offers instead of what is found, and of its options: "nvidia.com/gpu=4". */
#define NODE_RESOURCES_ANNOTATION "muster.dev/resources"
/* The condition of a node that was told: its message is the annotation, once that counts, or why it
 * does not. */
#define NODE_RESOURCES_CONDITION "muster.dev/Resources"

/* Below DATA of a node that is ephemeral: what pods that are gone have changed of files. */
#define NODE_CHANGES "changed"

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
