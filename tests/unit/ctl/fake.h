/* A Kubernetes API in memory that misbehaves on request: answers late, in another order or not at
 * all, loses answers to what it did, cuts watches, forgets history. It holds its clients to what
 * must always be true and counts what they break. */
#pragma once

#include "base/vec.h"
#include "kube/api.h"
#include "loop/loop.h"

struct fake_object {
    const struct kube_resource *res;
    str ns, name;
    struct jdoc *doc;
};

struct fake_change {
    const struct kube_resource *res;
    struct jdoc *old, *now; /* NULL: it was not there, or is gone */
    uint64_t rev;
};

/* Chances of a thousand. */
struct fake_faults {
    unsigned fail;   /* refused: 429, 500, 503 or no answer */
    unsigned lose;   /* done, but no answer */
    unsigned wait;   /* not looked at in this turn */
    unsigned late;   /* done, but answered in a later turn */
    unsigned lag;    /* a watch tells nothing in this turn */
    unsigned cut;    /* a watch ends */
    unsigned forget; /* all history is forgotten: 410 */
    unsigned clash;  /* somebody else changes a job just before it is patched */
};

struct fake {
    struct kube_api api; /* first */
    struct loop *loop;
    struct loop_timer *tick;
    uint64_t random;
    uint64_t rev;
    uint64_t forgotten; /* revisions up to it */
    struct {
        VEC(struct fake_object);
    } objects;
    struct {
        VEC(struct fake_change);
    } log;
    struct kube_call *calls;
    struct fake_faults faults;
    const struct kube_resource *mute; /* whose watches tell nothing */
    int64_t grace_ticks;              /* until a deleted pod is gone; -1: never */
    /* Says what to answer instead; true: it did. */
    bool (*refuse)(struct fake *f, const struct kube_request *r, struct kube_answer *ans);
    void (*on_tick)(struct fake *f);
    uint64_t ticks;         /* one a millisecond, fewer when the machine is busy */
    unsigned count[7];      /* requests by verb */
    unsigned events;        /* of the creates */
    unsigned in_flight_max; /* requests at once, but for events */
    unsigned lists_max;     /* lists at once */
    unsigned conflicts;
    unsigned broken; /* rules */
};

struct fake *fake_new(struct loop *l, uint64_t seed);
void fake_free(struct fake *f);
unsigned fake_chance(struct fake *f, unsigned below); /* 0 .. below - 1 */

/* What people and the cluster do. Objects written with single quotes. */
void fake_put(struct fake *f, const struct kube_resource *res, const char *quoted);
void fake_set(struct fake *f, const struct kube_resource *res, str ns, str name, jv patch);
void fake_delete(struct fake *f, const struct kube_resource *res, str ns, str name);
jv fake_get(struct fake *f, const struct kube_resource *res, str ns, str name);
size_t fake_count(struct fake *f, const struct kube_resource *res);
void fake_forget(struct fake *f);                   /* no watch can go on: 410 */
void fake_bookmark(struct fake *f);                 /* all watches are told how far they are */
void fake_cut(struct fake *f, const struct err *e); /* ends all watches */

/* ---- fake_store.c: what has happened, for the rest of the server */
void fake_rule(struct fake *f, bool holds, const char *what, str name);
bool fake_hit(struct fake *f, unsigned of_thousand);
bool fake_same(const struct kube_resource *a, const struct kube_resource *b);
struct fake_object *fake_find(struct fake *f, const struct kube_resource *res, str ns, str name);
/* now absent: the object goes. */
jv fake_commit(struct fake *f, const struct kube_resource *res, struct fake_object *o, jv now);
jv fake_add(struct fake *f, const struct kube_resource *res, jv obj);
jv fake_ask_deletion(struct fake *f, struct fake_object *o);
