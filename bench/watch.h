/* A watch as a client sees it: lines of JSON, cut anywhere. */
#pragma once

#include "kbench.h"

struct eye {
    struct call call;   /* first: a call is an eye */
    const char *accept; /* NULL: whole objects */
    struct buf rest;    /* the beginning of a line whose end has not come */
    long seen;
    long added;     /* of them ADDED */
    int64_t last;   /* revision of the last event */
    uint64_t chain; /* of all revisions in their order */
    bool is_wrong;  /* an event out of order, or not an ADDED */
    void (*on_event)(struct eye *x);
    void *ctx;
};
/* Begins to watch; path must live on. */
int eye_open(struct eye *x, struct wire *w, str path, struct err *e);
void eye_done(struct eye *x);
uint64_t chain_add(uint64_t chain, int64_t revision);

/* The revision of a list, to watch from. */
int list_revision(struct session *s, str path, int64_t *out, struct err *e);
