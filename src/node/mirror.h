/* Objects of one resource, kept up to date by list and watch: a copy of each, by namespace and
 * name. Goes on for ever through ends of watches and servers that are away. */
#pragma once

#include "kube/api.h"
#include "loop/loop.h"

struct mirror;

struct mirror_opts {
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

struct mirror *mirror_new(const struct mirror_opts *o);
void mirror_start(struct mirror *f); /* again: nothing */
void mirror_free(struct mirror *f);
bool mirror_is_listed(const struct mirror *f);
struct jdoc *mirror_get(const struct mirror *f, str ns, str name); /* borrowed; NULL: none */
/* Its copy is replaced by a newer one that came as an answer. */
void mirror_learn(struct mirror *f, jv obj);
/* All of a namespace (empty: all), as a list of values that borrow. */
jv mirror_list(const struct mirror *f, struct arena *a, str ns);
