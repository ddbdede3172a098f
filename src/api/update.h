/* Changing objects: PUT, PATCH and the subresources all end here. */
#pragma once

#include "api/control/admit_quota.h"
#include "api/write.h"

struct update {
    struct change_op op;
    struct api_req *r;
    struct quota_hold hold;
    void *ctx;
    /* The new object, made from the live one; absent: it has been answered. Of an apply that may
     * create, also without a live one. */
    jv (*make)(struct update *u, struct arena *a, jv live);
    /* Shows the result; NULL: the object itself. */
    void (*answer)(struct update *u, struct blob *stored, jv obj);
    bool may_create; /* where there is no live object: create_with, or what an apply makes */
    bool is_apply;   /* managedFields are done by make */
    bool check_rv;   /* the new object's resourceVersion must be the live one's, if it has one */
    jv create_with;
    str sub;
};

void update_start(struct update *u);
/* Whether obj has the request's name, and its namespace or none; 400 answered if not. */
bool update_is_named(struct api_req *r, jv obj);
