/* Files that objects give a volume: configMap, secret, downwardAPI, projected. PURE. */
#pragma once

#include "node/fields.h"

struct projection_of {
    struct fields_of fields;
    jv (*config)(void *ctx, str ns, str name); /* absent: there is none */
    jv (*secret)(void *ctx, str ns, str name);
    str (*token)(void *ctx, jv source); /* of the pod's account; empty: not had yet. May be NULL */
    void *ctx;
};

struct projection_file {
    str path; /* below the volume; no "..", checked */
    str bytes;
    unsigned mode;
};

struct projection {
    struct projection_file *at;
    size_t n;
    size_t cap;
};

/* volume: a member of spec.volumes. Of two files with the same path the later counts. Errors are in
 * kubelet's words. */
int projection_make(struct arena *a, const struct projection_of *of, jv volume,
                    struct projection *out, struct err *e);
