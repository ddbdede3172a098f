/* What isolation this machine allows, found by trying it. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* How far pods can be kept from changing files that are not theirs, at level namespaces. */
struct warden_ground {
    const char *pods;         /* as above; made if it is not there */
    const char *const *homes; /* ends with NULL */
    struct err disk;          /* why changes are not kept on disk; no message: they are */
    struct err over;          /* why homes, or as root the system's files, are the real ones */
};

/* Whether pods can have namespaces of their own here; e says what is in the way. g (may be NULL):
 * tried, too, if they can. Takes some ms, in a child process. */
bool warden_can_isolate(struct warden_ground *g, struct err *e);
