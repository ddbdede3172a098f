/* Values that a pod's own fields and resources give its env and files (the downward API). PURE. */
#pragma once

#include "base/err.h"
#include "base/json.h"

struct fields_of {
    jv pod;
    str pod_ip;     /* empty: none yet */
    str host_ip;    /* */
    jv allocatable; /* of the node: what a container without limits may use */
};

/* "metadata.labels['a/b']", "status.podIP", …; whole maps ("metadata.labels") as key="value" lines.
 */
int fields_get(struct arena *a, const struct fields_of *f, str path, str *out, struct err *e);
/* ref: a resourceFieldRef; container: whose resources, unless ref names another. */
int fields_resource(struct arena *a, const struct fields_of *f, jv container, jv ref, str *out,
                    struct err *e);
