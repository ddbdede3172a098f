/* What the files of the node share; not for others. */
#pragma once

#include "base/map.h"
#include "names/cluster.h"
#include "node/events.h"
#include "node/images.h"
#include "node/life.h"
#include "node/mirror.h"
#include "node/node.h"
#include "node/probes.h"
#include "node/resources.h"
#include "node/stall.h"

enum node_kind {
    NODE_SERVICES,
    NODE_ENDPOINTS,
    NODE_SLICES,
    NODE_CONFIGS,
    NODE_SECRETS,
    NODE_CLAIMS,
    NODE_VOLUMES,
    NODE_KINDS,
};

struct offer { /* offer.c */
    struct mirror *mirror;
    struct buf told; /* the annotation read last */
    struct err why;  /* it cannot be read; code 0: it can */
    bool was_told;   /* there was one in this life */
};

struct node {
    struct node_opts o;
    struct arena *a;     /* of the options */
    jv root_ca;          /* the ConfigMap kube-root-ca.crt */
    str common;          /* directory of volumes that are the same in all pods; p NULL: none is */
    uint64_t log_places; /* made since logs were swept last */
    struct map pods;     /* by uid */
    struct mirror *pod_mirror;
    struct mirror *mirrors[NODE_KINDS];
    struct names *names; /* NULL: none */
    struct node_events *events;
    struct tree_trash *trash;
    struct images *images;
    struct devices gpus;
    struct offer offer;
    struct jdoc *machine; /* what node_resources found */
    struct jdoc *known;   /* uids the runtime knew when we started */
    struct registration *reg;
    struct orphan *orphans;
    uint64_t next_ask;
    uint64_t writes;
    uint64_t trim_writes; /* when memory was looked at last */
    struct loop_timer *trim;
    struct loop_timer *look; /* at what pods have on disk */
    struct evict_look *looking;
    struct loop_timer *stall_timer; /* to look for pods that make no progress */
    int64_t stall_step_ms;          /* its time */
    struct stall_look *stalls;
    struct usage *usage; /* what pods use; NULL: nobody has asked */
    bool listed;
    bool ending; /* for good */
    int64_t end_grace_ms;
    struct loop_timer *over_due;
    void (*on_ended)(void *ctx);
    void *ended_ctx;
};

/* A hook or probe under way. */
struct ask {
    struct ask *next;
    struct pod *pod;
    uint64_t id;
    struct life_action act;
    struct probe *probe;      /* over the network */
    struct loop_timer *timer; /* sleep, or a timeout of our own */
    int64_t timeout_ms;
};

struct pod {
    struct node *n;
    char *uid;
    char *dir;
    struct jdoc *doc;
    struct life *life;
    struct runtime_pod *rt;
    bool adopting; /* waits for HELLO or GONE */
    bool vanished; /* its object is gone */
    bool remove;   /* ask the server to remove it, once its status is written */
    bool attached; /* to the network */
    unsigned box_failures;
    struct loop_timer *wake;
    struct kube_call *call; /* a write of its status, or its removal */
    struct loop_timer *write_timer;
    unsigned write_failures;
    bool write_waits;     /* until write_timer, whatever comes */
    uint64_t wrote;       /* hash of what was written last; 0: nothing, or it failed */
    struct jdoc *volumes; /* as volumes_set_up made them */
    struct jdoc *net;     /* {net, mounts} */
    struct jdoc *given;   /* its GPUs */
    struct net_ask *attaching;
    struct pod_setup *setup; /* of its volumes */
    bool setup_again;
    bool box_waits; /* for its volumes */
    struct ask *asks;
    struct node_log *logs; /* being read */
    struct names_member named;
    struct node_exec *execs; /* for others: kubectl exec */
    struct pod_token *tokens;
    int64_t stall_after_ms; /* 0: it is not watched */
    struct stall_mark stall;
};

int64_t node_now(const struct node *n);
str node_pod_ip(const struct pod *p);
void pod_event(struct pod *p, bool warning, const char *reason, str container, str message);

/* pod.c */
struct pod *pod_new(struct node *n, struct jdoc *doc);
void pod_update(struct pod *p, struct jdoc *doc, struct jdoc *old);
void pod_vanish(struct pod *p);                          /* may free it */
void pod_release(struct pod *p);                         /* address, devices */
void pod_detach(struct pod *p);                          /* address */
void pod_forget(struct pod *p);                          /* removes its directory */
void pod_retry(struct pod *p);                           /* what it waits for may have come */
void pod_free(struct pod *p);                            /* leaves what runs */
void pod_reconcile(struct pod *p, struct life_out *out); /* decides and carries out; may free it */

void pod_on_runtime(void *ctx, const struct runtime_event *ev);

/* pod_write.c */
void pod_write(struct pod *p);

/* pod_run.c */
jv pod_cgroup(struct arena *a, const struct pod *p); /* {v1, v2, flat}; absent: none */
void pod_sandbox(struct pod *p);
void pod_start(struct pod *p, const struct life_action *act, struct life_out *out);
/* In a while; false: not all that it refers to is known. tells: of a failure, in an event */
bool pod_refresh_volumes(struct pod *p, bool tells);
void pod_volumes_are_set(struct pod *p, const struct err *e); /* e NULL: for its sandbox */

/* pod_volumes.c: in a thread; once more if one is at work */
void pod_volumes_start(struct pod *p, bool tells);
void pod_volumes_stop(struct pod *p); /* the pod goes away */

/* pod_names.c */
struct names *node_names_new(struct node *n); /* NULL: the node has none */
struct names_about pod_names_about(const struct pod *p);
void pod_names_starting(struct pod *p); /* a container of it */

/* pod_words.c */
str pod_term_path(struct arena *a, const struct pod *p, str container);
str pod_last_words(struct arena *a, struct pod *p, const struct life_container *c, bool failed);

/* logs.c: ends what is followed and is not written any more; over: the pod goes */
void pod_logs_look(struct pod *p, bool over);

/* tokens.c: of the pod's service account, for its volumes */
bool pod_tokens_are_here(struct pod *p); /* false: asked for; pod_retry comes with them */
str pod_token(void *ctx, jv source);     /* ctx: the pod */
void pod_tokens_free(struct pod *p);

/* container_extras.c: how a container reaches the API where it has no files of its own */
void pod_access_shared(struct arena *a, struct pod *p, jv *env, jv *mounts);
/* pod_user.c: whom a container may run as: -1: it may not, e tells in kubelet's words. */
int pod_check_user(struct arena *a, const struct pod *p, const struct life_container *c,
                   const struct image_run *run, struct err *e);
/* Numbers, or absent: muster's own. The pod's, else (as root) the image's. */
void pod_user(struct arena *a, const struct pod *p, const struct life_container *c,
              const struct image_run *run, jv *uid, jv *gid);
/* events for what an ordinary user cannot give. */
void pod_tell_user(struct arena *a, const struct pod *p, const struct life_container *c,
                   struct life_out *out);
/* before a container starts as another user (uid below 0: as we are) */
void pod_open_to_user(struct arena *a, struct pod *p, const struct life_container *c, int64_t uid,
                      struct life_out *out);
/* That which reaches the pod's files when it runs as uid; -1: it needs none. */
int64_t pod_own_group(const struct pod *p, int64_t uid);
void pod_open_again(const struct pod *p); /* it has been running while we were not */
/* container_extras.c: programs of this machine that its own /tmp, or its own root, would hide */
void pod_tools_shown(struct arena *a, const struct pod *p, const struct image_run *run, jv *mounts);
void pod_workdir_shown(struct arena *a, const struct pod *p, const struct image_run *run,
                       jv *mounts);
/* Neither this machine, or the image, nor a volume has it. */
bool pod_workdir_is_missing(struct arena *a, const struct image_run *run, jv mounts);

/* usage.c */
void usage_outdate(struct node *n); /* a container has started */
void usage_free(struct node *n);    /* whoever waits is told that there is none */

/* stall.c: a pod has begun, or its annotations have changed */
void stall_watch(struct pod *p);
void stall_free(struct node *n);

/* evict.c: a pod whose storage may be limited has begun */
void evict_watch(struct pod *p);
void evict_free(struct node *n);

/* exec.c: the pod's handle is dropped */
void pod_execs_end(struct pod *p);

/* pod_ask.c */
void pod_ask(struct pod *p, const struct life_action *act);
void pod_answered(struct pod *p, uint64_t id, int code, str out);
void pod_asks_drop(struct pod *p);

/* node_stop.c */
void pod_on_ending(struct pod *p, const struct runtime_event *ev);
void node_check_over(struct node *n);

/* pod_gpus.c */
bool pod_gpus_take(struct pod *p); /* false: it waits for them, or has failed */
/* The numbers by which CUDA knows them. A container that has the device files of these alone
 * (counted) finds no others to count, so they are 0 and on there. */
str pod_gpus_list(struct arena *a, const struct pod *p, bool counted);

/* offer.c */
int offer_set(struct node *n, str told, struct err *e); /* -1: nothing has changed */
void offer_start(struct node *n);
bool offer_read(struct node *n, jv obj); /* whether the Node tells something new */
str offer_reason(const struct node *n);  /* of its condition */
str offer_message(const struct node *n);
void offer_free(struct node *n);

/* register.c */
struct registration *registration_new(struct node *n);
void registration_start(struct registration *r);
void registration_refresh(struct registration *r); /* what the node has to give changed */
bool registration_is_done(const struct registration *r);
jv registration_allocatable(const struct registration *r);
void registration_free(struct registration *r);
