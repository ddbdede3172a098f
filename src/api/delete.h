/* Deleting objects: at once, gracefully, or once their finalizers are gone. */
#pragma once

#include "api/write.h"

enum propagation {
    PROPAGATE_DEFAULT,
    PROPAGATE_BACKGROUND,
    PROPAGATE_FOREGROUND,
    PROPAGATE_ORPHAN
};

struct delete_opts {
    int64_t grace_s; /* -1: what the object says */
    enum propagation propagation;
    str uid; /* preconditions; empty: none */
    str resource_version;
};

/* Its options are in the body, and those in the query do not count. */
bool delete_has_body(const struct api_req *r);
/* 0, or answered already and -1. Also sets what of r->q the body overrides. */
int delete_read_options(struct api_req *r, struct delete_opts *o);

/* What of the preconditions live does not meet, in words; empty: it is the object meant. */
str delete_other_than_meant(struct arena *a, const struct delete_opts *o, jv live);

/* What deleting obj comes to. Pure. */
struct change delete_decide(struct arena *a, const struct resource *res, jv obj,
                            const struct delete_opts *o, int64_t now_ms);

/* Being deleted, and nothing holds it any more. */
bool delete_is_over(const struct resource *res, jv obj);

/* For our own controllers: no answer, a failure is tried again by the caller's next look. What the
 * object owns goes in the background. res is kept by a reference. */
void delete_in_background(struct api *api, struct resource *res, str key);
