/* What a server serves: words such as "po" or "deployments.apps" to resources. */
#pragma once

#include "cli/session.h"

struct served_resource {
    struct kube_resource res;
    str singular;
};

/* Asks the server once a session. -1, or an exit code. A word it does not know: *out is NULL. */
int served_find(struct session *s, str word, const struct served_resource **out);
/* The word that was probably meant by one that it does not know: "; did you mean \"pods\"?"; empty:
 * none is like it. After served_find. */
str served_guess(struct session *s, str word);
int served_find_kind(struct session *s, str api_version, str kind,
                     const struct served_resource **out);
