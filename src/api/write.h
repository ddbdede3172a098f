/* Changing stored objects: look, decide, commit; once more if the key was busy meanwhile. */
#pragma once

#include "api/request.h"

/* What to do with an object, decided from its present state. */
enum change_kind { CHANGE_NONE, CHANGE_PUT, CHANGE_REMOVE };

struct change {
    enum change_kind kind;
    jv obj; /* PUT: the new state; REMOVE: what to show for it (watchers see the live one) */
};

struct change_op {
    struct api *api;
    const struct resource *res; /* kept by the caller until done */
    str key;                    /* lives until done */
    bool dry_run;
    bool large; /* deciding takes long, whatever the size of the live object */
    /* Looks at the live object (absent: there is none) and fills out. -1: gives up, done is not
     * called, whoever it was has been answered. a lives until done has returned. */
    int (*decide)(struct change_op *op, struct arena *a, jv live, struct change *out);
    /* NULL, or: asked last, if others may have done something meanwhile. -1: as decide. */
    int (*confirm)(struct change_op *op);
    /* stored: the bytes as they are now (of a removal the last ones); NULL: nothing was there. Who
     * needs them as a value has parse_stored. */
    void (*done)(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e);
    void *ctx;
    struct arena *a; /* set by change_start */
    struct blob *stored;
    enum change_kind kind;
};

void change_start(struct change_op *op);

/* resource_parse, beside the loop if the call is a large fiber's. */
jv parse_stored(struct loop *l, struct arena *a, const struct resource *res, struct blob *stored);

/* Calls check(arg), which fills ps: at once and briefly where the call is a small fiber's; if that
 * is not enough, again, beside the loop and for as long as it may take. */
void check_object(struct loop *l, void (*check)(void *arg), void *arg, struct problems *ps);
