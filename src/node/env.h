/* A container's environment and command line, as kubelet makes them. PURE. */
#pragma once

#include "node/fields.h"

struct env_of {
    struct fields_of fields;
    jv container;
    jv base; /* {name: value}: what the image brings; the container's own come on top */
    /* The namespace's services and the default namespace's "kubernetes"; a list of Services. */
    jv services;
    jv (*config)(void *ctx, str ns, str name); /* a ConfigMap; absent: there is none */
    jv (*secret)(void *ctx, str ns, str name);
    void *ctx;
};

/* {name: value} in order: the image's, envFrom, env, then services. skipped: keys of envFrom that
 * cannot be names, as "a, b"; may be NULL. Fails with what is missing, in kubelet's words. */
int env_make(struct arena *a, const struct env_of *of, jv *out, struct buf *skipped, struct err *e);
/* $(NAME) by what env has; $$ is $; what is not known stays as it is. */
str env_expand(struct arena *a, str s, jv env, jv more);
jv env_expand_all(struct arena *a, jv list, jv env);
/* The variables of service links, {name: value}. */
jv env_services(struct arena *a, jv pod, jv services);
