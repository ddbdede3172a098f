/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "binder/binder.h"
#include "ctl/events.h"
#include "ctl/informer.h"
#include "kube/meta.h"
#include "plan/planner.h"
#include "sched/sched.h"
#include "sched/volume.h"

/* ---- shelf.c: all there is of one resource, with only what is read of it */

struct held {
    char *key;       /* "ns/name" */
    unsigned number; /* of the list it was in last */
    struct arena *a; /* holds obj, and what is read from it */
    jv obj;
};

struct shelf;
struct shelf_ops {
    const struct kube_resource *res;
    size_t entry_bytes; /* of a struct that begins with a struct held */
    /* What is kept; absent: it is as good as gone. Shares. */
    jv (*slim)(struct arena *a, jv obj);
    /* New, or what is kept of it is another than before: obj is the whole one. */
    void (*changed)(struct shelf *s, struct held *h, jv obj, bool is_new);
    void (*gone)(struct shelf *s, struct held *h); /* freed after that */
};

struct shelf {
    struct binder *b;
    const struct shelf_ops *ops;
    struct informer *inf;
    struct map items;
};

void shelf_init(struct shelf *s, struct binder *b, const struct shelf_ops *ops);
void shelf_done(struct shelf *s);
struct held *shelf_find(const struct shelf *s, str ns, str name);

/* ---- pods */

enum pod_state {
    POD_APART,   /* somebody else's, gated, or going */
    POD_WAITS,   /* for a node */
    POD_PLACED,  /* has one, but its claims have no volumes yet, or it is not sent yet */
    POD_BINDING, /* sent; until it is seen on its node */
    POD_BOUND,
};

struct pod {
    struct held h;
    struct sched_pod p;
    struct binder *b;
    enum pod_state state;
    uint64_t seq;
    char *node;     /* POD_PLACED, POD_BINDING */
    char *why;      /* not told yet: it has no node; NULL: nothing to tell */
    uint64_t told;  /* hash of the reason that its condition gives; 0: none */
    bool was_false; /* its condition PodScheduled is */
    bool busy;      /* a request on it is under way */
    bool queued;
    bool fresh;       /* never looked at as it is now */
    struct pod *next; /* in the queue */
    struct event_budget budget;
};

/* ---- things a claim or volume is in the middle of */

struct thing {
    struct held h;
    struct binder *b;
    bool busy;
    bool choosing;    /* a claim: a pod's node is being written on it */
    int64_t retry_ms; /* monotonic; not before */
    struct event_budget budget;
};

/* ---- send.c: writes under way */

struct sent;
typedef void sent_done(struct binder *b, str key, const struct kube_answer *ans);

enum { SENT_MAX = 64 };

void send_write(struct binder *b, const struct kube_request *r, sent_done *done, str key);
void send_cancel_all(struct binder *b);

struct binder {
    struct loop *loop;
    struct kube_api *api;
    struct binder_opts o;
    char *dir;
    struct informer_turns turns;
    struct shelf pods, nodes, namespaces, claims, volumes, classes;
    struct events *events;
    uint64_t seq;
    size_t n_waiting;
    struct pod *first, *last; /* pods with something to send */
    struct sent *sent;
    size_t n_sent;
    uint64_t writes;
    bool place_due, volumes_due; /* something changed that they read */
    bool place_all;              /* there may be room for those that had none before, too */
    bool deferred;               /* work() will run */
    bool dead;                   /* work() frees it */
    bool class_checked;
    struct loop_timer *retry;
    struct loop_timer *trash;
};

bool binder_is_synced(const struct binder *b);
void binder_work(struct binder *b);  /* soon, and once */
void binder_retry(struct binder *b); /* all of it, in a second */
void binder_tell(struct binder *b, jv obj, const struct kube_resource *res, const char *component,
                 struct event_budget *budget, const struct plan_note *note);

extern const struct shelf_ops pod_shelf, node_shelf, namespace_shelf, claim_shelf, volume_shelf,
    class_shelf;

/* pods.c */
void pod_queue(struct pod *p);
void pod_unplace(struct pod *p); /* it waits again */
bool pod_uses(const struct pod *p, str ns, str claim);
/* place.c */
void place_pass(struct binder *b);
void place_send(struct binder *b);
/* claims.c */
void claims_pass(struct binder *b);
void claim_wake_pods(struct binder *b, jv claim); /* those that wait for its volume go on */
struct claim_seen claim_seen_of(struct binder *b, struct arena *a, jv claim);
/* trash.c: what was in a volume is put aside, and removed when its time has come. */
void trash_put(struct binder *b, str path);
void trash_sweep(struct binder *b);
