/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "binder/binder.h"
#include "binder/phase.h"
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
    bool fresh;           /* never looked at as it is now */
    bool done;            /* it has succeeded: kept only as a member of a gang */
    bool never;           /* it does not fit on these nodes when they are empty */
    str member;           /* what its labels say, or its name in a PodGroup; lives with h */
    enum group_form form; /* of the PodGroup that it says it is of; GROUP_NONE: of none */
    str slot;             /* of a PodGroup's member that is gone, whose place it takes; in a pass */
    str group, role;      /* its name, and the pod's role in it; live with h */
    int64_t lost_ms;      /* since when that group is missing */
    struct gang *of;      /* that group, as of the last pass */
    struct pod *sibling;  /* the next of it; during a pass */
    bool surplus;         /* it starts after those of the group that start together */
    bool ended;           /* it has succeeded or failed */
    bool is_running, going;
    bool evicted;        /* to make way for another */
    bool came_placed;    /* whoever made it chose its node: nothing was decided here */
    bool is_ready;       /* its claims have their volumes */
    bool starts;         /* placed as one of those that start together, and not bound yet */
    struct batch *batch; /* POD_PLACED: bound together with others; NULL: alone */
    uint64_t told_nodes; /* hash of what the nodes say in the reason told last */
    int64_t told_ms;
    uint64_t told_group; /* hash of what its PodGroup is told */
    struct pod *next;    /* in the queue */
    struct event_budget budget;
};

/* ---- gangs.c: pods that start together */

struct reserve {
    struct sched_reserve r;
    struct arena *a;
    bool taken; /* a pod is there for it; during a pass */
    struct reserve *next;
};

struct gang {
    struct held h;
    char *uid;
    struct sched_gang g;
    int64_t n_seated;
    int64_t early_ms; /* since when too few of its pods exist; 0: they do */
    struct reserve *reserves;
    bool is_starting;
    bool is_group; /* it is that of a struct group */
};

struct gang_kind {
    struct shelf_ops ops;
    struct shelf shelf;
};

void gangs_init(struct binder *b);
void gangs_start(struct binder *b);
bool gangs_are_synced(const struct binder *b);
void gangs_done(struct binder *b);
/* What its labels say which one it is: "worker/0". */
str gang_member_name(struct arena *a, jv pod);
/* Of those whose start is decided and not written yet no other pod is looked at: were it bound and
 * the start refused, part of the gang would run. */
void gangs_mark_starting(struct binder *b);
/* Sets what p->p says of its gang. False: it is not known yet what its pod waits for. */
bool gang_join(struct pod *p);
struct gang *gang_of_pod(const struct pod *p); /* NULL: it starts alone */
struct gang *gang_find(const struct binder *b, str uid);
void gang_drop_reserves(struct gang *g);
void gang_lost(struct pod *p);    /* it had a node, and is gone */
void gang_started(struct pod *p); /* it got its node as its gang started, or later */
/* Counts members. */
void gang_collect(struct binder *b, struct arena *a);
/* What is kept now for members that are gone; to be asked again when some of that was dropped, as
 * groups_collect does, and who gives pods their nodes. */
void gang_reserves(const struct binder *b, struct arena *a, struct sched_input *in);

/* ---- batch.c: bindings that are sent together */

void batch_add(struct batch **b, struct pod *p); /* *b NULL: a new one */
void batch_leave(struct pod *p); /* before it is sent, that ends it: all of it waits again */
/* Its pod is ready to be bound; sent when all of them are. */
void batch_ready(struct binder *b, struct pod *p);
/* bind.c */
void bind_one(struct binder *b, struct pod *p);
void bind_together(struct binder *b, struct pod *const *pods, size_t n);
void pod_tell(struct pod *p, bool warning, const char *reason, str message); /* as an event */

/* ---- reason.c: why pods wait */

struct collected {
    struct sched_input in;
    struct pod **pods; /* of in.waiting, by its index */
    const struct sched_verdict *verdicts;
    const struct sched_group_verdict *groups;
    size_t n_groups;
    struct why_world *world; /* once the decision is carried out; NULL: not needed yet */
};

enum { REASON_AGAIN_MS = 10 * 1000 }; /* between two that differ in their sentence only */

struct why_unit;
void reasons_tell(struct binder *b, struct arena *a, struct collected *c);
/* In one sentence, on what waits and is not among the pods; empty: there is nothing to say. */
str reason_of_unit(struct binder *b, struct arena *a, struct collected *c,
                   const struct why_unit *unit);
void reason_send(struct binder *b, struct pod *p);
void reasons_later(struct binder *b, int64_t ms); /* they are told again then */

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
    char *dir, *scheduler;
    struct informer_turns turns;
    struct shelf pods, nodes, namespaces, claims, volumes, classes;
    struct gang_kind *kinds;
    size_t n_kinds;
    struct shelf groups[GROUP_FORMS]; /* by enum group_form */
    struct shelf queues, priorities, quotas;
    bool groups_due;     /* something changed that PodGroups are decided by */
    bool groups_dirty;   /* the status of some may have to be written */
    size_t n_groups_out; /* not let in */
    struct eviction *evictions;
    struct loop_timer *group_timer;
    int64_t group_timer_ms;
    struct map gangs; /* by uid */
    bool gangs_due;   /* members are to be counted, even if none waits */
    struct sched_guard guard;
    struct loop_timer *later; /* reasons are told then */
    struct events *events;
    uint64_t seq;
    size_t n_waiting;
    struct pod *first, *last; /* pods with something to send */
    struct sent *sent;
    size_t n_sent;
    uint64_t writes;
    bool place_due, volumes_due; /* something changed that they read */
    bool place_released;         /* what was kept is free: only what never fits need not be asked */
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
/* For one of many things: what failed is left alone until then (monotonic), and tried again. */
int64_t binder_rest(struct binder *b);
bool binder_is_resting(struct binder *b, int64_t until_ms);
void binder_tell(struct binder *b, jv obj, const struct kube_resource *res, const char *component,
                 struct event_budget *budget, const struct plan_note *note);

extern const struct shelf_ops pod_shelf, node_shelf, namespace_shelf, claim_shelf, volume_shelf,
    class_shelf, queue_shelf, priority_shelf, quota_shelf;

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
