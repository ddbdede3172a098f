/* metadata.managedFields: who owns which fields of an object, kept as kube-apiserver keeps it. */
#pragma once

#include "kube/schema.h"

/* Who writes, and how. */
struct managed_write {
    const struct schema *schema;
    str kind;        /* "Deployment" */
    str api_version; /* of the request: "apps/v1" */
    str manager;     /* ?fieldManager=, else the User-Agent up to its first slash; never empty */
    str subresource; /* "status", "scale"; empty: none */
    int64_t now_ms;  /* 0: what it owns bears no time */
    /* Fields that this write cannot change, such as "status" for the main resource or "spec" for
     * its status; ends with NULL. May be NULL. */
    const char *const *reset;
};

/* after, with the managedFields that a create (before absent), update or patch to it leaves. after
 * is the request's object, decoded and defaulted, before admission and before uid and such are set.
 * sent: metadata.managedFields as the request has it, undecoded ([] and [{}] clear); absent: none.
 */
jv managed_update(struct arena *a, const struct managed_write *w, jv before, jv after, jv sent);

/* If nothing but times of managedFields differs: before's managedFields, so that nothing is
 * written.
 */
jv managed_keep_times(struct arena *a, jv before, jv after);
