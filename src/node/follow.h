/* Objects of one resource, kept up to date by list and watch: a copy of each, by namespace and
 * name. Goes on for ever through ends of watches and servers that are away. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct follow;

struct follow_opts {
    struct loop *loop;
    struct kube_api *api;
    const struct kube_resource *res;
    str fields; /* field selector; copied */
    /* doc is kept by the follow until told otherwise; ref it to keep it longer. */
    void (*put)(void *ctx, struct jdoc *doc, struct jdoc *old); /* old NULL: new */
    void (*gone)(void *ctx, struct jdoc *doc);
    void (*listed)(void *ctx); /* everything was put; told after each list */
    void *ctx;
};

struct follow *follow_new(const struct follow_opts *o);
void follow_start(struct follow *f); /* again: nothing */
void follow_free(struct follow *f);
bool follow_is_listed(const struct follow *f);
struct jdoc *follow_get(const struct follow *f, str ns, str name); /* borrowed; NULL: none */
/* Its copy is replaced by a newer one that came as an answer. */
void follow_learn(struct follow *f, jv obj);
/* All of a namespace (empty: all), as a list of values that borrow. */
jv follow_list(const struct follow *f, struct arena *a, str ns);
