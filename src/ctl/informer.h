/* Everything of one resource, by list and watch, for ever: through pages, ends of watches, expired
 * revisions and servers that are gone. Tells what it reads; keeps nothing but where it is. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct informer;

/* Lists wait for each other, so that a restart does not ask for everything at once. */
struct informer_turns { /* starts as { 0 } */
    struct informer *busy;
    struct informer *first, *last; /* waiting */
};

struct informer_ops {
    void (*put)(void *ctx, jv obj); /* new, changed or just seen again; borrowed */
    void (*gone)(void *ctx, jv obj);
    /* All of list number n, as of rev, was put: what was not in it is gone. rev 0: unknown. */
    void (*listed)(void *ctx, unsigned n, uint64_t rev);
    void (*changed)(void *ctx); /* whether it is synced, or its trouble */
};

struct informer_opts {
    struct loop *loop;
    struct kube_api *api;
    struct informer_turns *turns;
    const struct kube_resource *res;
    str ns;              /* copied, as labels is */
    str labels;          /* */
    bool metadata;       /* no more of the objects is needed */
    const char *install; /* what to do if the server does not serve it; NULL: ask for its CRD */
    int64_t page;
    int64_t retry_max_ms;
    const struct informer_ops *ops;
    void *ctx;
};

struct informer *informer_new(const struct informer_opts *o);
void informer_start(struct informer *i);
void informer_stop(struct informer *i); /* for good; what it knows stays */
void informer_free(struct informer *i); /* nothing is told any more */

bool informer_is_listed(const struct informer *i);  /* a list was read whole; stays so */
bool informer_is_synced(const struct informer *i);  /* ... and nobody forbids to go on */
bool informer_is_served(const struct informer *i);  /* false: the server knows no such resource */
unsigned informer_number(const struct informer *i); /* of the list read last or being read */
/* Everything up to it was told; 0: unknown. */
uint64_t informer_rev(const struct informer *i);
uint64_t informer_restarts(const struct informer *i); /* watches begun but the first */
uint64_t informer_lists(const struct informer *i);
/* "cannot list tfjobs.kubeflow.org: ..."; empty: none. */
str informer_trouble(const struct informer *i);

uint64_t revision_of(str version); /* as a number; 0: it is none */
